#include "sim/auditor.hpp"

#include "journal/encoding.hpp"

#include <algorithm>
#include <utility>

namespace assent::sim {
namespace {

using Status = AnswerResult::Status;

bool same_content(const Decision& given, const journal::Answered& stored, const journal::Asked& asked) {
    if (given.kind != stored.decision) return false;
    if (given.kind == DecisionKind::edit) {
        if (stored.tool != (given.tool.empty() ? asked.tool : given.tool)) return false;
        const auto changes = Arguments::parse(given.arguments.value_or("{}"));
        const auto shown = Arguments::parse(asked.arguments);
        if (!changes || !shown) return false;
        const auto wanted = given.mode == EditMode::merge ? lay_over(*shown, *changes) : changes;
        const auto kept = Arguments::parse(stored.arguments);
        return wanted && kept && same_value(wanted->root(), kept->root());
    }
    return given.message == stored.message;
}

}  // namespace

void Auditor::audit() {
    for (const auto& thread : world_.threads) audit_thread(thread);
    if (rows_ != world_.ledger.rows.size()) world_.ledger.broke(Rule::no_replay, "a row that was stored is gone");
    audit_effects();
    audit_recorded();
    audit_told();
    audit_doubts();
}

void Auditor::audit_thread(const std::string& thread) {
    auto& ledger = world_.ledger;
    auto& rows = world_.store.rows;
    const auto head = rows.find_thread(thread);
    if (!head || !head->has_value()) return;
    auto& audit = threads_.emplace(thread, ThreadAudit(thread, world_.shape.hold_batch, ledger)).first->second;
    Digest hash{};
    for (const auto& row : *rows.load(thread, 0)) {
        ++rows_;
        const auto stored = ledger.rows.find(row.pos);
        const auto header = journal::decode_header(row.header);
        const auto events = header ? journal::decode(row.body, header->first_number) : header.failure();
        if (stored == ledger.rows.end() || !events ||
            stored->second.digest != row_digest(row.header, row.salt, row.body)) {
            ledger.broke(Rule::no_replay, thread + ": a row was changed after it was stored");
            return;
        }
        const bool fits = header->thread == thread && header->seq == row.seq && header->at == row.at &&
                          header->kinds.size() == events->size() &&
                          header->body_digest == journal::body_digest(row.salt, row.body);
        if (!fits) ledger.broke(Rule::on_record, thread + ": a header does not fit its row");
        hash = journal::chain(hash, row.header);
        audit.read(*events, {.at = row.at, .stored = stored->second});
        for (const auto& event : *events) ++events_[journal::kind_of(event)];
    }
    if (hash != (*head)->hash) ledger.broke(Rule::on_record, thread + ": the chain does not end in its head");
    // On a server the dead keep what has come to its end; nobody waits for it.
    const auto lease = world_.store.leases.find(thread);
    const bool of_dead =
        world_.store.server && lease != world_.store.leases.end() && world_.store.lease_is_over(lease->second.process);
    if ((*head)->runner != 0 && !of_dead)
        ledger.broke(Rule::waiting_costs_nothing, thread + ": somebody still holds it at the end");
    audit.end();
    audit_conversation(thread, audit);
    const auto open = rows.open_approvals(thread, 0, 1);
    if (!open->empty()) ledger.broke(Rule::first_answer, thread + ": a question is listed as open that is not");
}

// Each call has one result, in the model's order, and it is the one that its events tell.
void Auditor::audit_conversation(const std::string& thread, const ThreadAudit& audit) {
    const auto messages = Approvals(world_.store.rows, world_.desk_clock, world_.desk_random).transcript(thread);
    if (!messages) {
        world_.ledger.broke(Rule::on_record, thread + ": the conversation cannot be read");
        return;
    }
    std::size_t next = 0;
    for (const auto& message : *messages) {
        if (message.role != Role::tool) continue;
        if (next == audit.calls().size()) {
            world_.ledger.broke(Rule::at_most_once, thread + ": there are more results than calls");
            return;
        }
        const auto& call = audit.calls()[next++];
        if (message.tool_call_id != call.proposed.id || message.text != call.text) {
            world_.ledger.broke(Rule::at_most_once, thread + ": the model reads \"" + message.text +
                                                        "\" as a result where it was \"" + call.text + "\"");
        }
    }
    if (next != audit.calls().size()) world_.ledger.broke(Rule::at_most_once, thread + ": a call has no result");
}

const Question* Auditor::question(std::int64_t number) const {
    for (const auto& [name, audit] : threads_) {
        const auto found = audit.questions().find(number);
        if (found != audit.questions().end()) return &found->second;
    }
    return nullptr;
}

const AttemptAudit* Auditor::attempt(const std::string& id) const {
    for (const auto& [name, audit] : threads_) {
        const auto found = audit.attempts().find(id);
        if (found != audit.attempts().end()) return &found->second;
    }
    return nullptr;
}

void Auditor::audit_effects() {
    auto& ledger = world_.ledger;
    std::set<std::string> ran;
    for (const auto& effect : ledger.effects) {
        const auto* claim = attempt(effect.attempt);
        const auto permit = ledger.permits.find(effect.attempt);
        if (claim == nullptr || permit == ledger.permits.end() || claim->claimed > effect.started) {
            ledger.broke(Rule::one_door, effect.tool + " ran without a claim on record");
            continue;
        }
        if (claim->tool != effect.tool) {
            ledger.broke(Rule::one_door, effect.tool + " ran with what was claimed for " + claim->tool);
        }
        if (claim->arguments != effect.arguments) {
            ledger.broke(Rule::exact_call,
                         effect.tool + " ran with " + effect.arguments + " instead of " + claim->arguments);
        }
        if (!ran.insert(effect.attempt).second) {
            ledger.broke(Rule::at_most_once, effect.tool + " ran twice for one claim");
        }
        if (effect.started_ms > permit->second.at_ms + world_.shape.start_within) {
            ledger.broke(Rule::at_most_once, effect.tool + " was started after its permit had run out");
        }
        if (claim->given_up != 0 && claim->given_up < effect.started) {
            ledger.broke(Rule::at_most_once, effect.tool + " was started after its claim had been given up");
        }
        if (claim->stage == AttemptAudit::Stage::released) {
            ledger.broke(Rule::at_most_once, effect.tool + " ran although its start is on record as not made");
        }
    }
}

void Auditor::audit_recorded() {
    for (const auto& id : world_.ledger.recorded) {
        const auto* claim = attempt(id);
        if (claim == nullptr || claim->on_record) continue;
        world_.ledger.broke(Rule::on_record, "an outcome of " + claim->tool + " was dropped");
    }
}

void Auditor::audit_told() {
    for (const auto& told : world_.ledger.told) {
        if (!told.result) continue;
        const auto* asked = question(told.number);
        if (asked == nullptr) {
            world_.ledger.broke(Rule::first_answer, "question " + std::to_string(told.number) + " is on no record");
            continue;
        }
        check_told(told, *asked);
    }
}

void Auditor::check_told(const Told& told, const Question& question) {
    auto& ledger = world_.ledger;
    const auto lie = [&](const std::string& what) {
        ledger.broke(Rule::first_answer,
                     told.reviewer.name + " was told of question " + std::to_string(told.number) + " that " + what);
    };
    const bool mine = question.answer && question.answer->by == told.reviewer.name &&
                      same_content(told.decision, *question.answer, question.asked);
    const auto& seen = told.result->approval;
    switch (told.result->status) {
        case Status::decided:
            if (!counted_.insert(told.number).second) lie("it was decided twice");
            check_counted(told, question);
            break;
        case Status::already:
            if (!mine) lie("this answer had been given before");
            break;
        case Status::conflict:
            if (mine) lie("somebody else had decided");
            if (seen.state != question.state || seen.decided_by != question.decided_by ||
                seen.decided_at != question.decided_at) {
                lie("it was decided as it was not");
            }
            break;
        case Status::expired: {
            const auto& deadline = question.asked.deadline;
            const bool over = deadline && *deadline <= told.at;
            if (question.state != ApprovalState::timed_out && !over) lie("it had expired");
            break;
        }
        case Status::refused:
            if (told.acceptable && !told.together) lie("a good answer cannot be taken: " + told.result->message);
            break;
        case Status::not_found:
        case Status::ambiguous:
            lie("it is not known");
    }
}

void Auditor::check_counted(const Told& told, const Question& question) {
    auto& ledger = world_.ledger;
    const auto which = "question " + std::to_string(told.number);
    if (!told.acceptable) ledger.broke(Rule::first_answer, which + " took an answer that it does not take");
    if (!question.answer) {
        ledger.broke(Rule::first_answer, which + " has no answer on record although its answerer was told so");
        return;
    }
    if (!same_content(told.decision, *question.answer, question.asked)) {
        ledger.broke(Rule::first_answer, which + " has another answer on record than its answerer was told");
    }
    if (question.answer->by != told.reviewer.name || question.answer->signed_in != told.reviewer.signed_in) {
        ledger.broke(Rule::on_record, which + " has another answerer on record");
    }
}

void Auditor::audit_doubts() {
    for (const auto& told : world_.ledger.doubts) {
        if (!told.result) continue;
        const auto* asked = question(told.number);
        const auto which = "doubt " + std::to_string(told.number);
        const auto status = told.result->status;
        if (asked == nullptr || status == Status::not_found || status == Status::ambiguous) {
            world_.ledger.broke(Rule::first_answer, which + " is not known");
            continue;
        }
        const bool mine =
            asked->resolution && asked->resolution->by == told.reviewer.name && asked->resolution->how == told.how;
        if ((status == Status::decided || status == Status::already) && !mine) {
            world_.ledger.broke(Rule::first_answer, which + " was ended otherwise than its answerer was told");
        }
        if (status == Status::refused && told.how != Resolution::retry) {
            world_.ledger.broke(Rule::first_answer, which + " refused a good answer");
        }
    }
}

}  // namespace assent::sim
