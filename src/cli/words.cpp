#include "cli/words.hpp"

#include "base/time_text.hpp"

#include <cstdlib>

namespace assent::cli {

std::string time_words(UnixMillis time) {
    auto text = rfc3339(time);
    const auto seconds_end = text.find('.');
    if (seconds_end != std::string::npos) text.resize(seconds_end);
    const auto date_end = text.find('T');
    if (date_end != std::string::npos) text[date_end] = ' ';
    return text + " UTC";
}

std::string duration_words(std::int64_t milliseconds) {
    constexpr std::int64_t second = 1000;
    constexpr std::int64_t minute = 60 * second;
    constexpr std::int64_t hour = 60 * minute;
    constexpr std::int64_t day = 24 * hour;
    const auto length = std::abs(milliseconds);
    if (length >= 2 * day) return std::to_string(length / day) + " days";
    if (length >= hour) return std::to_string(length / hour) + " h";
    if (length >= minute) return std::to_string(length / minute) + " min";
    return std::to_string(length / second) + " s";
}

std::string time_and_distance(UnixMillis time, UnixMillis now) {
    if (now == 0) return time_words(time);
    const auto distance = duration_words(time - now);
    return time_words(time) + (time > now ? " (in " + distance + ")" : " (" + distance + " ago)");
}

std::string count_words(std::size_t count, std::string_view noun) {
    return std::to_string(count) + " " + std::string(noun) + (count == 1 ? "" : "s");
}

}  // namespace assent::cli
