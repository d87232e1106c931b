// One case of a file, and what its words may be.
//
// A word that is not explained makes the case fail: a runner that skips what it does not know would
// report cases as passed that it never looked at.
#pragma once

#include <assent/arguments.hpp>

#include <initializer_list>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace assent::conformance {

/// The case fails, with what was expected and what came.
struct CaseFailed : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Throws CaseFailed if `node` is no object or has a key that is neither in `known` nor one of those
/// that every case may have.
void require_known_keys(const JsonNode& node, std::initializer_list<std::string_view> known);

/// The text called `key`; throws CaseFailed if there is none.
[[nodiscard]] const std::string& text_of(const JsonNode& node, std::string_view key);
/// The member called `key`; throws CaseFailed if there is none.
[[nodiscard]] const JsonNode& member(const JsonNode& node, std::string_view key);

/// The values of which any one is right: those of `key`, where a list means any of its elements.
/// Empty if the case does not name it, so nothing is checked.
[[nodiscard]] std::vector<const JsonNode*> acceptable(const JsonNode& node, std::string_view key);
/// The same with those of `or` and `one_of`, which stand beside the main expectation of a case.
[[nodiscard]] std::vector<const JsonNode*> acceptable_outcomes(const JsonNode& node, std::string_view key);

/// Throws CaseFailed unless every one of `words` is a text in `known`.
void require_known_words(const std::vector<const JsonNode*>& words, std::initializer_list<std::string_view> known);

/// Is this word one of those that are right?
[[nodiscard]] bool names(const std::vector<const JsonNode*>& words, std::string_view word);

/// If the case names `key`: throws CaseFailed unless `got` (JSON text) is one of its values.
void expect(const JsonNode& node, std::string_view key, const std::string& got);
/// The same for the main expectation of a case, beside which `or` and `one_of` stand.
void expect_outcome(const JsonNode& node, std::string_view key, const std::string& got);

[[noreturn]] void fail(std::string_view what, const std::vector<const JsonNode*>& expected, std::string_view got);

/// Runs one case; throws CaseFailed if it fails.
void run_predicate_case(const JsonNode& node);
void run_interrupt_id_case(const JsonNode& node);
void run_tool_decision_case(const JsonNode& node);
void run_regex_case(const JsonNode& node);
void run_decision_case(const JsonNode& node);
void run_path_case(const JsonNode& node);
void run_approval_outcome_case(const JsonNode& node);

}  // namespace assent::conformance
