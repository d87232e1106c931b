// The state of a thread: a fold of its journal, and the next step to take. Pure.
#pragma once

#include "journal/events.hpp"

#include <assent/checkpointer.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace assent::journal {

/// Where a call stands between two events.
enum class CallStage : std::uint8_t {
    proposed,  ///< Not prepared and judged yet.
    asked,     ///< Waits for people.
    edited,    ///< A person changed it: to be judged again.
    ready,     ///< May be claimed.
    claimed,   ///< A process has started it, or is about to.
    unknown,   ///< Its process died: waits for a person to say how it ended.
    ended,
};

/// One approval in the fold.
struct Ask {
    Asked asked;
    UnixMillis asked_at = 0;
    ApprovalState state = ApprovalState::open;
    std::optional<Answered> answer;
    std::optional<Resolution> resolution;
    std::string decided_by;
    std::optional<UnixMillis> decided_at;
};

struct Attempt {
    std::string id;
    ProcessMark process;
    UnixMillis at = 0;
    bool open = true;
};

struct Call {
    CallRef ref;
    RecordedCall proposed;
    std::string tool;       ///< The tool to run; an edit may change it.
    std::string arguments;  ///< As they would run; empty before `prepared`.
    CallStage stage = CallStage::proposed;
    int asks = 0;  ///< Questions so far; the next one has this number plus one.
    std::vector<GuardVerdict> verdicts;
    std::vector<Ask> approvals;          ///< Of this call, oldest first.
    std::vector<std::string> satisfied;  ///< Guards whose question a person answered for these arguments.
    std::vector<Attempt> attempts;
    OutcomeKind outcome = OutcomeKind::failed;
    ToolResult result;
    bool ran = false;     ///< A body was started and may have had effects.
    bool edited = false;  ///< What runs is not what the model proposed.
};

/// A prompt that was given under a key.
struct PromptKey {
    std::string key;
    std::string text_sha256;  ///< Hex.
};

struct ThreadState {
    Configured configured;
    /// The conversation; after a snapshot only what came since, see `messages_cut`.
    std::vector<Message> messages;
    bool messages_cut = false;  ///< Earlier messages are in the journal, not here.
    std::string last_text;      ///< Of the assistant's last message.
    int turns = 0;              ///< Model turns in the thread.
    int run_turns = 0;          ///< Model turns since the last prompt.
    int run_calls = 0;          ///< Calls since the last prompt.
    std::vector<Call> calls;    ///< Of the latest turn.
    bool turn_open = false;     ///< Calls of the latest turn have not all ended.
    bool running = false;       ///< A prompt has not come to its end.
    ThreadStatus status = ThreadStatus::done;
    std::optional<Aborted> aborted;
    std::optional<RunFinished> finished;
    std::vector<Queued> queue;           ///< Prompts that wait for the turn in hand to end.
    std::vector<PromptKey> prompt_keys;  ///< Of the latest prompts, oldest first; see `prompt_keys_max`.
    std::int64_t seq = 0;

    [[nodiscard]] Call* find(const CallRef& ref) noexcept;
    [[nodiscard]] const Call* find(const CallRef& ref) const noexcept;
    [[nodiscard]] Call* find_attempt(const std::string& attempt) noexcept;
    [[nodiscard]] const Call* find_attempt(const std::string& attempt) const noexcept;
    [[nodiscard]] const Ask* find_ask(std::int64_t number) const noexcept;
};

/// How many keys a thread remembers: a prompt is given again soon or never.
inline constexpr std::size_t prompt_keys_max = 100;

/// Takes one event into the state. `at` is when it happened.
void apply(ThreadState& state, const Event& event, UnixMillis at);

/// A copy with the conversation cut off: what is next does not depend on it. Cost: the latest turn.
[[nodiscard]] ThreadState without_messages(ThreadState& state);

/// What a runner does next.
struct CallModel {};
struct JudgeCalls {
    std::vector<CallRef> calls;
};
struct StartCalls {
    std::vector<CallRef> calls;
};
/// Some calls run, some wait for people; nothing to do until one of them moves.
struct Wait {
    int running = 0;
    int people = 0;
};
/// The prompt has come to its end, or none was given.
struct Done {};
using NextStep = std::variant<CallModel, JudgeCalls, StartCalls, Wait, Done>;

/// With `hold_batch` no call of a turn is started while another one may still be asked about.
[[nodiscard]] NextStep next(const ThreadState& state, bool hold_batch = false);
/// Whether a call of the latest turn may still be asked about, or waits for an answer.
[[nodiscard]] bool undecided(const ThreadState& state) noexcept;

/// The text of a call's result when the thread was aborted before it started.
[[nodiscard]] std::string aborted_text(const std::string& reason);

}  // namespace assent::journal
