// What the gate writes down of a model's turn and of calls, and what it reports of them.
#pragma once

#include "journal/thread.hpp"

#include <assent/gate.hpp>

#include <optional>
#include <string>

namespace assent {

/// As it is stored: valid UTF-8, and the bytes beside it where they were not.
[[nodiscard]] journal::RecordedCall recorded(const ProposedCall& call);
[[nodiscard]] journal::ModelSaid recorded(const ModelTurn& turn, int number);

/// What is recorded of a result's text.
inline constexpr std::size_t result_text_max = std::size_t{1024} * 1024;

/// How a body ended that gave back this.
[[nodiscard]] OutcomeKind outcome_of(const ToolResult& result) noexcept;

/// The question about a call whose process died, or whose tool cannot say how it ended. `seen` is what
/// there is of its result.
[[nodiscard]] journal::Asked doubt_question(const std::string& thread_id, const journal::Call& call,
                                            const std::string& reason, const ToolResult& seen);

/// A question that nobody answered before its deadline.
[[nodiscard]] journal::TimedOut timed_out(std::int64_t number, const std::string& tool, const Question& question,
                                          ApprovalKind kind);

[[nodiscard]] std::string new_attempt_id(Random& random);

/// How a thread has ended that does a call of another; nothing while it can go on.
[[nodiscard]] std::optional<ChildEnd> end_of(const journal::ThreadState& state);

[[nodiscard]] CallReport report_of(const journal::Call& call);

}  // namespace assent
