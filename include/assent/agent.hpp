// An agent: a model, tools, guards, and a thread that survives the process.
//
// Thread-safety: one thread at a time calls `prompt`, `resume` and the rest (another one is refused: failure
// `usage`); `abort`, `abort_pending`, `detach`, `stop` tokens, the channel, and `Approvals` on the same store may be
// used from others. Tools of one turn run on threads of their own. The listener is called on the thread that called
// `prompt`, `resume` or `abort_pending`, and on those of sub-agents, one at a time; it may use the channel and
// `Approvals`, not the agent.
#pragma once

#include <assent/channel.hpp>
#include <assent/gate.hpp>
#include <assent/rules.hpp>
#include <assent/sub_agent.hpp>
#include <assent/timeout.hpp>

#include <concepts>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assent {

/// What happens while an agent runs, for people who watch.
struct AgentEvent {
    enum class Kind : std::uint8_t {
        text,          ///< A piece of the model's text, in `text`.
        text_dropped,  ///< The pieces of this turn so far do not count: it failed or is asked again.
        turn,          ///< A turn with calls is complete and stored; its whole text in `text`.
        asked,         ///< A person is needed: `approval`.
        started,       ///< A tool starts: `call`.
        ended,         ///< A call of the turn has ended: `call`.
        waiting,       ///< Only people are waited for.
        finished,      ///< The run has come to its end; the final text in `text`.
        hitl,          ///< Something happened on the channel, or the conversation was aborted: `hitl`.
        not_stored,    ///< What came of a tool that has ended cannot be stored, why in `text`; it is tried again.
    };
    Kind kind = Kind::text;
    std::string text;
    std::optional<Approval> approval;
    std::optional<CallReport> call;
    std::string thread;  ///< Where it happens: the agent's own thread, or that of a sub-agent.
    std::optional<HitlEvent> hitl;
};

struct AgentOptions {
    std::shared_ptr<Model> model;
    std::string system_prompt;
    std::vector<std::shared_ptr<Tool>> tools;
    /// In order; those that are guards too (rules) judge.
    std::vector<std::shared_ptr<Middleware>> middleware;
    std::vector<std::shared_ptr<Guard>> guards;
    std::vector<SubAgent> sub_agents;
    /// With one a prompt waits for people, see `assent/channel.hpp`; without, it returns when only people are
    /// waited for.
    std::shared_ptr<Channel> channel;
    /// Must outlive the agent. None: nothing outlives it, and guards may ask only with a channel.
    Checkpointer* checkpointer = nullptr;
    std::string thread_id;  ///< Empty: a new one is made up. May not end in /TURN.POSITION, as those of sub-agents.
    int turns_max = 50;     ///< Model turns a prompt may take, those of sub-agents included.
    int calls_max = 200;    ///< Tool calls a prompt may make, likewise.
    /// How long after the answer an approval may be used, in milliseconds; none: for ever.
    std::optional<std::int64_t> use_by_ms = 24LL * 60 * 60 * 1000;
    /// How long after a claim a tool may still be started, in milliseconds.
    std::int64_t start_within_ms = 10'000;
    /// No call of a turn starts while another of it waits for a person to approve it.
    bool hold_batch = false;
    /// How long questions of policies and of question tools wait that do not say it themselves; those of other
    /// guards wait for ever then. Not said: the channel's default; without a channel for ever.
    Timeout timeout;
    std::function<void(const AgentEvent&)> listener;
    std::string settings;  ///< The host's own, kept with the thread: JSON text of an object.
    JsonLimits json_limits;
    const Clock* clock = nullptr;  ///< None: the store's.
    Random* random = nullptr;
};

enum class RunStatus : std::uint8_t {
    done,     ///< The model gave its final text.
    waiting,  ///< People are needed: `interrupts`.
    failed,   ///< `failure` says why; `resume` goes on where it stands.
    aborted,  ///< The thread was aborted.
};
[[nodiscard]] std::string_view to_string(RunStatus status) noexcept;

/// How a `prompt` or `resume` came back.
struct Run {
    RunStatus status = RunStatus::failed;
    std::string thread;
    std::string text;  ///< The final text when done or aborted.
    /// What is open, unknown outcomes too: in the thread itself, then in those of sub-agents.
    std::vector<Approval> interrupts;
    std::vector<CallReport> calls;  ///< Calls that have ended since the last prompt of this agent, and those that wait.
    std::optional<Failure> failure;
    /// Those kept in the thread, by path; see `Workspace::in_thread`.
    std::map<std::string, std::string> files;
    bool interrupted = false;           ///< Ended by the stop token.
    std::vector<AnswerResult> answers;  ///< Resume: what came of each answer, in order.
    /// What became of the prompt. Of a queued one `status` is `waiting`, also while another process runs the
    /// thread; a repeated one goes on where the thread stands.
    PromptTaken prompt = PromptTaken::begun;
};

/// An answer to one approval, in any form its style takes.
class Answer {
public:
    Answer(Decision decision) : decision_(std::move(decision)) {}
    /// Only a bool: a text, a pointer or a number would be true and so approve.
    template <std::same_as<bool> Bool>
    Answer(Bool yes) : decision_(yes ? approve() : deny()) {}
    Answer(const ToolDecision& decision) : json_(decision.json()) {}
    Answer(const ApproveAnswer& answer) : json_(answer.json()) {}
    /// The style's own form as JSON text.
    static Answer json(std::string text);

    [[nodiscard]] const std::optional<Decision>& decision() const noexcept { return decision_; }
    [[nodiscard]] const std::string& json() const noexcept { return json_; }

private:
    Answer() = default;
    std::optional<Decision> decision_;
    std::string json_;
};
using Answers = std::vector<std::pair<std::string, Answer>>;

class Agent {
public:
    /// Throws ConfigError: no model, a guard that can ask without a checkpointer, sub-agents or tools of one
    /// name that are not the same, and what Gate throws, also of sub-agents.
    explicit Agent(AgentOptions options);
    ~Agent();
    Agent(Agent&&) noexcept;
    Agent& operator=(Agent&&) = delete;

    /// Runs until the final text, a failure, an abort, or until only people are waited for. A failure of
    /// kind `waiting` means that calls of an earlier prompt are open.
    Run prompt(const std::string& text, const std::stop_token& stop = {});
    Run prompt(const Prompt& prompt, const std::stop_token& stop = {});
    /// Gives the answers, then goes on where the thread stands, also in another process than the one
    /// that asked. An answer that does not count is told in `Run::answers`; the rest goes on.
    Run resume(const Answers& answers = {}, const std::stop_token& stop = {});
    /// The same with answers as JSON text: {"decisions": [DECISION, …]}, one for each approval of the table style
    /// that is open in the latest turn (in an agent without a table: of Assent's own guards), in the order of the
    /// calls, of which all count or none; or {ID: DECISION, …}, each for itself, in the form of its approval's
    /// style. While an approval of a sub-agent is open, a list is ambiguous. A whole text that does not count is a
    /// failure `refused` or `ambiguous` and one result in `Run::answers`, and
    /// nothing goes on. DECISION: see `assent/interrupt_on.hpp`.
    template <std::convertible_to<std::string_view> Text>
    Run resume(const Text& json, const std::stop_token& stop = {}) {
        return resume_json(json, stop);
    }
    /// Gives the answer to one request, by its `id` or `question_id`, then goes on where the thread stands, also in
    /// another process than the one that asked. An answer that does not count is a failure of its kind (`refused`,
    /// `conflict`, `expired`, `not_found`, `ambiguous`), and nothing goes on. Failure `leased`: the answer counts,
    /// and another process goes on.
    Run respond(const std::string& id, const HitlAnswer& answer, const std::stop_token& stop = {});
    /// Lets a prompt that waits on the channel return now, from another thread; its status is `waiting` and what is
    /// open stays open. Failure `usage`: there is no channel.
    Result<void> detach();
    /// Cancels what has not started, in sub-agents too. Works from another process too, see `Approvals::abort`.
    Result<AbortResult> abort(const std::string& reason = {});
    /// The same, and no failure if there is no such thread yet or nothing to abort. The model's calls that had not
    /// started get `aborted: REASON` as result, and the conversation ends with `Conversation aborted: REASON`;
    /// then the listener is told. Empty: "aborted by host". The next prompt goes on in the same thread.
    Result<AbortResult> abort_pending(const std::string& reason = {});

    /// Who prompts and answers through this object; default "library".
    void set_reviewer(Reviewer reviewer);
    [[nodiscard]] const std::string& thread_id() const noexcept;
    /// The conversation as of the last prompt or resume.
    [[nodiscard]] Result<std::vector<Message>> messages() const;
    /// The files kept in the thread, by path, as of the last prompt or resume.
    [[nodiscard]] Result<std::map<std::string, std::string>> files() const;

private:
    Run resume_json(std::string_view json, const std::stop_token& stop);

    class Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace assent
