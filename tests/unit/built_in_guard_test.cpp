// The denials that nobody takes back: lines and paths that would decide about the agent itself.
#include "tools/line_words.hpp"

#include <assent/built_in_guard.hpp>

#include "temp_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assent {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class BuiltIn : public testing::Test {
protected:
    void SetUp() override {
        for (const auto* name : {"home/state/gate.db", "home/work/a.txt", "home/states/a.txt"}) folder.put(name, "");
        namespace fs = std::filesystem;
        fs::create_symlink(folder / "home/state", folder / "home/work/way-in");
        fs::create_symlink(folder / "home", folder / "alias");
        root = folder.path().string();
        guard = built_in_guard(
            {.workspace = root + "/home/work", .home = root + "/home", .closed = {root + "/alias/state"}});
    }
    [[nodiscard]] Judgement judge(const std::string& name, std::string text) const {
        for (auto at = text.find('@'); at != std::string::npos; at = text.find('@')) text.replace(at, 1, root);
        const auto arguments = Arguments::parse("{" + json_quote(name) + ":" + json_quote(text) + "}");
        EXPECT_TRUE(arguments.ok());
        return guard->judge({.tool_name = "any", .arguments = &*arguments});
    }

    TempFolder folder;
    std::string root;
    std::shared_ptr<Guard> guard;
};

struct Row {
    const char* text;
    bool denied;
};

TEST_F(BuiltIn, DeniesLinesThatNameWhatIsClosed) {
    for (const auto& row : {
             Row{"cat @/home/state/gate.db", true},
             Row{"cat @/alias/state/gate.db", true},
             Row{"sqlite3 @/home/state/gate.db-wal", true},
             Row{"rm -rf @/home/state", true},
             Row{"rm -rf @/home/state/", true},
             Row{"tar -C@/home/state -cf- .", true},
             Row{"cat ~/state/gate.db", true},
             Row{"cat $HOME/state/gate.db", true},
             Row{"cat \"${HOME}\"/state/gate.db", true},
             Row{"cat @/home/'sta'te/gate.db", true},
             Row{"cat @/home/st\\ate//gate.db", true},
             Row{"cat @//home/./state/./gate.db", true},
             Row{"cat @/home/work/../state/gate.db", true},
             Row{"cat ../state/gate.db", true},
             Row{"cat way-in/gate.db", true},
             Row{"ln -s ../state x", true},
             Row{"echo x>../state/x", true},
             Row{"cd ..;cat ../state/gate.db", true},
             Row{"dd if=../state/gate.db", true},
             Row{"cat a.txt", false},
             Row{"cat @/home/states/a.txt", false},
             Row{"cat ~/states/a.txt ../states/a.txt", false},
             Row{"git commit -m 'state of things'", false},
             Row{"", false},
         }) {
        for (const auto* name : {"command", "cmd"}) {
            const auto judged = judge(name, row.text);
            EXPECT_EQ(judged.verdict, row.denied ? Verdict::deny : Verdict::allow) << row.text;
            if (row.denied) {
                EXPECT_THAT(judged.reason, HasSubstr("closed to every tool; leave it to the person")) << row.text;
            }
        }
    }
}

TEST_F(BuiltIn, DeniesLinesThatDecide) {
    for (const auto& row : {
             Row{"assent approve 1k3f9", true},
             Row{"assent --db sqlite:x.db approve 1k3f9", true},
             Row{"/usr/local/bin/assent deny 1k3f9", true},
             Row{"true && ./assent edit 1 --set a=1", true},
             Row{"env -i setsid assent respond 1 --message x", true},
             Row{"sh -c 'assent resolve 1 --retry'", true},
             Row{"echo $(assent resume t)", true},
             Row{"as\"\"sent abort t", true},
             Row{"as\\\nsent approve t", true},
             Row{"nohup assent\tapprove 1 &", true},
             Row{"assent pending; assent show 1", false},
             Row{"assent history t | grep approve", false},
             Row{"cd assent && make edit", false},
             Row{"approve assent", false},
             Row{"assentive approve", false},
         }) {
        const auto judged = judge("command", row.text);
        EXPECT_EQ(judged.verdict, row.denied ? Verdict::deny : Verdict::allow) << row.text;
        if (row.denied) {
            EXPECT_THAT(judged.reason, HasSubstr("for people only")) << row.text;
        }
    }
}

TEST_F(BuiltIn, DeniesPathsThatLeadToWhatIsClosed) {
    for (const auto& row : {
             Row{"@/home/state/gate.db", true},
             Row{"@/alias/state", true},
             Row{"../state/gate.db", true},
             Row{"way-in/gate.db", true},
             Row{"/way-in/gate.db", true},
             Row{"way-in", true},
             Row{"a.txt", false},
             Row{"/a.txt", false},
             Row{"@/home/states/a.txt", false},
             Row{"", false},
         }) {
        for (const auto* name : {"path", "file_path"}) {
            EXPECT_EQ(judge(name, row.text).verdict, row.denied ? Verdict::deny : Verdict::allow) << row.text;
        }
        EXPECT_EQ(judge("content", row.text).verdict, Verdict::allow) << "what is written is no path";
    }
}

TEST_F(BuiltIn, HasAVersionThatChangesWithWhatIsClosed) {
    EXPECT_EQ(guard->name(), "built-in");
    EXPECT_FALSE(guard->can_ask());
    const BuiltInOptions options{.workspace = "/w", .home = "/h", .closed = {"/a"}};
    const auto version = [](BuiltInOptions with) { return built_in_guard(std::move(with))->version(); };
    auto more = options;
    more.closed.emplace_back("/b");
    EXPECT_EQ(version(options), version(options));
    EXPECT_NE(version(options), version(more));
}

TEST(LineWords, ArePlainAndPartedByCommands) {
    struct Plain {
        const char* line;
        const char* plain;
    };
    for (const auto& row : {
             Plain{"a 'b c' \"d\"", "a b c d"},
             Plain{"~/x a~/y =~/z", "/h/x a~/y =/h/z"},
             Plain{"$HOME/x ${HOME}y", "/h/x /hy"},
             Plain{"a//b/./c/.d/../e", "a/b/c/.d/../e"},
             Plain{"a\\\nb\\c", "abc"},
         }) {
        EXPECT_EQ(plain_line(row.line, "/h"), row.plain);
    }
    EXPECT_EQ(plain_line("~/x $HOME", ""), "~/x $HOME");
    EXPECT_THAT(line_words("a b;c|d&&e\nf=g(h)"),
                ElementsAre(ElementsAre("a", "b"), ElementsAre("c"), ElementsAre("d"), ElementsAre(), ElementsAre("e"),
                            ElementsAre("f", "g", "h"), ElementsAre()));
}

}  // namespace
}  // namespace assent
