// The gate: propose → judge → ask → answer → claim → run → finish, for one thread of conversation.
//
// `Agent` drives it; those who have a loop of their own drive it themselves (`examples/gate_only.cpp`).
// Every step is one durable append before its effect is told to anybody.
//
// Thread-safety: one thread at a time, but for `finish`, which may be called from the threads that ran
// the tools. Errors: Failure kinds database (the store), leased (another live process runs the thread,
// or has taken it), waiting (a new prompt while calls are open), unknown_thread.
#pragma once

#include <assent/approvals.hpp>
#include <assent/checkpointer.hpp>
#include <assent/guard.hpp>
#include <assent/middleware.hpp>
#include <assent/model.hpp>
#include <assent/tool.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace assent {

struct GateOptions {
    Checkpointer* checkpointer = nullptr;  ///< Required; must outlive the gate.
    std::string thread_id;                 ///< Required.
    std::vector<std::shared_ptr<Tool>> tools;
    /// In order. Those that are guards too judge instead of replacing.
    std::vector<std::shared_ptr<Middleware>> middleware;
    std::vector<std::shared_ptr<Guard>> guards;  ///< Further guards.
    /// Guards of the agents that this thread works for, a list for each agent. They judge first, and may name tools
    /// that are not here.
    std::vector<std::vector<std::shared_ptr<Guard>>> inherited;
    /// Names of further tools that guards may speak of: those of agents that work for this thread.
    std::vector<std::string> tools_below;
    /// Tools of agents above keep path permissions, so that commands need a guard here too.
    bool paths_kept_above = false;
    /// The thread does a delegated call of another one; only then its id ends like one, `/TURN.POSITION`.
    bool child = false;
    JsonLimits json_limits;
    /// How long after the answer an approval may be used, in milliseconds; none: for ever.
    std::optional<std::int64_t> use_by_ms = 24LL * 60 * 60 * 1000;
    /// How long after the claim a tool may still be started, in milliseconds.
    std::int64_t start_within_ms = 10'000;
    /// No call of a turn starts while another of it waits for a person to approve it.
    bool hold_batch = false;
    std::string system_prompt;  ///< For guards that look at it.
    /// How long questions of policies and of question tools wait that do not say it themselves, in milliseconds; none:
    /// for ever.
    std::optional<std::int64_t> timeout_ms = std::nullopt;
    const Clock* clock = nullptr;  ///< None: the store's.
    Random* random = nullptr;      ///< None: the system's.
};

/// A call of the latest turn as it stands.
struct CallReport {
    int turn = 0;
    int position = 0;
    std::string tool;
    std::optional<std::string> tool_call_id;
    std::string arguments;
    /// Nothing while the call is open.
    std::optional<OutcomeKind> outcome;
    std::string text;  ///< Its result, once it has ended.
    bool is_error = false;
    /// JSON text of an object, or empty: the tool's own, and as `hitl` how people and policies decided.
    std::string details;
    bool ran = false;      ///< A body or a child thread was started.
    bool running = false;  ///< A body runs now.
    bool waiting = false;  ///< For people, or for its child thread.
    bool edited = false;
    std::string denied_by;  ///< Denied: the guard or the person.
    std::string child;      ///< The thread that does it, or did; empty: it was not delegated.
    /// It ended without having run because a guard, a person or a deadline kept it from running. An abort and an
    /// error are no block.
    bool blocked = false;
    std::optional<std::string> block_reason;

    bool operator==(const CallReport&) const = default;
};

/// What would happen to a call.
struct CallPreview {
    struct GuardSays {
        std::string guard;
        Verdict verdict = Verdict::deny;
        std::string reason;
    };
    std::string refusal;    ///< Malformed: what the model would be told; then nobody judges.
    std::string arguments;  ///< As they would run.
    Verdict verdict = Verdict::deny;
    std::vector<GuardSays> guards;
};

/// An answer to give when a thread is resumed.
struct GivenAnswer {
    Approval approval;
    Decision decision;
};

/// A prompt to a thread.
struct Prompt {
    std::string text;
    /// When given: the same prompt given again, under the same key, is not begun again. A thread remembers its
    /// latest 100 keys.
    std::string idempotency_key;
    /// While an earlier prompt is worked on, here or in another process: keep this one with the thread until the
    /// turn in hand has ended. An abort of the thread drops it.
    bool queue = false;
    /// Abort first what the thread waits for.
    bool abort_open = false;

    bool operator==(const Prompt&) const = default;
};

/// What became of a prompt.
enum class PromptTaken : std::uint8_t {
    begun,     ///< The thread is held and runs.
    queued,    ///< Stored; whoever runs the thread comes to it.
    repeated,  ///< It was given before under its key; nothing was stored.
};
[[nodiscard]] std::string_view to_string(PromptTaken taken) noexcept;

/// Which of several answers count.
enum class Counting : std::uint8_t {
    each,         ///< Each that is good.
    all_or_none,  ///< All, or none of them if one is refused or comes too late.
};

/// A call that waits for its child thread.
struct Delegation {
    std::string child;      ///< The id of that thread, which may not exist yet.
    std::string arguments;  ///< JSON text of the call's arguments.
};

/// How a child thread has ended: what becomes the result of the call that it does.
struct ChildEnd {
    OutcomeKind outcome = OutcomeKind::failed;
    std::string text;
    int turns = 0;  ///< Model turns of its run and of those below it.
    int calls = 0;
};

/// What the driver of a gate does next.
enum class GateStep : std::uint8_t {
    call_model,  ///< Ask the model, then `propose`.
    judge,       ///< Call `judge`: a person edited a call.
    start,       ///< Call `claim`, start the tools, `finish` each.
    wait,        ///< Calls run, child threads go on (`delegated`), or people are waited for.
    done,        ///< The prompt has come to its end.
};

class Gate {
public:
    /// Throws ConfigError: no checkpointer, no thread id or one that only a child may have, two tools of one
    /// name, a guard that names a tool which does not exist.
    explicit Gate(GateOptions options);
    Gate(const Gate&) = delete;
    Gate& operator=(const Gate&) = delete;
    /// Gives the thread back if it is still held.
    ~Gate();

    /// Reads the thread. True if it exists.
    Result<bool> load();
    /// The host's own settings to keep with the thread (JSON text of an object); recorded with the
    /// next prompt or resume if they changed.
    void configure(std::string settings);
    /// Takes the thread and begins a run, or keeps the prompt for later. Failure kinds `waiting` while calls of
    /// an earlier turn are open, `leased`, and `conflict` if its key was that of another prompt. An abort that
    /// the prompt asks for is made even where the prompt itself then fails.
    Result<PromptTaken> prompt(const Prompt& prompt, const std::string& by);
    Result<void> prompt(const std::string& text, const std::string& by);
    /// The same for a child thread, which is prompted once: if it was, it is taken as by `resume`.
    Result<void> begin(const std::string& text, const std::string& by);
    /// Takes an existing thread to go on where it stands. Calls that a dead process had started become
    /// unknown, or may run again if their tool is idempotent.
    Result<void> resume();
    /// The same with answers to open approvals of this thread. The answers and the claim of the calls they
    /// make ready are one durable step; `claim` then gives the permits. `told` gets what came of each answer,
    /// in order, also when the thread goes on in another process (failure `leased`). Failure `refused`,
    /// `conflict` or `expired` if all should count and one does not: then nothing was stored. If `stop` comes while
    /// guards judge anew what cannot be used as it was approved, the answers alone are stored.
    Result<void> resume(const std::vector<GivenAnswer>& answers, const Reviewer& reviewer,
                        std::vector<AnswerResult>& told, Counting counting = Counting::each,
                        const std::stop_token& stop = {});
    /// Records what the model said, prepares and judges its calls, and asks people where a guard says so.
    /// Every guard is asked once. Failure `refused`, and nothing is recorded, if `stop` comes before they have
    /// judged.
    /// Drops the turn when `next` is not call_model: after an abort, or when it was kept although a failure said
    /// perhaps.
    Result<void> propose(const ModelTurn& turn, const std::stop_token& stop = {});
    /// Judges again what people edited. `stop` as with `propose`.
    Result<void> judge(const std::stop_token& stop = {});
    /// Claims all calls that are ready. May give none: what was approved may have to be asked again. A call
    /// whose tool delegates is recorded as delegated instead, see `delegated`.
    Result<std::vector<Permit>> claim(const std::stop_token& stop = {});
    /// Records how a start ended. Never dropped: call it again if it fails.
    Result<void> finish(const Outcome& outcome);
    /// Records how a child thread ended, as the result of the call that it does. Nothing happens if that call
    /// has ended.
    Result<void> join(const std::string& child, const ChildEnd& end);
    /// Ends a run that cannot go on (model failure, limit). It can be resumed.
    Result<void> fail(const Failure& failure);
    /// Ends every call of the latest turn that has not been judged with this error text.
    Result<void> refuse_proposed(const ModelTurn& turn, const std::string& text);
    /// Looks for what other processes stored since.
    Result<void> refresh();
    /// Gives the thread back: others may run it, and with `goes_on` workers are told that they should, not before
    /// `after_ms` from now.
    Result<void> give_back(bool goes_on = false, std::int64_t after_ms = 0);

    [[nodiscard]] GateStep next() const;
    /// The conversation so far. Reads the whole journal if the thread was opened from a snapshot.
    [[nodiscard]] Result<std::span<const Message>> messages() const;
    /// The files of the thread, by path, as they are stored.
    [[nodiscard]] Result<std::map<std::string, std::string>> files() const;
    /// The assistant's last text.
    [[nodiscard]] const std::string& last_text() const noexcept;
    [[nodiscard]] std::vector<CallReport> calls() const;
    /// Open approvals of this thread, not those of its children.
    [[nodiscard]] std::vector<Approval> open() const;
    /// Approvals of the latest turn, open or not.
    [[nodiscard]] std::vector<Approval> asked() const;
    /// The calls that child threads do now. Whoever drives the gate makes these threads, and drives theirs.
    [[nodiscard]] std::vector<Delegation> delegated() const;
    /// Of a child thread: its end, once nothing can change it any more. A model that failed is an end; what
    /// else fails (the store, a limit) is none, and the thread can be resumed.
    [[nodiscard]] std::optional<ChildEnd> end() const;
    [[nodiscard]] const std::string& thread_id() const noexcept;
    /// Number of the last event that was read.
    [[nodiscard]] std::int64_t seq() const noexcept;
    [[nodiscard]] ThreadStatus status() const noexcept;
    [[nodiscard]] bool aborted() const noexcept;
    /// Why it was aborted; empty: it was not.
    [[nodiscard]] std::string abort_reason() const;
    [[nodiscard]] int turns() const noexcept;  ///< Model turns in the thread.
    /// Model turns since the last prompt, those of children that have ended too; calls likewise.
    [[nodiscard]] int run_turns() const noexcept;
    [[nodiscard]] int run_calls() const noexcept;
    [[nodiscard]] int running() const noexcept;  ///< Calls claimed and not finished.
    [[nodiscard]] std::string settings() const;
    [[nodiscard]] std::shared_ptr<Tool> tool(std::string_view name) const;
    /// What would happen to this call, without a thread and without asking anybody.
    [[nodiscard]] CallPreview preview(const ProposedCall& call) const;

private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace assent
