// People's answers in the JSON of each style, for hosts that already have a form or a service that writes it.
//
// `Agent::resume(json)`, `Answer::json` and `Approvals::answer_json` read the same forms themselves; this is for who
// wants to look at an answer before giving it.
//
// Thread-safety: all functions; results are plain values.
#pragma once

#include <assent/approval.hpp>
#include <assent/result.hpp>
#include <assent/verdict.hpp>

#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace assent {

/// One for each approval that is open, in the order of the calls.
using DecisionsInOrder = std::vector<Decision>;
/// Each with the id of its approval.
using DecisionsById = std::vector<std::pair<std::string, Decision>>;

/// The answer to a question of yes or no.
struct Confirmation {
    bool yes = false;

    bool operator==(const Confirmation&) const = default;
};

/// What a person answered to one question of several: a text, or the options that were chosen.
struct QuestionAnswer {
    std::string key;
    std::vector<std::string> values;
    bool is_list = false;  ///< It was given as a list.

    bool operator==(const QuestionAnswer&) const = default;
};
using QuestionAnswers = std::vector<QuestionAnswer>;

using ParsedAnswer = std::variant<Decision, DecisionsInOrder, DecisionsById, Confirmation, QuestionAnswers>;

/// Reads an answer. Failure kind `refused` says what is wrong with it; nothing else is ever returned for it.
///
///   rules          true, false, or {"action": "approve" | "deny" | "edit", "arguments": {…}, "message": "…"}.
///                  Other JSON is a denial; text that is no JSON is refused.
///   policy         {"decision": "approve" | "deny" | "edit", "edited_args": {…}, "reason": "…"}; true or false to a
///                  question of yes or no; {KEY: "text" or ["option", …], …} to questions. An object with `decision`
///                  is always a decision.
///   table, assent  {"decisions": [DECISION, …]}, {ID: DECISION, …}, or one DECISION, see `assent/interrupt_on.hpp`.
///
/// Whether an approval takes the decision (its kind, a tool's arguments) is looked at when it is given.
/// Linear in the text.
[[nodiscard]] Result<ParsedAnswer> parse_answer(Style style, std::string_view json);

}  // namespace assent
