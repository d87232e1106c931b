// Calls of a store that come together are made as one: appends with one commit, reads with one question.
//
// The first to come calls for itself; whoever comes meanwhile waits, and one of them then calls for all who wait.
//
// Where every call costs much, whatever is in it, whoever calls may linger for as many as there were when the last call
// ended: those who were answered, who may come again at once, and those who waited. Else they would come back one by
// one behind the first of them, and groups stay small. Who has waited in vain expects no more than came.
#pragma once

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

/// `Item`: what is wanted, with what its store makes of it before its turn comes: while one calls, the others have
/// time. `Answer`: what comes of it.
template <class Item, class Answer>
class CallGroup {
public:
    /// Shared: whoever wakes a waiter must not find its item gone.
    struct Pending {
        Pending(Item given, Answer unanswered) : item(std::move(given)), answer(std::move(unanswered)) {}
        Item item;
        Answer answer;
        Waiter waiter;
    };
    using Batch = std::list<std::shared_ptr<Pending>>;
    /// Gives every item of a group its answer. What it throws reaches its caller alone; the others of the group then
    /// have the answers they were given so far.
    using Call = std::function<void(const Batch&)>;

    /// Of those who wait the first have their turn before the last, except for a quarter of a group; each in the order
    /// in which they came.
    enum class Place { first, last };

    static constexpr std::size_t any_size = std::numeric_limits<std::ptrdiff_t>::max();
    /// Who calls lingers at most so long, for a group of at most `size_max`.
    explicit CallGroup(std::chrono::microseconds linger_max = {}, std::size_t size_max = any_size)
        : linger_max_(linger_max), size_max_(size_max) {}

    /// Has `call` called once with a group that holds this item, on some caller's thread, and returns this item with
    /// its answer; `unanswered`: that of one that is given none.
    std::shared_ptr<Pending> join(Item item, const Call& call, Answer unanswered, Place place = Place::last) {
        const auto own = std::make_shared<Pending>(std::move(item), std::move(unanswered));
        Batch node{own};
        bool leads = false;
        {
            const std::lock_guard lock(mutex_);
            leads = !std::exchange(busy_, true);
            auto& list = leads ? leading_ : place == Place::first ? first_ : last_;
            list.splice(list.end(), node);
            if (!leads && are_enough()) enough_.notify_one();
        }
        if (leads || own->waiter.wait() == Waiter::Turn::leads) lead(call);
        return own;
    }

    /// How many wait for the next call.
    [[nodiscard]] std::size_t waiting() const {
        const std::lock_guard lock(mutex_);
        return count();
    }

private:
    // Nothing may throw before it is sure that the others are woken.
    void lead(const Call& call) {
        Batch batch;
        {
            std::unique_lock lock(mutex_);
            enough_.wait_for(lock, linger_max_, [this] { return are_enough(); });
            batch.splice(batch.end(), leading_);
            const auto take = [&](Batch& waiting, std::size_t size_max) {
                const auto size = std::min(waiting.size(), size_max - std::min(batch.size(), size_max));
                batch.splice(batch.end(), waiting, waiting.begin(),
                             std::next(waiting.begin(), static_cast<std::ptrdiff_t>(size)));
            };
            // However many come first, the last come to their turn too.
            take(first_, size_max_ - std::min(last_.size(), size_max_ / 4));
            take(last_, size_max_);
        }
        // However the call ends, those who wait are woken: otherwise they would wait for ever.
        struct HandOver {
            CallGroup& group;
            const Batch& batch;
            ~HandOver() { group.hand_over(batch); }
        };
        const HandOver after{*this, batch};
        call(batch);
    }

    // `batch`: whoever called first, who needs no waking.
    void hand_over(const Batch& batch) {
        std::shared_ptr<Pending> next;
        {
            const std::lock_guard lock(mutex_);
            expected_ = std::min(batch.size() + count(), size_max_);
            auto& waiting = first_.empty() ? last_ : first_;
            busy_ = !waiting.empty();
            if (busy_) {
                next = waiting.front();
                leading_.splice(leading_.end(), waiting, waiting.begin());
            }
        }
        // Whoever leads next is woken last: where processors are scarce, those before it have come again by then and
        // are in its group; where they are not, it waits for nobody.
        std::for_each(std::next(batch.begin()), batch.end(),
                      [](const auto& pending) { pending->waiter.wake(Waiter::Turn::done); });
        if (next) next->waiter.wake(Waiter::Turn::leads);
    }

    [[nodiscard]] std::size_t count() const { return first_.size() + last_.size(); }
    [[nodiscard]] bool are_enough() const { return count() + 1 >= expected_; }

    mutable std::mutex mutex_;
    std::condition_variable enough_;
    Batch leading_;  // who calls next
    Batch first_;
    Batch last_;
    std::size_t expected_ = 1;  // to come together
    std::chrono::microseconds linger_max_;
    std::size_t size_max_;
    bool busy_ = false;
};

}  // namespace assent
