// What happened in a thread, as stored. Append-only: names and meanings never change; a new meaning
// is a new event or a new encoding version.
#pragma once

#include "journal/thread_files.hpp"

#include <assent/approval.hpp>
#include <assent/model.hpp>
#include <assent/verdict.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace assent::journal {

/// A call by its place: turn of the model in the thread (from 1), position in the turn (from 0).
struct CallRef {
    int turn = 0;
    int position = 0;
    bool operator==(const CallRef&) const = default;
};

/// A proposed call as recorded. `arguments_hex` holds the model's bytes when they are no UTF-8.
struct RecordedCall {
    std::string tool;
    std::optional<std::string> id;
    std::string arguments;
    std::string arguments_hex;
    bool operator==(const RecordedCall&) const = default;
};

struct GuardVerdict {
    std::string guard;
    std::string version;
    Verdict verdict = Verdict::deny;
    std::string reason;
    bool operator==(const GuardVerdict&) const = default;
};

/// A tool as known when a thread was prompted: an edit from outside may name it.
struct KnownTool {
    std::string name;
    std::string schema;  ///< SHA-256 of its schema text, hex; empty: any object.
    bool operator==(const KnownTool&) const = default;
};

/// What a thread runs with, recorded at its first prompt and on change.
struct Configured {
    std::string settings;  ///< The host's own, JSON text of an object or empty.
    std::vector<KnownTool> tools;
    bool operator==(const Configured&) const = default;
};

struct UserMessage {
    std::string text;
    std::string by;
    std::string key;  ///< Of the prompt, to tell it from the same given again; may be empty.
    bool operator==(const UserMessage&) const = default;
};

/// A prompt that was given while another one is worked on. It joins the conversation when the turn in hand
/// has ended; after an abort never.
struct Queued {
    std::string text;
    std::string by;
    std::string key;
    bool operator==(const Queued&) const = default;
};

struct ModelSaid {
    int turn = 0;
    std::string text;
    std::vector<RecordedCall> calls;
    std::string stop_reason;
    std::string provider_content;
    std::int64_t input_tokens = 0;
    std::int64_t output_tokens = 0;
    bool operator==(const ModelSaid&) const = default;
};

/// The arguments a call would run with: validated, defaults filled in, replacements applied.
struct Prepared {
    CallRef call;
    std::string arguments;
    bool operator==(const Prepared&) const = default;
};

/// A call that ended before it could be judged: malformed, unknown tool, over a limit.
struct Refused {
    CallRef call;
    std::string text;
    bool operator==(const Refused&) const = default;
};

struct Judged {
    CallRef call;
    Verdict verdict = Verdict::deny;
    std::vector<GuardVerdict> guards;
    std::string text;             ///< On a denial: what the model is told.
    Style style = Style::assent;  ///< On a denial: of the guard that denies.
    bool failed = false;          ///< On a denial: the guard could not judge.
    bool operator==(const Judged&) const = default;
};

/// A guard as it was when it judged.
struct GuardVersion {
    std::string guard;
    std::string version;
    bool operator==(const GuardVersion&) const = default;
};

/// A question to a person. `number` is given by the store and not part of the encoding.
struct Asked {
    std::int64_t number = 0;
    CallRef call;
    int ask_no = 0;
    ApprovalKind kind = ApprovalKind::approve;
    std::string tool;
    std::string arguments;
    std::string guard;
    std::string guard_version;
    std::string reason;
    Question question;
    std::string binding;  ///< SHA-256 of everything a decision is bound to, hex.
    std::string schema;   ///< SHA-256 of the tool's schema text, hex; empty: any object.
    std::optional<std::int64_t> deadline;
    std::optional<std::int64_t> use_by_ms;  ///< How long an approval may be used after the answer.
    std::string attempt;                    ///< Kind unknown: the attempt in doubt.
    bool idempotent = false;
    bool answers_call = false;       ///< The answer is the call's result: nothing runs.
    std::vector<GuardVersion> also;  ///< Further guards whose question this is: the answer holds for them too.
    bool operator==(const Asked&) const = default;
};

/// Whether this guard asks it.
[[nodiscard]] bool asks_for(const Asked& asked, std::string_view guard) noexcept;

/// A person's answer. `arguments` of an edit are complete: already merged and checked.
struct Answered {
    std::int64_t number = 0;
    CallRef call;
    DecisionKind decision = DecisionKind::deny;
    std::string tool;
    std::string arguments;
    std::string message;
    std::string text;  ///< Deny and respond: what the model is told.
    std::string by;
    std::string signed_in;
    std::string shown;          ///< SHA-256 of what the person decided on (the binding), hex.
    std::string answer;         ///< SHA-256 of the decision's content, to tell the same answer again.
    bool empty_reason = false;  ///< Deny: an empty reason was given, which is not the same as none.
    bool operator==(const Answered&) const = default;
};

/// The process that started calls, as far as it can be told apart from every other.
struct ProcessMark {
    std::string host;
    std::string boot;
    std::int64_t pid = 0;
    std::int64_t started = 0;  ///< Start time in the kernel's clock ticks.
    bool operator==(const ProcessMark&) const = default;
};

struct Start {
    CallRef call;
    std::string attempt;
    std::string arguments_sha256;
    bool operator==(const Start&) const = default;
};

struct Claimed {
    std::vector<Start> starts;
    ProcessMark process;
    bool operator==(const Claimed&) const = default;
};

/// Claimed, and provably not started.
struct Released {
    std::string attempt;
    std::string reason;
    bool operator==(const Released&) const = default;
};

struct Finished {
    std::string attempt;
    OutcomeKind outcome = OutcomeKind::failed;
    ToolResult result;
    bool operator==(const Finished&) const = default;
};

/// The process of an attempt is gone and nobody knows how the call ended.
struct Doubted {
    std::string attempt;
    std::string reason;
    bool may_run_again = false;  ///< The tool is idempotent: no person needs to decide.
    /// Its own process said so: the start has come back, so a living process does not forbid another.
    bool returned = false;
    bool operator==(const Doubted&) const = default;
};

/// An outcome that came after the call was doubted. Changes nothing decided since.
struct LateFinished {
    std::string attempt;
    OutcomeKind outcome = OutcomeKind::failed;
    ToolResult result;
    bool operator==(const LateFinished&) const = default;
};

/// A child thread does the call: no body is started. Its id follows from the call, so a process that comes
/// after a crash makes the same child.
struct Delegated {
    CallRef call;
    std::string child;
    bool operator==(const Delegated&) const = default;
};

/// How the child thread of a delegated call ended: the call's result, and what it used of the run's limits.
struct ChildFinished {
    std::string child;
    OutcomeKind outcome = OutcomeKind::failed;
    ToolResult result;
    int turns_used = 0;  ///< Model turns of the child and of all below it.
    int calls_used = 0;
    bool operator==(const ChildFinished&) const = default;
};

/// What a start has changed in the files of the thread; stands before the outcome, in the same row.
struct FilesChanged {
    std::string attempt;
    std::vector<FileChange> changes;
    bool operator==(const FilesChanged&) const = default;
};

struct Resolved {
    std::int64_t number = 0;
    CallRef call;
    Resolution how = Resolution::fail;
    std::string text;
    std::string by;
    std::string signed_in;
    bool operator==(const Resolved&) const = default;
};

struct Withdrawn {
    std::int64_t number = 0;
    std::string reason;
    std::string text;  ///< What the model is told when this ends the call; empty: the call goes on.
    std::string by;    ///< Who cancelled it.
    bool operator==(const Withdrawn&) const = default;
};

struct TimedOut {
    std::int64_t number = 0;
    std::string text;
    bool operator==(const TimedOut&) const = default;
};

struct Aborted {
    std::string reason;
    std::string by;
    bool operator==(const Aborted&) const = default;
};

struct RunFinished {
    bool ok = false;
    std::string failure_kind;
    std::string message;
    bool operator==(const RunFinished&) const = default;
};

/// What happened up to the event with this number was removed. Its headers stay, and with them the chain.
struct Pruned {
    std::int64_t upto = 0;
    std::string by;
    bool operator==(const Pruned&) const = default;
};

using Event = std::variant<Configured, UserMessage, Queued, ModelSaid, Prepared, Refused, Judged, Asked, Answered,
                           Claimed, Released, Finished, Doubted, LateFinished, Delegated, ChildFinished, Resolved,
                           Withdrawn, TimedOut, Aborted, RunFinished, FilesChanged, Pruned>;

/// The stored name of an event's kind, such as "model_turn".
[[nodiscard]] std::string_view kind_of(const Event& event) noexcept;

}  // namespace assent::journal
