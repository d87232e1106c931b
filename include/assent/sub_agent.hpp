// Agents that an agent may hand a task to.
//
// An agent with sub-agents has one more tool, `task`, with the arguments `description` and `subagent_type`. Its
// calls are judged, asked about and answered like any other. One that may run is delegated: a thread of its own,
// THREAD/TURN.POSITION, is prompted with the description, and its final text is the call's result. That thread is
// rows in the same store: it survives the process, waits for people without holding anything, and its approvals
// are listed and answered at the root (`Approval::parent` says for whom it works).
//
// Every guard of an agent judges every call of every agent below it. A sub-agent's own guards come on top:
// nothing of it loosens anything. Middleware that is no guard is not handed down.
//
// Thread-safety: plain values.
#pragma once

#include <assent/guard.hpp>
#include <assent/middleware.hpp>
#include <assent/model.hpp>
#include <assent/tool.hpp>

#include <memory>
#include <string>
#include <vector>

namespace assent {

struct SubAgent {
    std::string name;         ///< What `subagent_type` says: letters, digits, `_`, `-`, `.`; 1 to 64 characters.
    std::string description;  ///< For the model that may hand it a task.
    std::string system_prompt;
    std::vector<std::shared_ptr<Tool>> tools;  ///< None: those of the agent above.
    /// In order; those that are guards too judge, after all guards of the agents above.
    std::vector<std::shared_ptr<Middleware>> middleware;
    std::vector<std::shared_ptr<Guard>> guards;
    std::shared_ptr<Model> model;      ///< None: that of the agent above, which is then used by several threads.
    std::vector<SubAgent> sub_agents;  ///< Its own, to which it may hand tasks. At most 8 levels.
};

}  // namespace assent
