#include "sim/connection.hpp"

#include <array>
#include <utility>

namespace assent::sim {
namespace {

Failure broken(std::string_view why) {
    return {FailureKind::database, std::string(why)};
}

std::string_view name_of(Fault fault) {
    switch (fault) {
        case Fault::fails:
            return "fault: append fails";
        case Fault::uncertain_kept:
            return "fault: uncertain, kept";
        case Fault::uncertain_lost:
            return "fault: uncertain, lost";
        case Fault::dies_before:
            return "fault: dies before an append";
        case Fault::dies_after:
            return "fault: dies after an append";
    }
    return "fault";
}

}  // namespace

Digest row_digest(std::string_view header, std::string_view salt, std::string_view body) {
    const std::array<std::string_view, 3> fields{header, salt, body};
    return sha256_fields(fields);
}

void Connection::arm(Fault fault, int appends, int reads_failing) {
    fault_ = fault;
    appends_before_fault_ = appends;
    reads_failing_after_fault_ = reads_failing;
}

void Connection::disarm() {
    fault_.reset();
    reads_failing_ = 0;
}

void Connection::die() {
    if (std::exchange(dead_, true) || process_ == 0) return;
    shared_.ledger.processes[process_].died = shared_.tick();
}

std::optional<Fault> Connection::due_fault() {
    if (!fault_ || appends_before_fault_-- > 0) return std::nullopt;
    reads_failing_ = reads_failing_after_fault_;
    shared_.ledger.count(name_of(*fault_));
    return std::exchange(fault_, std::nullopt);
}

std::optional<Failure> Connection::read_fault() {
    if (dead_) return broken("the process is dead");
    if (reads_failing_ <= 0) return std::nullopt;
    --reads_failing_;
    shared_.ledger.count("fault: read fails");
    return broken("the store cannot be read");
}

Result<AppendResult> Connection::append(const Append& append) {
    shared_.meanwhile(process_);
    if (dead_) return broken("the process is dead");
    const auto fault = due_fault();
    if (fault == Fault::dies_before) {
        die();
        return broken("the process is dead");
    }
    if (fault == Fault::fails) return broken("the store is broken");
    if (fault == Fault::uncertain_lost) {
        if (append.kinds.empty()) return broken("the last change was not kept");
        return AppendResult{.status = AppendStatus::uncertain};
    }
    auto result = stored(append);
    if (fault == Fault::dies_after) {
        die();
        return broken("the process is dead");
    }
    const bool doubtful = fault == Fault::uncertain_kept && result && result->status == AppendStatus::done;
    return doubtful ? after_doubt(append, *result) : result;
}

// Who cannot read after a doubtful commit does not know that it has the lease.
Result<AppendResult> Connection::after_doubt(const Append& append, const AppendResult& result) {
    if (append.lease == LeaseUse::take && reads_failing_ > 0) holds_unknowingly_ = true;
    if (!append.kinds.empty()) return AppendResult{.status = AppendStatus::uncertain};
    // Without a row there is no command to look for: the store looks at the lease itself.
    if (auto fault = read_fault()) return std::move(*fault);
    return result;
}

Result<AppendResult> Connection::stored(const Append& append) {
    const auto held = shared_.leases.find(append.thread_id);
    if (append.lease == LeaseUse::take && held != shared_.leases.end() && shared_.lease_is_over(held->second.process)) {
        if (auto freed = shared_.rows.give_back(append.thread_id, held->second.fence); !freed) return freed.failure();
        shared_.leases.erase(held);
        shared_.ledger.count("lease taken over");
    }
    auto result = shared_.rows.append(append);
    if (!result) return result;
    if (result->status == AppendStatus::conflict) shared_.ledger.count("append lost a race");
    if (result->status == AppendStatus::fenced) shared_.ledger.count("append fenced");
    if (result->status == AppendStatus::closed) shared_.ledger.count("answer lost a race");
    if (result->status != AppendStatus::done) return result;
    if (append.lease == LeaseUse::take) shared_.leases[append.thread_id] = {process_, result->fence};
    if (append.lease == LeaseUse::give_back) shared_.leases.erase(append.thread_id);
    if (!append.kinds.empty()) {
        auto rows = shared_.rows.load(append.thread_id, result->pos - 1);
        if (!rows) return rows.failure();
        const auto& row = rows->front();
        shared_.ledger.rows[row.pos] = {.tick = shared_.tick(),
                                        .actor = process_,
                                        .fence = result->fence,
                                        .digest = row_digest(row.header, row.salt, row.body)};
    }
    return result;
}

Result<std::optional<ThreadHead>> Connection::find_thread(const std::string& id) {
    if (auto fault = read_fault()) return std::move(*fault);
    auto head = shared_.rows.find_thread(id);
    const auto held = shared_.leases.find(id);
    if (head && head->has_value()) {
        (*head)->runner_alive = held != shared_.leases.end() && !shared_.lease_is_over(held->second.process);
    }
    return head;
}

Result<std::vector<JournalRow>> Connection::load(const std::string& thread_id, std::int64_t after) {
    if (auto fault = read_fault()) return std::move(*fault);
    return shared_.rows.load(thread_id, after);
}

Result<std::vector<ThreadHead>> Connection::threads() {
    if (auto fault = read_fault()) return std::move(*fault);
    return shared_.rows.threads();
}

Result<std::vector<OpenApproval>> Connection::open_approvals(const std::string& thread_id, std::int64_t after,
                                                             std::size_t limit) {
    if (auto fault = read_fault()) return std::move(*fault);
    return shared_.rows.open_approvals(thread_id, after, limit);
}

Result<std::optional<ApprovalPlace>> Connection::find_approval(std::int64_t number) {
    if (auto fault = read_fault()) return std::move(*fault);
    return shared_.rows.find_approval(number);
}

Result<std::string> Connection::schema(const std::string& digest) {
    if (auto fault = read_fault()) return std::move(*fault);
    return shared_.rows.schema(digest);
}

Result<std::optional<Snapshot>> Connection::snapshot(const std::string& thread_id) {
    if (auto fault = read_fault()) return std::move(*fault);
    return shared_.rows.snapshot(thread_id);
}

Result<void> Connection::give_back(const std::string& thread_id, std::int64_t fence) {
    if (auto fault = read_fault()) return std::move(*fault);
    const auto held = shared_.leases.find(thread_id);
    if (held != shared_.leases.end() && held->second.fence == fence) shared_.leases.erase(held);
    return shared_.rows.give_back(thread_id, fence);
}

}  // namespace assent::sim
