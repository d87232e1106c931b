#include "cli/approval_json.hpp"

#include "base/sha256.hpp"
#include "base/time_text.hpp"

#include <algorithm>

namespace assent::cli {
namespace {

std::string allowed_decisions(const Approval& approval) {
    std::vector<std::string> names;
    for (const auto kind : approval.question.allowed) names.emplace_back(to_string(kind));
    if (approval.kind == ApprovalKind::unknown) names = {"done", "retry", "fail"};
    return json_texts(names);
}

// What did not run although it has a result: answered by a person, denied, and the like.
bool not_run(const CallReport& call) {
    return call.outcome.has_value() && !call.ran;
}

}  // namespace

JsonObject approval_json(const Approval& approval) {
    JsonObject json;
    json.text("id", approval.id)
        .text("kind", to_string(approval.kind))
        .text("thread", approval.thread)
        .raw("parent", "[]");
    json.number("turn", approval.turn).number("position", approval.position).text("tool", approval.tool);
    if (approval.tool_call_id) {
        json.text("tool_call_id", *approval.tool_call_id);
    } else {
        json.null("tool_call_id");
    }
    json.text_or_null("interrupt_id", approval.question.interrupt_id).raw("arguments", approval.arguments);
    const auto& exact = approval.arguments_raw.empty() ? approval.arguments : approval.arguments_raw;
    const bool shown_otherwise = std::any_of(exact.begin(), exact.end(), breaks_line);
    if (!approval.arguments_raw.empty() || shown_otherwise) json.text("arguments_raw", exact);
    json.text("arguments_sha256", hex(sha256(approval.arguments))).text("digest", approval.digest);
    json.raw("payload", approval.question.payload)
        .text("guard", approval.guard)
        .text("guard_version", approval.guard_version);
    json.text("reason", approval.reason)
        .text("description", approval.question.description)
        .raw("details", approval.question.details);
    json.raw("allowed_decisions", allowed_decisions(approval)).text("state", to_string(approval.state));
    json.time("asked_at", approval.asked_at).time("deadline", approval.deadline).time("use_by", approval.use_by);
    if (approval.question.timeout_ms) {
        json.raw("timeout_seconds", std::to_string(static_cast<double>(*approval.question.timeout_ms) / 1000.0));
    } else {
        json.null("timeout_seconds");
    }
    if (approval.kind == ApprovalKind::unknown) json.text("process", approval.process);
    if (approval.state != ApprovalState::open) {
        json.text_or_null("decided_by", approval.decided_by).time("decided_at", approval.decided_at);
        json.text_or_null("decision", approval.decision ? to_string(*approval.decision) : std::string_view());
    }
    return json;
}

JsonObject answer_json(const AnswerResult& result, std::string_view decision) {
    const auto& approval = result.approval;
    JsonObject json;
    json.text("id", approval.id).text("state", to_string(approval.state));
    json.boolean("already", result.status == AnswerResult::Status::already);
    json.text("decision", approval.decision ? to_string(*approval.decision) : decision);
    json.text_or_null("decided_by", approval.decided_by).time("decided_at", approval.decided_at);
    if (result.still_judged) json.boolean("still_judged", true);
    return json;
}

JsonObject call_json(const CallReport& call) {
    JsonObject json;
    json.text("tool", call.tool);
    if (call.tool_call_id) json.text("tool_call_id", *call.tool_call_id);
    json.number("turn", call.turn).number("position", call.position);
    json.text_or_null("outcome", call.outcome ? to_string(*call.outcome) : std::string_view());
    json.boolean("not_run", not_run(call)).boolean("edited", call.edited).boolean("is_error", call.is_error);
    if (!call.denied_by.empty()) json.text("denied_by", call.denied_by);
    const auto arguments = Arguments::parse(call.arguments);
    if (arguments) {
        json.raw("arguments", call.arguments);
    } else {
        json.text("arguments_raw", call.arguments);
    }
    json.text("result", call.text);
    return json;
}

JsonObject run_json(const Run& run) {
    std::vector<std::string> interrupts;
    for (const auto& approval : run.interrupts) interrupts.push_back(approval_json(approval).str());
    std::vector<std::string> calls;
    for (const auto& call : run.calls) calls.push_back(call_json(call).str());
    JsonObject json;
    json.text("result", to_string(run.status)).text("thread", run.thread).text("text", run.text);
    json.raw("interrupts", json_array(interrupts)).raw("files", "{}").raw("calls", json_array(calls));
    if (run.prompt != PromptTaken::begun) json.text("prompt", to_string(run.prompt));
    if (run.failure) {
        json.raw("error",
                 JsonObject().text("kind", to_string(run.failure->kind)).text("message", run.failure->message).str());
    }
    return json;
}

std::string message_json(const Message& message) {
    JsonObject json;
    json.text("role", to_string(message.role)).text("text", message.text);
    if (message.role == Role::assistant) {
        std::vector<std::string> calls;
        for (const auto& call : message.calls) {
            JsonObject item;
            item.text("name", call.tool).text_or_null("id", call.id.value_or(""));
            if (Arguments::parse(call.arguments)) {
                item.raw("arguments", call.arguments);
            } else {
                item.text("arguments_raw", call.arguments);
            }
            calls.push_back(item.str());
        }
        json.raw("calls", json_array(calls));
    }
    if (message.role == Role::tool) {
        json.text("tool", message.tool).text_or_null("tool_call_id", message.tool_call_id.value_or(""));
        json.boolean("is_error", message.is_error);
        if (!message.used_arguments.empty()) json.raw("arguments_used", message.used_arguments);
    }
    return json.str();
}

Failure failure_of(const AnswerResult& result) {
    switch (result.status) {
        case AnswerResult::Status::conflict:
            return {FailureKind::conflict, result.message};
        case AnswerResult::Status::expired:
            return {FailureKind::expired, result.message};
        case AnswerResult::Status::not_found:
            return {FailureKind::not_found, result.message};
        case AnswerResult::Status::ambiguous:
            return {FailureKind::ambiguous, result.message};
        default:
            return {FailureKind::refused, result.message};
    }
}

std::string conflict_members(const AnswerResult& result) {
    if (result.status != AnswerResult::Status::conflict) return {};
    const auto& approval = result.approval;
    JsonObject json;
    json.text_or_null("decided_by", approval.decided_by).time("decided_at", approval.decided_at);
    json.text("decision", approval.decision ? to_string(*approval.decision) : to_string(approval.state));
    const auto text = json.str();
    return text.substr(1, text.size() - 2);
}

}  // namespace assent::cli
