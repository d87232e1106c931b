// Answers in the table style, from JSON text to decisions.
#pragma once

#include "policy/answer_refusal.hpp"

#include <assent/approval.hpp>
#include <assent/arguments.hpp>

#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace assent {

/// Texts of decisions, in the order of the calls; or each with the id of its approval.
using DecisionList = std::vector<std::string>;
using KeyedDecisions = std::vector<std::pair<std::string, std::string>>;
/// Reads a whole answer.
[[nodiscard]] std::variant<DecisionList, KeyedDecisions, AnswerRefusal> read_table_answer(std::string_view json);

/// Reads one decision, or {"decisions": [DECISION]}, for this approval. One without a tool takes every decision.
[[nodiscard]] std::variant<Decision, AnswerRefusal> read_table_decision(const Approval& approval,
                                                                        std::string_view json);

/// Why this approval does not take this decision, whatever its form; nothing if it does.
[[nodiscard]] std::optional<AnswerRefusal> table_refusal(const Approval& approval, const Decision& decision);

}  // namespace assent
