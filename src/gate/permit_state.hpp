// What a permit holds. Seen by the gate and by Tool::start alone.
#pragma once

#include <assent/clock.hpp>
#include <assent/tool.hpp>

#include <string>
#include <vector>

namespace assent {

struct Permit::State {
    std::string tool;
    std::string attempt;
    Arguments arguments;
    std::string sha256;  ///< Of the arguments that were claimed.
    std::string idempotency_key;
    std::vector<std::string> approved_for;  ///< Guards whose question a person answered.
    std::stop_token stop;
    std::int64_t start_by = 0;  ///< On the monotonic clock.
    const Clock* clock = nullptr;
};

}  // namespace assent
