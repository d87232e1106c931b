#include "store/call_group.hpp"

namespace assent {

Waiter::Turn Waiter::wait() {
    // Asleep, not polling: while one calls, the others must leave the processor to it.
    std::unique_lock lock(mutex_);
    woken_.wait(lock, [this] { return turn_ != Turn::waits; });
    return turn_;
}

void Waiter::wake(Turn turn) {
    {
        const std::lock_guard lock(mutex_);
        turn_ = turn;
    }
    woken_.notify_one();
}

}  // namespace assent
