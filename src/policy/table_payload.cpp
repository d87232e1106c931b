#include "policy/table_payload.hpp"

#include "policy/table_texts.hpp"

#include <assent/arguments.hpp>
#include <assent/tool.hpp>

namespace assent {
namespace {

constexpr std::string_view requests_key = "action_requests";
constexpr std::string_view configs_key = "review_configs";

std::string allowed_list(const std::vector<DecisionKind>& allowed) {
    std::string list;
    for (const auto kind : allowed) list += (list.empty() ? "" : ",") + json_quote(table_word(kind));
    return "[" + list + "]";
}

// An object that is `type` and these other members, some of them required; nothing else.
std::string branch(std::string_view type, const std::string& members = {}, const std::string& required = {}) {
    return R"({"type":"object","properties":{"type":{"const":)" + json_quote(type) + "}" +
           (members.empty() ? "" : "," + members) + R"(},"required":["type")" +
           (required.empty() ? "" : "," + required) + R"(],"additionalProperties":false})";
}

std::string edit_branch(const GuardedCall& call) {
    const auto& schema = call.tool == nullptr ? std::string() : call.tool->spec().schema;
    const auto args = schema.empty() ? std::string(R"({"type":"object"})") : schema;
    return branch("edit",
                  R"("edited_action":{"type":"object","properties":{"name":{"const":)" + json_quote(call.tool_name) +
                      R"(},"args":)" + args + R"(},"required":["name","args"],"additionalProperties":false})",
                  R"("edited_action")");
}

std::string response_schema(const TableQuestion& question) {
    std::string branches;
    for (const auto kind : question.allowed) {
        if (!branches.empty()) branches += ",";
        switch (kind) {
            case DecisionKind::approve:
                branches += branch("approve");
                break;
            case DecisionKind::edit:
                branches += edit_branch(question.call);
                break;
            case DecisionKind::deny:
                branches += branch("reject", R"("message":{"type":["string","null"]})");
                break;
            case DecisionKind::respond:
                branches += branch("respond", R"("message":{"type":"string"})", R"("message")");
                break;
        }
    }
    return question.allowed.size() == 1 ? branches : R"({"oneOf":[)" + branches + "]}";
}

std::string request_members(const TableQuestion& question) {
    return R"("name":)" + json_quote(question.call.tool_name) + R"(,"args":)" + question.call.arguments->text() +
           R"(,"description":)" + json_quote(question.description);
}

// {"action_requests":[…],"review_configs":[…]}
std::string batch(const std::string& requests, const std::string& configs) {
    return "{" + json_quote(requests_key) + ":[" + requests + "]," + json_quote(configs_key) + ":[" + configs + "]}";
}

}  // namespace

std::string batched_payload(const TableQuestion& question) {
    auto config = R"({"action_name":)" + json_quote(question.call.tool_name) + R"(,"allowed_decisions":)" +
                  allowed_list(question.allowed);
    if (!question.args_schema.empty()) config += R"(,"args_schema":)" + question.args_schema;
    return batch("{" + request_members(question) + "}", config + "}");
}

std::string per_call_payload(const TableQuestion& question) {
    const auto& id = question.call.tool_call_id;
    return R"({"type":"tool_approval","tool_call_id":)" + (id ? json_quote(*id) : "null") + "," +
           request_members(question) + R"(,"response_schema":)" + response_schema(question) + "}";
}

bool is_per_call(const std::string& payload) {
    const auto json = JsonText::parse(payload);
    return json && json->root().find("type") != nullptr;
}

std::string action_requests(std::span<const Approval> open) {
    std::string requests;
    std::string configs;
    for (const auto& approval : open) {
        if (approval.question.style != Style::table) continue;
        const auto payload = JsonText::parse(approval.question.payload);
        const auto* request = payload ? payload->root().find(requests_key) : nullptr;
        const auto* config = payload ? payload->root().find(configs_key) : nullptr;
        if (request == nullptr || config == nullptr || request->items.size() != 1 || config->items.size() != 1)
            continue;
        const auto* separator = requests.empty() ? "" : ",";
        // The id is known only since the question was stored.
        requests +=
            separator + (R"({"id":)" + json_quote(approval.id)) + "," + std::string(request->items[0].text.substr(1));
        configs += separator + std::string(config->items[0].text);
    }
    return batch(requests, configs);
}

}  // namespace assent
