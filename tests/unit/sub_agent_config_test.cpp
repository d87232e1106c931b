// Agents with sub-agents that cannot work are refused when they are built.
#include "support/families.hpp"

#include <gtest/gtest.h>

namespace assent {
namespace {

using namespace assent::test;

// What cannot be an agent, and why.
TEST(SubAgentConfig, WhatCannotWorkIsToldWhenTheAgentIsBuilt) {
    const auto pay = watched("pay");
    const auto other_pay = std::make_shared<WatchedTool>(ToolSpec{.name = "pay", .description = "another"});
    const auto delegating = std::make_shared<WatchedTool>(ToolSpec{.name = "mine", .delegates = true});
    const auto kept = std::make_shared<WatchedTool>(ToolSpec{.name = "grep", .keeps_permissions = true});
    const auto not_kept = watched("grep");
    const auto shell = std::make_shared<WatchedTool>(ToolSpec{.name = "shell", .runs_commands = true});
    std::vector<SubAgent> deep{{.name = "a"}};
    for (int level = 1; level < 9; ++level) deep = {{.name = "a", .sub_agents = deep}};
    const struct {
        const char* name;
        AgentOptions options;
        const char* message;
    } table[] = {
        {"no name",
         {.sub_agents = {{}}},
         R"(the sub-agent "" needs a name of 1 to 64 letters, digits, _, - or .; it is what the model calls it by)"},
        {"bad name",
         {.sub_agents = {{.name = "a", .sub_agents = {{.name = "b c"}}}}},
         R"(the sub-agent "a/b c" needs a name of 1 to 64 letters, digits, _, - or .; it is what the model calls it by)"},
        {"one name",
         {.sub_agents = {{.name = "a"}, {.name = "a"}}},
         "two sub-agents are called a; give each a name of its own"},
        {"too deep",
         {.sub_agents = deep},
         "sub-agents are nested deeper than 8 levels; let one of them do more by itself"},
        {"a tool of another kind",
         {.tools = {pay}, .sub_agents = {{.name = "a", .tools = {other_pay}}}},
         "the sub-agent a has another tool pay than an agent before it; guards know tools by their names: call it "
         "otherwise"},
        {"a tool called task",
         {.sub_agents = {{.name = "a", .tools = {watched("task")}}}},
         "a tool is called task, like the one that hands tasks to sub-agents; call it otherwise"},
        {"a tool that delegates",
         {.tools = {delegating}, .sub_agents = {{.name = "a"}}},
         "the tool mine says that it delegates; give the agent sub_agents instead"},
        {"two tools of one name",
         {.sub_agents = {{.name = "a", .tools = {pay, pay}}}},
         "the sub-agent a: two tools are called pay"},
        {"a guard that names nothing",
         {.sub_agents = {{.name = "a",
                          .tools = {pay},
                          .guards = {std::make_shared<FixedGuard>("own", Verdict::deny,
                                                                  std::set<std::string, std::less<>>{"send"})}}}},
         "the sub-agent a: the guard own names the tool send, which does not exist"},
        {"a guard that names a tool above",
         {.tools = {watched("send")},
          .sub_agents = {{.name = "a",
                          .tools = {pay},
                          .guards = {std::make_shared<FixedGuard>("own", Verdict::deny,
                                                                  std::set<std::string, std::less<>>{"send"})}}}},
         "the sub-agent a: the guard own names the tool send, which does not exist"},
        {"asks without a checkpointer",
         {.sub_agents = {{.name = "a", .tools = {pay}, .guards = {asks("pay")}}}},
         "the guard asks can ask people, so the agent needs a checkpointer or a channel"},
        {"a file tool without the permissions above",
         {.tools = {kept}, .sub_agents = {{.name = "a", .tools = {not_kept}}}},
         "the sub-agent a has the tool grep without the path permissions that it has above; give it one whose "
         "workspace "
         "has them"},
        {"a shell below tools that keep permissions",
         {.tools = {kept}, .sub_agents = {{.name = "a", .tools = {shell}}}},
         "the sub-agent a: the tool shell runs commands, which do not keep the path permissions of this agent; add a "
         "guard "
         "that asks about it or denies it, or leave it out"},
        {"a null tool",
         {.sub_agents = {{.name = "a", .tools = {nullptr}}}},
         "the sub-agent a: a tool of the agent is null"},
        {"a null guard", {.guards = {nullptr}, .sub_agents = {{.name = "a"}}}, "a guard of the agent is null"},
    };
    for (const auto& row : table) {
        auto options = row.options;
        options.model = script(end_turn);
        try {
            Agent agent(std::move(options));
            ADD_FAILURE() << row.name;
        } catch (const ConfigError& error) {
            EXPECT_STREQ(error.what(), row.message) << row.name;
        }
    }
}

TEST(SubAgentConfig, AGuardMayNameToolsOfAnyAgentBelow) {
    MemoryCheckpointer store;
    AgentOptions options{.model = script(end_turn),
                         .guards = {asks("deepest")},
                         .sub_agents = {{.name = "a",
                                         .sub_agents = {{.name = "b",
                                                         .tools = {watched("deepest")},
                                                         .guards = {asks("deepest", "own")}}}}},
                         .checkpointer = &store};
    EXPECT_NO_THROW(Agent{options});
    // One that is given to both judges once.
    options.sub_agents[0].sub_agents[0].guards = options.guards;
    EXPECT_NO_THROW(Agent{options});
}

}  // namespace
}  // namespace assent
