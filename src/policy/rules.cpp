#include <assent/rules.hpp>
#include <assent/tool.hpp>

#include "base/display.hpp"

#include <cxxabi.h>

namespace assent {
namespace {

// A condition that fails in any way counts as a match: better one question too many.
bool asks(const InterruptRule& rule, const JsonText& arguments) {
    if (!rule.match) return true;
    try {
        return rule.match(arguments);
    } catch (const abi::__forced_unwind&) {
        throw;  // The thread is being cancelled; swallowing this would end the process.
    } catch (...) {
        return true;
    }
}

}  // namespace

InterruptRule::InterruptRule(std::string tool_name, Predicate condition)
    : tool(std::move(tool_name)), match(std::move(condition)) {}

InterruptRule::InterruptRule(const Tool& named, Predicate condition)
    : tool(named.spec().name), match(std::move(condition)) {}

bool should_interrupt(const std::vector<InterruptRule>& rules, std::string_view tool, const JsonText& arguments) {
    for (const auto& rule : rules) {
        if ((rule.tool == "*" || rule.tool == tool) && asks(rule, arguments)) return true;
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

std::string ToolInterrupt::json() const {
    return R"({"kind":"tool_interrupt","tool_name":)" + json_quote(tool_name) + R"(,"tool_call_id":)" +
           (tool_call_id ? json_quote(*tool_call_id) : "null") + R"(,"arguments":)" + arguments + "}";
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
    static constexpr std::string_view kept = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
    if (!valid_utf8(tool_call_id)) throw std::invalid_argument("the tool_call_id is not valid utf-8");
    std::string id = "approve_";
    for (const char c : tool_call_id) {
        if (kept.contains(c)) {
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
