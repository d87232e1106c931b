#include "sim/connection.hpp"

#include "sim/weakness.hpp"

#include <algorithm>
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

// Percent of appends made again whose answer gets lost too.
constexpr int second_answers_lost = 20;

// As postgres::Tables has it.
bool is_one_statement(const Append& append) {
    return append.expected_seq && !append.kinds.empty();
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
    if (!reaches_store()) return broken("the server cannot be reached");
    if (reads_failing_ <= 0) return std::nullopt;
    --reads_failing_;
    shared_.ledger.count("fault: read fails");
    return broken("the store cannot be read");
}

bool Connection::reaches_store() const {
    if (!shared_.server) return true;
    return !shared_.server->down && (node_ == nullptr || !node_->cut_off);
}

Result<AppendResult> Connection::append(const Append& append) {
    const int restarts = shared_.server ? shared_.server->restarts : 0;
    shared_.meanwhile(process_);
    if (dead_) return broken("the process is dead");
    const auto fault = due_fault();
    if (fault == Fault::dies_before) {
        die();
        return broken("the process is dead");
    }
    if (fault == Fault::fails) return broken("the store is broken");
    if (!reaches_store()) {
        shared_.ledger.count("network: request lost");
        return broken("the server cannot be reached");
    }
    if (append.lease == LeaseUse::take) {
        if (auto unknown = become_runner()) return std::move(*unknown);
    }
    // The server has restarted since this was sent: what had come to its commit is in doubt, the rest is sent again.
    const bool dropped = shared_.server && shared_.server->restarts != restarts && shared_.chance(50);
    if (fault == Fault::uncertain_lost || dropped) return lost(append);
    auto result = attempt(append);
    if (fault == Fault::dies_after) {
        die();
        return broken("the process is dead");
    }
    if (!result || result->status != AppendStatus::done) return result;
    bool heard = fault != Fault::uncertain_kept;
    if (shared_.server) {
        // Others act while the answer is on its way.
        const int restarts_at_commit = shared_.server->restarts;
        shared_.meanwhile(process_);
        if (dead_) return broken("the process is dead");
        if (!reaches_store() || shared_.server->restarts != restarts_at_commit) {
            shared_.ledger.count("network: answer lost");
            heard = false;
        }
    }
    return heard ? result : after_doubt(append, std::move(*result));
}

// What was not kept although nobody can know yet.
Result<AppendResult> Connection::lost(const Append& append) {
    if (!shared_.server) {
        if (append.kinds.empty()) return broken("the last change was not kept");
        return AppendResult{.status = AppendStatus::uncertain};
    }
    const auto stands_under = fence_of(append.thread_id);
    const bool takes = append.lease == LeaseUse::take;
    // A take that thinks of another fence is refused, and made again with a look: either may be what is lost.
    const bool looks = !is_one_statement(append) || (takes && append.fence != stands_under && shared_.chance(50));
    const auto fence = (takes && !looks ? append.fence : stands_under) + (takes ? 1 : 0);
    const AppendResult doubtful{.status = AppendStatus::uncertain, .fence = fence};
    const bool weak = is_weak(Weakness::looks_before_commit);
    // What holds no lock yet when its connection is lost may still be made, at any time.
    if (weak || (!looks && shared_.chance(50))) {
        end_commit_under_way(append.thread_id);
        shared_.under_way.emplace(append, process_);
    }
    return is_one_statement(append) && !weak ? write_again(append, doubtful) : after_doubt_of_runner(append, doubtful);
}

// As the store on PostgreSQL does it: done now, the first one comes too late; refused for good, it is over.
Result<AppendResult> Connection::write_again(const Append& append, const AppendResult& first) {
    const auto not_known = [&](Failure failure, std::int64_t second_fence = 0) -> Result<AppendResult> {
        const auto fence = std::max(first.fence, second_fence);
        if (append.lease == LeaseUse::take) owed_.push_back({.thread = append.thread_id, .fence = fence});
        return failure;
    };
    shared_.meanwhile(process_);
    if (dead_) return broken("the process is dead");
    if (auto fault = read_fault()) return not_known(std::move(*fault));
    shared_.ledger.count("append made again");
    // The first may come to its end before or after.
    auto again = shared_.chance(50) ? attempt(append) : stored(append);
    if (!again) return again;
    if (again->status == AppendStatus::done) {
        if (!shared_.chance(second_answers_lost)) return again;
        shared_.ledger.count("network: second answer lost");
        return not_known(broken("whether the last change was kept is not known"), again->fence);
    }
    const auto rows = shared_.rows.load(append.thread_id, 0);
    const bool kept =
        std::any_of(rows->begin(), rows->end(), [&](const auto& row) { return row.command == append.command; });
    if (kept) return first;
    const auto head = shared_.rows.find_thread(append.thread_id);
    const bool gone_on = head->has_value() && (*head)->seq != append.expected_seq;
    const bool for_good = gone_on || again->status == AppendStatus::fenced || again->status == AppendStatus::closed ||
                          again->status == AppendStatus::expired;
    return for_good ? again : not_known(broken("whether the last change was kept is not known"));
}

Result<AppendResult> Connection::after_doubt(const Append& append, AppendResult result) {
    if (shared_.server) {
        result.status = AppendStatus::uncertain;
        if (is_one_statement(append)) return write_again(append, result);
        return after_doubt_of_runner(append, std::move(result));
    }
    // Who cannot read after a doubtful commit does not know that it has the lease.
    if (append.lease == LeaseUse::take && reads_failing_ > 0) holds_unknowingly_ = true;
    if (!append.kinds.empty()) return AppendResult{.status = AppendStatus::uncertain, .fence = result.fence};
    // Without a row there is no command to look for: the store looks at the lease itself.
    if (auto fault = read_fault()) return std::move(*fault);
    return result;
}

// As the store on PostgreSQL does it: a thread that is held without knowing could be run by nobody.
Result<AppendResult> Connection::after_doubt_of_runner(const Append& append, AppendResult result) {
    if (append.lease != LeaseUse::take) return result;
    if (auto fault = read_fault()) {
        owed_.push_back({.thread = append.thread_id, .fence = result.fence});
        return std::move(*fault);
    }
    const auto held = shared_.leases.find(append.thread_id);
    const bool kept =
        held != shared_.leases.end() && held->second.process == process_ && held->second.fence == result.fence;
    if (kept) {
        result.status = AppendStatus::done;
        return result;
    }
    return broken("the last change was not kept");
}

Result<AppendResult> Connection::attempt(const Append& append) {
    end_commit_under_way(append.thread_id);
    if (!is_weak(Weakness::takes_old_fences) || append.lease != LeaseUse::keep) return stored(append);
    auto unfenced = append;
    const auto head = shared_.rows.find_thread(append.thread_id);
    if (head && head->has_value()) unfenced.fence = (*head)->fence;
    return stored(unfenced);
}

void Connection::end_commit_under_way(const std::string& thread) {
    if (!shared_.under_way || shared_.under_way->first.thread_id != thread) return;
    const auto [append, process] = *std::exchange(shared_.under_way, std::nullopt);
    // It says under which fence the thread stands that it takes.
    const bool takes = is_one_statement(append) && append.lease == LeaseUse::take;
    if (takes && append.fence != fence_of(thread)) return;
    const auto own = std::exchange(process_, process);
    (void)stored(append);
    process_ = own;
}

std::int64_t Connection::fence_of(const std::string& thread) const {
    const auto head = shared_.rows.find_thread(thread);
    return head->has_value() ? (*head)->fence : 0;
}

bool Connection::free_of_dead(const std::string& thread) {
    const auto held = shared_.leases.find(thread);
    if (held == shared_.leases.end() || !shared_.lease_is_over(held->second.process)) return false;
    (void)shared_.rows.give_back(thread, held->second.fence);
    shared_.leases.erase(held);
    shared_.ledger.count("lease taken over");
    return true;
}

Result<AppendResult> Connection::stored(const Append& append) {
    const bool freed = append.lease == LeaseUse::take && free_of_dead(append.thread_id);
    auto result = shared_.rows.append(append);
    // A server would leave the dead runner its thread then, to be found by whoever looks for work.
    const bool refused = !result || result->status != AppendStatus::done;
    if (freed && refused && shared_.server) shared_.server->mark(append.thread_id);
    if (!result) return result;
    if (result->status == AppendStatus::conflict) shared_.ledger.count("append lost a race");
    if (result->status == AppendStatus::fenced) shared_.ledger.count("append fenced");
    if (result->status == AppendStatus::closed) shared_.ledger.count("answer lost a race");
    if (result->status != AppendStatus::done) return result;
    if (append.lease == LeaseUse::take) {
        shared_.leases[append.thread_id] = {process_, result->fence};
        shared_.ledger.takers[{append.thread_id, result->fence}] = process_;
        shared_.taken(append.thread_id);
    }
    if (append.lease == LeaseUse::give_back) shared_.leases.erase(append.thread_id);
    if (shared_.server && append.ready) shared_.server->mark(append.thread_id);
    if (shared_.server && append.lease == LeaseUse::take && append.expected_seq) {
        shared_.server->unmark(append.thread_id);
        known_taken_.erase(append.thread_id);
    }
    if (!append.kinds.empty()) note_row(append, *result);
    return result;
}

void Connection::note_row(const Append& append, const AppendResult& result) {
    const auto rows = shared_.rows.load(append.thread_id, result.pos - 1);
    const auto& row = rows->front();
    shared_.ledger.rows[row.pos] = {.tick = shared_.tick(),
                                    .actor = process_,
                                    .fence = result.fence,
                                    .digest = row_digest(row.header, row.salt, row.body)};
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

bool Connection::free(const std::string& thread, std::int64_t fence) {
    // What holds a lock comes to its end before.
    if (shared_.under_way && (!is_one_statement(shared_.under_way->first) || shared_.chance(50)))
        end_commit_under_way(thread);
    const auto held = shared_.leases.find(thread);
    // What was lost has the fence of whoever took the thread instead.
    const bool own = held != shared_.leases.end() && held->second.fence == fence && held->second.process == process_;
    if (!own) return false;
    shared_.leases.erase(held);
    (void)shared_.rows.give_back(thread, fence);
    return true;
}

Result<void> Connection::give_back(const std::string& thread_id, std::int64_t fence) {
    if (auto fault = read_fault()) {
        if (shared_.server && !dead_) owed_.push_back({.thread = thread_id, .fence = fence});
        return std::move(*fault);
    }
    (void)free(thread_id, fence);
    return {};
}

}  // namespace assent::sim
