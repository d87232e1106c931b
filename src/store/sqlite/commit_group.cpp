#include "store/sqlite/commit_group.hpp"

#include "journal/encoding.hpp"

#include <utility>

namespace assent::sqlite {

PendingAppend::PendingAppend(const Append& wanted)
    : append(wanted), body_digest(journal::body_digest(wanted.salt, wanted.body)) {}

PendingAppend::Turn PendingAppend::wait() {
    // Asleep, not polling: while one commits, the others must leave the processor to it.
    std::unique_lock lock(mutex_);
    woken_.wait(lock, [this] { return turn_ != Turn::waits; });
    return turn_;
}

void PendingAppend::wake(Turn turn) {
    {
        const std::lock_guard lock(mutex_);
        turn_ = turn;
    }
    woken_.notify_one();
}

Result<AppendResult> CommitGroup::append(const Append& append, const Commit& commit) {
    const auto own = std::make_shared<PendingAppend>(append);
    bool leads = false;
    {
        const std::lock_guard lock(mutex_);
        waiting_.push_back(own);
        leads = !std::exchange(busy_, true);
    }
    if (leads || own->wait() == PendingAppend::Turn::leads) lead(*own, commit);
    return std::move(own->result);
}

std::size_t CommitGroup::waiting() const {
    const std::lock_guard lock(mutex_);
    return waiting_.size();
}

void CommitGroup::lead(const PendingAppend& own, const Commit& commit) {
    Batch batch;
    {
        const std::lock_guard lock(mutex_);
        batch.swap(waiting_);
    }
    // However the commit ends, those who wait are woken: otherwise they would wait for ever.
    struct HandOver {
        CommitGroup& group;
        const PendingAppend& own;
        const Batch& batch;
        ~HandOver() { group.hand_over(own, batch); }
    };
    const HandOver after{*this, own, batch};
    commit(batch);
}

void CommitGroup::hand_over(const PendingAppend& own, const Batch& batch) {
    std::shared_ptr<PendingAppend> next;
    {
        const std::lock_guard lock(mutex_);
        busy_ = !waiting_.empty();
        if (busy_) next = waiting_.front();
    }
    // Whoever leads next is woken last: where processors are scarce, those before it have come again by then and
    // are committed with it; where they are not, it waits for nobody.
    for (const auto& pending : batch) {
        if (pending.get() != &own) pending->wake(PendingAppend::Turn::done);
    }
    if (next) next->wake(PendingAppend::Turn::leads);
}

}  // namespace assent::sqlite
