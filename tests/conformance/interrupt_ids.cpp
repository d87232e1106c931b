#include "conformance/case.hpp"

#include <assent/rules.hpp>

#include <optional>

namespace assent::conformance {
namespace {

std::string id_or_failure(const std::string& call_id) {
    try {
        return json_quote(interrupt_id(call_id));
    } catch (const std::invalid_argument&) {
        return "value_error";
    }
}

// A call that needs a person and has no id fails before anybody is asked; one that needs nobody is fine.
bool missing_id_is_refused() {
    int asked = 0;
    const auto call = [&](const char* tool) {
        ToolContext context;
        context.tool_name = tool;
        context.interrupt = [&](const std::string&, const std::string&) {
            ++asked;
            return std::string("true");
        };
        return context;
    };
    ToolInterruptMiddleware middleware({InterruptRule("gated")});
    try {
        if (middleware.before_tool(call("ungated"))) return false;
        middleware.before_tool(call("gated"));
    } catch (const std::invalid_argument&) {
        return asked == 0;
    }
    return false;
}

void run_error(const JsonNode& node) {
    require_known_keys(node, {"tool_call_id_json", "error"});
    const auto errors = acceptable_outcomes(node, "error");
    require_known_words(errors, {"value_error"});
    const auto id = JsonText::parse(text_of(node, "tool_call_id_json"));
    if (!id) return;  // Refused when it is read: no id comes of it.
    if (id->root().kind == JsonNode::Kind::null) {
        if (!missing_id_is_refused()) fail("error", errors, "none");
        return;
    }
    const auto got = id_or_failure(id->root().string);
    if (got != "value_error") fail("error", errors, got);
}

}  // namespace

void run_interrupt_id_case(const JsonNode& node) {
    const auto& kind = text_of(node, "kind");
    if (kind == "error") return run_error(node);
    if (kind != "pair" && kind != "worked example" && kind != "ascii" && kind != "text") {
        throw CaseFailed("unknown word \"" + kind + "\"");
    }
    require_known_keys(node, {"tool_call_id", "interrupt_id", "must_differ_from", "other_interrupt_id"});
    const auto id = id_or_failure(text_of(node, "tool_call_id"));
    expect_outcome(node, "interrupt_id", id);
    if (kind != "pair") return;
    const auto other = id_or_failure(text_of(node, "must_differ_from"));
    expect(node, "other_interrupt_id", other);
    if (id == other) throw CaseFailed("expected two ids, got " + id + " twice");
}

}  // namespace assent::conformance
