// How long a question to people may wait.
//
// Thread-safety: plain values.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <stdexcept>

namespace assent {

/// One of three: not said (who asks takes a default), for ever, or a length of time; 0 is over at once.
class Timeout {
public:
    Timeout() = default;
    /// For ever.
    Timeout(std::nullopt_t) noexcept : said_(true) {}
    /// Parts of a millisecond count as a whole one. Throws std::invalid_argument: negative, or more than a
    /// hundred years.
    template <class Rep, class Period>
    Timeout(std::chrono::duration<Rep, Period> length) : said_(true) {
        using Seconds = std::chrono::duration<double>;
        constexpr double seconds_max = 100.0 * 366 * 24 * 60 * 60;
        const double seconds = std::chrono::duration_cast<Seconds>(length).count();
        if (!(seconds >= 0) || seconds > seconds_max) {
            throw std::invalid_argument(
                "a time-out must be between 0 seconds and 100 years; std::nullopt waits for ever");
        }
        milliseconds_ = std::chrono::ceil<std::chrono::milliseconds>(length).count();
    }

    [[nodiscard]] bool is_said() const noexcept { return said_; }
    /// In milliseconds, none for ever; `otherwise` if it is not said.
    [[nodiscard]] std::optional<std::int64_t> milliseconds(std::optional<std::int64_t> otherwise = {}) const noexcept {
        return said_ ? milliseconds_ : otherwise;
    }

    bool operator==(const Timeout&) const = default;

private:
    bool said_ = false;
    std::optional<std::int64_t> milliseconds_;
};

}  // namespace assent
