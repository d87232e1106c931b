#include "model/openai_request.hpp"

#include "model/wire_json.hpp"

#include <vector>

namespace assent::models {
namespace {

std::string joined(const std::vector<std::string>& items) {
    std::string out;
    for (const auto& item : items) out += (out.empty() ? "" : ",") + item;
    return out;
}

std::string text_message(std::string_view role, std::string_view text) {
    return R"({"role":")" + std::string(role) + R"(","content":)" + json_quote(text) + "}";
}

std::string call_json(const ProposedCall& call, const std::string& id, const ToolNames& names) {
    return R"({"id":)" + json_quote(id) + R"(,"type":"function","function":{"name":)" +
           json_quote(names.wire(call.tool)) + R"(,"arguments":)" + json_quote(call.arguments) + "}}";
}

// The assistant's message and one for each result; none if there is nothing in it.
void add_exchange(const Exchange& exchange, const ToolNames& names, std::vector<std::string>& out) {
    const auto& message = *exchange.said;
    if (message.role == Role::user) {
        out.push_back(text_message("user", user_text(message)));
        return;
    }
    const bool blank = is_blank(message.text);
    if (exchange.ids.empty()) {
        if (!blank) out.push_back(text_message("assistant", message.text));
        return;
    }
    std::vector<std::string> calls;
    calls.reserve(exchange.ids.size());
    for (std::size_t i = 0; i < exchange.ids.size(); ++i) {
        calls.push_back(call_json(message.calls[i], exchange.ids[i], names));
    }
    out.push_back(R"({"role":"assistant","content":)" + (blank ? "null" : json_quote(message.text)) +
                  R"(,"tool_calls":[)" + joined(calls) + "]}");
    for (std::size_t i = 0; i < exchange.ids.size(); ++i) {
        out.push_back(R"({"role":"tool","tool_call_id":)" + json_quote(exchange.ids[i]) + R"(,"content":)" +
                      json_quote(result_text(exchange.results[i])) + "}");
    }
}

std::string tool_json(const ToolSpec& tool, const ToolNames& names) {
    std::string out = R"({"type":"function","function":{"name":)" + json_quote(names.wire(tool.name));
    if (!is_blank(tool.description)) out += R"(,"description":)" + json_quote(tool.description);
    return out + R"(,"parameters":)" + wire_schema(tool) + "}}";
}

}  // namespace

std::string write_openai(const OpenaiRequest& settings, const ServiceRequest& request, const ToolNames& names) {
    std::vector<std::string> messages;
    if (!is_blank(request.system_prompt)) messages.push_back(text_message("system", request.system_prompt));
    for (const auto& exchange : exchanges(request.messages, IdRule::one_turn)) add_exchange(exchange, names, messages);
    std::string out = R"({"model":)" + json_quote(settings.model) + R"(,"messages":[)" + joined(messages) + "]";
    std::vector<std::string> tools;
    for (const auto* tool : request.tools) tools.push_back(tool_json(*tool, names));
    if (!tools.empty()) out += R"(,"tools":[)" + joined(tools) + "]";
    if (settings.max_tokens > 0) {
        out += "," + json_quote(settings.max_tokens_name) + ":" + std::to_string(settings.max_tokens);
    }
    if (settings.streaming) out += R"(,"stream":true,"stream_options":{"include_usage":true})";
    return out + settings.more + "}";
}

}  // namespace assent::models
