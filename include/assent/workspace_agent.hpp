// An agent that works on files, in one call: model, file tools, table, path permissions, sub-agents, checkpointer.
//
//   assent::Agent agent(assent::workspace_agent({
//       .model = model,
//       .files = assent::Workspace::open("shop").value(),
//       .interrupt_on = {{"delete_file", true}},
//       .permissions = {{{assent::PathOperation::write}, {"/secret/**"}, assent::PathMode::deny}},
//       .checkpointer = &store}));
//
// It is made of parts that can be had one by one: the tools of `assent/tools.hpp`, `interrupt_on`, `path_guard` and
// `SubAgent`. Table and permissions ask as one: one approval for a call, with what both allow; a denial beats both,
// and `false` in the table loosens no permission. A sub-agent has the guards of all agents above and can only add.
//
// Thread-safety: plain values.
// Errors: ConfigError, here or from `Agent`, whenever something would not be guarded as it says.
#pragma once

#include <assent/agent.hpp>
#include <assent/interrupt_on.hpp>
#include <assent/permissions.hpp>
#include <assent/tools.hpp>

#include <memory>
#include <string>
#include <vector>

namespace assent {

/// One that works for a workspace agent, on the same files.
struct WorkspaceSubAgent {
    std::string name;         ///< See SubAgent.
    std::string description;  ///< For the model that may hand it a task.
    std::string system_prompt;
    std::vector<std::shared_ptr<Tool>> tools;       ///< Beside the file tools. None: those of the agent above.
    std::shared_ptr<Model> model;                   ///< None: that of the agent above.
    InterruptOnTable interrupt_on;                  ///< Besides the tables of the agents above.
    std::vector<FilesystemPermission> permissions;  ///< Besides those of the agents above: both must allow.
    std::vector<std::shared_ptr<Middleware>> middleware;
    std::vector<WorkspaceSubAgent> sub_agents;
};

struct WorkspaceAgentOptions {
    std::shared_ptr<Model> model;
    std::string system_prompt;
    std::vector<std::shared_ptr<Tool>> tools;  ///< Beside the file tools, of which none may have the name.
    /// A folder, the thread itself (`Run::files` has them), or several as one. May have one list of permissions of its
    /// own.
    Workspace files = Workspace::in_thread();
    /// Of read_file, write_file, edit_file, delete_file, ls, glob and grep; read_file is one of them. Empty: all.
    std::vector<std::string> file_tools;
    InterruptOnTable interrupt_on;
    InterruptOnOptions interrupt_options;  ///< For the tables of sub-agents too.
    std::vector<FilesystemPermission> permissions;
    std::vector<WorkspaceSubAgent> sub_agents;
    std::vector<std::shared_ptr<Middleware>> middleware;  ///< Before the table, see AgentOptions.
    std::shared_ptr<Channel> channel;
    Checkpointer* checkpointer = nullptr;  ///< Must outlive the agent; may be null if nothing can ask.
    std::string thread_id;
};

/// What `Agent` takes; a host may set what is not among these options. Throws ConfigError: a path rule that cannot
/// be right, `permissions` for files that have some or files with several lists of them, a wrong table, a file tool
/// that does not exist or none that reads, another tool with the name of one. `Agent` throws for what is wrong with the
/// whole: a table that names no tool, something that can ask and no checkpointer or channel, permissions beside a tool
/// that runs commands and that nothing guards.
[[nodiscard]] AgentOptions workspace_agent(WorkspaceAgentOptions options);

}  // namespace assent
