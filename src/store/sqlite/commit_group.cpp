#include "store/sqlite/commit_group.hpp"

#include "journal/encoding.hpp"

#include <utility>

namespace assent::sqlite {

PendingAppend::PendingAppend(const Append& wanted)
    : append(wanted), body_digest(journal::body_digest(wanted.salt, wanted.body)) {}

Result<AppendResult> CommitGroup::append(const Append& append, const Commit& commit) {
    const auto own = std::make_shared<PendingAppend>(append);
    bool leads = false;
    {
        std::unique_lock lock(mutex_);
        waiting_.push_back(own);
        if (!std::exchange(busy_, true)) own->turn = PendingAppend::Turn::leads;
        // Asleep, not polling: while one commits, the others must leave the processor to it.
        own->woken.wait(lock, [&] { return own->turn != PendingAppend::Turn::waits; });
        leads = own->turn == PendingAppend::Turn::leads;
    }
    if (leads) lead(*own, commit);
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
        if (busy_) {
            next = waiting_.front();
            next->turn = PendingAppend::Turn::leads;
        }
        for (const auto& pending : batch) pending->turn = PendingAppend::Turn::done;
    }
    if (next) next->woken.notify_one();
    for (const auto& pending : batch) {
        if (pending.get() != &own) pending->woken.notify_one();
    }
}

}  // namespace assent::sqlite
