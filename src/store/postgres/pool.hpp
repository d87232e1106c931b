// Connections, made when they are needed and kept for the next use.
#pragma once

#include "store/postgres/connection.hpp"

#include <assent/postgres.hpp>

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace assent::postgres {

class Pool {
public:
    Pool(std::string url, PostgresOptions options) : url_(std::move(url)), options_(std::move(options)) {
        idle_.reserve(static_cast<std::size_t>(options_.connections_max));
    }

    /// A connection for one use. One that is not usable any more is closed at the end of it.
    class Lease {
    public:
        Lease(Pool& pool, std::unique_ptr<Connection> connection) : pool_(pool), connection_(std::move(connection)) {}
        Lease(const Lease&) = delete;
        Lease& operator=(const Lease&) = delete;
        ~Lease() { pool_.give_back(std::move(connection_)); }
        Connection& operator*() const noexcept { return *connection_; }
        Connection* operator->() const noexcept { return connection_.get(); }

    private:
        Pool& pool_;
        std::unique_ptr<Connection> connection_;
    };

    enum class Place : std::uint8_t { last, first };
    /// Waits while all are in use, in the order of asking, or before all others: that is for whoever takes one for many
    /// who wait, and never has more than one. Throws Error where no connection can be made, or none was given back for
    /// `connect_ms`.
    [[nodiscard]] Lease take(Place place = Place::last);
    /// How many wait for one.
    [[nodiscard]] std::size_t waiting() const {
        const std::lock_guard lock(mutex_);
        return waiters_.size();
    }
    /// Closes those that are not in use: the server has gone, and with it all of them.
    void drop_idle();

private:
    // Who waits is handed a connection, or the right to make one.
    struct Waiter {
        std::condition_variable served;
        bool is_served = false;
        std::unique_ptr<Connection> connection;
    };

    std::unique_ptr<Connection> wait(std::unique_lock<std::mutex>& lock, Place where);
    void give_back(std::unique_ptr<Connection> connection);

    std::string url_;
    PostgresOptions options_;
    mutable std::mutex mutex_;
    std::list<Waiter*> waiters_;
    std::int64_t given_back_ = 0;
    std::vector<std::unique_ptr<Connection>> idle_;
    int open_ = 0;
};

}  // namespace assent::postgres
