// Why an answer is refused, in the words for the person who gave it. Shared by the readers of all forms of answers.
#pragma once

#include <assent/approval.hpp>

#include <string>
#include <string_view>

namespace assent {

struct AnswerRefusal {
    Refusal kind = Refusal::other;
    std::string message;
};

/// Of an answer that has not the form it should have.
[[nodiscard]] AnswerRefusal bad_shape(std::string message);
[[nodiscard]] AnswerRefusal no_json(std::string_view why);

/// What a reviewer wrote, as far as it fits into one line.
[[nodiscard]] std::string shown_briefly(std::string_view text);

}  // namespace assent
