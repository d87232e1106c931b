// The commands that only look, over a store in memory.
#include "base/unique_fd.hpp"
#include "cli/list_commands.hpp"
#include "support/fakes.hpp"

#include <assent/gate.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include <sys/mman.h>

#include <array>

namespace assent::cli {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;
using namespace assent::test;
namespace json = boost::json;

// A stream that can be read afterwards.
class Captured {
public:
    Captured() : file_(memfd_create("captured", MFD_CLOEXEC)) {}
    int fd() const { return file_.get(); }
    std::string take() {
        std::string text;
        std::array<char, 4096> buffer{};
        lseek(file_.get(), 0, SEEK_SET);
        for (auto got = read(file_.get(), buffer.data(), buffer.size()); got > 0;
             got = read(file_.get(), buffer.data(), buffer.size()))
            text.append(buffer.data(), static_cast<std::size_t>(got));
        if (ftruncate(file_.get(), 0) != 0) ADD_FAILURE();
        lseek(file_.get(), 0, SEEK_SET);
        return text;
    }

private:
    UniqueFd file_;
};

class CliLists : public testing::Test {
protected:
    CliLists() {
        context_.terminal = Terminal({.in = -1, .out = out_.fd(), .err = err_.fd()});
        context_.db_url = "memory:";
        EXPECT_TRUE(context_.open_store().ok());
        guard_->verdicts = {{"pay", Verdict::ask}, {"burn", Verdict::deny}};
        guard_->reason = "costs\u202e money";
    }

    Gate& gate(const std::string& thread) {
        gates_.push_back(
            std::make_unique<Gate>(GateOptions{.checkpointer = &context_.store(),
                                               .thread_id = thread,
                                               .tools = {fake_tool("pay"), fake_tool("look"), fake_tool("burn")},
                                               .guards = {guard_},
                                               .clock = &clock_,
                                               .random = &random_}));
        return *gates_.back();
    }
    // A thread whose model calls these tools; one that asks waits.
    Gate& thread_with(const std::string& thread, const std::vector<std::string>& tools,
                      const std::string& prompt = "do it") {
        auto& gate = this->gate(thread);
        EXPECT_TRUE(gate.prompt(prompt, "user").ok());
        ModelTurn turn{.text = "I will\x1b[2K now"};
        for (const auto& tool : tools)
            turn.calls.push_back(
                {.tool = tool, .id = "c" + std::to_string(turn.calls.size()), .arguments = R"({"n": 1.50})"});
        EXPECT_TRUE(gate.propose(turn).ok());
        return gate;
    }
    void run_ready(Gate& gate) {
        auto permits = gate.claim();
        ASSERT_TRUE(permits.ok());
        for (auto& permit : *permits) {
            const auto tool = gate.tool(permit.tool());
            ASSERT_TRUE(gate.finish(tool->start(std::move(permit))).ok());
        }
    }
    json::value out_json() { return json::parse(out_.take()); }

    Captured out_;
    Captured err_;
    Context context_;
    FakeClock clock_;
    FakeRandom random_;
    std::shared_ptr<FakeGuard> guard_ = std::make_shared<FakeGuard>("money");
    std::vector<std::unique_ptr<Gate>> gates_;
};

TEST_F(CliLists, EmptyListsSaySo) {
    EXPECT_EQ(pending_command(context_, {}), exit_done);
    EXPECT_EQ(out_.take(), "");
    EXPECT_EQ(err_.take(), "nothing waits for a person\n");
    EXPECT_EQ(threads_command(context_), exit_done);
    EXPECT_EQ(err_.take(), "there are no threads\n");
    context_.terminal.json = true;
    EXPECT_EQ(pending_command(context_, {}), exit_done);
    EXPECT_EQ(out_.take(), "[]\n");
    EXPECT_EQ(threads_command(context_), exit_done);
    EXPECT_EQ(out_.take(), "[]\n");
    EXPECT_EQ(err_.take(), "");
}

TEST_F(CliLists, UnknownNamesAreFailures) {
    for (const bool as_json : {false, true}) {
        context_.terminal.json = as_json;
        const auto expect = [&](int status, const std::string& kind, const std::string& words) {
            EXPECT_EQ(status, kind == "usage" ? exit_usage : exit_failed);
            if (!as_json) {
                EXPECT_THAT(err_.take(), StartsWith("assent: " + words));
                EXPECT_EQ(out_.take(), "");
                return;
            }
            const auto error = out_json().at("error");
            EXPECT_EQ(error.at("kind").as_string(), kind);
            EXPECT_THAT(std::string(error.at("message").as_string()), StartsWith(words));
        };
        expect(history_command(context_, {.thread = "nope"}), "unknown_thread", "no thread is called nope");
        expect(pending_command(context_, {.thread = "nope"}), "unknown_thread", "no thread is called nope");
        expect(show_command(context_, {.id = "1zzzz"}), "not_found", "no approval has the id 1zzzz");
        expect(pending_command(context_, {.after = "!"}), "usage", "--after takes the id of an approval");
        expect(pending_command(context_, {.limit = 0}), "usage", "--limit takes a number from 1");
    }
}

TEST_F(CliLists, PendingIsAlignedAndPaged) {
    thread_with("first", {"pay", "pay"});
    thread_with("second", {"pay"});
    EXPECT_EQ(pending_command(context_, {.now = clock_.now() + 120'000}), exit_done);
    const auto all = out_.take();
    EXPECT_THAT(all, StartsWith("ID     TOOL  THREAD  ASKED      GUARD  ARGUMENTS\n"));
    EXPECT_THAT(all, HasSubstr("  pay   first   2 min ago  money  {\"n\": 1.50}\n"));
    EXPECT_THAT(all, HasSubstr("  pay   second  2 min ago  money  {\"n\": 1.50}\n"));
    EXPECT_EQ(err_.take(), "");

    const auto open = *context_.approvals().pending();
    ASSERT_EQ(open.size(), 3U);
    EXPECT_EQ(pending_command(context_, {.limit = 2}), exit_done);
    EXPECT_THAT(out_.take(), Not(HasSubstr("second")));
    EXPECT_EQ(err_.take(), "more are open: assent --db memory: pending --limit 2 --after " + open[1].id + "\n");
    EXPECT_EQ(pending_command(context_, {.after = open[1].id, .limit = 2}), exit_done);
    EXPECT_THAT(out_.take(), HasSubstr(open[2].id + "  pay   second"));
    EXPECT_EQ(err_.take(), "");

    context_.terminal.json = true;
    EXPECT_EQ(pending_command(context_, {.thread = "first", .limit = 1}), exit_done);
    const auto page = out_json().as_array();
    ASSERT_EQ(page.size(), 1U);
    EXPECT_EQ(page[0].at("id").as_string(), open[0].id);
    EXPECT_EQ(page[0].at("allowed_decisions"), json::parse(R"(["approve", "deny", "edit", "respond"])"));
}

TEST_F(CliLists, ShowHasTheCallAndWhatWasSaidBefore) {
    thread_with("t", {"look", "pay"}, "please\u200b pay");
    const auto id = context_.approvals().pending()->at(0).id;
    EXPECT_EQ(show_command(context_, {.id = id}), exit_done);
    const auto text = out_.take();
    EXPECT_THAT(text,
                StartsWith("user\n     │ please\\u{200b} pay\nassistant\n     │ I will\\u{1b}[2K now\n  calls look\n"));
    EXPECT_THAT(text, HasSubstr("\nApproval " + id + "  pay\n"));
    EXPECT_THAT(text, HasSubstr("  reason    costs\\u{202e} money\n"));
    EXPECT_THAT(text, HasSubstr("  n: 1.50\n"));

    context_.terminal.json = true;
    EXPECT_EQ(show_command(context_, {.id = id}), exit_done);
    const auto shown = out_json();
    EXPECT_EQ(shown.at("id").as_string(), id);
    EXPECT_EQ(shown.at("transcript").as_array().size(), 2U);
    EXPECT_EQ(shown.at("transcript").at(1).at("calls").as_array().size(), 2U);
}

TEST_F(CliLists, ShowOfADecidedApprovalHasOnlyWhatCameBefore) {
    auto& gate = thread_with("t", {"pay"});
    const auto id = context_.approvals().pending()->at(0).id;
    Approvals approvals(context_.store(), clock_, random_);
    ASSERT_TRUE(approvals.answer(id, deny("no"), {.name = "alice"}).ok());
    ASSERT_TRUE(gate.resume().ok());
    ASSERT_TRUE(gate.propose({.text = "as you like"}).ok());
    context_.terminal.json = true;
    EXPECT_EQ(show_command(context_, {.id = id}), exit_done);
    const auto shown = out_json();
    EXPECT_EQ(shown.at("state").as_string(), "denied");
    EXPECT_EQ(shown.at("transcript").as_array().size(), 2U);
}

TEST_F(CliLists, ThreadsHaveTheStatesOfTheContract) {
    auto& done = thread_with("done", {}, "say\nhi");
    ASSERT_EQ(done.next(), GateStep::done);
    thread_with("waits", {"pay"});
    auto& failed = thread_with("failed", {"look"});
    ASSERT_TRUE(failed.fail({FailureKind::model, "no answer"}).ok());
    auto& aborted = thread_with("aborted", {"pay"});
    ASSERT_TRUE(context_.approvals().abort("aborted", "enough", "alice").ok());
    ASSERT_TRUE(aborted.refresh().ok());
    ASSERT_TRUE(gate("runs").prompt("go", "user").ok());
    context_.terminal.json = true;
    EXPECT_EQ(threads_command(context_), exit_done);
    std::vector<std::string> states;
    const auto threads = out_json();
    for (const auto& thread : threads.as_array()) {
        states.push_back(std::string(thread.at("id").as_string()) + " " + std::string(thread.at("state").as_string()) +
                         " " + std::to_string(thread.at("open").as_int64()));
    }
    EXPECT_EQ(states, (std::vector<std::string>{"done done 0", "waits waiting 1", "failed failed 0",
                                                "aborted aborted 0", "runs running 0"}));
    EXPECT_EQ(threads.at(0).at("task").as_string(), "say\nhi");
    context_.terminal.json = false;
    EXPECT_EQ(threads_command(context_), exit_done);
    EXPECT_THAT(out_.take(), HasSubstr("done     done     0     2026-11-30 00:53:20 UTC  say\\nhi\n"));
}

TEST_F(CliLists, HistoryTellsWhoDenied) {
    auto& gate = thread_with("t", {"pay", "burn", "look", "pay"});
    const auto open = *context_.approvals().pending();
    ASSERT_EQ(open.size(), 2U);
    Approvals approvals(context_.store(), clock_, random_);
    ASSERT_TRUE(approvals.answer(open[0].id, deny("too\x1b[1m much"), {.name = "alice", .signed_in = "terminal"}).ok());
    ASSERT_TRUE(approvals.answer(open[1].id, approve(), {.name = "bob", .signed_in = "process"}).ok());
    ASSERT_TRUE(gate.resume().ok());
    run_ready(gate);
    EXPECT_EQ(history_command(context_, {.thread = "t"}), exit_done);
    const auto text = out_.take();
    for (const std::string line :
         {"  prompted by user: do it\n", "  model turn 1 calls pay, burn, look, pay: I will\\u{1b}[2K now\n",
          "  denied burn (call 2 of turn 1) by guard money: costs\\u{202e} money; burn denied\n",
          "  allowed look (call 3 of turn 1)\n", "  held pay (call 1 of turn 1) for people, by guard money\n",
          "  finished done look (call 3 of turn 1)\n"}) {
        EXPECT_THAT(text, HasSubstr(line));
    }
    EXPECT_THAT(text, HasSubstr("  asked " + open[0].id + " pay by guard money: costs\\u{202e} money\n"));
    EXPECT_THAT(text, HasSubstr("  answered " + open[0].id +
                                " pay deny by alice (terminal): too\\u{1b}[1m much; pay denied\n"));
    EXPECT_THAT(text, HasSubstr("  answered " + open[1].id + " pay approve by bob (process)\n"));
    EXPECT_THAT(text, HasSubstr("  claimed look (call 3 of turn 1), pay (call 4 of turn 1) by process "));
    EXPECT_THAT(text, StartsWith("2026-11-30 00:53:20 UTC  configured with 3 tools\n"));
}

TEST_F(CliLists, ATaskOfASubAgentIsShownWithItsLineage) {
    const auto task = std::make_shared<FakeTool>(ToolSpec{.name = "task", .delegates = true});
    const auto made = [&](const std::string& thread, bool child) -> Gate& {
        gates_.push_back(std::make_unique<Gate>(GateOptions{.checkpointer = &context_.store(),
                                                            .thread_id = thread,
                                                            .tools = {fake_tool("pay"), task},
                                                            .guards = {guard_},
                                                            .child = child,
                                                            .clock = &clock_,
                                                            .random = &random_}));
        return *gates_.back();
    };
    auto& root = made("t", false);
    ASSERT_TRUE(root.prompt("go", "user").ok());
    ASSERT_TRUE(root.propose({.calls = {{.tool = "task", .arguments = "{}"}}}).ok());
    ASSERT_TRUE(root.claim()->empty()) << "there is no permit for it";
    auto& child = made("t/1.0", true);
    ASSERT_TRUE(child.begin("pay it", "t").ok());
    ASSERT_TRUE(child.propose({.calls = {{.tool = "pay", .arguments = "{}"}}}).ok());
    const auto open = *context_.approvals().pending("t");
    ASSERT_EQ(open.size(), 1U);
    EXPECT_EQ(show_command(context_, {.id = open[0].id}), exit_done);
    EXPECT_THAT(out_.take(), HasSubstr("  thread    t/1.0\n  works for t\n"));
    ASSERT_TRUE(root.join("t/1.0", {.outcome = OutcomeKind::done, .text = "paid", .turns = 2, .calls = 1}).ok());
    EXPECT_EQ(history_command(context_, {.thread = "t"}), exit_done);
    const auto text = out_.take();
    EXPECT_THAT(text, HasSubstr("  delegated task (call 1 of turn 1) to thread t/1.0\n"));
    EXPECT_THAT(text, HasSubstr("  finished done task (call 1 of turn 1) by thread t/1.0\n"));
    context_.terminal.json = true;
    EXPECT_EQ(pending_command(context_, {.thread = "t"}), exit_done);
    EXPECT_EQ(out_json().at(0).at("parent"), json::parse(R"(["t"])"));
    EXPECT_EQ(history_command(context_, {.thread = "t"}), exit_done);
    const auto last = out_json().as_array().back();
    EXPECT_EQ(last.at("calls").at(0).at("outcome").as_string(), "done");
    EXPECT_EQ(last.at("turns_used").as_int64(), 2);
}

TEST_F(CliLists, HistoryInJsonCarriesHowCallsEnded) {
    auto& gate = thread_with("t", {"pay", "burn", "look"});
    Approvals approvals(context_.store(), clock_, random_);
    const auto id = context_.approvals().pending()->at(0).id;
    ASSERT_TRUE(approvals.answer(id, respond("paid"), {.name = "alice"}).ok());
    ASSERT_TRUE(gate.resume().ok());
    run_ready(gate);
    context_.terminal.json = true;
    EXPECT_EQ(history_command(context_, {.thread = "t"}), exit_done);
    std::vector<std::string> ended;
    std::int64_t seq = 0;
    const auto history = out_json();
    for (const auto& entry : history.as_array()) {
        EXPECT_EQ(entry.at("seq").as_int64(), ++seq);
        EXPECT_EQ(entry.at("at").as_string(), "2026-11-30T00:53:20.000Z");
        EXPECT_EQ(entry.at("hash").as_string().size(), 64U);
        const std::string event(entry.at("event").as_string());
        const auto* calls = entry.as_object().if_contains("calls");
        if (calls == nullptr || event == "model_turn") continue;
        for (const auto& call : calls->as_array()) {
            ended.push_back(event + " " + std::to_string(call.at("position").as_int64()) + " " +
                            std::string(call.at("tool").as_string()) + " " +
                            std::string(call.at("outcome").as_string()));
        }
    }
    EXPECT_EQ(ended,
              (std::vector<std::string>{"judged 1 burn denied", "answered 0 pay answered", "finished 2 look done"}));
}

}  // namespace
}  // namespace assent::cli
