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

void CommitGroup::lead(const PendingAppend& own, const Commit& commit) {
    std::vector<std::shared_ptr<PendingAppend>> batch;
    {
        const std::lock_guard lock(mutex_);
        batch.swap(waiting_);
    }
    commit(batch);
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
