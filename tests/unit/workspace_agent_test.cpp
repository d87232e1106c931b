// An agent that is wired in one call, and those that work for it.
#include "support/families.hpp"
#include "temp_folder.hpp"

#include <assent/workspace_agent.hpp>

#include <gmock/gmock.h>

namespace assent {
namespace {

using namespace assent::test;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;
using testing::ThrowsMessage;

FilesystemPermission rule(PathMode mode, std::string path) {
    return {.operations = {PathOperation::read, PathOperation::write}, .paths = {std::move(path)}, .mode = mode};
}
std::string write(const std::string& path) {
    return call_turn("write_file", R"({"file_path":")" + path + R"(","content":"x"})");
}
std::vector<std::string> names(const std::vector<std::shared_ptr<Tool>>& tools) {
    std::vector<std::string> all;
    for (const auto& tool : tools) all.push_back(tool->spec().name);
    return all;
}

std::vector<std::string> guards_of(const Run& run) {
    std::vector<std::string> guards;
    for (const auto& open : run.interrupts) guards.push_back(open.guard);
    return guards;
}

class WorkspaceAgent : public FamilyOverStore {
protected:
    Agent made(WorkspaceAgentOptions options, const std::string& turns) {
        options.checkpointer = store_.get();
        options_ = workspace_agent(std::move(options));
        return root(turns + "," + end_turn);
    }
    WorkspaceSubAgent worker(const std::string& turns) {
        WorkspaceSubAgent sub;
        sub.name = "worker";
        sub.model = script(turns + R"(,{"text":"worked"})");
        return sub;
    }
    static constexpr auto approve_one = R"({"decisions":[{"type":"approve"}]})";
};

INSTANTIATE_TEST_SUITE_P(Stores, WorkspaceAgent, testing::ValuesIn(store_kinds()), store_name);

TEST_P(WorkspaceAgent, KeepsItsFilesInTheThreadUnlessToldOtherwise) {
    auto agent = made({}, write("/notes/a"));
    const auto run = agent.prompt("go");
    EXPECT_EQ(run.status, RunStatus::done) << "nothing asks that nobody said";
    EXPECT_THAT(run.files, ElementsAre(Pair("/notes/a", "x")));
    EXPECT_THAT(names(options_.tools),
                ElementsAre("read_file", "write_file", "edit_file", "delete_file", "ls", "glob", "grep"));
    EXPECT_TRUE(options_.guards.empty() && options_.middleware.empty());
}

TEST_P(WorkspaceAgent, HasTheTableAndTheRulesAsOneGuard) {
    const TempFolder folder;
    WorkspaceAgentOptions options;
    options.files = *Workspace::open(folder.path().string());
    options.interrupt_on = {{"write_file", InterruptOnConfig{.allowed_decisions = {"approve", "reject"}}}};
    options.permissions = {rule(PathMode::interrupt, "/secret/**")};
    auto agent = made(std::move(options), write("/secret/a"));
    auto run = agent.prompt("go");
    ASSERT_THAT(guards_of(run), ElementsAre("interrupt_on"));
    EXPECT_THAT(run.interrupts[0].question.allowed, ElementsAre(DecisionKind::approve, DecisionKind::deny));
    run = agent.resume(approve_one);
    EXPECT_EQ(run.status, RunStatus::done);
    EXPECT_EQ(folder.get("secret/a"), "x");
}

TEST_P(WorkspaceAgent, RulesAloneAskInTheFormOfATable) {
    WorkspaceAgentOptions options;
    options.files = Workspace::in_thread().with_permissions({rule(PathMode::interrupt, "/secret/**")});
    options.interrupt_options.reject_text = RejectText::reason;
    auto agent = made(std::move(options), write("/secret/a"));
    ASSERT_THAT(guards_of(agent.prompt("go")), ElementsAre("permissions"));
    const auto run = agent.resume(R"({"decisions":[{"type":"reject","message":"not there"}]})");
    EXPECT_THAT(results(agent), ElementsAre("not there"));
    EXPECT_TRUE(run.files.empty());
}

TEST_P(WorkspaceAgent, ADenialNeedsNeitherPersonNorCheckpointer) {
    WorkspaceAgentOptions options;
    options.model = script(write("/secret/a") + "," + end_turn);
    options.permissions = {rule(PathMode::deny, "/secret/**")};
    Agent agent(workspace_agent(std::move(options)));
    EXPECT_EQ(agent.prompt("go").status, RunStatus::done);
    EXPECT_THAT(results(agent), ElementsAre("Error: permission denied for write on /secret/a"));
}

TEST_P(WorkspaceAgent, MayHaveSomeOfTheFileToolsAndOthersBesideThem) {
    WorkspaceAgentOptions options;
    options.file_tools = {"ls", "read_file"};
    options.tools = {watched("fetch")};
    auto agent = made(std::move(options), write("/a"));
    EXPECT_THAT(names(options_.tools), ElementsAre("read_file", "ls", "fetch"));
    (void)agent.prompt("go");
    EXPECT_THAT(results(agent), ElementsAre(HasSubstr("there is no tool called write_file")));
}

TEST_P(WorkspaceAgent, OneThatWorksForItHasItsGuardsAndItsFiles) {
    WorkspaceAgentOptions options;
    options.interrupt_on = {{"write_file", true}};
    options.permissions = {rule(PathMode::interrupt, "/secret/**"), rule(PathMode::deny, "/keys/**")};
    options.sub_agents = {worker(write("/secret/a") + "," + write("/keys/a"))};
    auto agent = made(std::move(options), task_turn("worker"));
    auto run = agent.prompt("go");
    ASSERT_THAT(guards_of(run), ElementsAre("interrupt_on")) << "one question, as in the agent itself";
    EXPECT_EQ(run.interrupts[0].question.details, R"({"places":["/secret/a"]})");
    EXPECT_THAT(run.interrupts[0].parent, ElementsAre("t"));
    run = agent.resume({{run.interrupts[0].id, approve()}});
    EXPECT_EQ(run.status, RunStatus::done);
    EXPECT_EQ(run.text, "all done");
    EXPECT_EQ(count("t/1.0", "claimed"), 1) << "the second write was denied";
}

TEST_P(WorkspaceAgent, OneThatWorksForItCanOnlyAdd) {
    const TempFolder folder;
    WorkspaceAgentOptions options;
    options.files = *Workspace::open(folder.path().string());
    options.interrupt_on = {{"delete_file", true}};
    options.permissions = {rule(PathMode::deny, "/keys/**"), rule(PathMode::interrupt, "/secret/**")};
    auto sub = worker(write("/keys/a") + "," + write("/drafts/a") + "," + write("/secret/a") + "," + write("/free/a"));
    sub.interrupt_on = {{"write_file", false}};
    // What is allowed here was denied above, and stays denied.
    sub.permissions = {rule(PathMode::allow, "/keys/**"), rule(PathMode::interrupt, "/drafts/**")};
    options.sub_agents = {std::move(sub)};
    auto agent = made(std::move(options), task_turn("worker"));
    auto run = agent.prompt("go");
    ASSERT_THAT(guards_of(run), ElementsAre("permissions-2")) << "its own rules ask";
    EXPECT_EQ(run.interrupts[0].question.style, Style::table);
    run = agent.resume({{run.interrupts[0].id, approve()}});
    EXPECT_EQ(folder.get("drafts/a"), "x") << "the file tool knows whose rules were approved";
    ASSERT_THAT(guards_of(run), ElementsAre("permissions")) << "those above ask";
    run = agent.resume({{run.interrupts[0].id, approve()}});
    EXPECT_EQ(run.status, RunStatus::done);
    EXPECT_EQ(folder.get("secret/a"), "x");
    EXPECT_EQ(folder.get("free/a"), "x");
    EXPECT_FALSE(std::filesystem::exists(folder / "keys"));
}

TEST_P(WorkspaceAgent, OneWithRulesAloneWorksForOneWithout) {
    WorkspaceAgentOptions options;
    auto sub = worker(write("/keys/a"));
    sub.permissions = {rule(PathMode::deny, "/keys/**")};
    sub.tools = {watched("fetch")};
    options.tools = {watched("look")};
    options.sub_agents = {std::move(sub)};
    auto agent = made(std::move(options), task_turn("worker") + "," + write("/keys/b"));
    EXPECT_THAT(names(options_.sub_agents[0].tools), testing::Contains("fetch"));
    EXPECT_THAT(names(options_.sub_agents[0].tools), testing::Not(testing::Contains("look")));
    EXPECT_THAT(agent.prompt("go").files, ElementsAre(Pair("/keys/b", "x")));
}

// What cannot be right is told when it is made, by `workspace_agent` or by `Agent`.
struct WrongAgent {
    const char* name;
    std::function<void(WorkspaceAgentOptions&)> wrong;
    const char* text;
    bool without_checkpointer = false;
};

class WrongWorkspaceAgent : public testing::TestWithParam<WrongAgent> {};

INSTANTIATE_TEST_SUITE_P(
    Each, WrongWorkspaceAgent,
    testing::Values(
        WrongAgent{"NoModel", [](auto& options) { options.model = nullptr; }, "model"},
        WrongAgent{"RelativePath", [](auto& options) { options.permissions = {rule(PathMode::deny, "secret/**")}; },
                   "secret/**"},
        WrongAgent{"DotDot", [](auto& options) { options.permissions = {rule(PathMode::deny, "/a/../b/**")}; }, ".."},
        WrongAgent{"Tilde", [](auto& options) { options.permissions = {rule(PathMode::deny, "/~/a")}; }, "~"},
        WrongAgent{"TwoSetsOfRules",
                   [](auto& options) {
                       options.files = options.files.with_permissions({rule(PathMode::deny, "/a")});
                       options.permissions = {rule(PathMode::deny, "/b")};
                   },
                   "the files of the agent have permissions already; give them in one place"},
        WrongAgent{"NoDecisions", [](auto& options) { options.interrupt_on = {{"write_file", InterruptOnConfig{}}}; },
                   "the tool write_file has no allowed_decisions"},
        WrongAgent{
            "UnknownDecision",
            [](auto& options) { options.interrupt_on = {{"ls", InterruptOnConfig{.allowed_decisions = {"aprove"}}}}; },
            "\"aprove\", which is no decision"},
        WrongAgent{"UnknownTool", [](auto& options) { options.interrupt_on = {{"wirte_file", true}}; },
                   "names the tool wirte_file, which does not exist"},
        WrongAgent{"ToolThatIsLeftOut",
                   [](auto& options) {
                       options.file_tools = {"read_file"};
                       options.interrupt_on = {{"write_file", true}};
                   },
                   "names the tool write_file, which does not exist"},
        WrongAgent{"UnknownFileTool", [](auto& options) { options.file_tools = {"read_file", "mv"}; },
                   "there is no file tool \"mv\"; take some of read_file"},
        WrongAgent{"NothingReads", [](auto& options) { options.file_tools = {"write_file"}; },
                   "file_tools leaves out read_file"},
        WrongAgent{"ToolOfTheSameName", [](auto& options) { options.tools = {watched("write_file")}; },
                   "a tool is called write_file, like a file tool; take that with file_tools, or call it otherwise"},
        WrongAgent{"ToolThatWasLeftOut",
                   [](auto& options) {
                       options.file_tools = {"read_file"};
                       options.tools = {grep_tool(Workspace::in_thread())};
                   },
                   "a tool is called grep, like a file tool"},
        WrongAgent{
            "ToolThatWasLeftOutBelow",
            [](auto& options) { options.sub_agents = {{.name = "a", .tools = {grep_tool(Workspace::in_thread())}}}; },
            "a tool is called grep, like a file tool"},
        WrongAgent{"PermissionsUponPermissions",
                   [](auto& options) {
                       options.files = Workspace::in_thread()
                                           .with_permissions({rule(PathMode::deny, "/a")})
                                           .with_further_permissions({rule(PathMode::deny, "/b")});
                   },
                   "the files of the agent have permissions upon permissions; give one list of them"},
        WrongAgent{"TableWithoutCheckpointer", [](auto& options) { options.interrupt_on = {{"write_file", true}}; },
                   "the guard interrupt_on can ask people, so the agent needs a checkpointer or a channel", true},
        WrongAgent{"RuleWithoutCheckpointer",
                   [](auto& options) { options.permissions = {rule(PathMode::interrupt, "/a")}; },
                   "the guard permissions can ask people, so the agent needs a checkpointer or a channel", true},
        WrongAgent{"RuleOfASubAgentWithoutCheckpointer",
                   [](auto& options) {
                       WorkspaceSubAgent sub;
                       sub.name = "worker";
                       sub.permissions = {rule(PathMode::interrupt, "/a")};
                       options.sub_agents = {std::move(sub)};
                   },
                   "the guard permissions can ask people, so the agent needs a checkpointer or a channel", true},
        WrongAgent{"CommandsBesideRules",
                   [](auto& options) {
                       options.permissions = {rule(PathMode::deny, "/a")};
                       options.tools = {std::make_shared<FakeTool>(ToolSpec{.name = "shell", .runs_commands = true})};
                   },
                   "the tool shell runs commands, which do not keep the path permissions"},
        WrongAgent{"CommandsBesideRulesOfASubAgent",
                   [](auto& options) {
                       WorkspaceSubAgent sub;
                       sub.name = "worker";
                       sub.permissions = {rule(PathMode::deny, "/a")};
                       sub.tools = {std::make_shared<FakeTool>(ToolSpec{.name = "shell", .runs_commands = true})};
                       options.sub_agents = {std::move(sub)};
                   },
                   "the sub-agent worker: the tool shell runs commands"},
        WrongAgent{"WrongRuleOfASubAgent",
                   [](auto& options) {
                       WorkspaceSubAgent sub;
                       sub.name = "worker";
                       sub.permissions = {rule(PathMode::deny, "a")};
                       options.sub_agents = {std::move(sub)};
                   },
                   "Permission path must start with '/': "}),
    [](const auto& row) { return row.param.name; });

TEST_P(WrongWorkspaceAgent, IsNotMade) {
    const auto make = [] {
        WorkspaceAgentOptions options;
        options.model = script(end_turn);
        MemoryCheckpointer store;
        if (!GetParam().without_checkpointer) options.checkpointer = &store;
        GetParam().wrong(options);
        (void)Agent(workspace_agent(std::move(options)));
    };
    EXPECT_THAT(make, ThrowsMessage<ConfigError>(HasSubstr(GetParam().text)));
}

}  // namespace
}  // namespace assent
