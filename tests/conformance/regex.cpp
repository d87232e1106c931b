#include "conformance/case.hpp"

#include <assent/rules.hpp>

#include <chrono>

namespace assent::conformance {
namespace {

// As long as a case may take.
constexpr std::chrono::seconds time_max{1};

// What becomes of a search. `cannot_say`, which is a match where a rule asks, is none of the words of a
// case: a case says what the dialect finds.
std::string outcome(const std::string& pattern, const std::string& text) {
    Predicate condition;
    try {
        condition = matches("text", pattern);
    } catch (const std::invalid_argument&) {
        return "error";
    }
    try {
        return condition(*JsonText::parse("{\"text\":" + json_quote(text) + "}")) ? "match" : "none";
    } catch (const PredicateError&) {
        return "cannot_say";
    }
}

}  // namespace

void run_regex_case(const JsonNode& node) {
    require_known_keys(node, {"pattern", "text", "result"});
    const auto results = acceptable_outcomes(node, "result");
    require_known_words(results, {"match", "none", "error"});
    const auto begin = std::chrono::steady_clock::now();
    const auto got = outcome(text_of(node, "pattern"), text_of(node, "text"));
    const auto took = std::chrono::steady_clock::now() - begin;
    if (!results.empty() && !names(results, got)) fail("result", results, got);
    if (took > time_max) throw CaseFailed("it took more than a second");
}

}  // namespace assent::conformance
