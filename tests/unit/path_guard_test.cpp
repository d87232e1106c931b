// Path permissions in an agent: who is asked, and what the model is told.
#include "support/fakes.hpp"
#include "temp_folder.hpp"

#include <assent/agent.hpp>
#include <assent/memory.hpp>
#include <assent/policy.hpp>
#include <assent/tools.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assent {
namespace {

class Permitted : public testing::Test {
protected:
    Permitted() : workspace(*Workspace::open(base.path().string())) {
        workspace = workspace.with_permissions(
            {{.operations = {PathOperation::write}, .paths = {"/work/**"}, .mode = PathMode::interrupt},
             {.operations = {PathOperation::read, PathOperation::write},
              .paths = {"/secrets/**"},
              .mode = PathMode::deny}});
        base.put("secrets/key", "secret");
    }

    assent::Run prompt(const std::string& tool, const std::string& arguments, bool guarded = true) {
        const auto script = R"({"turns":[{"calls":[{"id":"c","name":")" + tool + R"(","arguments":)" + arguments +
                            R"(}]},{"text":"done"}]})";
        AgentOptions options{.model = *scripted_model("the test", script),
                             .tools = {read_file_tool(workspace), write_file_tool(workspace), custom},
                             .checkpointer = &store};
        if (guarded) options.guards.push_back(path_guard(workspace));
        agent.emplace(std::move(options));
        return agent->prompt("go");
    }

    TempFolder base;
    Workspace workspace;
    MemoryCheckpointer store;
    std::shared_ptr<test::FakeTool> custom = std::make_shared<test::FakeTool>(
        ToolSpec{.name = "convert",
                 .paths = {{.name = "sources", .use = PathUse::read}, {.name = "target", .use = PathUse::write}}});
    std::optional<Agent> agent;
};

TEST_F(Permitted, ADenialIsAnErrorThatNobodyWasAskedAbout) {
    const auto run = prompt("read_file", R"({"file_path":"/secrets/key"})");
    ASSERT_EQ(run.status, RunStatus::done);
    EXPECT_EQ(run.calls[0].outcome, OutcomeKind::denied);
    EXPECT_EQ(run.calls[0].text, "Error: permission denied for read on /secrets/key");
    EXPECT_FALSE(run.calls[0].ran);
}

TEST_F(Permitted, ASubAgentHasRulesOfItsOwnBesideThoseAbove) {
    const auto above = workspace.with_permissions(
        {{.operations = {PathOperation::write}, .paths = {"/other/**"}, .mode = PathMode::interrupt}});
    const auto script = [](const std::string& turns) {
        return *scripted_model("the test", R"({"turns":[)" + turns + "]}");
    };
    agent.emplace(AgentOptions{
        .model = script(
            R"({"calls":[{"id":"t","name":"task","arguments":{"description":"do","subagent_type":"worker"}}]},{"text":"done"})"),
        .guards = {path_guard(above)},
        .sub_agents =
            {{.name = "worker",
              .tools = {write_file_tool(workspace)},
              .guards = {path_guard(workspace)},
              .model = script(
                  R"({"calls":[{"id":"w","name":"write_file","arguments":{"file_path":"/work/a","content":"x"}}]},)"
                  R"({"text":"worked"})")}},
        .checkpointer = &store});
    auto run = agent->prompt("go");
    ASSERT_EQ(run.interrupts.size(), 1U);
    EXPECT_EQ(run.interrupts[0].guard, "permissions-2");
    run = agent->resume({{run.interrupts[0].id, approve()}});
    EXPECT_EQ(run.status, RunStatus::done);
    EXPECT_EQ(base.get("work/a"), "x");
}

TEST_F(Permitted, WhatARuleAsksAboutRunsOnceApproved) {
    auto run = prompt("write_file", R"({"file_path":"/work/a","content":"x"})");
    ASSERT_EQ(run.interrupts.size(), 1U);
    EXPECT_EQ(run.interrupts[0].guard, "permissions");
    EXPECT_EQ(run.interrupts[0].reason, "a path rule asks before write on /work/a");
    EXPECT_EQ(base.get("work/a"), "");
    run = agent->resume({{run.interrupts[0].id, approve()}});
    EXPECT_EQ(run.status, RunStatus::done);
    EXPECT_EQ(base.get("work/a"), "x");
}

TEST_F(Permitted, AnApprovalIsForThePlaceThatWasShown) {
    for (const bool swapped : {false, true}) {
        std::filesystem::create_directories(base / "work/a");
        std::filesystem::create_directories(base / "work/b");
        std::filesystem::create_directory_symlink("work/a", base / "link");
        auto run = prompt("write_file", R"({"file_path":"link/f","content":"x"})");
        ASSERT_EQ(run.interrupts.size(), 1U);
        EXPECT_EQ(run.interrupts[0].reason, "a path rule asks before write on /link/f, which is really /work/a/f");
        EXPECT_EQ(run.interrupts[0].question.details, R"({"places":["/work/a/f"]})");
        std::filesystem::remove(base / "link");
        std::filesystem::create_directory_symlink(swapped ? "work/b" : "work/a", base / "link");
        run = agent->resume({{run.interrupts[0].id, approve()}});
        EXPECT_EQ(run.calls[0].text, swapped
                                         ? "Error: a person has to be asked about 'link/f' and was not; nothing was "
                                           "done, call the tool again"
                                         : "Updated file link/f");
        EXPECT_EQ(base.get("work/a/f"), "x");
        EXPECT_FALSE(std::filesystem::exists(base / "work/b/f"));
        std::filesystem::remove(base / "link");
    }
}

TEST_F(Permitted, AnEditIsForThePlaceThatItNames) {
    std::filesystem::create_directories(base / "work/a");
    std::filesystem::create_directory_symlink("work/a", base / "link");
    struct Row {
        const char* asked;
        const char* path;
        bool written;
    };
    // Nobody was shown that the new path leads where the old one did.
    for (const auto& row : {Row{"/work/first", "/work/new", true}, Row{"/work/first", "link/new", false},
                            Row{"/work/a/new", "link/new", false}}) {
        auto run = prompt("write_file", R"({"file_path":")" + std::string(row.asked) + R"(","content":"x"})");
        ASSERT_EQ(run.interrupts.size(), 1U);
        run = agent->resume(
            {{run.interrupts[0].id, edit(R"({"file_path":")" + std::string(row.path) + R"(","content":"x"})")}});
        ASSERT_EQ(run.status, RunStatus::done);
        EXPECT_EQ(!run.calls[0].is_error, row.written) << run.calls[0].text;
    }
    EXPECT_EQ(base.get("work/new"), "x");
    EXPECT_FALSE(std::filesystem::exists(base / "work/a/new"));
}

TEST_F(Permitted, AnEditThatLeadsToADeniedPathIsDenied) {
    auto run = prompt("write_file", R"({"file_path":"/work/a","content":"x"})");
    ASSERT_EQ(run.interrupts.size(), 1U);
    run = agent->resume({{run.interrupts[0].id, edit(R"({"file_path":"/secrets/key","content":"x"})")}});
    ASSERT_EQ(run.status, RunStatus::done);
    EXPECT_EQ(run.calls[0].text, "Error: permission denied for write on /secrets/key");
    EXPECT_EQ(base.get("secrets/key"), "secret");
}

TEST_F(Permitted, WithoutTheGuardTheToolsStillRefuse) {
    auto run = prompt("write_file", R"({"file_path":"/work/a","content":"x"})", false);
    ASSERT_EQ(run.status, RunStatus::done);
    EXPECT_THAT(run.calls[0].text, testing::StartsWith("Error: a person has to be asked about '/work/a'"));
    run = prompt("read_file", R"({"file_path":"/secrets/key"})", false);
    EXPECT_EQ(run.calls[0].text, "Error: permission denied for read on /secrets/key");
}

TEST_F(Permitted, ToolsOfOthersAreCoveredByWhatTheyDeclare) {
    struct Row {
        const char* arguments;
        RunStatus status;
        const char* text;
    };
    for (const auto& row : {
             Row{R"({"sources":["a","b"],"target":"c"})", RunStatus::done, "ok convert"},
             Row{R"({"sources":["a","/secrets/key"],"target":"c"})", RunStatus::done,
                 "Error: permission denied for read on /secrets/key"},
             Row{R"({"sources":[],"target":"secrets/new"})", RunStatus::done,
                 "Error: permission denied for write on secrets/new"},
             Row{R"({"sources":"a","target":"/work/new"})", RunStatus::waiting, ""},
             Row{R"({"sources":[["a"]],"target":"c"})", RunStatus::done,
                 "Error: argument 'sources' must be a path or a list of paths"},
             Row{R"({"target":{"path":"c"}})", RunStatus::done,
                 "Error: argument 'target' must be a path or a list of paths"},
             Row{R"({"target":null})", RunStatus::done, "ok convert"},
         }) {
        const auto run = prompt("convert", row.arguments);
        EXPECT_EQ(run.status, row.status) << row.arguments;
        ASSERT_EQ(run.calls.size(), 1U);
        EXPECT_EQ(run.calls[0].text, row.text) << row.arguments;
    }
}

TEST_F(Permitted, RulesThatAskNeedAPlaceToWait) {
    AgentOptions options{.model = *scripted_model("the test", R"({"turns":[{"text":"done"}]})"),
                         .guards = {path_guard(workspace)}};
    try {
        const Agent made(std::move(options));
        ADD_FAILURE() << "an agent was made";
    } catch (const ConfigError& error) {
        EXPECT_STREQ(error.what(),
                     "the guard permissions can ask people, so the agent needs a checkpointer or a channel");
    }
}

class Beside : public Permitted {
protected:
    static std::shared_ptr<Tool> shell() {
        return std::make_shared<test::FakeTool>(ToolSpec{.name = "shell", .runs_commands = true});
    }
    static std::shared_ptr<Guard> rules(InterruptRule rule) {
        return std::make_shared<ToolInterruptMiddleware>(std::vector{std::move(rule)});
    }
    std::string built(std::vector<std::shared_ptr<Tool>> tools, std::vector<std::shared_ptr<Guard>> guards) {
        try {
            const Agent made({.model = *scripted_model("the test", R"({"turns":[{"text":"done"}]})"),
                              .tools = std::move(tools),
                              .guards = std::move(guards),
                              .checkpointer = &store});
            return "built";
        } catch (const ConfigError& error) {
            return error.what();
        }
    }
};

TEST_F(Beside, AToolThatRunsCommandsNeedsAGuardThatCoversIt) {
    const auto free = *Workspace::open(base.path().string());
    const std::string refused =
        "the tool shell runs commands, which do not keep the path permissions of this agent; add a guard that asks "
        "about it or denies it, or leave it out";
    EXPECT_EQ(built({read_file_tool(workspace), shell()}, {}), refused);
    EXPECT_EQ(built({read_file_tool(workspace), shell()}, {path_guard(workspace)}), refused);
    EXPECT_EQ(built({custom, shell()}, {path_guard(workspace)}), refused);
    EXPECT_EQ(built({read_file_tool(workspace), shell()}, {std::make_shared<test::FakeGuard>()}), refused);
    EXPECT_EQ(built({read_file_tool(workspace), shell()}, {rules({"read_file"})}), refused);
    EXPECT_EQ(built({read_file_tool(workspace), shell()}, {rules({"*", gt("amount", 1)})}), refused);
    EXPECT_EQ(built({read_file_tool(workspace), shell()}, {rules({"*"})}), "built");
    EXPECT_EQ(built({read_file_tool(workspace), shell()}, {rules({"shell", matches("command", "rm")})}), "built");
    // A policy for every tool may let any command run: one that is meant names the tool.
    const auto asks = [](const ToolCall<>&) { return PolicyDecision(AskUser{}); };
    EXPECT_EQ(built({read_file_tool(workspace), shell()}, {policy(asks)}), refused);
    EXPECT_EQ(built({read_file_tool(workspace), shell()}, {policy(asks, {.tools = {"shell"}})}), "built");
    EXPECT_EQ(built({read_file_tool(workspace), shell()}, {confirm_tools({"shell"})}), "built");
    EXPECT_EQ(built({read_file_tool(free), shell()}, {}), "built");
    EXPECT_EQ(built({read_file_tool(free.with_permissions({})), shell()}, {path_guard(free)}), "built");
    EXPECT_EQ(built({read_file_tool(workspace)}, {}), "built");
}

}  // namespace
}  // namespace assent
