#include <assent/memory.hpp>

#include "journal/encoding.hpp"
#include "journal/lineage.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <set>

namespace assent {

struct MemoryCheckpointer::State {
    struct Thread {
        ThreadHead head;
        std::vector<JournalRow> rows;
        std::optional<Snapshot> snapshot;
    };

    std::mutex mutex;
    std::map<std::string, Thread> threads;
    std::map<std::int64_t, OpenApproval> open;
    std::map<std::int64_t, std::string> places;  // thread of each number ever given
    std::map<std::string, std::string> schemas;
    std::int64_t positions = 0;

    std::int64_t next_number() const { return places.empty() ? 1 : places.rbegin()->first + 1; }

    bool aborted(const std::string& id) const {
        const auto found = threads.find(id);
        return found != threads.end() && found->second.head.status == ThreadStatus::aborted;
    }

    // What stops this append, if anything does.
    AppendStatus check(const Append& append, const ThreadHead& head) const {
        if (std::ranges::any_of(append.ancestors, [this](const auto& id) { return aborted(id); }))
            return AppendStatus::stopped;
        if (append.lease == LeaseUse::take && head.runner != 0) return AppendStatus::leased;
        const bool owns = append.lease == LeaseUse::keep || append.lease == LeaseUse::give_back;
        if (owns && append.fence != head.fence) return AppendStatus::fenced;
        if (append.expected_seq && *append.expected_seq != head.seq) return AppendStatus::conflict;
        // Given back by a runner that was not told of it.
        if (owns && head.runner == 0) return AppendStatus::fenced;
        std::set<std::int64_t> closing;
        for (const auto number : append.closes) {
            const auto found = open.find(number);
            const bool of_thread = found != open.end() && found->second.thread_id == append.thread_id;
            if (!of_thread || !closing.insert(number).second) return AppendStatus::closed;
            const auto& deadline = found->second.deadline;
            if (!append.closes_late && deadline && *deadline <= append.at) return AppendStatus::expired;
        }
        return AppendStatus::done;
    }

    void close_approvals(const Append& append) {
        for (const auto number : append.closes) open.erase(number);
        std::erase_if(open, [&](const auto& entry) {
            const auto& row = entry.second;
            if (row.thread_id != append.thread_id) return false;
            return append.closes_thread || std::find(append.closes_calls.begin(), append.closes_calls.end(),
                                                     std::pair(row.turn, row.position)) != append.closes_calls.end();
        });
    }

    void write_row(const Append& append, Thread& thread, std::int64_t first_number) {
        auto& head = thread.head;
        head.seq += static_cast<std::int64_t>(append.kinds.size());
        JournalRow row{.pos = ++positions,
                       .seq = head.seq,
                       .prev = head.head,
                       .command = append.command,
                       .at = append.at,
                       .salt = append.salt,
                       .body = append.body};
        row.header = journal::encode(journal::Header{.thread = append.thread_id,
                                                     .seq = head.seq,
                                                     .at = append.at,
                                                     .kinds = append.kinds,
                                                     .first_number = first_number,
                                                     .body_digest = journal::body_digest(append.salt, append.body)});
        head.hash = journal::chain(head.hash, row.header);
        head.head = row.pos;
        head.updated_at = append.at;
        thread.rows.push_back(std::move(row));
    }

    static void prune(Thread& thread, std::int64_t upto) {
        for (auto& row : thread.rows) {
            if (row.seq > upto) break;
            row.salt.clear();
            row.body.clear();
        }
        thread.snapshot.reset();
        thread.head.task.clear();
    }

    ThreadHead seen(const Thread& thread) const {
        auto head = thread.head;
        head.runner_alive = head.runner != 0;
        head.open = std::count_if(open.begin(), open.end(),
                                  [&](const auto& entry) { return entry.second.thread_id == head.id; });
        return head;
    }
};

MemoryCheckpointer::MemoryCheckpointer() : state_(std::make_unique<State>()) {}
MemoryCheckpointer::~MemoryCheckpointer() = default;

Result<AppendResult> MemoryCheckpointer::append(const Append& append) {
    const std::lock_guard lock(state_->mutex);
    const auto found = state_->threads.find(append.thread_id);
    const bool fresh = found == state_->threads.end();
    if (fresh && !append.create) return AppendResult{.status = AppendStatus::unknown_thread};
    const ThreadHead made{.no = static_cast<std::int64_t>(state_->threads.size()) + 1,
                          .id = append.thread_id,
                          .task = append.task,
                          .updated_at = append.at};
    AppendResult result{.status = state_->check(append, fresh ? made : found->second.head)};
    if (result.status == AppendStatus::leased) result.leased_by = "this process";
    if (result.status != AppendStatus::done) return result;
    auto& thread = fresh ? state_->threads[append.thread_id] : found->second;
    if (fresh) thread.head = made;

    if (append.lease == LeaseUse::take) {
        ++thread.head.fence;
        thread.head.runner = 1;
    }
    if (append.lease == LeaseUse::give_back) thread.head.runner = 0;
    if (append.status) thread.head.status = *append.status;
    state_->close_approvals(append);
    if (!append.opens.empty()) result.first_number = state_->next_number();
    auto number = result.first_number;
    for (auto row : append.opens) {
        row.number = number++;
        row.thread = thread.head.no;
        row.thread_id = append.thread_id;
        row.asked_at = append.at;
        state_->places.emplace(row.number, append.thread_id);
        state_->open.emplace(row.number, std::move(row));
    }
    for (const auto& [digest, text] : append.schemas) state_->schemas.emplace(digest, text);
    if (!append.kinds.empty()) state_->write_row(append, thread, result.first_number);
    if (append.snapshot) {
        thread.snapshot = append.snapshot;
        thread.snapshot->seq = thread.head.seq;
        thread.snapshot->pos = thread.head.head;
    }
    if (append.prunes) State::prune(thread, *append.prunes);
    result.seq = thread.head.seq;
    result.pos = thread.head.head;
    result.fence = thread.head.fence;
    return result;
}

Result<std::optional<ThreadHead>> MemoryCheckpointer::find_thread(const std::string& id) {
    const std::lock_guard lock(state_->mutex);
    const auto found = state_->threads.find(id);
    if (found == state_->threads.end()) return std::optional<ThreadHead>();
    return std::optional(state_->seen(found->second));
}

Result<std::vector<JournalRow>> MemoryCheckpointer::load(const std::string& thread_id, std::int64_t after) {
    const std::lock_guard lock(state_->mutex);
    std::vector<JournalRow> rows;
    const auto found = state_->threads.find(thread_id);
    if (found == state_->threads.end()) return rows;
    for (const auto& row : found->second.rows) {
        if (row.pos > after) rows.push_back(row);
    }
    return rows;
}

Result<std::vector<ThreadHead>> MemoryCheckpointer::threads() {
    const std::lock_guard lock(state_->mutex);
    std::vector<ThreadHead> heads;
    for (const auto& [id, thread] : state_->threads) heads.push_back(state_->seen(thread));
    std::sort(heads.begin(), heads.end(), [](const auto& a, const auto& b) { return a.no < b.no; });
    return heads;
}

Result<std::vector<ThreadHead>> MemoryCheckpointer::descendants(const std::string& thread_id) {
    const std::lock_guard lock(state_->mutex);
    std::vector<ThreadHead> heads;
    const auto prefix = thread_id + "/";
    for (auto at = state_->threads.lower_bound(prefix); at != state_->threads.end(); ++at) {
        if (!at->first.starts_with(prefix)) break;
        if (journal::call_behind(at->first, thread_id)) heads.push_back(state_->seen(at->second));
    }
    std::ranges::sort(heads, {}, &ThreadHead::no);
    return heads;
}

Result<std::vector<OpenApproval>> MemoryCheckpointer::open_approvals(const std::string& thread_id, std::int64_t after,
                                                                     std::size_t limit) {
    const std::lock_guard lock(state_->mutex);
    std::vector<OpenApproval> rows;
    const auto is_meant = [&](const std::string& id) {
        return thread_id.empty() || id == thread_id || journal::call_behind(id, thread_id);
    };
    for (auto at = state_->open.upper_bound(after); at != state_->open.end() && rows.size() < limit; ++at) {
        if (is_meant(at->second.thread_id)) rows.push_back(at->second);
    }
    return rows;
}

Result<std::optional<ApprovalPlace>> MemoryCheckpointer::find_approval(std::int64_t number) {
    const std::lock_guard lock(state_->mutex);
    const auto place = state_->places.find(number);
    if (place == state_->places.end()) return std::optional<ApprovalPlace>();
    ApprovalPlace found{.thread_id = place->second};
    if (const auto open = state_->open.find(number); open != state_->open.end()) found.open = open->second;
    return std::optional(std::move(found));
}

Result<std::string> MemoryCheckpointer::schema(const std::string& digest) {
    const std::lock_guard lock(state_->mutex);
    const auto found = state_->schemas.find(digest);
    if (found == state_->schemas.end()) {
        return Failure{FailureKind::database, "the schema of this approval is not stored; the database is damaged"};
    }
    return found->second;
}

Result<std::optional<Snapshot>> MemoryCheckpointer::snapshot(const std::string& thread_id) {
    const std::lock_guard lock(state_->mutex);
    const auto found = state_->threads.find(thread_id);
    if (found == state_->threads.end()) return std::optional<Snapshot>();
    return found->second.snapshot;
}

Result<void> MemoryCheckpointer::give_back(const std::string& thread_id, std::int64_t fence) {
    const std::lock_guard lock(state_->mutex);
    const auto found = state_->threads.find(thread_id);
    if (found != state_->threads.end() && found->second.head.fence == fence) found->second.head.runner = 0;
    return {};
}

}  // namespace assent
