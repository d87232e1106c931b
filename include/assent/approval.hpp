// Questions to people and their answers.
//
// Thread-safety: plain values.
#pragma once

#include <assent/clock.hpp>
#include <assent/verdict.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assent {

/// What is asked. Stored and sent over the wire by name: never rename.
enum class ApprovalKind : std::uint8_t {
    approve,  ///< May this call run?
    unknown,  ///< This call was started and its process died: how did it end?
};

/// Where an approval stands. Sent over the wire by name: never rename.
enum class ApprovalState : std::uint8_t {
    open,
    approved,
    denied,
    edited,
    answered,  ///< A person gave the result instead.
    resolved,  ///< Kind unknown only.
    timed_out,
    withdrawn,  ///< Another answer or verdict made it moot.
    aborted,    ///< The thread was aborted.
};

/// How a person ends an unknown outcome. Stored by name: never rename.
enum class Resolution : std::uint8_t { done, retry, fail };

[[nodiscard]] std::string_view to_string(ApprovalKind kind) noexcept;
[[nodiscard]] std::string_view to_string(ApprovalState state) noexcept;
[[nodiscard]] std::string_view to_string(Resolution how) noexcept;

/// One question about one call, from one guard.
struct Approval {
    std::string id;  ///< A number in base 32 with check letters; unique for ever.
    std::int64_t number = 0;
    ApprovalKind kind = ApprovalKind::approve;
    std::string thread;
    int turn = 0;
    int position = 0;
    int ask_no = 0;
    std::string tool;
    std::optional<std::string> tool_call_id;
    std::string arguments;      ///< JSON text: as they will run.
    std::string arguments_raw;  ///< The model's bytes when they differ; else empty.
    std::string digest;         ///< What a decision is bound to, hex.
    std::string guard;
    std::string guard_version;
    std::string reason;
    Question question;
    std::string schema;  ///< SHA-256 of the stored schema text; empty: any object.
    ApprovalState state = ApprovalState::open;
    UnixMillis asked_at = 0;
    std::optional<UnixMillis> deadline;
    std::optional<UnixMillis> use_by;       ///< Set when approved.
    std::optional<std::int64_t> use_by_ms;  ///< How long after the answer it may be used; none: for ever.
    // Set when decided.
    std::optional<DecisionKind> decision;
    std::string decided_by;
    std::optional<UnixMillis> decided_at;
    // Kind unknown: what is known of the process that started the call.
    std::string attempt;
    std::string process;

    bool operator==(const Approval&) const = default;
};

/// A person's answer.
struct Decision {
    DecisionKind kind = DecisionKind::deny;
    std::optional<std::string> arguments;  ///< Edit: JSON text of an object.
    EditMode mode = EditMode::replace;     ///< Edit: rules-style approvals always merge.
    std::string tool;                      ///< Edit: another tool of the agent; empty: the same.
    std::string message;                   ///< Deny: the reason. Respond: the result.
    std::string digest;                    ///< When given, must be the approval's digest.

    bool operator==(const Decision&) const = default;
};

[[nodiscard]] Decision approve();
[[nodiscard]] Decision deny(std::string reason = {});
/// `arguments`: JSON text of an object, all arguments.
[[nodiscard]] Decision edit(std::string arguments);
/// `changes`: JSON text of an object whose keys are laid over the shown arguments.
[[nodiscard]] Decision edit_keys(std::string changes);
[[nodiscard]] Decision respond(std::string text);

/// Why an answer was refused. Nothing of it is stored and the approval stays open.
enum class Refusal : std::uint8_t {
    other,              ///< The message says it.
    bad_shape,          ///< It has not the form of a decision.
    missing_decisions,  ///< A whole answer without `decisions`.
    count_mismatch,     ///< A list of decisions that is not as long as the list of calls that wait.
    not_allowed,        ///< The approval does not take this kind of decision.
    unknown_tool,       ///< An edit names a tool that the agent does not have.
    bad_args,           ///< The edited arguments do not fit the tool.
};

/// Who answers, and how they were signed in ("terminal", "library", …).
struct Reviewer {
    std::string name;
    std::string signed_in = "library";

    bool operator==(const Reviewer&) const = default;
};

}  // namespace assent
