#include "sim/thread_audit.hpp"

#include "sim/host_code.hpp"
#include "sim/world.hpp"

#include <algorithm>

namespace assent::sim {
namespace {

const std::string unknown_text = "It is not known whether this call ran to its end.";

std::string name_of(const journal::CallRef& ref) {
    return "call " + std::to_string(ref.turn) + "." + std::to_string(ref.position);
}

}  // namespace

void ThreadAudit::broke(Rule rule, const std::string& what) {
    ledger_.broke(rule, thread_ + ": " + what);
}

CallAudit* ThreadAudit::call(const journal::CallRef& ref) {
    for (auto i = latest_turn_; i < calls_.size(); ++i) {
        if (calls_[i].ref == ref) return &calls_[i];
    }
    broke(Rule::on_record, "an event is about " + name_of(ref) + ", which the latest turn does not have");
    return nullptr;
}

AttemptAudit* ThreadAudit::newest_open(const std::string& attempt) {
    const auto found = attempts_.find(attempt);
    const bool open = found != attempts_.end() && found->second.stage == AttemptAudit::Stage::open &&
                      calls_[found->second.call].attempts.back() == attempt && !calls_[found->second.call].ended;
    if (open) return &found->second;
    broke(Rule::at_most_once, "an event is about an attempt that is not the newest open one");
    return nullptr;
}

Question* ThreadAudit::open_question(std::int64_t number) {
    const auto found = questions_.find(number);
    if (found != questions_.end() && found->second.state == ApprovalState::open) return &found->second;
    broke(Rule::first_answer, "question " + std::to_string(number) + " was decided although it was not open");
    return nullptr;
}

bool ThreadAudit::all_ended() const {
    return std::all_of(calls_.begin() + static_cast<std::ptrdiff_t>(latest_turn_), calls_.end(),
                       [](const CallAudit& call) { return call.ended; });
}

void ThreadAudit::withdraw_questions(const CallAudit& call, ApprovalState state) {
    for (const auto number : call.questions) {
        auto& question = questions_.at(number);
        if (question.state != ApprovalState::open) continue;
        question.state = state;
        question.decided_at = row_.at;
    }
}

void ThreadAudit::end_call(CallAudit& call, std::string text) {
    if (call.ended) broke(Rule::at_most_once, name_of(call.ref) + " ended twice");
    call.ended = true;
    call.edited = false;
    call.text = std::move(text);
    withdraw_questions(call, ApprovalState::withdrawn);
    if (!all_ended()) return;
    // With its last call an aborted run has come to its end; else what was queued joins.
    if (aborted_) running_ = false;
    queued_ = 0;
}

void ThreadAudit::read(const std::vector<journal::Event>& events, const RowFacts& row) {
    row_ = row;
    questions_due_.clear();
    asked_before_row_.clear();
    for (const auto& event : events) std::visit(*this, event);
    for (const auto& [call, guard] : questions_due_) {
        broke(Rule::strictest_wins, guard + " asked about " + name_of(calls_[call].ref) + " and nobody is asked");
    }
}

void ThreadAudit::note_key(const std::string& key) {
    if (!key.empty() && !prompt_keys_.insert(key).second) broke(Rule::no_replay, "a prompt was begun twice");
}

void ThreadAudit::check_runner() {
    const auto taker = ledger_.takers.find({thread_, row_.stored.fence});
    if (taker == ledger_.takers.end() || taker->second != row_.stored.actor)
        broke(Rule::at_most_once, "a process runs the thread although another one has taken it");
}

void ThreadAudit::operator()(const journal::UserMessage& event) {
    note_key(event.key);
    if (!all_ended()) broke(Rule::no_replay, "a prompt came in while calls were open");
    queued_ = 0;
    running_ = true;
    aborted_ = false;
}

void ThreadAudit::operator()(const journal::Queued& event) {
    note_key(event.key);
    if (running_) {
        ++queued_;
        return;
    }
    running_ = true;
    aborted_ = false;
}

void ThreadAudit::operator()(const journal::ModelSaid& event) {
    check_runner();
    if (!running_ || aborted_) broke(Rule::no_replay, "the model spoke in a thread that does not run");
    if (!all_ended()) broke(Rule::no_replay, "the model was asked again before all calls of its turn had ended");
    if (event.turn != ++turns_) broke(Rule::no_replay, "the turns are not in order");
    latest_turn_ = calls_.size();
    for (std::size_t i = 0; i < event.calls.size(); ++i) {
        calls_.push_back(
            {.ref = {event.turn, static_cast<int>(i)}, .proposed = event.calls[i], .tool = event.calls[i].tool});
    }
}

void ThreadAudit::operator()(const journal::Prepared& event) {
    auto* known = call(event.call);
    if (known == nullptr) return;
    if (known->prepared || known->judged) broke(Rule::no_replay, name_of(event.call) + " was prepared twice");
    known->prepared = true;
    known->arguments = event.arguments;
}

void ThreadAudit::operator()(const journal::Refused& event) {
    auto* known = call(event.call);
    if (known == nullptr) return;
    if (known->judged && !known->edited) broke(Rule::no_replay, name_of(event.call) + " was refused after its verdict");
    end_call(*known, event.text);
}

void ThreadAudit::operator()(const journal::Asked& event) {
    auto* known = call(event.call);
    if (known == nullptr) return;
    const auto index = static_cast<std::size_t>(known - calls_.data());
    const bool exact = event.tool == known->tool && event.arguments == known->arguments;
    if (!exact) broke(Rule::exact_call, "a question shows another call than it is about");
    if (event.ask_no != ++known->asks) broke(Rule::exact_call, "questions of one call are not counted on");
    if (!bindings_.insert(event.binding).second) broke(Rule::exact_call, "two questions are bound to the same");
    if (event.kind == ApprovalKind::unknown) {
        const bool doubted = !known->attempts.empty() && known->attempts.back() == event.attempt &&
                             attempts_.at(event.attempt).stage == AttemptAudit::Stage::doubted;
        if (!doubted) broke(Rule::at_most_once, "the outcome of a start that nobody doubts is asked for");
    } else {
        const auto guards = known->judged ? known->judged->guards : std::vector<journal::GuardVerdict>();
        const bool asks = std::any_of(guards.begin(), guards.end(), [&](const journal::GuardVerdict& guard) {
            return guard.guard == event.guard && guard.version == event.guard_version && guard.verdict == Verdict::ask;
        });
        if (!asks) broke(Rule::strictest_wins, event.guard + " is named in a question that it does not ask");
        questions_due_.erase({index, event.guard});
    }
    known->questions.push_back(event.number);
    if (!questions_.emplace(event.number, Question{.asked = event}).second) {
        broke(Rule::first_answer, "two questions have the number " + std::to_string(event.number));
    }
}

void ThreadAudit::operator()(const journal::Answered& event) {
    const auto which = "the answer to " + std::to_string(event.number);
    if (event.by.empty() || event.signed_in.empty()) broke(Rule::on_record, which + " does not say whose it is");
    auto* question = open_question(event.number);
    auto* known = call(event.call);
    if (question == nullptr || known == nullptr) return;
    const auto& asked = question->asked;
    const auto& allowed = asked.question.allowed;
    if (aborted_) broke(Rule::first_answer, which + " counts in an aborted thread");
    if (asked.deadline && *asked.deadline <= row_.at) broke(Rule::first_answer, which + " counts after the deadline");
    if (event.shown != asked.binding) broke(Rule::on_record, which + " does not say what was shown");
    if (asked.call != event.call) broke(Rule::exact_call, which + " is about another call");
    if (asked.kind != ApprovalKind::approve ||
        std::find(allowed.begin(), allowed.end(), event.decision) == allowed.end()) {
        broke(Rule::first_answer, which + " is none that the question takes");
    }
    question->answer = event;
    question->decided_by = event.by;
    question->decided_at = row_.at;
    switch (event.decision) {
        case DecisionKind::approve:
            question->state = ApprovalState::approved;
            break;
        case DecisionKind::edit:
            question->state = ApprovalState::edited;
            known->tool = event.tool;
            known->arguments = event.arguments;
            known->edited = true;
            known->last_edit = event.number;
            known->asked_before_edit = known->questions.size();
            withdraw_questions(*known, ApprovalState::withdrawn);
            break;
        case DecisionKind::deny:
            question->state = ApprovalState::denied;
            end_call(*known, event.text);
            break;
        case DecisionKind::respond:
            question->state = ApprovalState::answered;
            end_call(*known, event.text);
    }
}

void ThreadAudit::operator()(const journal::Released& event) {
    auto* attempt = newest_open(event.attempt);
    if (attempt == nullptr) return;
    attempt->stage = AttemptAudit::Stage::released;
    attempt->on_record = true;
    if (ledger_.effect_of(event.attempt) != nullptr)
        broke(Rule::at_most_once, "a start that ran is called not started");
    if (aborted_) end_call(calls_[attempt->call], "aborted: " + abort_reason_);
}

// What is on record of a start must be what its body gave back.
void ThreadAudit::check_result(const std::string& attempt, const ToolResult& result, OutcomeKind outcome, bool late) {
    const auto* effect = ledger_.effect_of(attempt);
    if (effect == nullptr) {
        const bool honest = late && outcome == OutcomeKind::failed;
        if (!honest) broke(Rule::at_most_once, "an outcome is on record of a body that did not run");
        return;
    }
    const bool same =
        effect->result && effect->result->text == result.text && effect->result->is_error == result.is_error;
    if (!same) broke(Rule::at_most_once, "the outcome on record is not what the body gave back");
}

void ThreadAudit::operator()(const journal::Finished& event) {
    auto* attempt = newest_open(event.attempt);
    if (attempt == nullptr) return;
    attempt->stage = AttemptAudit::Stage::finished;
    attempt->on_record = true;
    check_result(event.attempt, event.result, event.outcome, false);
    end_call(calls_[attempt->call], event.result.text);
}

void ThreadAudit::operator()(const journal::Doubted& event) {
    const auto known_attempt = attempts_.find(event.attempt);
    if (known_attempt != attempts_.end() && known_attempt->second.stage == AttemptAudit::Stage::doubted) {
        // Its process came back and knows no more.
        const bool honest = event.returned && row_.stored.actor == known_attempt->second.process;
        if (!honest) broke(Rule::at_most_once, "a start is doubted twice");
        known_attempt->second.returned = true;
        known_attempt->second.on_record = true;
        return;
    }
    auto* attempt = newest_open(event.attempt);
    if (attempt == nullptr) return;
    attempt->stage = AttemptAudit::Stage::doubted;
    attempt->may_run_again = event.may_run_again;
    attempt->returned = event.returned;
    attempt->on_record = event.returned;
    if (event.may_run_again && !is_idempotent(attempt->tool)) {
        broke(Rule::at_most_once, attempt->tool + " may run again although twice does harm");
    }
    const bool own = row_.stored.actor == attempt->process;
    const auto died = ledger_.processes.at(attempt->process).died;
    const bool dead = died != 0 && died < row_.stored.tick;
    const bool lease_over = row_.stored.fence > attempt->fence;
    if (event.returned && !own) broke(Rule::at_most_once, "another process says that a body came back");
    if (!event.returned && !dead && !lease_over) broke(Rule::at_most_once, "the start of a running process is doubted");
    if (!event.returned) attempt->given_up = row_.stored.tick;
    auto& known = calls_[attempt->call];
    if (aborted_) end_call(known, unknown_text);
}

void ThreadAudit::operator()(const journal::LateFinished& event) {
    const auto found = attempts_.find(event.attempt);
    if (found == attempts_.end()) {
        broke(Rule::at_most_once, "a late outcome is of no known attempt");
        return;
    }
    found->second.on_record = true;
    check_result(event.attempt, event.result, event.outcome, true);
    auto& known = calls_[found->second.call];
    if (known.ended || known.attempts.back() != event.attempt || !is_in_doubt(known)) return;
    if (event.outcome == OutcomeKind::unknown) broke(Rule::at_most_once, "a doubt ended with another doubt");
    end_call(known, event.result.text);
}

void ThreadAudit::operator()(const journal::Resolved& event) {
    if (event.by.empty() || event.signed_in.empty())
        broke(Rule::on_record, "an end of a doubt does not say whose it is");
    auto* question = open_question(event.number);
    auto* known = call(event.call);
    if (question == nullptr || known == nullptr) return;
    question->state = ApprovalState::resolved;
    question->resolution = event;
    question->decided_by = event.by;
    question->decided_at = row_.at;
    if (event.how != Resolution::retry) {
        end_call(*known, event.text);
        return;
    }
    // Who resolves sits at the first host, and sees which of its processes live.
    const auto& attempt = attempts_.at(known->attempts.back());
    const auto& process = ledger_.processes.at(attempt.process);
    const bool lives = process.mark.host == "h1" && (process.died == 0 || process.died > row_.stored.tick);
    if (lives && !attempt.returned) broke(Rule::at_most_once, "a retry was taken while the first start may still run");
}

void ThreadAudit::operator()(const journal::Withdrawn& event) {
    auto* question = open_question(event.number);
    if (question == nullptr) return;
    question->state = ApprovalState::withdrawn;
    question->decided_at = row_.at;
    if (const auto* known = call(question->asked.call)) asked_before_row_.insert(known->ref.position);
}

void ThreadAudit::operator()(const journal::TimedOut& event) {
    auto* question = open_question(event.number);
    if (question == nullptr) return;
    question->state = ApprovalState::timed_out;
    question->decided_at = row_.at;
    if (!question->asked.deadline || *question->asked.deadline > row_.at) {
        broke(Rule::first_answer, "a question timed out before its deadline");
    }
    if (auto* known = call(question->asked.call)) end_call(*known, event.text);
}

void ThreadAudit::operator()(const journal::Aborted& event) {
    if (event.by.empty()) broke(Rule::on_record, "an abort does not say who did it");
    aborted_ = true;
    abort_reason_ = event.reason;
    queued_ = 0;
    for (auto i = latest_turn_; i < calls_.size(); ++i) {
        auto& known = calls_[i];
        const bool in_doubt = is_in_doubt(known);
        withdraw_questions(known, ApprovalState::aborted);
        if (known.ended) continue;
        const auto stage =
            known.attempts.empty() ? AttemptAudit::Stage::released : attempts_.at(known.attempts.back()).stage;
        // What runs is waited for.
        if (stage == AttemptAudit::Stage::open) continue;
        end_call(known, in_doubt ? unknown_text : "aborted: " + abort_reason_);
    }
    if (all_ended()) running_ = false;
}

void ThreadAudit::operator()(const journal::RunFinished& event) {
    if (!event.ok) return;
    if (!all_ended()) broke(Rule::no_replay, "a run ended while calls were open");
    running_ = queued_ > 0;
    queued_ = 0;
}

void ThreadAudit::operator()(const journal::Delegated& event) {
    broke(Rule::one_door, name_of(event.call) + " was delegated, and no tool here delegates");
}
void ThreadAudit::operator()(const journal::ChildFinished& event) {
    broke(Rule::one_door, "the child " + event.child + " ended, and nobody made one");
}
void ThreadAudit::operator()(const journal::FilesChanged& event) {
    broke(Rule::one_door, "files were changed by attempt " + event.attempt + ", and no tool here has files");
}

void ThreadAudit::operator()(const journal::Pruned& event) {
    broke(Rule::one_door, "the thread was pruned by " + event.by + ", and nobody prunes here");
}

void ThreadAudit::end() {
    if (running_) broke(Rule::waiting_costs_nothing, "the run has not come to its end");
    for (const auto& call : calls_) {
        if (!call.ended) broke(Rule::waiting_costs_nothing, name_of(call.ref) + " has not ended");
    }
    for (const auto& [number, question] : questions_) {
        if (question.state != ApprovalState::open) continue;
        broke(Rule::waiting_costs_nothing, "question " + std::to_string(number) + " is open for ever");
    }
}

}  // namespace assent::sim
