// The policy style: a function of yours judges every call: run it, refuse it, or ask a person.
//
//   assent::PolicyDecision judge(const assent::ToolCall<>& call) {
//       if (call.tool_name == "ls") return assent::Approve{};
//       return assent::AskUser{.timeout = 180s, .details = {{"impact", "unknown"}}};
//   }
//
// A policy whose argument is a struct of yours (`ToolCall<BashArgs>`): see `assent/describe.hpp`. An answer, as
// JSON: {"decision": "approve" | "deny" | "edit", "edited_args": {…}, "reason": "…"}; an edit gives all arguments
// anew. What is none of these is refused, and the approval stays open.
//
// Thread-safety: a policy is called on the thread that runs the agent, which it may block; by several at once when
// several agents share it.
// Errors: a policy that throws or decides nothing denies the call. The text goes to the model, into no log.
// Source of the behaviour: `docs/coming-from/policy.md`.
#pragma once

#include <assent/arguments.hpp>
#include <assent/guard.hpp>
#include <assent/hitl.hpp>
#include <assent/middleware.hpp>
#include <assent/timeout.hpp>

#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace assent {

class Channel;

/// The call as a policy sees it. Everything lives until the policy returns.
template <class Args = Arguments>
struct ToolCall {
    std::string_view tool_name;
    std::optional<std::string_view> id;  ///< As the model gave it; data, never a key.
    Args args;                           ///< Validated, defaults filled in: those the tool would run with.
    const RunContext& context;
};

/// Run it; nobody is asked and nothing is told of it.
struct Approve {
    bool operator==(const Approve&) const = default;
};
/// Do not run it.
struct Deny {
    std::string reason;  ///< What the model is told; empty: that it was blocked.

    bool operator==(const Deny&) const = default;
};

/// What a person is shown beside the call: an object of JSON.
class PolicyDetails {
public:
    PolicyDetails() = default;
    /// Texts by name.
    PolicyDetails(std::initializer_list<std::pair<std::string_view, std::string_view>> texts);
    /// Throws std::invalid_argument if `text` is no JSON object.
    [[nodiscard]] static PolicyDetails json(std::string text);

    /// JSON text of an object; empty: none.
    [[nodiscard]] const std::string& text() const noexcept { return text_; }
    bool operator==(const PolicyDetails&) const = default;

private:
    std::string text_;
};

/// Ask a person.
struct AskUser {
    std::string prompt;  ///< What the reviewer reads.
    Timeout timeout;     ///< Not said: the channel's default.
    PolicyDetails details;

    bool operator==(const AskUser&) const = default;
};

/// A default-made one decides nothing, and so lets nothing run.
using PolicyDecision = std::variant<std::monostate, Approve, Deny, AskUser>;
using Policy = std::function<PolicyDecision(const ToolCall<>& call)>;

struct PolicyOptions {
    std::vector<std::string> tools;  ///< The tools that it judges; empty: every tool.
    std::string version = "1";       ///< See Guard::version.
    std::string name = "policy";     ///< Several with this name are numbered in list order ("policy", "policy-2").
};

/// What to do with a call, for those who have their own loop.
struct BeforeToolCallResult {
    bool block = false;                      ///< Do not run it.
    std::string reason;                      ///< Blocked: what the model is told.
    std::optional<Arguments> edited_args;    ///< Run it with these instead.
    std::optional<std::string> deny_reason;  ///< Blocked: why, as it was given.
    std::string hitl_trace;                  ///< JSON text of an object; empty: nothing to tell.

    bool operator==(const BeforeToolCallResult&) const = default;
};

/// Judges every call by a policy, and asks people where it says so.
class ApprovalPolicyMiddleware final : public Middleware, public Guard {
public:
    static constexpr std::string_view default_name = "policy";

    /// `channel`: gives its default time-out, and asks when `before_tool_call` is called; may be null inside an
    /// agent, which has a channel of its own. Throws ConfigError: no policy.
    ApprovalPolicyMiddleware(std::shared_ptr<Channel> channel, Policy policy, PolicyOptions options = {});

    /// Outside of an agent: judges, asks through the channel, and waits for the answer. Nothing: run the call as
    /// it is. Never called inside an agent, where the question is stored and the run can end. Throws ConfigError if
    /// a person must be asked and there is no channel.
    std::optional<BeforeToolCallResult> before_tool_call(const ToolCall<>& call);

    [[nodiscard]] std::string name() const override { return options_.name; }
    [[nodiscard]] std::string version() const override { return options_.version; }
    [[nodiscard]] bool can_ask() const override { return true; }
    [[nodiscard]] std::vector<std::string> tools_named() const override { return options_.tools; }
    [[nodiscard]] Judgement judge(const GuardedCall& call) override;

private:
    [[nodiscard]] bool judges(std::string_view tool) const;

    std::shared_ptr<Channel> channel_;
    Policy policy_;
    PolicyOptions options_;
};

[[nodiscard]] std::shared_ptr<ApprovalPolicyMiddleware> policy(Policy policy, PolicyOptions options = {});
/// Every call of these tools asks a person; without names, every call of any tool.
[[nodiscard]] std::shared_ptr<ApprovalPolicyMiddleware> confirm_tools(std::vector<std::string> tools,
                                                                      AskUser question = {});

}  // namespace assent
