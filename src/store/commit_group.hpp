// Group commit: many appends at once, one commit for all of them.
//
// The first to come commits for itself; whoever comes meanwhile waits, and one of them then commits for all who wait.
//
// Where every commit costs much, whatever is in it, whoever commits may linger for as many as were together the last
// time: else those who were committed together come back one by one behind the first of them, and groups stay small.
// Who has waited in vain expects no more than came.
#pragma once

#include <assent/checkpointer.hpp>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <iterator>
#include <limits>
#include <list>
#include <memory>
#include <mutex>
#include <utility>

namespace assent {

/// Somebody who waits for its turn.
class Waiter {
public:
    enum class Turn { waits, leads, done };
    /// Sleeps until it is no longer its turn to wait.
    [[nodiscard]] Turn wait();
    void wake(Turn turn);

private:
    // Its own: who is woken must not queue for the group with all the others that are.
    std::mutex mutex_;
    std::condition_variable woken_;
    Turn turn_ = Turn::waits;
};

/// `Item`: an append, with what its store makes of it before its turn comes: while one commits, the others have time.
template <class Item>
class CommitGroup {
public:
    /// Shared: whoever wakes a waiter must not find its append gone.
    struct Pending {
        Pending(Item given, AppendResult doubtful) : item(std::move(given)), result(std::move(doubtful)) {}
        Item item;
        Result<AppendResult> result;
        Waiter waiter;
    };
    using Batch = std::list<std::shared_ptr<Pending>>;
    /// Gives every append of a group its result. What it throws reaches its caller alone; the others of the
    /// group then have the results they were given so far.
    using Commit = std::function<void(const Batch&)>;

    static constexpr std::size_t any_size = std::numeric_limits<std::ptrdiff_t>::max();
    /// Who commits lingers at most so long, for a group of at most `size_max`.
    explicit CommitGroup(std::chrono::microseconds linger_max = {}, std::size_t size_max = any_size)
        : linger_max_(linger_max), size_max_(size_max) {}

    /// Has `commit` called once with a group that holds this append, on some caller's thread, and returns
    /// this append with its result; `doubtful`: that of one that is given none, so that nobody knows what became of it.
    std::shared_ptr<Pending> append(Item item, const Commit& commit,
                                    AppendResult doubtful = {.status = AppendStatus::uncertain}) {
        auto own = std::make_shared<Pending>(std::move(item), std::move(doubtful));
        bool leads = false;
        {
            const std::lock_guard lock(mutex_);
            waiting_.push_back(own);
            leads = !std::exchange(busy_, true);
            if (!leads && waiting_.size() >= expected_) enough_.notify_one();
        }
        if (leads || own->waiter.wait() == Waiter::Turn::leads) lead(*own, commit);
        return own;
    }

    /// How many appends wait for the next commit.
    [[nodiscard]] std::size_t waiting() const {
        const std::lock_guard lock(mutex_);
        return waiting_.size();
    }

private:
    void lead(const Pending& own, const Commit& commit) {
        Batch batch;
        {
            std::unique_lock lock(mutex_);
            enough_.wait_for(lock, linger_max_, [this] { return waiting_.size() >= expected_; });
            // Whoever leads came first. Nothing may throw before it is sure that the others are woken.
            const auto size = std::min(waiting_.size(), size_max_);
            batch.splice(batch.end(), waiting_, waiting_.begin(),
                         std::next(waiting_.begin(), static_cast<std::ptrdiff_t>(size)));
            expected_ = size;
        }
        // However the commit ends, those who wait are woken: otherwise they would wait for ever.
        struct HandOver {
            CommitGroup& group;
            const Pending& own;
            const Batch& batch;
            ~HandOver() { group.hand_over(own, batch); }
        };
        const HandOver after{*this, own, batch};
        commit(batch);
    }

    void hand_over(const Pending& own, const Batch& batch) {
        std::shared_ptr<Pending> next;
        {
            const std::lock_guard lock(mutex_);
            busy_ = !waiting_.empty();
            if (busy_) next = waiting_.front();
        }
        // Whoever leads next is woken last: where processors are scarce, those before it have come again by then and
        // are committed with it; where they are not, it waits for nobody.
        for (const auto& pending : batch) {
            if (pending.get() != &own) pending->waiter.wake(Waiter::Turn::done);
        }
        if (next) next->waiter.wake(Waiter::Turn::leads);
    }

    mutable std::mutex mutex_;
    std::condition_variable enough_;
    Batch waiting_;
    std::size_t expected_ = 1;  // to come together
    std::chrono::microseconds linger_max_;
    std::size_t size_max_;
    bool busy_ = false;
};

}  // namespace assent
