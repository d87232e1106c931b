// The time by which all that share a database agree: the server's.
#pragma once

#include <assent/clock.hpp>

#include <atomic>

namespace assent::postgres {

class Connection;

/// Goes on from what the server said last by this machine's monotonic clock: it does not jump when somebody sets the
/// machine's wall clock. The machine's own until the server was asked.
class ServerClock final : public Clock {
public:
    [[nodiscard]] UnixMillis now() const override;
    [[nodiscard]] std::int64_t monotonic() const override { return system_clock().monotonic(); }

    /// One way there and back; off by half of it at most. Throws Error.
    void ask(Connection& connection);

private:
    std::atomic<std::int64_t> ahead_ = 0;  // of the monotonic clock
    std::atomic<bool> known_ = false;
};

}  // namespace assent::postgres
