#include "base/json_schema.hpp"
#include "conformance/case.hpp"

#include <assent/rules.hpp>

#include <algorithm>
#include <optional>

namespace assent::conformance {
namespace {

// What came of one answer.
struct Decided {
    std::string outcome;
    std::string reason;
    std::string arguments_used = "null";
};

Decided decide(const Arguments& requested, const std::string& schema, const std::string& answer_text) {
    const auto answer = read_rules_answer(answer_text);
    if (!answer) return {.outcome = "refused", .reason = {}};
    switch (answer->kind) {
        case RulesAnswer::Kind::run:
            return {.outcome = "run", .reason = {}, .arguments_used = requested.text()};
        case RulesAnswer::Kind::run_edited: {
            const auto edited = lay_over(requested, *answer->changes);
            if (!edited || !check_schema(schema, *edited)) return {.outcome = "invalid_edit", .reason = {}};
            return {.outcome = "run_edited", .reason = {}, .arguments_used = edited->text()};
        }
        case RulesAnswer::Kind::deny:
            break;
    }
    return {.outcome = "deny", .reason = answer->reason};
}

// The kinds that a reason is. A reviewer may write the standard reason, so it can be two.
std::vector<std::string> reason_kinds(const Decided& decided, const std::string& answer_text) {
    if (decided.outcome != "deny") return {"none"};
    std::vector<std::string> kinds;
    const auto answer = JsonText::parse(answer_text);
    const auto* message = answer ? answer->root().find("message") : nullptr;
    if (message != nullptr && message->string == decided.reason) kinds.emplace_back("message");
    if (decided.reason == "denied by reviewer") kinds.emplace_back("default");
    if (decided.reason.starts_with("invalid approval response")) kinds.emplace_back("invalid_response");
    return kinds;
}

void check_reason(const JsonNode& node, const Decided& decided) {
    const auto wanted = acceptable(node, "reason_kind");
    require_known_words(wanted, {"none", "default", "message", "invalid_response"});
    const auto kinds = reason_kinds(decided, text_of(node, "answer"));
    if (!wanted.empty() && std::ranges::none_of(kinds, [&](const auto& kind) { return names(wanted, kind); })) {
        fail("reason_kind", wanted, kinds.empty() ? "unknown" : kinds.front());
    }
    const bool denied = decided.outcome == "deny";
    expect(node, "reason", denied ? json_quote(decided.reason) : "null");
    expect(node, "message", denied ? json_quote(tool_denied_text(text_of(node, "tool"), decided.reason)) : "null");
    const auto prefixes = acceptable(node, "reason_prefix");
    const auto begins = [&](const auto* prefix) { return decided.reason.starts_with(prefix->string); };
    if (!prefixes.empty() && std::ranges::none_of(prefixes, begins)) fail("reason_prefix", prefixes, decided.reason);
}

}  // namespace

void run_tool_decision_case(const JsonNode& node) {
    require_known_keys(node, {"tool", "requested", "schema", "answer", "outcome", "reason_kind", "reason",
                              "reason_prefix", "message", "arguments_used"});
    const auto outcomes = acceptable_outcomes(node, "outcome");
    require_known_words(outcomes, {"run", "run_edited", "deny", "invalid_edit", "refused"});
    const auto requested = Arguments::parse(std::string(member(node, "requested").text));
    if (!requested) throw CaseFailed("'requested' cannot be used: " + requested.failure().message);
    const auto* schema = node.find("schema");
    const std::string schema_text(schema == nullptr || schema->kind == JsonNode::Kind::null ? "" : schema->text);
    if (const auto usable = check_schema_text(schema_text); !usable) throw CaseFailed(usable.failure().message);
    const auto decided = decide(*requested, schema_text, text_of(node, "answer"));
    if (!outcomes.empty() && !names(outcomes, decided.outcome)) fail("outcome", outcomes, decided.outcome);
    expect(node, "arguments_used", decided.arguments_used);
    // The reason belongs to the main outcome, not to the one more that is acceptable.
    const auto main_outcomes = acceptable(node, "outcome");
    if (main_outcomes.empty() || names(main_outcomes, decided.outcome)) check_reason(node, decided);
}

}  // namespace assent::conformance
