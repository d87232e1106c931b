// An answer before the store is asked: read, checked, and turned into its event.
#pragma once

#include "gate/session.hpp"
#include "journal/events.hpp"

#include <assent/approvals.hpp>

#include <optional>
#include <string_view>
#include <variant>

namespace assent {

/// Either what the person is told, or the event to append.
using CheckedAnswer = std::variant<journal::Answered, AnswerResult>;

/// Checks a decision against what was stored with the question. Failure kind `database`.
Result<CheckedAnswer> check_answer(Checkpointer& store, const Clock& clock, Random& random, const Approval& approval,
                                   const Decision& decision, const Reviewer& reviewer);

/// An id that is not found or ambiguous is an answer to the person; other failures are none.
[[nodiscard]] std::optional<AnswerResult> told_of_missing(const Failure& failure);

/// The style's own form as a decision, or why it is refused.
[[nodiscard]] std::variant<Decision, AnswerResult> read_answer_json(const Approval& approval, std::string_view json);

/// Adds the event and what it closes.
void add_answer(const journal::Answered& answered, Change& change);

/// Why none of the answers counts that were given together with the one of which this came.
[[nodiscard]] Failure none_counts(const AnswerResult& result);

/// What the person is told once `answered` is stored.
[[nodiscard]] AnswerResult decided(const Approval& approval, const journal::Answered& answered, UnixMillis at);

}  // namespace assent
