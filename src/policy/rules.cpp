#include <assent/rules.hpp>
#include <assent/tool.hpp>

#include "base/display.hpp"
#include "base/json_quote.hpp"
#include "policy/rules_by_tool.hpp"
#include "policy/tool_interrupt.hpp"

namespace assent {
InterruptRule::InterruptRule(std::string tool_name, Predicate condition)
    : tool(std::move(tool_name)), match(std::move(condition)) {}

InterruptRule::InterruptRule(const Tool& named, Predicate condition)
    : tool(named.spec().name), match(std::move(condition)) {}

bool should_interrupt(const std::vector<InterruptRule>& rules, std::string_view tool, const JsonText& arguments) {
    for (const auto& rule : rules) {
        if ((rule.tool == "*" || rule.tool == tool) && condition_holds(rule.match, arguments)) return true;
    }
    return false;
}

bool should_interrupt(const std::vector<InterruptRule>& rules, std::string_view tool, std::string_view arguments) {
    const auto json = JsonText::parse(std::string(arguments));
    return !json || should_interrupt(rules, tool, *json);
}

bool should_interrupt(const std::vector<InterruptRule>& rules, const Tool& tool, std::string_view arguments) {
    return should_interrupt(rules, tool.spec().name, arguments);
}

std::string tool_interrupt_json(std::string_view tool, const std::optional<std::string_view>& id,
                                std::string_view arguments) {
    constexpr std::size_t frame_bytes = 80;
    std::string out;
    out.reserve(frame_bytes + tool.size() + (id ? id->size() : 0) + arguments.size());
    const auto quoted = [&](std::string_view text) {
        if (valid_utf8(text)) {
            append_quoted(out, text);
        } else {
            append_quoted(out, repaired_utf8(text));
        }
    };
    out += R"({"kind":"tool_interrupt","tool_name":)";
    quoted(tool);
    out += R"(,"tool_call_id":)";
    if (id) {
        quoted(*id);
    } else {
        out += "null";
    }
    out += R"(,"arguments":)";
    out += arguments;
    out += '}';
    return out;
}

std::string ToolInterrupt::json() const {
    return tool_interrupt_json(tool_name, tool_call_id, arguments);
}

std::string ToolDecision::json() const {
    std::string out = R"({"action":)" + json_quote(action);
    if (arguments) out += R"(,"arguments":)" + *arguments;
    if (message) out += R"(,"message":)" + json_quote(*message);
    return out + "}";
}

std::string tool_denied_text(std::string_view tool_name, std::string_view reason) {
    std::string text = "Tool '" + std::string(tool_name) + "' denied";
    if (!reason.empty()) text += ": " + std::string(reason);
    return text;
}

ToolDeniedError::ToolDeniedError(std::string tool_name, std::string reason)
    : std::runtime_error(tool_denied_text(tool_name, reason)),
      tool_name_(std::move(tool_name)),
      reason_(std::move(reason)) {}

std::string interrupt_id(std::string_view tool_call_id) {
    static constexpr std::string_view digits = "0123456789abcdef";
    const auto kept = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
    };
    if (!valid_utf8(tool_call_id)) throw std::invalid_argument("the tool_call_id is not valid utf-8");
    std::string id = "approve_";
    for (const char c : tool_call_id) {
        if (kept(c)) {
            id += c;
            continue;
        }
        const auto byte = static_cast<unsigned char>(c);
        id += '.';
        id += digits[byte >> 4];
        id += digits[byte & 0xf];
    }
    return id;
}

}  // namespace assent
