// Calls that a dead process had started: what their tools can prove, and what is recorded of them.
#pragma once

#include "gate/judge.hpp"

#include <map>
#include <string>
#include <vector>

namespace assent {

/// What is known of a start: the outcome as the tool gave it, the result after the hooks.
struct Inherited {
    std::string tool;
    Receipt receipt;
    OutcomeKind outcome = OutcomeKind::unknown;
};

/// All claimed calls, by attempt. Asks the tools of those whose process is proved dead; they may wait for
/// what still ends.
[[nodiscard]] std::map<std::string, Inherited> inherit(const Judge& judge, const journal::ThreadState& state);

/// The events that settle those of `inherited` that are still claimed: finished or released where a
/// receipt proves it, else doubted.
[[nodiscard]] std::vector<journal::Event> settle(const std::string& thread_id, const Judge& judge,
                                                 const journal::ThreadState& state,
                                                 const std::map<std::string, Inherited>& inherited);

}  // namespace assent
