// What the auditor asks of verdicts and of claims: who judged, how strictly, and what a start rests on.
#include "base/sha256.hpp"
#include "sim/host_code.hpp"
#include "sim/thread_audit.hpp"
#include "sim/world.hpp"

#include <algorithm>

namespace assent::sim {
namespace {

std::map<std::string, std::string> versions_of(const journal::Judged& judged) {
    std::map<std::string, std::string> versions;
    for (const auto& guard : judged.guards) versions[guard.guard] = guard.version;
    return versions;
}

}  // namespace

bool ThreadAudit::has_open_question(const CallAudit& call) const {
    return std::any_of(call.questions.begin(), call.questions.end(),
                       [&](auto number) { return questions_.at(number).state == ApprovalState::open; });
}

bool ThreadAudit::is_in_doubt(const CallAudit& call) const {
    return std::any_of(call.questions.begin(), call.questions.end(), [&](auto number) {
        const auto& question = questions_.at(number);
        return question.state == ApprovalState::open && question.asked.kind == ApprovalKind::unknown;
    });
}

bool ThreadAudit::satisfied(const CallAudit& call, const journal::GuardVerdict& guard) const {
    const auto counts = [&](std::int64_t number) {
        const auto& question = questions_.at(number);
        const auto& asked = question.asked;
        if (asked.guard != guard.guard || asked.guard_version != guard.version) return false;
        if (row_.at - question.decided_at > use_by_ms) return false;
        if (question.state == ApprovalState::approved) {
            return asked.tool == call.tool && asked.arguments == call.arguments;
        }
        // Whoever edits has seen what runs, unless it is a call of another tool.
        return question.state == ApprovalState::edited && call.last_edit == number && asked.tool == call.tool;
    };
    // Of several answers the newest holds, and none about arguments that were edited away.
    for (auto i = call.questions.size(); i > call.asked_before_edit; --i) {
        const auto number = call.questions[i - 1];
        if (questions_.at(number).asked.guard == guard.guard && questions_.at(number).answer) return counts(number);
    }
    return call.last_edit && counts(*call.last_edit);
}

// Verdicts are stored and not computed again, but for an edit, for guards that have changed, and for
// approvals that have gone stale.
bool ThreadAudit::judging_is_due(const CallAudit& call, const journal::Judged& event) const {
    if (!call.judged || call.edited) return true;
    if (has_open_question(call) || asked_before_row_.contains(call.ref.position)) return false;
    if (versions_of(*call.judged) != versions_of(event)) return true;
    return std::any_of(call.judged->guards.begin(), call.judged->guards.end(), [&](const journal::GuardVerdict& guard) {
        return guard.verdict == Verdict::ask && !satisfied(call, guard);
    });
}

void ThreadAudit::check_guards(const CallAudit& call, const journal::Judged& event) {
    if (versions_of(event) != ledger_.processes.at(row_.stored.actor).guards) {
        broke(Rule::strictest_wins, "not every guard of the process has judged");
    }
    const auto arguments = Arguments::parse(call.arguments);
    if (!arguments) {
        broke(Rule::closed_in_doubt, "a call was judged whose arguments cannot be read");
        return;
    }
    auto due = Verdict::allow;
    for (const auto& guard : event.guards) {
        const auto wish = wish_of(*arguments, guard.guard, guard.version);
        if (guard.verdict != due_verdict(wish)) {
            const bool in_doubt = wish == Wish::fail || wish == Wish::ask_nothing;
            broke(in_doubt ? Rule::closed_in_doubt : Rule::strictest_wins,
                  "guard " + guard.guard + " is on record with " + std::string(to_string(guard.verdict)));
        }
        if (guard.verdict == Verdict::ask && satisfied(call, guard)) continue;
        if (guard.verdict == Verdict::ask) {
            questions_due_.emplace(static_cast<std::size_t>(&call - calls_.data()), guard.guard);
        }
        due = std::max(due, guard.verdict);
    }
    if (event.verdict < due) {
        broke(Rule::strictest_wins, "the verdict is " + std::string(to_string(event.verdict)) +
                                        " although a guard said " + std::string(to_string(due)));
    }
}

void ThreadAudit::operator()(const journal::Judged& event) {
    auto* known = call(event.call);
    if (known == nullptr) return;
    if (known->ended) {
        broke(Rule::no_replay, "a call was judged after its end");
        return;
    }
    // A hook that denies speaks before the guards.
    const bool by_hook = event.guards.empty() && event.verdict == Verdict::deny && !known->prepared;
    if (!by_hook) {
        if (!judging_is_due(*known, event)) broke(Rule::no_replay, "a call was judged again without need");
        check_guards(*known, event);
    }
    known->judged = event;
    known->edited = false;
    if (event.verdict != Verdict::deny) return;
    const auto index = static_cast<std::size_t>(known - calls_.data());
    std::erase_if(questions_due_, [&](const auto& due) { return due.first == index; });
    end_call(*known, event.text);
}

// A second start needs the proof that there was no first one, a tool that does no harm twice, or a person.
void ThreadAudit::check_may_start_again(const CallAudit& call) {
    if (call.attempts.empty()) return;
    const auto& before = attempts_.at(call.attempts.back());
    switch (before.stage) {
        case AttemptAudit::Stage::released:
            return;
        case AttemptAudit::Stage::doubted: {
            const bool ordered = std::any_of(call.questions.begin(), call.questions.end(), [&](auto number) {
                const auto& question = questions_.at(number);
                return question.asked.attempt == call.attempts.back() && question.resolution &&
                       question.resolution->how == Resolution::retry;
            });
            if (ordered || before.may_run_again) return;
            break;
        }
        case AttemptAudit::Stage::open:
        case AttemptAudit::Stage::finished:
            break;
    }
    broke(Rule::at_most_once, "a call was started again that may have run");
}

void ThreadAudit::check_claim(const CallAudit& call, const journal::Start& start) {
    if (call.ended || aborted_) broke(Rule::exact_call, "a call was claimed after its end");
    if (hex(sha256(call.arguments)) != start.arguments_sha256) {
        broke(Rule::exact_call, "a claim is for other arguments than those of the call");
    }
    if (!call.judged || call.edited) {
        broke(Rule::exact_call, "a call was claimed that was not judged as it is");
        return;
    }
    if (versions_of(*call.judged) != ledger_.processes.at(row_.stored.actor).guards) {
        broke(Rule::exact_call, "a claim rests on verdicts of other guards than those of its process");
    }
    if (has_open_question(call)) broke(Rule::exact_call, "a call was claimed that is still asked about");
    for (const auto& guard : call.judged->guards) {
        if (guard.verdict == Verdict::deny) broke(Rule::strictest_wins, "a call was claimed that a guard denied");
        if (guard.verdict != Verdict::ask || satisfied(call, guard)) continue;
        broke(Rule::exact_call, "a call was claimed without an approval that holds for guard " + guard.guard);
    }
    check_may_start_again(call);
}

void ThreadAudit::operator()(const journal::Claimed& event) {
    check_runner();
    if (event.process != ledger_.processes.at(row_.stored.actor).mark) {
        broke(Rule::on_record, "a claim names another process than the one that made it");
    }
    const bool undecided = std::any_of(calls_.begin() + static_cast<std::ptrdiff_t>(latest_turn_), calls_.end(),
                                       [&](const CallAudit& call) {
                                           const bool waits = has_open_question(call) && !is_in_doubt(call);
                                           return !call.ended && (waits || call.edited);
                                       });
    if (hold_batch_ && undecided) broke(Rule::exact_call, "a call of a held batch started before all were decided");
    for (const auto& start : event.starts) {
        auto* known = call(start.call);
        if (known == nullptr) continue;
        check_claim(*known, start);
        known->attempts.push_back(start.attempt);
        const AttemptAudit attempt{.call = static_cast<std::size_t>(known - calls_.data()),
                                   .process = row_.stored.actor,
                                   .claimed = row_.stored.tick,
                                   .fence = row_.stored.fence,
                                   .tool = known->tool,
                                   .arguments = known->arguments};
        if (!attempts_.emplace(start.attempt, attempt).second) {
            broke(Rule::at_most_once, "two starts have the same id");
        }
    }
}

}  // namespace assent::sim
