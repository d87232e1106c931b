// The files of a thread: what a call changes is stored with its outcome, and with nothing else.
#include "gate/open_files.hpp"
#include "journal/encoding.hpp"
#include "support/fakes.hpp"
#include "support/faulty_store.hpp"

#include <assent/gate.hpp>
#include <assent/memory.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assent {
namespace {

using namespace assent::test;
using Files = std::map<std::string, std::string>;

// Its body is what the test says.
class NoteTool final : public Tool {
public:
    using Body = std::function<ToolResult(ThreadFiles&, const std::string&)>;
    explicit NoteTool(Body body) : Tool({.name = "note"}), body_(std::move(body)) {}

private:
    ToolResult run(const ApprovedCall& call) override {
        return body_(call.files(), call.arguments().find("text")->string);
    }
    Body body_;
};

// Adds a word to one file.
ToolResult append(ThreadFiles& files, const std::string& word) {
    const auto known = files.read("/notes/a");
    const auto text = (known ? *known->text : "") + word;
    const auto done = files.write("/notes/a", text);
    return {.text = done ? text : done.failure().message, .is_error = !done.ok()};
}

class GateFiles : public testing::Test {
protected:
    std::unique_ptr<Gate> gate(NoteTool::Body body = append, std::vector<std::shared_ptr<Guard>> guards = {}) {
        return std::make_unique<Gate>(GateOptions{.checkpointer = &store_,
                                                  .thread_id = "t",
                                                  .tools = {std::make_shared<NoteTool>(std::move(body))},
                                                  .guards = std::move(guards),
                                                  .clock = &clock_,
                                                  .random = &random_});
    }
    static ProposedCall call(const std::string& text, const std::string& id = "c") {
        return {.tool = "note", .id = id, .arguments = R"({"text":")" + text + R"("})"};
    }
    static std::vector<Permit> claimed(Gate& gate, std::vector<ProposedCall> calls) {
        EXPECT_TRUE(gate.prompt("go", "user").ok());
        EXPECT_TRUE(gate.propose({.calls = std::move(calls)}).ok());
        auto permits = gate.claim();
        EXPECT_TRUE(permits.ok());
        return std::move(permits).value();
    }
    static Outcome started(Gate& gate, Permit& permit) { return gate.tool("note")->start(std::move(permit)); }
    // One whole cycle with one call.
    static void cycle(Gate& gate, const std::string& text) {
        auto permits = claimed(gate, {call(text)});
        ASSERT_TRUE(gate.finish(started(gate, permits.at(0))).ok());
        ASSERT_TRUE(gate.propose({.text = "done"}).ok());
    }
    // As somebody else reads it from the store.
    Files stored() {
        auto other = gate();
        EXPECT_TRUE(other->load().ok());
        return *other->files();
    }
    std::vector<std::string> last_row() { return journal::decode_header(store_.load("t", 0)->back().header)->kinds; }

    MemoryCheckpointer memory_;
    FaultyStore store_{memory_};
    FakeClock clock_;
    FakeRandom random_;
};

TEST_F(GateFiles, AChangeIsOneStepWithItsOutcome) {
    auto gate = this->gate();
    auto permits = claimed(*gate, {call("one")});
    const auto outcome = started(*gate, permits.at(0));
    EXPECT_TRUE(stored().empty());
    ASSERT_TRUE(gate->finish(outcome).ok());
    EXPECT_EQ(last_row(), (std::vector<std::string>{"files_changed", "finished"}));
    EXPECT_EQ(stored(), (Files{{"/notes/a", "one"}}));
    EXPECT_EQ(*gate->files(), stored());
    // Again: nothing more.
    ASSERT_TRUE(gate->finish(outcome).ok());
    EXPECT_EQ(stored(), (Files{{"/notes/a", "one"}}));
}

TEST_F(GateFiles, CallsOfATurnSeeOneAnotherWhateverIsStoredFirst) {
    for (const bool in_order : {true, false}) {
        auto gate = this->gate();
        const auto before = stored()["/notes/a"];
        auto permits = claimed(*gate, {call("1", "a"), call("2", "b"), call("3", "c")});
        std::vector<Outcome> outcomes;
        for (auto& permit : permits) outcomes.push_back(started(*gate, permit));
        EXPECT_EQ(outcomes.at(2).result.text, before + "123");
        if (!in_order) std::reverse(outcomes.begin(), outcomes.end());
        for (const auto& outcome : outcomes) ASSERT_TRUE(gate->finish(outcome).ok());
        EXPECT_EQ(stored(), (Files{{"/notes/a", before + "123"}})) << in_order;
        ASSERT_TRUE(gate->propose({.text = "done"}).ok());
    }
}

TEST_F(GateFiles, AnOutcomeThatIsLostHasChangedNothing) {
    {
        auto gate = this->gate();
        auto permits = claimed(*gate, {call("lost")});
        (void)started(*gate, permits.at(0));
    }
    EXPECT_TRUE(stored().empty());
}

TEST_F(GateFiles, AnUnknownOutcomeChangesNothing) {
    auto gate = this->gate([](ThreadFiles& files, const std::string& text) {
        auto result = append(files, text);
        result.unknown = true;
        return result;
    });
    auto permits = claimed(*gate, {call("unknown")});
    ASSERT_TRUE(gate->finish(started(*gate, permits.at(0))).ok());
    EXPECT_EQ(last_row(), (std::vector<std::string>{"doubted", "asked"}));
    EXPECT_TRUE(stored().empty());
}

TEST_F(GateFiles, AnUnknownOutcomeTakesNothingFromACallBesideIt) {
    auto gate = this->gate([](ThreadFiles& files, const std::string& text) {
        auto result = append(files, text);
        result.unknown = text == "unknown";
        return result;
    });
    auto permits = claimed(*gate, {call("good", "a"), call("unknown", "b")});
    const auto good = started(*gate, permits.at(0));
    ASSERT_TRUE(gate->finish(started(*gate, permits.at(1))).ok());
    ASSERT_TRUE(gate->finish(good).ok());
    EXPECT_EQ(stored(), (Files{{"/notes/a", "good"}}));
}

TEST_F(GateFiles, AFailedAppendIsMadeAgainWithTheSameChange) {
    auto gate = this->gate();
    auto permits = claimed(*gate, {call("one", "a"), call("two", "b")});
    const auto first = started(*gate, permits.at(0));
    const auto second = started(*gate, permits.at(1));
    for (const auto fault : {FaultyStore::Fault::fails, FaultyStore::Fault::uncertain_lost}) {
        store_.appends = {fault};
        EXPECT_FALSE(gate->finish(first).ok());
        EXPECT_TRUE(stored().empty());
    }
    ASSERT_TRUE(gate->finish(first).ok());
    EXPECT_EQ(stored(), (Files{{"/notes/a", "one"}}));
    store_.appends = {FaultyStore::Fault::uncertain_kept};
    ASSERT_TRUE(gate->finish(second).ok());
    EXPECT_EQ(stored(), (Files{{"/notes/a", "onetwo"}}));
}

TEST_F(GateFiles, AreThereForAThreadOpenedFromASnapshot) {
    auto gate = this->gate();
    for (int i = 0; i < 40; ++i) cycle(*gate, std::to_string(i % 10));
    const auto snapshot = *memory_.snapshot("t");
    ASSERT_TRUE(snapshot.has_value());
    EXPECT_TRUE(snapshot->state.contains("files_cut"));
    EXPECT_FALSE(snapshot->state.contains("0123456789")) << "a snapshot does not grow with the files";
    EXPECT_EQ(stored(), *gate->files());
    auto fresh = this->gate();
    ASSERT_TRUE(*fresh->load());
    cycle(*fresh, "x");
    EXPECT_TRUE(stored()["/notes/a"].ends_with("789x"));
}

TEST_F(GateFiles, ARetryBeginsWithWhatIsStored) {
    int runs = 0;
    auto gate = this->gate([&](ThreadFiles& files, const std::string& text) {
        auto result = append(files, text);
        result.unknown = ++runs == 1;
        return result;
    });
    auto permits = claimed(*gate, {call("once")});
    ASSERT_TRUE(gate->finish(started(*gate, permits.at(0))).ok());
    Approvals approvals(store_, clock_, random_);
    const auto told = approvals.resolve(gate->open().at(0).id, Resolution::retry, "", {.name = "alice"});
    ASSERT_TRUE(told.ok());
    ASSERT_TRUE(gate->resume().ok());
    auto again = gate->claim();
    ASSERT_EQ(again->size(), 1U);
    ASSERT_TRUE(gate->finish(started(*gate, again->at(0))).ok());
    EXPECT_EQ(stored(), (Files{{"/notes/a", "once"}}));
}

TEST_F(GateFiles, AGuardLooksAndChangesNothing) {
    class Looking final : public Guard {
    public:
        std::string name() const override { return "looking"; }
        bool can_ask() const override { return false; }
        Judgement judge(const GuardedCall& call) override {
            seen = call.files->paths();
            wrote = call.files->write("/notes/b", "x").ok() || call.files->remove("/notes/a").ok();
            return {.verdict = Verdict::allow};
        }
        std::vector<std::string> seen;
        bool wrote = true;
    };
    const auto guard = std::make_shared<Looking>();
    auto gate = this->gate(append, {guard});
    cycle(*gate, "one");
    EXPECT_TRUE(guard->seen.empty());
    cycle(*gate, "two");
    EXPECT_EQ(guard->seen, std::vector<std::string>{"/notes/a"});
    EXPECT_FALSE(guard->wrote);
    EXPECT_EQ(stored(), (Files{{"/notes/a", "onetwo"}}));
}

TEST(OpenFilesOfAThread, RefuseWhatTheyCannotKeep) {
    OpenFiles files;
    ASSERT_TRUE(files.write("a", "/dir/file", "text", {}).ok());
    const std::string long_path = "/" + std::string(5000, 'x');
    struct Row {
        std::string path;
        std::string text;
        const char* why;
    };
    for (const auto& row : {
             Row{"", "", "'' is no absolute path of at most 4096 bytes of UTF-8"},
             Row{"a", "", "'a' is no absolute path of at most 4096 bytes of UTF-8"},
             Row{long_path, "", "is no absolute path of at most 4096 bytes of UTF-8"},
             Row{"/\xff", "", "is no absolute path of at most 4096 bytes of UTF-8"},
             Row{"/a//b", "", "'/a//b' has a name that is empty, . or .."},
             Row{"/a/", "", "'/a/' has a name that is empty, . or .."},
             Row{"/./a", "", "'/./a' has a name that is empty, . or .."},
             Row{"/a/..", "", "'/a/..' has a name that is empty, . or .."},
             Row{"/dir", "", "'/dir' is a folder"},
             Row{"/dir/file/x", "", "'/dir/file/x' leads through a file"},
             Row{"/b", "\xff", "'/b' was not written: only UTF-8 text is kept in the thread"},
             Row{"/b", std::string(thread_file_bytes_max + 1, 'x'),
                 "the content has 4194305 bytes; a file of the thread has at most 4194304"},
         }) {
        const auto done = files.write("a", row.path, row.text, {});
        ASSERT_FALSE(done.ok()) << row.why;
        EXPECT_THAT(done.failure().message, testing::EndsWith(row.why));
        EXPECT_EQ(done.failure().kind, FailureKind::tool);
    }
    EXPECT_EQ(files.paths(), std::vector<std::string>{"/dir/file"});
    EXPECT_EQ(files.remove("a", "/none").failure().kind, FailureKind::not_found);
    EXPECT_EQ(files.remove("a", "/none").failure().message, "'/none' does not exist");
}

TEST(OpenFilesOfAThread, HaveALimitTogether) {
    OpenFiles files;
    const std::string large(thread_file_bytes_max, 'x');
    constexpr auto count = thread_files_bytes_max / thread_file_bytes_max;
    for (std::size_t i = 0; i < count; ++i) ASSERT_TRUE(files.write("a", "/" + std::to_string(i), large, {}).ok());
    EXPECT_EQ(files.write("a", "/more", "x", {}).failure().message,
              "the files of the thread would have 67108865 bytes; at most 67108864 are kept; delete some");
    EXPECT_TRUE(files.write("a", "/0", "x", {}).ok());
    EXPECT_TRUE(files.write("a", "/more", "x", {}).ok());
}

TEST(OpenFilesOfAThread, TellWhoReadAnOlderText) {
    OpenFiles files;
    ASSERT_TRUE(files.write("a", "/f", "1", {}).ok());
    const auto read = files.read("/f");
    ASSERT_TRUE(files.write("b", "/f", "2", read->revision).ok());
    EXPECT_EQ(files.write("a", "/f", "3", read->revision).failure().message,
              "'/f' was changed meanwhile; read it again");
    const auto newer = files.read("/f");
    ASSERT_TRUE(files.remove("b", "/f").ok());
    EXPECT_FALSE(files.write("a", "/f", "3", newer->revision).ok());
    EXPECT_FALSE(files.read("/f").has_value());
}

}  // namespace
}  // namespace assent
