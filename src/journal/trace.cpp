#include "journal/trace.hpp"

#include "base/base32.hpp"
#include "base/hitl_trace.hpp"
#include "base/time_text.hpp"

#include <assent/arguments.hpp>

#include <algorithm>

namespace assent::journal {
namespace {

// Details were stored, whatever their size: a trace is never lost to a limit.
constexpr JsonLimits details_limits{.bytes_max = std::size_t{1024} * 1024 * 1024, .depth_max = 1000};

std::string id_of(const Asked& asked) {
    Digest digest{};
    const auto raw = unhex(asked.binding);
    std::copy_n(raw.begin(), std::min(raw.size(), digest.size()), digest.begin());
    return public_id(asked.number, digest);
}

// Of a question whose answer is the call's result.
std::string answer_trace(const Asked& asked, const Answered& answered) {
    return with_member(R"({"kind":)" + json_quote(to_string(asked.kind)) + "}",
                       asked.kind == ApprovalKind::ask ? "answers" : "answer", answer_json(asked, answered));
}

std::string hitl_of(const std::vector<std::string>& traces) {
    const auto decided = std::find_if(traces.rbegin(), traces.rend(), has_decision);
    const auto* const top = &*(decided == traces.rend() ? traces.rbegin() : decided);
    std::string chain;
    for (const auto& trace : traces) {
        if (&trace != top) chain += (chain.empty() ? "" : ",") + trace;
    }
    return chain.empty() ? *top : with_member(*top, "_chain", "[" + chain + "]");
}

}  // namespace

std::string answer_json(const Asked& asked, const Answered& answered) {
    if (asked.kind == ApprovalKind::confirm) return answered.decision == DecisionKind::approve ? "true" : "false";
    if (asked.kind == ApprovalKind::ask && answered.decision == DecisionKind::respond) return answered.arguments;
    auto json = R"({"decision":)" + json_quote(to_string(answered.decision)) + "}";
    if (answered.decision == DecisionKind::edit) json = with_member(json, "edited_args", answered.arguments);
    if (!answered.message.empty() || answered.empty_reason)
        json = with_member(json, "reason", json_quote(answered.message));
    return json;
}

std::string answered_trace(const Asked& asked, const Answered& answered, UnixMillis at) {
    const bool declined = answered.decision == DecisionKind::deny && asked.kind != ApprovalKind::confirm;
    if (asked.answers_call && !declined) return answer_trace(asked, answered);
    if (!asked.answers_call && asked.question.style != Style::policy) return {};
    std::optional<std::string> reason;
    if (!answered.message.empty() || answered.empty_reason) reason = answered.message;
    switch (answered.decision) {
        case DecisionKind::approve:
            return approval_trace(id_of(asked), answered.by, at);
        case DecisionKind::edit:
            return edit_trace(asked.arguments, answered.arguments, answered.message);
        case DecisionKind::deny:
            return decision_trace("human_deny", reason);
        case DecisionKind::respond:
            break;
    }
    return {};
}

std::string unanswered_trace(const Asked& asked, std::string_view outcome, const std::string& reason) {
    const bool timed_out = outcome == "timed_out";
    if (!asked.answers_call) {
        if (asked.question.style != Style::policy && timed_out) return {};
        return timed_out ? decision_trace(outcome) : decision_trace(outcome, reason);
    }
    const auto trace =
        with_member(R"({"kind":)" + json_quote(to_string(asked.kind)) + "}", "outcome", json_quote(outcome));
    if (!timed_out) return with_member(trace, "reason", json_quote(reason));
    return with_member(trace, "seconds", seconds_text(asked.question.timeout_ms.value_or(0)));
}

std::string traced_details(const Call& call) {
    if (call.traces.empty()) return call.result.details;
    const auto hitl = hitl_of(call.traces);
    if (call.result.details.empty()) return R"({"hitl":)" + hitl + "}";
    const auto trace = Arguments::parse(R"({"hitl":)" + hitl + "}", details_limits);
    const auto details = Arguments::parse(call.result.details, details_limits);
    if (details && trace) {
        if (const auto traced = lay_over(*details, *trace, details_limits)) return traced->text();
    }
    const auto known = JsonText::parse(call.result.details, details_limits);
    return R"({"_non_dict_details":)" + (known ? known->text() : json_quote(call.result.details)) + R"(,"hitl":)" +
           hitl + "}";
}

}  // namespace assent::journal
