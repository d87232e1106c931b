#include "model/retry.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace assent::models {
namespace {

constexpr std::int64_t first_pause_ms = 500;
constexpr std::int64_t longest_pause_ms = 16'000;

std::optional<double> number(std::string_view text) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value) || value < 0) {
        return std::nullopt;
    }
    return value;
}

// Up, so that nobody comes a millisecond early; a number past all limits stays past them.
std::int64_t whole(double milliseconds) {
    constexpr double most = 1e15;
    return static_cast<std::int64_t>(std::ceil(std::min(milliseconds, most)));
}

}  // namespace

std::int64_t pause_ms(int retry, Random& random) {
    auto pause = first_pause_ms;
    for (int i = 1; i < retry && pause < longest_pause_ms; ++i) pause *= 2;
    pause = std::min(pause, longest_pause_ms);
    std::array<std::uint8_t, 2> bytes{};
    random.fill(bytes);
    const std::int64_t chance = bytes[0] * 256 + bytes[1];
    return pause - pause / 4 * chance / 65536;
}

std::optional<std::int64_t> asked_pause_ms(const net::HttpHead& head, const Clock& clock) {
    if (const auto milliseconds = number(head.find("retry-after-ms"))) return whole(*milliseconds);
    const auto after = head.find("retry-after");
    if (const auto seconds = number(after)) return whole(*seconds * 1000);
    if (after.empty()) return std::nullopt;
    const auto date = net::http_date(std::string(after));
    if (!date) return std::nullopt;
    return std::max<std::int64_t>(0, *date - clock.now());
}

std::optional<bool> asked_to_retry(const net::HttpHead& head) {
    const auto said = head.find("x-should-retry");
    if (said == "true") return true;
    if (said == "false") return false;
    return std::nullopt;
}

bool passing(int status) {
    constexpr int not_implemented = 501;
    return status == 408 || status == 409 || status == 429 || (status >= 500 && status != not_implemented);
}

}  // namespace assent::models
