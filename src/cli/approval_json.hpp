// Approvals, answers, calls and runs in the JSON of the program's contract.
#pragma once

#include "cli/json_out.hpp"

#include <assent/agent.hpp>

#include <string>

namespace assent::cli {

[[nodiscard]] JsonObject approval_json(const Approval& approval);
/// `decision`: its word where the approval has none of its own (a resolution).
[[nodiscard]] JsonObject answer_json(const AnswerResult& result, std::string_view decision);
[[nodiscard]] JsonObject call_json(const CallReport& call);
[[nodiscard]] JsonObject run_json(const Run& run);
[[nodiscard]] std::string message_json(const Message& message);

/// The failure kind and message of an answer that does not count.
[[nodiscard]] Failure failure_of(const AnswerResult& result);
/// The members that a conflict adds to its error; empty for others.
[[nodiscard]] std::string conflict_members(const AnswerResult& result);

}  // namespace assent::cli
