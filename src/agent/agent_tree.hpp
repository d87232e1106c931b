// An agent and its sub-agents, each with all that its gate and its loop need. Made and checked once, when the
// agent is built.
#pragma once

#include <assent/agent.hpp>

#include <memory>
#include <string>
#include <vector>

namespace assent {

struct AgentNode {
    std::string name;      ///< Empty: the root. Else with those above it, such as "research/search".
    AgentOptions options;  ///< Complete, but for the thread's id of a sub-agent. `sub_agents` is empty: see `below`.
    std::vector<std::vector<std::shared_ptr<Guard>>> inherited;  ///< The guards of each agent above.
    std::shared_ptr<Channel> asks_on;  ///< The root's channel: hosts hear there of what sub-agents ask too.
    bool paths_kept_above = false;     ///< Tools of agents above keep path permissions.
    std::vector<std::string> tools_below;
    std::vector<std::string> types;  ///< What `subagent_type` says, in the order of `below`.
    std::vector<AgentNode> below;
};

/// Throws ConfigError; of a sub-agent it says which.
[[nodiscard]] AgentNode agent_tree(AgentOptions options);

[[nodiscard]] GateOptions gate_options(const AgentNode& agent, const std::string& thread_id);

/// What a call of `task` says.
struct Task {
    const AgentNode* agent = nullptr;
    std::string description;
};
/// Failure kind `refused`: the agent has no such sub-agent (any more).
[[nodiscard]] Result<Task> task_of(const AgentNode& agent, const Delegation& call);

}  // namespace assent
