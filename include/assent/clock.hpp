// Time and randomness come in from outside, so that everything can be simulated.
//
// Thread-safety: implementations must allow calls from several threads.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <span>

namespace assent {

/// Milliseconds since 1970-01-01T00:00:00Z.
using UnixMillis = std::int64_t;

class Clock {
public:
    virtual ~Clock() = default;
    /// Wall time, for records and deadlines of people.
    [[nodiscard]] virtual UnixMillis now() const = 0;
    /// Milliseconds of a clock that never goes back, for limits inside one process.
    [[nodiscard]] virtual std::int64_t monotonic() const = 0;
    /// Waits until `changed` is notified or so many milliseconds of this clock have passed, or less long: who waits
    /// looks again what time it is. `lock` is held before and after. By default by the machine's clock.
    virtual void wait(std::condition_variable_any& changed, std::unique_lock<std::mutex>& lock,
                      std::int64_t milliseconds) const;
};

class Random {
public:
    virtual ~Random() = default;
    virtual void fill(std::span<std::uint8_t> bytes) = 0;
};

/// The machine's clock. Never destroyed.
[[nodiscard]] const Clock& system_clock() noexcept;
/// The kernel's random numbers. Never destroyed. Ends the process if the kernel gives none.
[[nodiscard]] Random& system_random() noexcept;

}  // namespace assent
