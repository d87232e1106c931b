// Calls that a dead process had started: what their tools can prove, and what is recorded of them.
#pragma once

#include "gate/judge.hpp"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace assent {

/// What is known of a start: the outcome as the tool gave it, the result after the hooks.
struct Inherited {
    std::string tool;
    Receipt receipt;
    OutcomeKind outcome = OutcomeKind::unknown;
};

/// Attempts of all claimed calls.
[[nodiscard]] std::set<std::string> claimed_attempts(const journal::ThreadState& state);

/// Those of `attempts` that are still claimed. Asks the tools of those whose process is proved dead; they may wait for
/// what still ends.
[[nodiscard]] std::map<std::string, Inherited> inherit(const Judge& judge, const journal::ThreadState& state,
                                                       const std::set<std::string>& attempts);

/// The events that settle those of `inherited` that are still claimed: finished or released where a
/// receipt proves it, else doubted.
[[nodiscard]] std::vector<journal::Event> settle(const std::string& thread_id, const Judge& judge,
                                                 const journal::ThreadState& state,
                                                 const std::map<std::string, Inherited>& inherited);

}  // namespace assent
