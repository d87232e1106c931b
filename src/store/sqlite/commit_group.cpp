#include "store/sqlite/commit_group.hpp"

#include <utility>

namespace assent::sqlite {

Result<AppendResult> CommitGroup::append(const Append& append, const Commit& commit) {
    const auto own = std::make_shared<PendingAppend>(append);
    {
        const std::lock_guard lock(mutex_);
        waiting_.push_back(own);
        if (!std::exchange(busy_, true)) own->turn = PendingAppend::Turn::leads;
    }
    own->turn.wait(PendingAppend::Turn::waits);
    if (own->turn == PendingAppend::Turn::leads) lead(*own, commit);
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
    if (next) tell(*next, PendingAppend::Turn::leads);
    for (const auto& pending : batch) {
        if (pending.get() != &own) tell(*pending, PendingAppend::Turn::done);
    }
}

void CommitGroup::tell(PendingAppend& pending, PendingAppend::Turn turn) {
    pending.turn = turn;
    pending.turn.notify_one();
}

}  // namespace assent::sqlite
