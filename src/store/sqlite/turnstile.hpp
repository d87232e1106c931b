// Fairness between processes that write to one database.
//
// SQLite's own waiting is a lottery that a busy committer wins against somebody with a single answer. Here
// who wants to write first takes the place `next`, then the place `turn`, and gives up `next`: a committer
// that has just finished must queue for `next` again and finds whoever waited there.
#pragma once

#include "store/sqlite/runners.hpp"

#include <cstdint>
#include <limits>

namespace assent::sqlite {

class Turnstile {
public:
    /// Bytes of the runners file, far beyond the number of any runner. Every program that shares a database
    /// must mean the same: never changed.
    static constexpr std::int64_t next_place = std::numeric_limits<std::int64_t>::max() - 2;
    static constexpr std::int64_t turn_place = std::numeric_limits<std::int64_t>::max() - 1;

    explicit Turnstile(RunnerLocks& locks) noexcept : locks_(locks) {}

    /// Held while a transaction writes. Waits at most `wait_ms` for each place; then it lets through, and
    /// SQLite's own lock decides: a stopped process must not stop everybody. Who had to be let through does
    /// not wait again until the places are seen free.
    class Turn {
    public:
        Turn(Turnstile& turnstile, std::int64_t wait_ms) noexcept;
        Turn(const Turn&) = delete;
        Turn& operator=(const Turn&) = delete;
        ~Turn();

    private:
        Turnstile& turnstile_;
        bool held_ = false;
    };

private:
    [[nodiscard]] bool take(std::int64_t place, std::int64_t wait_ms) const noexcept;
    RunnerLocks& locks_;
    bool stuck_ = false;
};

}  // namespace assent::sqlite
