#include "store/postgres/pool.hpp"

#include <chrono>

namespace assent::postgres {

Pool::Lease Pool::take() {
    std::unique_lock lock(mutex_);
    const bool free = freed_.wait_for(lock, std::chrono::milliseconds(options_.connect_ms),
                                      [this] { return !idle_.empty() || open_ < options_.connections_max; });
    if (!free) throw Error("", "all connections of this program are in use", false);
    if (!idle_.empty()) {
        auto connection = std::move(idle_.back());
        idle_.pop_back();
        return {*this, std::move(connection)};
    }
    ++open_;
    lock.unlock();
    try {
        auto connection = std::make_unique<Connection>(url_, options_);
        // Through a pooler it would stay with a connection of the server, which others use next.
        if (options_.prepared) connection->prepare_session(options_.schema);
        return {*this, std::move(connection)};
    } catch (...) {
        give_back(nullptr);
        throw;
    }
}

void Pool::give_back(std::unique_ptr<Connection> connection) {
    const bool keep = connection != nullptr && connection->usable();
    const std::lock_guard lock(mutex_);
    if (keep) {
        idle_.push_back(std::move(connection));
    } else {
        --open_;
    }
    freed_.notify_one();
}

void Pool::drop_idle() {
    const std::lock_guard lock(mutex_);
    open_ -= static_cast<int>(idle_.size());
    idle_.clear();
    freed_.notify_all();
}

}  // namespace assent::postgres
