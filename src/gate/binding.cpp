#include "gate/binding.hpp"

#include "base/sha256.hpp"
#include "policy/policy_texts.hpp"
#include "policy/table_texts.hpp"

#include <assent/rules.hpp>

#include <algorithm>
#include <vector>

namespace assent {
namespace {

void write_canonical(const JsonNode& node, std::string& out) {
    switch (node.kind) {
        case JsonNode::Kind::object: {
            std::vector<std::size_t> order(node.keys.size());
            for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
            std::sort(order.begin(), order.end(), [&](auto a, auto b) { return node.keys[a] < node.keys[b]; });
            out += '{';
            for (const auto i : order) {
                out += json_quote(node.keys[i]) + ':';
                write_canonical(node.items[i], out);
                out += ',';
            }
            out += '}';
            break;
        }
        case JsonNode::Kind::array:
            out += '[';
            for (const auto& item : node.items) {
                write_canonical(item, out);
                out += ',';
            }
            out += ']';
            break;
        case JsonNode::Kind::string:
            out += json_quote(node.string);
            break;
        default:
            out += node.text;
    }
}

}  // namespace

std::string binding_of(const std::string& thread_id, const journal::Call& call, const journal::Asked& asked) {
    const auto turn = std::to_string(call.ref.turn);
    const auto position = std::to_string(call.ref.position);
    const auto ask = std::to_string(asked.ask_no);
    const auto arguments = hex(sha256(call.arguments));
    const auto raw =
        hex(sha256(call.proposed.arguments_hex.empty() ? call.proposed.arguments : call.proposed.arguments_hex));
    std::vector<std::string_view> fields{"assent binding 1", thread_id, turn, position,    ask,
                                         call.tool,          arguments, raw,  asked.guard, asked.guard_version};
    for (const auto& also : asked.also) {
        fields.emplace_back(also.guard);
        fields.emplace_back(also.version);
    }
    return hex(sha256_fields(fields));
}

std::string idempotency_key(const std::string& thread_id, const journal::CallRef& call) {
    const auto turn = std::to_string(call.turn);
    const auto position = std::to_string(call.position);
    const std::string_view fields[] = {"assent call 1", thread_id, turn, position};
    return hex(sha256_fields(fields)).substr(0, 32);
}

std::string denial_text(const Approval& approval, const std::string& reason) {
    switch (approval.question.style) {
        case Style::rules:
            return tool_denied_text(approval.tool, reason.empty() ? "denied by reviewer" : reason);
        case Style::table:
            return rejected_text(approval, reason);
        case Style::policy:
            if (approval.kind == ApprovalKind::ask)
                return cancelled_text(reason.empty() ? "declined" : reason, approval.kind);
            return blocked_text(reason);
        case Style::assent:
            break;
    }
    return denial_text(approval.tool, reason);
}

std::string response_text(const Approval& approval, const std::string& text) {
    return approval.question.style == Style::table ? responded_text(approval, text) : text;
}

std::string denial_text(const std::string& tool, const std::string& reason) {
    auto plain = reason;
    while (!plain.empty() && plain.back() == '.') plain.pop_back();
    return "The call of `" + tool + "` was denied" + (plain.empty() ? "" : ": " + plain) +
           ". It did not run. Do not call it again unless the user asks.";
}

std::string answer_digest(DecisionKind kind, const std::string& tool, const std::string& arguments,
                          const std::string& message) {
    std::string canonical;
    if (auto parsed = JsonText::parse(arguments)) write_canonical(parsed->root(), canonical);
    const std::string_view fields[] = {to_string(kind), tool, canonical, message};
    return hex(sha256_fields(fields));
}

std::vector<std::string> void_approvals(const std::string& thread_id, const journal::Call& call, UnixMillis now) {
    std::vector<std::string> guards;
    for (const auto& guard : call.satisfied) {
        const bool asks =
            std::any_of(call.verdicts.begin(), call.verdicts.end(), [&](const journal::GuardVerdict& stored) {
                return stored.guard == guard && stored.verdict == Verdict::ask;
            });
        // A guard that does not ask any more needs no approval.
        if (!asks) continue;
        const auto ask = std::find_if(call.approvals.rbegin(), call.approvals.rend(), [&](const journal::Ask& known) {
            return asks_for(known.asked, guard) && known.answer.has_value();
        });
        if (ask == call.approvals.rend()) {
            guards.push_back(guard);
            continue;
        }
        const auto& use_by_ms = ask->asked.use_by_ms;
        const auto& decided_at = ask->decided_at;
        const bool late = use_by_ms && decided_at && *decided_at + *use_by_ms < now;
        const bool other =
            ask->state == ApprovalState::approved && ask->asked.binding != binding_of(thread_id, call, ask->asked);
        if (late || other) guards.push_back(guard);
    }
    return guards;
}

}  // namespace assent
