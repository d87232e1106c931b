// The commands that only look: pending, show, threads, history.
//
// Each takes an opened store, prints, and returns the program's exit status.
#pragma once

#include "cli/context.hpp"

#include <cstddef>
#include <string>

namespace assent::cli {

inline constexpr std::size_t pending_limit_default = 100;
inline constexpr std::size_t pending_limit_max = 10'000;

struct PendingOptions {
    std::string thread;  ///< Empty: all.
    std::string after;   ///< The id of the last one seen; empty: from the first.
    std::size_t limit = pending_limit_default;
    UnixMillis now = 0;  ///< For distances in time; 0: none are told.
};
int pending_command(Context& context, const PendingOptions& options);

struct ShowOptions {
    std::string id;
    std::string thread;  ///< Lets `id` be an interrupt id.
    bool full = false;
    UnixMillis now = 0;
};
int show_command(Context& context, const ShowOptions& options);

struct ThreadsOptions {
    UnixMillis now = 0;
};
int threads_command(Context& context, const ThreadsOptions& options = {});

struct HistoryOptions {
    std::string thread;
};
int history_command(Context& context, const HistoryOptions& options);

/// A thread's state as the contract names it.
[[nodiscard]] std::string_view thread_state(const ThreadHead& head);

}  // namespace assent::cli
