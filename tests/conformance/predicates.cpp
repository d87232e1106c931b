#include "conformance/case.hpp"

#include <assent/rules.hpp>

#include <limits>

namespace assent::conformance {
namespace {

using Kind = JsonNode::Kind;

Threshold threshold(const JsonNode& condition) {
    const auto* special = condition.find("value_special");
    if (special == nullptr || special->kind == Kind::null) {
        return json_threshold(std::string(member(condition, "value").text));
    }
    if (special->string == "NaN") return {std::numeric_limits<double>::quiet_NaN()};
    if (special->string == "[NaN]") return json_threshold("[NaN]");
    throw CaseFailed("unknown word " + std::string(special->text));
}

FieldPatterns field_patterns(const JsonNode& condition) {
    FieldPatterns patterns;
    for (const auto& pair : member(condition, "fields").items) {
        if (pair.items.size() != 2) throw CaseFailed("'fields' holds pairs of a field and a pattern");
        patterns.emplace_back(pair.items[0].string, pair.items[1].string);
    }
    return patterns;
}

// Throws std::invalid_argument if the library refuses the condition.
Predicate predicate(const JsonNode& condition) {
    const auto& name = text_of(condition, "predicate");
    if (name == "all_fields") return all_fields(field_patterns(condition));
    if (name == "any_field") return any_field(field_patterns(condition));
    const auto& field = text_of(condition, "field");
    if (name == "gt") return gt(field, threshold(condition));
    if (name == "ge") return ge(field, threshold(condition));
    if (name == "lt") return lt(field, threshold(condition));
    if (name == "le") return le(field, threshold(condition));
    if (name == "eq") return eq(field, threshold(condition));
    if (name != "matches") throw CaseFailed("unknown word \"" + name + "\"");
    const auto& pattern = member(condition, "value");
    if (pattern.kind != Kind::string) throw std::invalid_argument("a pattern is a text");
    return matches(field, pattern.string);
}

struct Call {
    std::string word;
    std::optional<std::string> field;
};

Call call_alone(const Predicate& condition, const JsonText& arguments) {
    try {
        return {.word = condition(arguments) ? "match" : "no_match", .field = std::nullopt};
    } catch (const PredicateError& error) {
        switch (error.kind()) {
            case PredicateError::Kind::lookup:
                return {.word = "lookup_error", .field = error.field()};
            case PredicateError::Kind::type:
                return {.word = "type_error", .field = error.field()};
            case PredicateError::Kind::value:
                return {.word = "value_error", .field = error.field()};
            case PredicateError::Kind::malformed:
                return {.word = "malformed", .field = error.field()};
            case PredicateError::Kind::limit:
                break;
        }
        return {.word = "a limit was hit", .field = error.field()};
    }
}

std::string word(bool value) {
    return value ? "true" : "false";
}

void run_condition(const JsonNode& node) {
    require_known_keys(node, {"predicate", "field", "value", "value_special", "fields", "arguments", "call",
                              "reported_field", "should_interrupt"});
    const auto calls = acceptable_outcomes(node, "call");
    require_known_words(
        calls, {"match", "no_match", "lookup_error", "type_error", "value_error", "malformed", "construction_error"});
    const auto& text = text_of(node, "arguments");
    Predicate condition;
    try {
        condition = predicate(node);
    } catch (const std::invalid_argument& refusal) {
        if (!calls.empty() && !names(calls, "construction_error")) {
            fail("call", calls, std::string("construction_error: ") + refusal.what());
        }
        return expect(node, "should_interrupt", "null");
    }
    // What is no object is malformed for an agent, and a missing field for a condition called alone.
    const auto arguments = JsonText::parse(text);
    const bool malformed = !Arguments::parse(text).ok();
    const auto call = arguments ? call_alone(condition, *arguments) : Call{.word = "malformed", .field = {}};
    const bool right = names(calls, call.word) || (malformed && names(calls, "malformed"));
    if (!calls.empty() && !right) fail("call", calls, call.word);
    if (!malformed || call.field) {
        expect(node, "reported_field", call.field ? json_quote(*call.field) : "null");
    }
    expect(node, "should_interrupt", word(should_interrupt({InterruptRule("tool", condition)}, "tool", text)));
}

void run_rules(const JsonNode& node) {
    require_known_keys(node, {"rules", "tool", "arguments", "should_interrupt", "predicates_called"});
    int called = 0;
    std::vector<InterruptRule> rules;
    try {
        for (const auto& rule : member(node, "rules").items) {
            require_known_keys(rule, {"tool", "predicate", "field", "value", "value_special", "fields"});
            Predicate counted;
            if (rule.find("predicate") != nullptr) {
                counted = [&called, condition = predicate(rule)](const JsonText& arguments) {
                    ++called;
                    return condition(arguments);
                };
            }
            rules.emplace_back(text_of(rule, "tool"), counted);
        }
    } catch (const std::invalid_argument&) {
        return expect_outcome(node, "should_interrupt", "null");
    }
    const bool asks = should_interrupt(rules, text_of(node, "tool"), text_of(node, "arguments"));
    expect_outcome(node, "should_interrupt", word(asks));
    expect(node, "predicates_called", std::to_string(called));
}

}  // namespace

void run_predicate_case(const JsonNode& node) {
    const auto& kind = text_of(node, "kind");
    if (kind == "predicate") return run_condition(node);
    if (kind == "rules") return run_rules(node);
    throw CaseFailed("unknown word \"" + kind + "\"");
}

}  // namespace assent::conformance
