// Signals that end the program politely: interrupt, terminate, hang-up.
#pragma once

#include <stop_token>
#include <thread>

namespace assent::cli {

/// Make it before any other thread: it blocks the signals in all of them and waits for them in one of
/// its own. The first asks everything to stop; the second ends the process at once.
class Signals {
public:
    Signals();
    Signals(const Signals&) = delete;
    Signals& operator=(const Signals&) = delete;
    ~Signals();

    [[nodiscard]] std::stop_token token() const noexcept { return stop_.get_token(); }
    /// Becomes readable when a signal came.
    [[nodiscard]] int wake_fd() const noexcept { return wake_fd_; }

private:
    void wait_for_signals();
    std::stop_source stop_;
    int signal_fd_ = -1;
    int wake_fd_ = -1;
    int end_fd_ = -1;
    std::jthread thread_;
};

}  // namespace assent::cli
