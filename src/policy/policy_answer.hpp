// Answers in the policy style, from JSON text to decisions.
#pragma once

#include "policy/answer_refusal.hpp"

#include <assent/approval.hpp>

#include <string_view>
#include <variant>

namespace assent {

/// Reads {"decision": "approve" | "deny" | "edit", "edited_args": {…}, "reason": "…"}. `edited_args` are all
/// arguments and count for an edit only; the reason becomes the decision's message. Other keys are ignored.
[[nodiscard]] std::variant<Decision, AnswerRefusal> read_policy_answer(std::string_view json);

}  // namespace assent
