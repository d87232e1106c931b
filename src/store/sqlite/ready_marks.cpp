#include "store/sqlite/ready_marks.hpp"

#include "journal/lineage.hpp"

#include <assent/clock.hpp>

#include <algorithm>

namespace assent::sqlite {
namespace {

// One that was put back for later is due at once when something new happens.
constexpr const char* insert_mark =
    "INSERT INTO ready(thread, due) SELECT no, ?2 FROM thread WHERE id = ?1 AND status = 0 ON CONFLICT(thread)"
    " DO UPDATE SET due = min(due, excluded.due) WHERE runner IS NULL";
constexpr const char* insert_mark_back =
    "INSERT INTO ready(thread, due) SELECT no, ?2 FROM thread WHERE id = ?1 AND status IN (0, 3) ON CONFLICT(thread)"
    " DO UPDATE SET runner = NULL, due = excluded.due";
constexpr const char* delete_mark = "DELETE FROM ready WHERE thread = ?";
constexpr const char* select_due =
    "SELECT id, ifnull(ready.runner, 0), ifnull(thread.runner, 0), status FROM ready"
    " JOIN thread ON thread.no = ready.thread WHERE due <= ? ORDER BY ready.no";
constexpr const char* next_runner = "SELECT min(runner) FROM thread WHERE runner > ?";
// An aborted one too (3), if it works for none: what ran when it was aborted has to be settled.
constexpr const char* select_held = "SELECT id FROM thread WHERE runner = ? AND status IN (0, 3)";
// Those that are marked are left out before rows are counted: they may stay for long.
constexpr const char* select_overdue =
    "SELECT id FROM approval JOIN thread ON thread.no = approval.thread WHERE deadline IS NOT NULL AND deadline <= ?"
    " AND NOT EXISTS(SELECT 1 FROM ready WHERE ready.thread = approval.thread) ORDER BY deadline LIMIT 1000";
constexpr const char* select_unmarked =
    "SELECT no FROM thread WHERE id = ?1 AND (status = 0 OR (status = 3 AND ?2))"
    " AND NOT EXISTS(SELECT 1 FROM ready WHERE ready.thread = thread.no)";

}  // namespace

void ReadyMarks::note(Database& database, const Append& append, const ThreadHead& head) {
    const auto root = journal::root_of(append.thread_id);
    const auto due = append.ready_after_ms == 0 ? 0 : system_clock().now() + append.ready_after_ms;
    if (append.ready) database.statement(insert_mark).bind(root).bind(due).run();
    const bool taken = append.lease == LeaseUse::take && append.expected_seq && root == append.thread_id;
    if (taken || head.status != ThreadStatus::active) database.statement(delete_mark).bind(head.no).run();
}

// From each to the next by the index: a runner may hold many threads.
std::vector<std::int64_t> ReadyMarks::dead_runners() {
    std::vector<std::int64_t> dead;
    auto query = database_.query(next_runner);
    for (std::int64_t runner = 0;;) {
        query->reset();
        query->bind(runner);
        if (!query->step() || query->is_null(0)) return dead;
        runner = query->integer(0);
        if (!alive_(runner)) dead.push_back(runner);
    }
}

void ReadyMarks::add_unmarked(std::vector<std::int64_t>& threads, const std::string& id, bool also_aborted) {
    auto query = database_.query(select_unmarked);
    query->bind(id).bind(std::int64_t{also_aborted});
    if (!query->step()) return;
    const auto number = query->integer(0);
    if (std::ranges::find(threads, number) == threads.end()) threads.push_back(number);
}

std::vector<std::int64_t> ReadyMarks::left_alone(UnixMillis now) {
    std::vector<std::int64_t> threads;
    for (const auto runner : dead_runners()) {
        auto held = database_.query(select_held);
        held->bind(runner);
        while (held->step()) {
            const auto id = held->text(0);
            const auto root = journal::root_of(id);
            add_unmarked(threads, root, root == id);
        }
    }
    auto overdue = database_.query(select_overdue);
    overdue->bind(now);
    while (overdue->step()) add_unmarked(threads, journal::root_of(overdue->text(0)), false);
    return threads;
}

void ReadyMarks::mark(const std::vector<std::int64_t>& threads) {
    for (const auto thread : threads)
        database_.statement("INSERT OR IGNORE INTO ready(thread, due) VALUES(?, 0)").bind(thread).run();
}

std::vector<ReadyThread> ReadyMarks::free(std::size_t limit, UnixMillis clock) {
    std::vector<ReadyThread> ready;
    auto query = database_.query(select_due);
    query->bind(clock);
    while (ready.size() < limit && query->step()) {
        const auto status = static_cast<ThreadStatus>(query->integer(3));
        const bool goes_on = status == ThreadStatus::active || status == ThreadStatus::aborted;
        if (goes_on && !alive_(query->integer(1)) && !alive_(query->integer(2)))
            ready.push_back({.id = query->text(0)});
    }
    return ready;
}

void ReadyMarks::take(const std::vector<ReadyThread>& ready, std::int64_t runner) {
    for (const auto& one : ready) {
        database_.statement("UPDATE ready SET runner = ?2 WHERE thread = (SELECT no FROM thread WHERE id = ?1)")
            .bind(one.id)
            .bind(runner)
            .run();
    }
}

void ReadyMarks::put_back(const std::string& thread_id, UnixMillis due) {
    database_.statement(insert_mark_back).bind(thread_id).bind(due).run();
}

}  // namespace assent::sqlite
