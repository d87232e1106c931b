// Times, durations and counts as people read them.
#pragma once

#include <assent/clock.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace assent::cli {

/// Such as "2026-11-30 01:20:57 UTC".
[[nodiscard]] std::string time_words(UnixMillis time);
/// The largest unit that fits, rounded down, such as "3 min"; the sign is ignored.
[[nodiscard]] std::string duration_words(std::int64_t milliseconds);
/// `time`, and how far it is from `now`, such as "… (3 min ago)". `now` 0: the time alone.
[[nodiscard]] std::string time_and_distance(UnixMillis time, UnixMillis now);
/// Such as "1 line", "2 lines".
[[nodiscard]] std::string count_words(std::size_t count, std::string_view noun);

}  // namespace assent::cli
