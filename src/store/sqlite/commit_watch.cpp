#include "store/sqlite/commit_watch.hpp"

#include <chrono>
#include <map>
#include <utility>

namespace assent::sqlite {
namespace {

constexpr std::chrono::milliseconds look_time{10};

}  // namespace

struct CommitWatch::Watchers {
    std::mutex mutex;  // held while they are called: whoever lets go of its watch is not called afterwards
    std::condition_variable_any some;
    std::map<std::int64_t, Checkpointer::Changed> all;
    std::int64_t last = 0;

    // False: told to stop.
    bool wait_for_some(const std::stop_token& stop) {
        std::unique_lock lock(mutex);
        some.wait_for(lock, stop, look_time, [] { return false; });
        return some.wait(lock, stop, [this] { return !all.empty(); }) && !stop.stop_requested();
    }

    void tell() {
        const std::lock_guard lock(mutex);
        for (const auto& [number, changed] : all) changed({});
    }
};

CommitWatch::CommitWatch(Connect connect) : connect_(std::move(connect)), watchers_(std::make_shared<Watchers>()) {}

std::shared_ptr<void> CommitWatch::watch(Checkpointer::Changed changed) {
    std::int64_t number = 0;
    {
        const std::lock_guard lock(watchers_->mutex);
        number = ++watchers_->last;
        watchers_->all.emplace(number, std::move(changed));
        watchers_->some.notify_all();
    }
    {
        const std::lock_guard lock(mutex_);
        if (!thread_.joinable()) thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
    }
    return {nullptr, [watchers = watchers_, number](void*) {
                const std::lock_guard lock(watchers->mutex);
                watchers->all.erase(number);
            }};
}

void CommitWatch::disconnect() {
    const std::lock_guard lock(mutex_);
    database_.reset();
}

void CommitWatch::run(const std::stop_token& stop) {
    while (watchers_->wait_for_some(stop)) {
        if (committed()) watchers_->tell();
    }
}

// A new connection does not know what was committed before it.
bool CommitWatch::committed() {
    const std::lock_guard lock(mutex_);
    try {
        const bool fresh = database_ == nullptr;
        if (fresh) database_ = connect_();
        const auto version = database_->pragma("PRAGMA data_version");
        return std::exchange(version_, version) != version || fresh;
    } catch (const Error&) {
        database_.reset();
        return false;
    }
}

}  // namespace assent::sqlite
