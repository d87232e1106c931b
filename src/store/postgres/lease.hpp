// The right of this process to run threads: a row that it renews as long as it lives, on a connection of its own, so
// that nothing that waits for the database keeps it from doing so.
//
// Thread-safety: all members may be called from several threads.
#pragma once

#include "store/postgres/connection.hpp"
#include "store/postgres/server_clock.hpp"
#include "store/postgres/tables.hpp"

#include <assent/postgres.hpp>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace assent::postgres {

class Lease {
public:
    Lease(std::string url, const PostgresOptions& options, ServerClock& clock);
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    /// Does what is owed, if the server is there, and gives up the right: others need not wait for its end.
    ~Lease();

    /// The number under which this process holds threads; 0: none, since it never held any or has lost its right.
    [[nodiscard]] std::int64_t number() const noexcept { return number_; }
    /// The same; registers the process if it has none. What it held under an earlier one is lost to it.
    Result<std::int64_t> take();

    /// How long the process surely keeps what it holds. Nothing: it never held anything.
    [[nodiscard]] std::optional<std::int64_t> keeps_for_ms() const noexcept;
    /// Calls `lost` when that time is over, as long as the returned object lives; on a thread that does nothing else.
    [[nodiscard]] std::shared_ptr<void> when_lost(std::function<void()> lost);

    /// Something to do once the server is there again.
    struct Owed {
        std::string thread;
        std::int64_t fence = 0;                ///< Give it back, held under this fence
        std::int64_t runner = 0;               ///< and this number.
        std::optional<std::int64_t> delay_ms;  ///< Instead: put it back.
    };
    void owe(Owed owed);
    /// This process has taken the thread: nothing of it is owed any more.
    void forget(const std::string& thread_id);

private:
    struct Listeners;

    void renew(const std::stop_token& stop);
    void watch(const std::stop_token& stop);
    void renew_once();
    [[nodiscard]] bool may_be_over() const noexcept;
    void pay();
    void lose();
    /// Gives `act` the tables, on the connection of the lease, which is made if there is none. Throws Error.
    template <class Act>
    auto on_server(Act act);

    std::string url_;
    PostgresOptions options_;
    ServerClock& clock_;
    std::shared_ptr<Listeners> listeners_;
    std::atomic<std::int64_t> number_ = 0;
    std::atomic<std::int64_t> renewed_at_ = 0;  // by the monotonic clock
    std::atomic<bool> held_ = false;            // once and for all: it has held something
    std::mutex mutex_;                          // of the connection
    std::unique_ptr<Connection> connection_;
    std::mutex owed_mutex_;  // taken while what is owed is done, before the other
    std::vector<Owed> owed_;
    std::mutex sleep_mutex_;
    std::condition_variable_any sleep_;
    std::jthread renewing_;
    std::jthread watching_;
};

}  // namespace assent::postgres
