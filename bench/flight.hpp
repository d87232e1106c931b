// Many conversations at once.
#pragma once

#include <cstdint>
#include <functional>

namespace bench {

inline constexpr int conversations_in_flight = 64;

/// Calls `work` with 0 to `count` - 1, so many at a time, each on some thread. What it throws is thrown here.
void in_flight(std::int64_t count, const std::function<void(std::int64_t)>& work,
               int at_once = conversations_in_flight);

}  // namespace bench
