#include "journal/thread.hpp"

#include "base/hitl_trace.hpp"
#include "base/sha256.hpp"
#include "journal/lineage.hpp"
#include "journal/trace.hpp"

#include <algorithm>

namespace assent::journal {
namespace {

constexpr std::string_view default_abort_reason = "aborted by host";
// Far from what an int holds, and from what is taken for damage.
constexpr int counted_max = 500'000'000;

std::string reason_or_default(const std::string& reason) {
    return reason.empty() ? std::string(default_abort_reason) : reason;
}

void end(Call& call, OutcomeKind outcome, std::string text, bool is_error) {
    call.stage = CallStage::ended;
    call.outcome = outcome;
    call.result = {.text = std::move(text), .is_error = is_error};
    for (auto& attempt : call.attempts) attempt.open = false;
}

void close_asks(Call& call, ApprovalState state, UnixMillis at, const std::string& reason = {}) {
    for (auto& ask : call.approvals) {
        if (ask.state != ApprovalState::open) continue;
        ask.state = state;
        ask.close_reason = reason;
        ask.decided_at = at;
    }
}

void satisfy(Call& call, const Asked& asked) {
    call.satisfied.push_back(asked.guard);
    for (const auto& also : asked.also) call.satisfied.push_back(also.guard);
}

std::optional<std::string> unless_empty(const std::string& text) {
    return text.empty() ? std::nullopt : std::optional(text);
}

void block(Call& call, const std::string& reason) {
    call.blocked = true;
    call.block_reason = unless_empty(reason);
}

// The answer is the result, also a no to a question that takes one.
bool answers(const Asked& asked, DecisionKind decision) {
    return asked.answers_call && (decision != DecisionKind::deny || asked.kind == ApprovalKind::confirm);
}

ApprovalState state_after(DecisionKind decision) {
    switch (decision) {
        case DecisionKind::approve:
            return ApprovalState::approved;
        case DecisionKind::deny:
            return ApprovalState::denied;
        case DecisionKind::edit:
            return ApprovalState::edited;
        case DecisionKind::respond:
            return ApprovalState::answered;
    }
    return ApprovalState::denied;
}

void trace(Call& call, std::string told) {
    if (!told.empty()) call.traces.push_back(std::move(told));
}

bool has_open_ask(const Call& call) {
    return std::any_of(call.approvals.begin(), call.approvals.end(),
                       [](const Ask& ask) { return ask.state == ApprovalState::open; });
}

Ask* find_ask(Call& call, std::int64_t number) {
    const auto found = std::find_if(call.approvals.begin(), call.approvals.end(),
                                    [&](const Ask& ask) { return ask.asked.number == number; });
    return found == call.approvals.end() ? nullptr : &*found;
}

void begin_prompt(ThreadState& state, const std::string& text) {
    state.messages.push_back({.role = Role::user, .text = text});
    state.running = true;
    state.status = ThreadStatus::active;
    state.aborted.reset();
    state.finished.reset();
    state.run_turns = 0;
    state.run_calls = 0;
}

// Between two turns what was queued joins the conversation; true if there was something.
bool deliver_queue(ThreadState& state) {
    for (const auto& queued : state.queue) begin_prompt(state, queued.text);
    return !std::exchange(state.queue, {}).empty();
}

void remember_key(ThreadState& state, const std::string& key, const std::string& text) {
    if (key.empty()) return;
    if (state.prompt_keys.size() == prompt_keys_max) state.prompt_keys.erase(state.prompt_keys.begin());
    state.prompt_keys.push_back({.key = key, .text_sha256 = hex(sha256(text))});
}

// When the last call of a turn has ended, its results join the conversation, in the model's order.
void close_turn_if_all_ended(ThreadState& state) {
    const bool ended = std::all_of(state.calls.begin(), state.calls.end(),
                                   [](const Call& call) { return call.stage == CallStage::ended; });
    if (state.turn_open && !ended) return;
    if (state.turn_open) {
        for (const auto& call : state.calls) {
            Message message{.role = Role::tool,
                            .text = call.result.text,
                            .tool = call.tool,
                            .tool_call_id = call.proposed.id,
                            .is_error = call.result.is_error};
            if (call.arguments != call.proposed.arguments) message.used_arguments = call.arguments;
            state.messages.push_back(std::move(message));
        }
        state.turn_open = false;
        if (!state.aborted) deliver_queue(state);
    }
    if (state.aborted && state.running) {
        state.last_text = "Conversation aborted: " + reason_or_default(state.aborted->reason);
        state.messages.push_back({.role = Role::assistant, .text = state.last_text, .stop_reason = "aborted"});
        state.running = false;
    }
}

class Applier {
public:
    Applier(ThreadState& state, UnixMillis at) : state_(state), at_(at) {}

    void operator()(const Configured& event) { state_.configured = event; }

    void operator()(const UserMessage& event) {
        remember_key(state_, event.key, event.text);
        deliver_queue(state_);  // of a run that failed: these came first
        begin_prompt(state_, event.text);
    }

    void operator()(const Queued& event) {
        remember_key(state_, event.key, event.text);
        if (state_.running) {
            state_.queue.push_back(event);
        } else {
            begin_prompt(state_, event.text);
        }
    }

    void operator()(const ModelSaid& event) {
        Message message{.role = Role::assistant,
                        .text = event.text,
                        .provider_content = event.provider_content,
                        .stop_reason = event.stop_reason};
        state_.calls.clear();
        for (std::size_t i = 0; i < event.calls.size(); ++i) {
            const auto& proposed = event.calls[i];
            message.calls.push_back({.tool = proposed.tool, .id = proposed.id, .arguments = proposed.arguments});
            state_.calls.push_back(
                {.ref = {event.turn, static_cast<int>(i)}, .proposed = proposed, .tool = proposed.tool});
        }
        state_.last_text = event.text;
        state_.messages.push_back(std::move(message));
        state_.turns = event.turn;
        ++state_.run_turns;
        state_.run_calls += static_cast<int>(event.calls.size());
        state_.turn_open = !event.calls.empty();
        state_.status = ThreadStatus::active;
        state_.finished.reset();
    }

    void operator()(const Prepared& event) {
        if (auto* call = state_.find(event.call)) call->arguments = event.arguments;
    }

    void operator()(const Refused& event) {
        if (auto* call = state_.find(event.call)) end(*call, OutcomeKind::failed, event.text, true);
        close_turn_if_all_ended(state_);
    }

    void operator()(const Judged& event) {
        auto* call = state_.find(event.call);
        if (call == nullptr || call->stage == CallStage::ended) return;
        call->verdicts = event.guards;
        switch (event.verdict) {
            case Verdict::allow:
                call->stage = CallStage::ready;
                break;
            case Verdict::ask:
                call->stage = CallStage::asked;
                break;
            case Verdict::deny:
                close_asks(*call, ApprovalState::withdrawn, at_);
                end(*call, OutcomeKind::denied, event.text, true);
                tell_denial(*call, event);
        }
        close_turn_if_all_ended(state_);
    }

    void operator()(const Asked& event) {
        auto* call = state_.find(event.call);
        if (call == nullptr) return;
        call->asks = std::max(call->asks, event.ask_no);
        std::erase_if(call->satisfied, [&](const auto& guard) { return asks_for(event, guard); });
        call->stage = event.kind == ApprovalKind::unknown ? CallStage::unknown : CallStage::asked;
        call->approvals.push_back({.asked = event, .asked_at = at_});
    }

    void operator()(const Answered& event) {
        auto* call = state_.find(event.call);
        auto* ask = call == nullptr ? nullptr : find_ask(*call, event.number);
        if (ask == nullptr || ask->state != ApprovalState::open) return;
        ask->answer = event;
        ask->decided_by = event.by;
        ask->decided_at = at_;
        ask->state = state_after(event.decision);
        trace(*call, answered_trace(ask->asked, event, at_));
        if (answers(ask->asked, event.decision)) {
            close_asks(*call, ApprovalState::withdrawn, at_);
            end(*call, OutcomeKind::answered, event.text, false);
            close_turn_if_all_ended(state_);
            return;
        }
        switch (event.decision) {
            case DecisionKind::approve:
                satisfy(*call, ask->asked);
                if (call->stage == CallStage::asked && !has_open_ask(*call)) call->stage = CallStage::ready;
                break;
            case DecisionKind::edit:
                call->satisfied.clear();
                if (event.tool == call->tool) satisfy(*call, ask->asked);
                call->tool = event.tool;
                call->arguments = event.arguments;
                call->edited = true;
                call->stage = CallStage::edited;
                // The other guards' questions were about other arguments.
                close_asks(*call, ApprovalState::withdrawn, at_);
                break;
            case DecisionKind::deny:
                block(*call, event.message);
                close_asks(*call, ApprovalState::withdrawn, at_);
                end(*call, OutcomeKind::denied, event.text, true);
                break;
            case DecisionKind::respond:
                close_asks(*call, ApprovalState::withdrawn, at_);
                end(*call, OutcomeKind::answered, event.text, false);
        }
        close_turn_if_all_ended(state_);
    }

    void operator()(const Claimed& event) {
        for (const auto& start : event.starts) {
            auto* call = state_.find(start.call);
            if (call == nullptr) continue;
            call->stage = CallStage::claimed;
            call->ran = true;
            call->attempts.push_back({.id = start.attempt, .process = event.process, .at = at_});
        }
    }

    void operator()(const Released& event) {
        auto* call = state_.find_attempt(event.attempt);
        if (call == nullptr || !newest_open(*call, event.attempt)) return;
        call->attempts.pop_back();
        call->ran = !call->attempts.empty();
        call->stage = CallStage::ready;
        if (state_.aborted) end_aborted(*call, *state_.aborted);
        close_turn_if_all_ended(state_);
    }

    void operator()(const Finished& event) {
        auto* call = state_.find_attempt(event.attempt);
        if (call == nullptr || !newest_open(*call, event.attempt)) return;
        end(*call, event.outcome, event.result.text, event.result.is_error);
        call->result = event.result;
        close_turn_if_all_ended(state_);
    }

    void operator()(const Doubted& event) {
        auto* call = state_.find_attempt(event.attempt);
        if (call == nullptr || !newest_open(*call, event.attempt)) return;
        call->attempts.back().open = false;
        call->stage = event.may_run_again ? CallStage::ready : CallStage::unknown;
        if (state_.aborted) end_unknown(*call);
        close_turn_if_all_ended(state_);
    }

    void operator()(const LateFinished& event) {
        auto* call = state_.find_attempt(event.attempt);
        // Nothing was decided about the doubt yet, so the truth may still settle it.
        if (call == nullptr || call->stage != CallStage::unknown || call->attempts.back().id != event.attempt) return;
        close_asks(*call, ApprovalState::withdrawn, at_);
        end(*call, event.outcome, event.result.text, event.result.is_error);
        call->result = event.result;
        close_turn_if_all_ended(state_);
    }

    void operator()(const Delegated& event) {
        auto* call = state_.find(event.call);
        if (call == nullptr || call->stage == CallStage::ended) return;
        call->stage = CallStage::delegated;
        call->ran = true;
        call->attempts.push_back({.id = event.child, .at = at_});
    }

    void operator()(const ChildFinished& event) {
        auto* call = state_.find_attempt(event.child);
        if (call == nullptr || call->stage != CallStage::delegated || !newest_open(*call, event.child)) return;
        state_.run_turns = std::min(state_.run_turns + event.turns_used, counted_max);
        state_.run_calls = std::min(state_.run_calls + event.calls_used, counted_max);
        end(*call, event.outcome, event.result.text, event.result.is_error);
        call->result = event.result;
        close_turn_if_all_ended(state_);
    }

    void operator()(const Resolved& event) {
        auto* call = state_.find(event.call);
        auto* ask = call == nullptr ? nullptr : find_ask(*call, event.number);
        if (ask == nullptr || ask->state != ApprovalState::open) return;
        ask->state = ApprovalState::resolved;
        ask->resolution = event.how;
        ask->decided_by = event.by;
        ask->decided_at = at_;
        switch (event.how) {
            case Resolution::done:
                end(*call, OutcomeKind::done, event.text, false);
                break;
            case Resolution::fail:
                end(*call, OutcomeKind::failed, event.text, true);
                break;
            case Resolution::retry:
                call->stage = CallStage::ready;
                break;
        }
        close_turn_if_all_ended(state_);
    }

    void operator()(const Withdrawn& event) {
        for (auto& call : state_.calls) {
            if (auto* ask = find_ask(call, event.number); ask != nullptr && ask->state == ApprovalState::open) {
                ask->state = ApprovalState::withdrawn;
                ask->decided_by = event.by;
                ask->decided_at = at_;
                ask->close_reason = event.reason;
                if (!event.text.empty()) cancel_call(call, ask->asked, event);
            }
        }
        close_turn_if_all_ended(state_);
    }

    void operator()(const TimedOut& event) {
        for (auto& call : state_.calls) {
            auto* ask = find_ask(call, event.number);
            if (ask == nullptr || ask->state != ApprovalState::open) continue;
            ask->state = ApprovalState::timed_out;
            ask->decided_at = at_;
            trace(call, unanswered_trace(ask->asked, "timed_out", {}));
            block(call, event.text);
            close_asks(call, ApprovalState::withdrawn, at_);
            end(call, OutcomeKind::timed_out, event.text, true);
        }
        close_turn_if_all_ended(state_);
    }

    void operator()(const Aborted& event) {
        state_.aborted = event;
        state_.status = ThreadStatus::aborted;
        state_.queue.clear();
        for (auto& call : state_.calls) {
            close_asks(call, ApprovalState::aborted, at_, reason_or_default(event.reason));
            if (call.stage == CallStage::ended || call.stage == CallStage::claimed) continue;
            if (call.stage == CallStage::unknown) {
                end_unknown(call);
            } else {
                end_aborted(call, event);
            }
        }
        if (!state_.turn_open) state_.running = true;  // so that the terminal message is written
        close_turn_if_all_ended(state_);
    }

    void operator()(const RunFinished& event) {
        state_.finished = event;
        state_.status = event.ok ? ThreadStatus::done : ThreadStatus::failed;
        // A failed run can be resumed: its next step stays what it was.
        if (event.ok && !deliver_queue(state_)) state_.running = false;
    }

    void operator()(const FilesChanged& event) {
        // After a snapshot the files are not here; who needs them reads the whole journal.
        if (state_.files_cut) return;
        for (const auto& change : event.changes) apply(state_.files, change);
    }

    // Nothing goes on behind it: what happened before is not there to go on from.
    void operator()(const Pruned& /*event*/) {}

private:
    static bool newest_open(const Call& call, const std::string& attempt) {
        return !call.attempts.empty() && call.attempts.back().id == attempt && call.attempts.back().open;
    }
    static void end_aborted(Call& call, const Aborted& aborted) {
        trace(call, decision_trace("aborted", reason_or_default(aborted.reason)));
        end(call, OutcomeKind::cancelled, aborted_text(aborted.reason), true);
    }
    static void tell_denial(Call& call, const Judged& judged) {
        const auto denies = std::find_if(judged.guards.begin(), judged.guards.end(),
                                         [](const GuardVerdict& guard) { return guard.verdict == Verdict::deny; });
        const auto reason = denies == judged.guards.end() ? std::string() : denies->reason;
        if (!judged.failed) block(call, reason);
        if (judged.style != Style::policy) return;
        trace(call, judged.failed ? decision_trace("policy_error") : decision_trace("policy_deny", reason));
    }
    void cancel_call(Call& call, const Asked& asked, const Withdrawn& event) {
        trace(call, unanswered_trace(asked, "cancelled", event.reason));
        block(call, event.text);
        close_asks(call, ApprovalState::withdrawn, at_);
        end(call, OutcomeKind::cancelled, event.text, true);
    }
    static void end_unknown(Call& call) {
        end(call, OutcomeKind::unknown, "It is not known whether this call ran to its end.", true);
    }

    ThreadState& state_;
    UnixMillis at_;
};

}  // namespace

std::string child_of(const Call& call) {
    // The id of a start is hex and never has the form of a child's.
    const bool delegated = !call.attempts.empty() && child_of(call.attempts.back().id);
    return delegated ? call.attempts.back().id : std::string();
}

std::string abort_reason(const Aborted& aborted) {
    return reason_or_default(aborted.reason);
}

std::string aborted_text(const std::string& reason) {
    return "aborted: " + reason_or_default(reason);
}

const Call* ThreadState::find(const CallRef& ref) const noexcept {
    const auto found = std::find_if(calls.begin(), calls.end(), [&](const Call& call) { return call.ref == ref; });
    return found == calls.end() ? nullptr : &*found;
}

Call* ThreadState::find(const CallRef& ref) noexcept {
    return const_cast<Call*>(std::as_const(*this).find(ref));
}

const Call* ThreadState::find_attempt(const std::string& attempt) const noexcept {
    for (const auto& call : calls) {
        for (const auto& known : call.attempts) {
            if (known.id == attempt) return &call;
        }
    }
    return nullptr;
}

Call* ThreadState::find_attempt(const std::string& attempt) noexcept {
    return const_cast<Call*>(std::as_const(*this).find_attempt(attempt));
}

const Ask* ThreadState::find_ask(std::int64_t number) const noexcept {
    for (const auto& call : calls) {
        for (const auto& ask : call.approvals) {
            if (ask.asked.number == number) return &ask;
        }
    }
    return nullptr;
}

void apply(ThreadState& state, const Event& event, UnixMillis at) {
    std::visit(Applier(state, at), event);
    ++state.seq;
}

ThreadState cut_off(ThreadState& state) {
    // Moved aside and back: the conversation may be long, and is not copied.
    auto messages = std::move(state.messages);
    auto files = std::move(state.files);
    ThreadState copy = state;
    state.messages = std::move(messages);
    state.files = std::move(files);
    copy.messages.clear();
    copy.messages_cut = copy.messages_cut || !state.messages.empty();
    copy.files.clear();
    copy.files_cut = copy.files_cut || !state.files.empty();
    return copy;
}

bool undecided(const ThreadState& state) noexcept {
    return std::any_of(state.calls.begin(), state.calls.end(), [](const Call& call) {
        return call.stage == CallStage::proposed || call.stage == CallStage::edited || call.stage == CallStage::asked;
    });
}

NextStep next(const ThreadState& state, bool hold_batch) {
    if (!state.running) return Done{};
    if (!state.turn_open) return CallModel{};
    JudgeCalls judge;
    StartCalls start;
    Wait wait;
    for (const auto& call : state.calls) {
        switch (call.stage) {
            case CallStage::proposed:
            case CallStage::edited:
                judge.calls.push_back(call.ref);
                break;
            case CallStage::ready:
                start.calls.push_back(call.ref);
                break;
            case CallStage::claimed:
                ++wait.running;
                break;
            case CallStage::delegated:
                ++wait.children;
                break;
            case CallStage::asked:
            case CallStage::unknown:
                ++wait.people;
                break;
            case CallStage::ended:
                break;
        }
    }
    if (!judge.calls.empty()) return judge;
    const bool held = hold_batch && undecided(state);
    if (!start.calls.empty() && !held) return start;
    return wait;
}

}  // namespace assent::journal
