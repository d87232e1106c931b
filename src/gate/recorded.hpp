// What the gate writes down of a model's turn and of calls, and what it reports of them.
#pragma once

#include "journal/thread.hpp"

#include <assent/gate.hpp>

#include <string>

namespace assent {

/// As it is stored: valid UTF-8, and the bytes beside it where they were not.
[[nodiscard]] journal::RecordedCall recorded(const ProposedCall& call);
[[nodiscard]] journal::ModelSaid recorded(const ModelTurn& turn, int number);

/// The question about a call whose process died, or whose tool cannot say how it ended.
[[nodiscard]] journal::Asked doubt_question(const std::string& thread_id, const journal::Call& call,
                                            const std::string& reason);

/// A question that nobody answered before its deadline.
[[nodiscard]] journal::TimedOut timed_out(std::int64_t number, const std::string& tool);

[[nodiscard]] std::string new_attempt_id(Random& random);

[[nodiscard]] CallReport report_of(const journal::Call& call);

}  // namespace assent
