// What hosts are told of how people and policies decided a call: `hitl` among the details of its result.
#pragma once

#include "journal/thread.hpp"

#include <string>
#include <string_view>

namespace assent::journal {

/// How a person decided about this question; empty for styles that do not tell it. JSON text.
[[nodiscard]] std::string answered_trace(const Asked& asked, const Answered& answered, UnixMillis at);
/// Why nobody did: `outcome` is timed_out or cancelled. Empty for styles that do not tell it. JSON text.
[[nodiscard]] std::string unanswered_trace(const Asked& asked, std::string_view outcome, const std::string& reason);

/// The answer in the form of its kind, see Approval::answer.
[[nodiscard]] std::string answer_json(const Asked& asked, const Answered& answered);

/// The details of a call's result with its traces as member `hitl`: the last that has a decision, else the last;
/// the others are listed in its `_chain`. Details that are no object are kept beside it. Without traces they stay
/// as they are.
[[nodiscard]] std::string traced_details(const Call& call);

}  // namespace assent::journal
