#include "store/sqlite/turnstile.hpp"

#include <assent/clock.hpp>

#include <poll.h>

#include <ctime>

namespace assent::sqlite {
namespace {

// How often a place is tried: well below the time of a commit.
constexpr timespec look_pause{.tv_sec = 0, .tv_nsec = 100'000};

}  // namespace

bool Turnstile::take(std::int64_t place, std::int64_t wait_ms) const noexcept {
    if (locks_.hold(place)) return true;
    if (stuck_) return false;
    const auto until = system_clock().monotonic() + wait_ms;
    while (!locks_.hold(place)) {
        if (system_clock().monotonic() >= until) return false;
        ppoll(nullptr, 0, &look_pause, nullptr);
    }
    return true;
}

Turnstile::Turn::Turn(Turnstile& turnstile, std::int64_t wait_ms) noexcept : turnstile_(turnstile) {
    if (turnstile_.take(next_place, wait_ms)) {
        held_ = turnstile_.take(turn_place, wait_ms);
        turnstile_.locks_.release(next_place);
    }
    turnstile_.stuck_ = !held_;
}

Turnstile::Turn::~Turn() {
    if (held_) turnstile_.locks_.release(turn_place);
}

}  // namespace assent::sqlite
