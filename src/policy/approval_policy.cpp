#include <assent/channel.hpp>
#include <assent/policy.hpp>
#include <assent/result.hpp>

#include "base/display.hpp"
#include "base/hitl_trace.hpp"
#include "policy/policy_texts.hpp"

#include <cxxabi.h>

#include <algorithm>

namespace assent {
namespace {

constexpr std::size_t error_text_max = 2000;

// A policy that threw or decided nothing. The text is for the model.
struct PolicyFailed {
    std::string text;
};
using Judged = std::variant<Approve, Deny, AskUser, PolicyFailed>;

Judged judge_safely(const Policy& policy, const ToolCall<>& call) {
    try {
        auto decision = policy(call);
        if (auto* approve = std::get_if<Approve>(&decision)) return *approve;
        if (auto* deny = std::get_if<Deny>(&decision)) return std::move(*deny);
        if (auto* ask = std::get_if<AskUser>(&decision)) return std::move(*ask);
        return PolicyFailed{"the policy decided nothing about the call; it did not run"};
    } catch (const abi::__forced_unwind&) {
        throw;  // The thread is being cancelled; swallowing this would end the process.
    } catch (const std::exception& error) {
        return PolicyFailed{safe_to_show(capped(error.what(), error_text_max), Lines::keep).text};
    } catch (...) {
        return PolicyFailed{"the policy failed; the call did not run"};
    }
}

std::string approve_payload(const ToolCall<>& call, const AskUser& ask) {
    return R"({"kind":"approve","tool_name":)" + json_quote(call.tool_name) + R"(,"tool_call_id":)" +
           (call.id ? json_quote(*call.id) : "null") + R"(,"args":)" + call.args.text() + R"(,"details":)" +
           (ask.details.text().empty() ? "null" : ask.details.text()) + "}";
}

BeforeToolCallResult blocked(const std::string& text, const std::string& reason, std::string trace) {
    return {.block = true, .reason = text, .deny_reason = reason, .hitl_trace = std::move(trace)};
}

BeforeToolCallResult answered(const ToolCall<>& call, const HitlReply<ApproveAnswer>& reply) {
    const auto& answer = reply.answer;
    const auto reason = answer.reason.value_or("");
    switch (answer.decision) {
        case DecisionKind::approve:
            return {.hitl_trace = approval_trace(reply.id, reply.by, reply.at)};
        case DecisionKind::edit: {
            auto edited = Arguments::parse(answer.edited_args.value_or(""));
            if (!edited) break;
            return {.edited_args = *edited, .hitl_trace = edit_trace(call.args.text(), edited->text(), reason)};
        }
        default:
            break;
    }
    return blocked(blocked_text(reason), reason, decision_trace("human_deny", answer.reason));
}

BeforeToolCallResult replied(const ToolCall<>& call, const HitlReply<ApproveAnswer>& reply) {
    const std::string timed_out(policy_timeout_text);
    switch (reply.end) {
        case HitlEnd::answered:
            return answered(call, reply);
        case HitlEnd::timed_out:
            return blocked(timed_out, timed_out, decision_trace("timed_out"));
        case HitlEnd::cancelled:
            return blocked(cancelled_text(reply.reason), cancelled_text(reply.reason),
                           decision_trace("cancelled", reply.reason));
        case HitlEnd::aborted:
        case HitlEnd::detached:
            break;
    }
    const auto text = "aborted: " + (reply.reason.empty() ? std::string("nobody waits for the answer") : reply.reason);
    return blocked(text, text, decision_trace("aborted", reply.reason));
}

}  // namespace

Result<Message> RunContext::assistant_message() const {
    if (!messages) return Failure{FailureKind::not_found, "the call was judged outside of a run"};
    auto conversation = messages();
    if (!conversation) return conversation.failure();
    if (conversation->empty()) return Failure{FailureKind::not_found, "the run has no messages"};
    return std::move(conversation->back());
}

PolicyDetails::PolicyDetails(std::initializer_list<std::pair<std::string_view, std::string_view>> texts) {
    std::string members;
    for (const auto& [name, text] : texts)
        members += (members.empty() ? "" : ",") + json_quote(name) + ":" + json_quote(text);
    *this = json("{" + members + "}");
}

PolicyDetails PolicyDetails::json(std::string text) {
    const auto object = Arguments::parse(std::move(text));
    if (!object)
        throw std::invalid_argument("the details of a question must be a json object: " + object.failure().message);
    PolicyDetails details;
    details.text_ = object->text();
    return details;
}

ApprovalPolicyMiddleware::ApprovalPolicyMiddleware(std::shared_ptr<Channel> channel, Policy policy,
                                                   PolicyOptions options)
    : channel_(std::move(channel)), policy_(std::move(policy)), options_(std::move(options)) {
    if (!policy_) throw ConfigError("the guard " + options_.name + " has no policy; give it a function");
}

bool ApprovalPolicyMiddleware::judges(std::string_view tool) const {
    return options_.tools.empty() || std::ranges::find(options_.tools, tool) != options_.tools.end();
}

Judgement ApprovalPolicyMiddleware::judge(const GuardedCall& call) {
    if (!judges(call.tool_name)) return {.verdict = Verdict::allow, .reason = {}};
    static const RunContext no_run;
    const ToolCall<> seen{.tool_name = call.tool_name,
                          .id = call.tool_call_id,
                          .args = *call.arguments,
                          .context = call.run == nullptr ? no_run : *call.run};
    auto judged = judge_safely(policy_, seen);
    if (std::holds_alternative<Approve>(judged)) return {.verdict = Verdict::allow, .reason = {}};
    if (auto* deny = std::get_if<Deny>(&judged))
        return {.verdict = Verdict::deny, .reason = std::move(deny->reason), .style = Style::policy};
    if (auto* failed = std::get_if<PolicyFailed>(&judged)) {
        return {.verdict = Verdict::deny, .reason = std::move(failed->text), .style = Style::policy, .failed = true};
    }
    const auto& ask = std::get<AskUser>(judged);
    const auto otherwise = channel_ != nullptr ? channel_->default_timeout_ms() : seen.context.timeout_ms;
    Question question{.style = Style::policy,
                      .description = ask.prompt,
                      .details = ask.details.text(),
                      .payload = approve_payload(seen, ask),
                      .interrupt_id = std::string(call.tool_call_id.value_or("")),
                      .allowed = {DecisionKind::approve, DecisionKind::deny, DecisionKind::edit},
                      .timeout_ms = ask.timeout.milliseconds(otherwise)};
    return {.verdict = Verdict::ask,
            .reason = "the policy asks about " + std::string(call.tool_name),
            .question = std::move(question)};
}

std::optional<BeforeToolCallResult> ApprovalPolicyMiddleware::before_tool_call(const ToolCall<>& call) {
    if (!judges(call.tool_name)) return std::nullopt;
    const auto judged = judge_safely(policy_, call);
    if (std::holds_alternative<Approve>(judged)) return std::nullopt;
    if (const auto* deny = std::get_if<Deny>(&judged))
        return blocked(blocked_text(deny->reason), deny->reason, decision_trace("policy_deny", deny->reason));
    if (const auto* failed = std::get_if<PolicyFailed>(&judged))
        return blocked(failed->text, failed->text, decision_trace("policy_error"));
    if (channel_ == nullptr) throw ConfigError("the guard " + options_.name + " must ask a person; give it a channel");
    const auto& ask = std::get<AskUser>(judged);
    ApproveQuestion question{
        .tool_name = std::string(call.tool_name), .args = call.args, .prompt = ask.prompt, .timeout = ask.timeout};
    if (call.id) question.tool_call_id = std::string(*call.id);
    if (!ask.details.text().empty()) question.details = *Arguments::parse(ask.details.text());
    const auto reply = channel_->approve(question, call.context.stop);
    if (!reply) return blocked(reply.failure().message, reply.failure().message, decision_trace("policy_error"));
    return replied(call, *reply);
}

std::shared_ptr<ApprovalPolicyMiddleware> policy(Policy policy, PolicyOptions options) {
    return std::make_shared<ApprovalPolicyMiddleware>(nullptr, std::move(policy), std::move(options));
}

std::shared_ptr<ApprovalPolicyMiddleware> confirm_tools(std::vector<std::string> tools, AskUser question) {
    return policy([question = std::move(question)](const ToolCall<>&) { return question; },
                  {.tools = std::move(tools)});
}

}  // namespace assent
