// A guard judges a call before it runs: the seam for rules, policies, tables and path permissions.
//
// A guard sees the arguments the tool would run with. It changes nothing. What it throws counts as a
// denial. Guards of one agent are all asked; the strictest verdict wins.
//
// Thread-safety: `judge` is called from one thread at a time per thread of conversation, but from
// several when several agents share a guard, and when an agent has sub-agents: they run at once.
#pragma once

#include <assent/arguments.hpp>
#include <assent/model.hpp>
#include <assent/verdict.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace assent {

class ThreadFiles;
class Tool;

/// The run in which a call was proposed, for guards that look at more than the call.
struct RunContext {
    std::string_view system_prompt;
    std::span<const std::shared_ptr<Tool>> tools;
    /// The conversation; its last message is the one that proposed the call. Reads it from the store, so the cost
    /// grows with it. Failure kind `database`. No function: there is no conversation.
    std::function<Result<std::vector<Message>>()> messages;
    /// The run is to end: a guard that takes long returns or throws. What it says then counts for nothing.
    std::stop_token stop;
    /// How long a question may wait whose guard does not say, in milliseconds; none: for ever.
    std::optional<std::int64_t> timeout_ms = std::nullopt;

    /// The message that proposed the call. Failure kinds `database`, `not_found`.
    [[nodiscard]] Result<Message> assistant_message() const;
};

/// The call as a guard sees it. Everything lives until `judge` returns.
struct GuardedCall {
    std::string_view thread;
    int turn = 0;      ///< Turn of the model in the thread, from 1.
    int position = 0;  ///< Position of the call in its turn, from 0.
    const Tool* tool = nullptr;
    std::string_view tool_name;
    std::optional<std::string_view> tool_call_id;  ///< As the model gave it; data, never a key.
    const Arguments* arguments = nullptr;
    const RunContext* run = nullptr;  ///< None: judged outside of a run.
    ThreadFiles* files = nullptr;     ///< Those of the thread, only to look at; null: not known.
};

class Guard {
public:
    virtual ~Guard() = default;

    /// A short name that stays the same, such as "rules". Part of what an approval is bound to.
    [[nodiscard]] virtual std::string name() const = 0;
    /// Raise it with each change of meaning: calls that wait are then judged again.
    [[nodiscard]] virtual std::string version() const { return "1"; }
    /// True if `judge` can ever return `ask`. Such a guard needs a checkpointer.
    [[nodiscard]] virtual bool can_ask() const = 0;
    /// Names of tools this guard speaks of; one that no tool has is an error when an agent is built.
    [[nodiscard]] virtual std::vector<std::string> tools_named() const { return {}; }
    /// Whether calls of this tool do not run unless the guard lets them: true for the tools it names, override
    /// it in a guard that judges all. Beside path permissions a tool that runs commands needs such a guard.
    [[nodiscard]] virtual bool covers(std::string_view tool) const {
        for (const auto& name : tools_named()) {
            if (name == tool) return true;
        }
        return false;
    }
    /// The path permissions that it judges by, as a short text that is another one for others; commands do not keep
    /// them. Empty: none. Such a guard and a table (`interrupt_on`) of one agent ask as one: one approval for a call.
    [[nodiscard]] virtual std::string path_rules() const { return {}; }
    /// The verdict on one call. An exception is a denial.
    [[nodiscard]] virtual Judgement judge(const GuardedCall& call) = 0;
};

}  // namespace assent
