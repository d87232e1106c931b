// Time of a world, and the clocks that show it.
#pragma once

#include <assent/clock.hpp>

#include <cstdint>

namespace assent::sim {

inline constexpr std::int64_t second_ms = 1000;
inline constexpr std::int64_t minute_ms = 60 * second_ms;
inline constexpr std::int64_t hour_ms = 60 * minute_ms;

/// True time of a world. Only the world moves it.
struct Time {
    UnixMillis now = 1'796'000'000'000;
    std::int64_t monotonic = 1'000'000;
    void pass(std::int64_t milliseconds) {
        now += milliseconds;
        monotonic += milliseconds;
    }
};

/// A clock that may be wrong about the day.
class PlayedClock final : public Clock {
public:
    explicit PlayedClock(const Time& time) : time_(time) {}
    UnixMillis now() const override { return time_.now + skew_ms; }
    std::int64_t monotonic() const override { return time_.monotonic; }
    std::int64_t skew_ms = 0;

private:
    const Time& time_;
};

}  // namespace assent::sim
