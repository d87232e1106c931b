// Answers to questions of several: read against the questions, and written for the model.
#pragma once

#include "policy/answer_refusal.hpp"

#include <assent/arguments.hpp>
#include <assent/hitl.hpp>

#include <string>
#include <variant>
#include <vector>

namespace assent {

/// The questions in a JSON list as the tool `ask_user` takes it. Failure `refused` names what is wrong with them:
/// two of one key, options of one value, options that cannot be chosen.
Result<std::vector<HitlQuestion>> read_questions(const JsonNode& list);

/// Answers by key as one JSON text in the order of the questions, or why they are refused: a key that no question
/// has, a required one without an answer, a value that is none of the options, a list for one choice.
[[nodiscard]] std::variant<std::string, AnswerRefusal> read_answers(const std::vector<HitlQuestion>& questions,
                                                                    const std::string& json);

/// One free text as the answers to a single question that takes it.
[[nodiscard]] std::variant<std::string, AnswerRefusal> read_free_text(const std::vector<HitlQuestion>& questions,
                                                                      const std::string& text);

/// What the model reads of `answers`, which `read_answers` gave.
[[nodiscard]] std::string answers_text(const std::string& answers);

}  // namespace assent
