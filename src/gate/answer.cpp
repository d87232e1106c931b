#include "base/display.hpp"
#include "base/json_schema.hpp"
#include "base/mutation.hpp"
#include "base/sha256.hpp"
#include "base/time_text.hpp"
#include "base/unknown_field.hpp"
#include "gate/answering.hpp"
#include "gate/binding.hpp"
#include "gate/process.hpp"
#include "gate/recorded.hpp"
#include "gate/session.hpp"
#include "policy/policy_answer.hpp"
#include "policy/policy_texts.hpp"
#include "policy/question_answers.hpp"
#include "policy/rules_answer.hpp"
#include "policy/table_answer.hpp"

#include <assent/approvals.hpp>
#include <assent/hitl.hpp>

#include <algorithm>

namespace assent {
namespace {

using journal::Answered;

constexpr std::string_view default_cancel_reason = "cancelled";

std::string decision_words(const Approval& approval) {
    if (approval.state == ApprovalState::timed_out) return "timed out";
    if (approval.state == ApprovalState::withdrawn) return "withdrawn";
    if (approval.state == ApprovalState::aborted) return "ended, its thread was aborted";
    std::string words(to_string(approval.state));
    if (!approval.decided_by.empty()) words += " by " + safe_to_show(approval.decided_by).text;
    return words;
}

AnswerResult conflict(Approval approval, bool lost_race) {
    auto message = "approval " + approval.id + " was already " + decision_words(approval);
    if (approval.decided_at) message += " at " + rfc3339(*approval.decided_at);
    const bool timed_out = approval.state == ApprovalState::timed_out;
    return {.status = timed_out ? AnswerResult::Status::expired : AnswerResult::Status::conflict,
            .approval = std::move(approval),
            .message = std::move(message),
            .lost_race = lost_race};
}

AnswerResult refused(const Approval& approval, std::string why, Refusal refusal = Refusal::other) {
    return {.status = AnswerResult::Status::refused,
            .approval = approval,
            .message = std::move(why) + "; approval " + approval.id + " stays open",
            .refusal = refusal};
}

AnswerResult expired(const Approval& approval) {
    return {.status = AnswerResult::Status::expired,
            .approval = approval,
            .message = "approval " + approval.id + " expired at " + rfc3339(*approval.deadline) + "; nothing ran"};
}

std::string list_of(const std::vector<DecisionKind>& kinds) {
    std::string list;
    for (const auto kind : kinds) list += (list.empty() ? "" : ", ") + std::string(to_string(kind));
    return list;
}

// The approval as it stands once `answered` is stored.
Approval after(Approval approval, const Answered& answered, UnixMillis at) {
    switch (answered.decision) {
        case DecisionKind::approve:
            approval.state = ApprovalState::approved;
            if (approval.use_by_ms) approval.use_by = at + *approval.use_by_ms;
            break;
        case DecisionKind::deny:
            approval.state = ApprovalState::denied;
            break;
        case DecisionKind::edit:
            approval.state = ApprovalState::edited;
            break;
        case DecisionKind::respond:
            approval.state = ApprovalState::answered;
            break;
    }
    approval.decision = answered.decision;
    approval.decided_by = answered.by;
    approval.decided_at = at;
    return approval;
}

// The schema that edited arguments must fit: of the asked tool, or of another tool of the agent.
Result<std::string> schema_digest_for(ThreadSession& session, const Approval& approval, const std::string& tool) {
    if (tool == approval.tool) return approval.schema;
    if (auto known = session.refresh(); !known) return known.failure();
    for (const auto& candidate : session.state().configured.tools) {
        if (candidate.name == tool) return candidate.schema;
    }
    return Failure{FailureKind::refused, "the agent has no tool called " + safe_to_show(tool).text};
}

// The complete arguments of an edit, checked against what was stored with the question. `refusal` says more
// of a failure of kind `refused`.
Result<Arguments> edited_arguments(Checkpointer& store, ThreadSession& session, const Approval& approval,
                                   const Decision& decision, const std::string& tool, Refusal& refusal) {
    refusal = Refusal::bad_args;
    if (!decision.arguments) return Failure{FailureKind::refused, "an edit needs arguments"};
    const auto changes = Arguments::parse(*decision.arguments);
    if (!changes)
        return Failure{FailureKind::refused, "the edited arguments cannot be used: " + changes.failure().message};
    const auto shown = Arguments::parse(approval.arguments);
    if (!shown) return shown.failure();
    const bool merges = decision.mode == EditMode::merge || approval.question.style == Style::rules;
    auto arguments = merges ? lay_over(*shown, *changes) : changes;
    if (!arguments) return arguments;
    auto digest = schema_digest_for(session, approval, tool);
    if (!digest) {
        refusal = Refusal::unknown_tool;
        return digest.failure();
    }
    if (digest->empty()) return arguments;
    auto schema = store.schema(*digest);
    if (!schema) return schema.failure();
    const auto excused = tool == approval.tool ? *shown : Arguments();
    if (auto unknown = unknown_field(*schema, tool, *changes, excused))
        return Failure{FailureKind::refused, std::move(*unknown)};
    if (auto good = check_schema(*schema, *arguments); !good) {
        return Failure{FailureKind::refused,
                       "the edited arguments do not fit tool " + tool + ": " + good.failure().message};
    }
    return arguments;
}

// What the giver of this answer is told when the approval was decided before.
Result<AnswerResult> told(Checkpointer& store, const Approval& stands, const Answered& answered, bool lost_race) {
    std::string before;
    auto walked = walk_thread(store, stands.thread,
                              [&](const auto&, const journal::Event& event, const JournalRow&, const std::string&) {
                                  const auto* other = std::get_if<Answered>(&event);
                                  if (other != nullptr && other->number == stands.number) before = other->answer;
                              });
    if (!walked) return walked.failure();
    if (before == answered.answer && stands.decided_by == answered.by) {
        return AnswerResult{.status = AnswerResult::Status::already, .approval = stands, .lost_race = lost_race};
    }
    return conflict(stands, lost_race);
}

std::vector<HitlQuestion> questions_of(const Approval& approval) {
    return hitl_request(approval).payload.questions;
}

// {"decision": "deny"} declines to answer, in place of true or false or the answers by key.
std::variant<Decision, AnswerResult> read_answer_to_question(const Approval& approval, std::string_view json) {
    const bool confirms = approval.kind == ApprovalKind::confirm;
    const auto text = JsonText::parse(std::string(json));
    if (!text) return refused(approval, "the answer is no json: " + text.failure().message, Refusal::bad_shape);
    const auto& root = text->root();
    if (confirms && root.kind == JsonNode::Kind::boolean) return root.boolean ? approve() : deny();
    const auto questions = questions_of(approval);
    const bool asks_decision = std::ranges::any_of(questions, [](const auto& one) { return one.key == "decision"; });
    if (root.find("decision") != nullptr && !asks_decision) {
        auto read = read_policy_answer(json);
        if (auto* decision = std::get_if<Decision>(&read)) return std::move(*decision);
        auto& refusal = std::get<AnswerRefusal>(read);
        return refused(approval, std::move(refusal.message), refusal.kind);
    }
    if (confirms) return refused(approval, "the answer must be true or false", Refusal::bad_shape);
    return answer_questions(text->text());
}

// What the model is told of an answer that is the call's result, and the answers as they are kept. A refusal: they
// do not fit the questions.
std::optional<AnswerRefusal> add_result(const Approval& approval, const Decision& decision, Answered& answered) {
    if (approval.kind == ApprovalKind::confirm) {
        answered.text = decision.kind == DecisionKind::approve ? "yes" : "no";
        if (!answered.message.empty()) answered.text += ": " + answered.message;
        return std::nullopt;
    }
    if (decision.kind != DecisionKind::respond) return std::nullopt;
    const auto questions = questions_of(approval);
    auto answers =
        decision.arguments ? read_answers(questions, *decision.arguments) : read_free_text(questions, answered.message);
    if (auto* refusal = std::get_if<AnswerRefusal>(&answers)) return std::move(*refusal);
    answered.arguments = std::get<std::string>(answers);
    answered.text = answers_text(answered.arguments);
    return std::nullopt;
}

// Whether the attempt's own process said that it came back, so that nothing of it runs any more there.
Result<bool> has_returned(Checkpointer& store, const Approval& approval) {
    bool returned = false;
    auto walked = walk_thread(store, approval.thread,
                              [&](const auto&, const journal::Event& event, const JournalRow&, const std::string&) {
                                  const auto* doubted = std::get_if<journal::Doubted>(&event);
                                  if (doubted == nullptr || doubted->attempt != approval.attempt) return;
                                  returned = doubted->returned;
                              });
    if (!walked) return walked.failure();
    return returned;
}

}  // namespace

std::optional<AnswerResult> told_of_missing(const Failure& failure) {
    if (failure.kind == FailureKind::not_found)
        return AnswerResult{.status = AnswerResult::Status::not_found, .message = failure.message};
    if (failure.kind == FailureKind::ambiguous)
        return AnswerResult{.status = AnswerResult::Status::ambiguous, .message = failure.message};
    return std::nullopt;
}

std::variant<Decision, AnswerResult> read_answer_json(const Approval& approval, std::string_view json) {
    if (approval.kind == ApprovalKind::confirm || approval.kind == ApprovalKind::ask)
        return read_answer_to_question(approval, json);
    const auto style = approval.question.style;
    if (style != Style::rules) {
        auto read = style == Style::policy ? read_policy_answer(json) : read_table_decision(approval, json);
        if (auto* decision = std::get_if<Decision>(&read)) return std::move(*decision);
        auto& refusal = std::get<AnswerRefusal>(read);
        return refused(approval, std::move(refusal.message), refusal.kind);
    }
    const auto read = read_rules_answer(json);
    if (!read) return refused(approval, read.failure().message, Refusal::bad_shape);
    return decision_of(*read);
}

std::variant<Decision, AnswerResult> read_hitl_answer(const Approval& approval, std::string_view json) {
    if (approval.kind != ApprovalKind::approve) return read_answer_json(approval, json);
    auto read = read_policy_answer(json);
    if (auto* decision = std::get_if<Decision>(&read)) return std::move(*decision);
    auto& refusal = std::get<AnswerRefusal>(read);
    return refused(approval, std::move(refusal.message), refusal.kind);
}

Result<CheckedAnswer> check_answer(Checkpointer& store, const Clock& clock, Random& random, const Approval& approval,
                                   const Decision& decision, const Reviewer& reviewer) {
    if (approval.kind == ApprovalKind::unknown) {
        return CheckedAnswer(
            refused(approval, "this call was started and its outcome is unknown: resolve it as done, retry or fail"));
    }
    if (!decision.digest.empty() && decision.digest != approval.digest) {
        return CheckedAnswer(refused(approval, "the digest is not that of this approval"));
    }
    if (auto refusal = table_refusal(approval, decision))
        return CheckedAnswer(refused(approval, std::move(refusal->message), refusal->kind));
    const auto& allowed = approval.question.allowed;
    if (std::find(allowed.begin(), allowed.end(), decision.kind) == allowed.end()) {
        return CheckedAnswer(refused(approval,
                                     "guard " + approval.guard + " does not take " +
                                         std::string(to_string(decision.kind)) + " (allowed: " + list_of(allowed) + ")",
                                     Refusal::not_allowed));
    }
    Answered answered{.number = approval.number,
                      .call = {approval.turn, approval.position},
                      .decision = decision.kind,
                      .tool = decision.tool.empty() ? approval.tool : decision.tool,
                      .message = repaired_utf8(decision.message),
                      .by = mutated(Rule::on_record) ? std::string() : repaired_utf8(reviewer.name),
                      .signed_in = reviewer.signed_in,
                      .shown = approval.digest,
                      .empty_reason = decision.empty_reason && decision.message.empty()};
    if (decision.kind == DecisionKind::edit) {
        ThreadSession session(store, approval.thread, clock, random);
        auto refusal = Refusal::other;
        auto arguments = edited_arguments(store, session, approval, decision, answered.tool, refusal);
        if (!arguments && arguments.failure().kind == FailureKind::refused) {
            return CheckedAnswer(refused(approval, arguments.failure().message, refusal));
        }
        if (!arguments) return arguments.failure();
        answered.arguments = arguments->text();
    }
    if (decision.kind == DecisionKind::deny) {
        answered.text = denial_text(approval, answered.message);
    }
    if (decision.kind == DecisionKind::respond) answered.text = response_text(approval, answered.message);
    const bool asks_nothing = approval.kind == ApprovalKind::approve;
    if (asks_nothing && decision.kind == DecisionKind::respond && decision.arguments)
        return CheckedAnswer(refused(approval, "this approval asks no questions: respond with a text"));
    if (!asks_nothing) {
        if (auto refusal = add_result(approval, decision, answered))
            return CheckedAnswer(refused(approval, std::move(refusal->message), refusal->kind));
    }
    answered.answer = answer_digest(decision.kind, answered.tool, answered.arguments, answered.message);
    if (answered.empty_reason) answered.answer = hex(sha256(answered.answer));
    return CheckedAnswer(std::move(answered));
}

void add_answer(const Answered& answered, Change& change) {
    change.events.emplace_back(answered);
    if (!mutated(Rule::first_answer)) change.closes.push_back(answered.number);
    // Whatever does not just let the call run makes the other guards' questions about it moot; an approval that the
    // model is told of is the answer to a question, and so the call's end.
    if (answered.decision != DecisionKind::approve || !answered.text.empty())
        change.closes_calls.emplace_back(answered.call.turn, answered.call.position);
}

Failure none_counts(const AnswerResult& result) {
    switch (result.status) {
        case AnswerResult::Status::refused:
            return {FailureKind::refused, result.message + "; none of the answers counts"};
        case AnswerResult::Status::expired:
            return {FailureKind::expired, result.message + "; none of the answers counts"};
        default:
            return {FailureKind::conflict,
                    "approval " + result.approval.id + " was answered meanwhile; none of the answers counts"};
    }
}

AnswerResult decided(const Approval& approval, const Answered& answered, UnixMillis at) {
    return {.status = AnswerResult::Status::decided,
            .approval = after(approval, answered, at),
            .still_judged = answered.decision == DecisionKind::edit};
}

Result<AnswerResult> Approvals::answer(const std::string& id, const Decision& decision, const Reviewer& reviewer,
                                       const std::string& thread) {
    auto approval = find(id, thread);
    if (approval) return answer_found(*approval, decision, reviewer);
    if (auto known = told_of_missing(approval.failure())) return std::move(*known);
    return approval.failure();
}

Result<AnswerResult> Approvals::answer_json(const std::string& id, std::string_view json, const Reviewer& reviewer,
                                            const std::string& thread) {
    auto approval = find(id, thread);
    if (!approval) {
        if (auto known = told_of_missing(approval.failure())) return std::move(*known);
        return approval.failure();
    }
    auto read = read_answer_json(*approval, json);
    if (auto* refusal = std::get_if<AnswerResult>(&read)) return std::move(*refusal);
    return answer_found(*approval, std::get<Decision>(read), reviewer);
}

Result<AnswerResult> Approvals::answer_found(const Approval& approval, const Decision& decision,
                                             const Reviewer& reviewer) {
    auto checked = check_answer(checkpointer_, clock_, random_, approval, decision, reviewer);
    if (!checked) return checked.failure();
    if (auto* already_told = std::get_if<AnswerResult>(&*checked)) return std::move(*already_told);
    const auto& answered = std::get<Answered>(*checked);
    if (approval.state != ApprovalState::open) return told(checkpointer_, approval, answered, false);

    ThreadSession session(checkpointer_, approval.thread, clock_, random_);
    Change change{.lease = LeaseUse::none, .expects_seq = false};
    add_answer(answered, change);
    auto appended = session.append(std::move(change));
    if (!appended) return appended.failure();
    switch (appended->status) {
        case AppendStatus::done:
            return decided(approval, answered, clock_.now());
        case AppendStatus::expired:
            return expire_found(approval);
        case AppendStatus::closed: {
            auto now = find(approval.id);
            if (!now) return now.failure();
            return told(checkpointer_, *now, answered, true);
        }
        default:
            return Failure{FailureKind::database, "the store refused the answer; try again"};
    }
}

// What a sweeper would do: the thread can go on without waiting for one.
Result<AnswerResult> Approvals::expire_found(const Approval& approval) {
    ThreadSession session(checkpointer_, approval.thread, clock_, random_);
    Change late{.events = {timed_out(approval.number, approval.tool, approval.question, approval.kind)},
                .lease = LeaseUse::none,
                .expects_seq = false,
                .closes = {approval.number},
                .closes_late = true,
                .closes_calls = {{approval.turn, approval.position}}};
    if (auto swept = session.append(std::move(late)); !swept) return swept.failure();
    return expired(approval);
}

Result<AnswerResult> Approvals::cancel(const std::string& id, const std::string& reason, const Reviewer& reviewer,
                                       const std::string& thread) {
    auto approval = find(id, thread);
    if (!approval) {
        if (auto known = told_of_missing(approval.failure())) return std::move(*known);
        return approval.failure();
    }
    if (approval->kind == ApprovalKind::unknown)
        return refused(*approval, "this call was started: it can be resolved or aborted, not cancelled");
    if (approval->state != ApprovalState::open) return conflict(*approval, false);
    const auto words = reason.empty() ? std::string(default_cancel_reason) : repaired_utf8(reason);
    ThreadSession session(checkpointer_, approval->thread, clock_, random_);
    auto appended = session.append({.events = {journal::Withdrawn{.number = approval->number,
                                                                  .reason = words,
                                                                  .text = cancelled_text(words, approval->kind),
                                                                  .by = repaired_utf8(reviewer.name)}},
                                    .lease = LeaseUse::none,
                                    .expects_seq = false,
                                    .closes = {approval->number},
                                    .closes_calls = {{approval->turn, approval->position}}});
    if (!appended) return appended.failure();
    if (appended->status == AppendStatus::expired) return expire_found(*approval);
    auto now = find(approval->id);
    if (!now) return now.failure();
    if (appended->status == AppendStatus::done)
        return AnswerResult{.status = AnswerResult::Status::decided, .approval = *now};
    if (appended->status == AppendStatus::closed) return conflict(*now, true);
    return Failure{FailureKind::database, "the store refused the cancellation; try again"};
}

Result<AnswerResult> Approvals::resolve(const std::string& id, Resolution how, std::string_view text,
                                        const Reviewer& reviewer, const std::string& thread) {
    auto approval = find(id, thread);
    if (approval) return resolve_found(*approval, how, text, reviewer);
    if (auto known = told_of_missing(approval.failure())) return std::move(*known);
    return approval.failure();
}

Result<AnswerResult> Approvals::resolve_found(const Approval& approval, Resolution how, std::string_view text,
                                              const Reviewer& reviewer) {
    if (approval.kind != ApprovalKind::unknown) {
        return refused(approval, "this call has not been started: approve, deny or edit it");
    }
    ThreadSession session(checkpointer_, approval.thread, clock_, random_);
    if (auto known = session.refresh(); !known) return known.failure();
    std::string words = repaired_utf8(text);
    if (words.empty() && how == Resolution::done) words = "A person says that this call ran to its end.";
    if (words.empty() && how == Resolution::fail) words = "A person says that this call failed.";
    if (approval.state != ApprovalState::open) {
        bool same = false;
        auto walked = walk_thread(checkpointer_, approval.thread,
                                  [&](const auto&, const journal::Event& event, const JournalRow&, const std::string&) {
                                      const auto* before = std::get_if<journal::Resolved>(&event);
                                      if (before == nullptr || before->number != approval.number) return;
                                      same = before->how == how && before->text == words &&
                                             before->by == repaired_utf8(reviewer.name);
                                  });
        if (!walked) return walked.failure();
        if (same) return AnswerResult{.status = AnswerResult::Status::already, .approval = approval};
        return conflict(approval, false);
    }
    const auto* call = session.state().find_attempt(approval.attempt);
    if (how == Resolution::retry && call != nullptr) {
        const auto& process = call->attempts.back().process;
        auto returned = has_returned(checkpointer_, approval);
        if (!returned) return returned.failure();
        if (!*returned && life_of(process) == ProcessLife::alive) {
            return refused(approval, "process " + std::to_string(process.pid) +
                                         " that started the call still lives; end it before a retry");
        }
    }
    Change change{.events = {journal::Resolved{.number = approval.number,
                                               .call = {approval.turn, approval.position},
                                               .how = how,
                                               .text = words,
                                               .by = repaired_utf8(reviewer.name),
                                               .signed_in = reviewer.signed_in}},
                  .lease = LeaseUse::none,
                  .expects_seq = false,
                  .closes = {approval.number}};
    auto appended = session.append(std::move(change));
    if (!appended) return appended.failure();
    auto now = find(approval.id);
    if (!now) return now.failure();
    if (appended->status == AppendStatus::done)
        return AnswerResult{.status = AnswerResult::Status::decided, .approval = *now};
    if (appended->status == AppendStatus::closed) return conflict(*now, true);
    return Failure{FailureKind::database, "the store refused the resolution; try again"};
}

}  // namespace assent
