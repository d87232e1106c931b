#include "store/postgres/pool.hpp"

#include <chrono>

namespace assent::postgres {

Pool::Lease Pool::take(Place place) {
    std::unique_lock lock(mutex_);
    std::unique_ptr<Connection> connection;
    if (!idle_.empty()) {
        connection = std::move(idle_.back());
        idle_.pop_back();
    } else if (open_ < options_.connections_max) {
        ++open_;
    } else {
        connection = wait(lock, place);
    }
    lock.unlock();
    if (connection != nullptr) return {*this, std::move(connection)};
    try {
        connection = std::make_unique<Connection>(url_, options_);
        // Through a pooler it would stay with a connection of the server, which others use next.
        if (options_.prepared) connection->prepare_session(options_.schema);
        return {*this, std::move(connection)};
    } catch (...) {
        give_back(nullptr);
        throw;
    }
}

// Many more may want one than there are: as long as some come back, all get their turn.
std::unique_ptr<Connection> Pool::wait(std::unique_lock<std::mutex>& lock, Place where) {
    Waiter self;
    const auto place = waiters_.insert(where == Place::first ? waiters_.begin() : waiters_.end(), &self);
    for (auto seen = given_back_;; seen = given_back_) {
        const auto patience = std::chrono::milliseconds(options_.connect_ms);
        if (self.served.wait_for(lock, patience, [&] { return self.is_served; })) return std::move(self.connection);
        if (seen != given_back_) continue;
        waiters_.erase(place);
        throw Error("", "all connections of this program are in use", false);
    }
}

void Pool::give_back(std::unique_ptr<Connection> connection) {
    if (connection != nullptr && !connection->usable()) connection.reset();
    const std::lock_guard lock(mutex_);
    if (connection != nullptr) ++given_back_;
    if (!waiters_.empty()) {
        auto& next = *waiters_.front();
        waiters_.pop_front();
        next.is_served = true;
        next.connection = std::move(connection);
        next.served.notify_one();
    } else if (connection != nullptr) {
        idle_.push_back(std::move(connection));
    } else {
        --open_;
    }
}

void Pool::drop_idle() {
    const std::lock_guard lock(mutex_);
    open_ -= static_cast<int>(idle_.size());
    idle_.clear();
}

}  // namespace assent::postgres
