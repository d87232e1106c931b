#include "store/postgres/tables.hpp"

#include "journal/lineage.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace assent::postgres {
namespace {

// OFFSET 0: one by one, by its key. By subscripts: with unnest a plan for the ids at hand looks cheaper than one for
// any, and would be made anew each time.
constexpr const char* select_those_threads =
    "SELECT head.* FROM generate_subscripts($1::text[], 1) AS wanted, LATERAL"
    " (SELECT thread.no, id, status, seq, head, hash, fence, coalesce(runner, 0), task, updated_at,"
    " (SELECT count(*) FROM approval WHERE approval.thread = thread.no),"
    " EXISTS(SELECT FROM runner WHERE runner.no = thread.runner AND alive_until > clock_timestamp())"
    " FROM thread WHERE id = ($1::text[])[wanted] OFFSET 0) AS head";
constexpr const char* select_threads =
    "SELECT thread.no, id, status, seq, head, hash, fence, coalesce(runner, 0), task, updated_at,"
    " (SELECT count(*) FROM approval WHERE approval.thread = thread.no),"
    " EXISTS(SELECT FROM runner WHERE runner.no = thread.runner AND alive_until > clock_timestamp())"
    " FROM thread ORDER BY thread.no";
// Ids that begin with $1 and a slash, the character after which is 0. The rest has the form of journal::child_id: a
// host's own ids may lie between those of the children, and have to be left out before rows are counted.
constexpr const char* select_below =
    "SELECT thread.no, id, status, seq, head, hash, fence, coalesce(runner, 0), task, updated_at,"
    " (SELECT count(*) FROM approval WHERE approval.thread = thread.no),"
    " EXISTS(SELECT FROM runner WHERE runner.no = thread.runner AND alive_until > clock_timestamp())"
    " FROM thread WHERE id > $1::text || '/' AND id < $1::text || '0'"
    " AND substr(id, length($1::text) + 1) ~ '^(/[1-9][0-9]{0,8}[.](0|[1-9][0-9]{0,8}))+$' ORDER BY thread.no";
// In the order of append_rows.
constexpr const char* lock_above = "SELECT status FROM thread WHERE id = ANY($1::text[]) ORDER BY id FOR SHARE";
constexpr const char* lock_thread = "SELECT seq, fence FROM thread WHERE id = $1 FOR UPDATE";
constexpr const char* insert_thread =
    "INSERT INTO thread(id, status, seq, head, hash, fence, task, updated_at) VALUES($1, 0, 0, 0, $2, 0, $3, $4)"
    " ON CONFLICT(id) DO NOTHING";
constexpr const char* select_open =
    "SELECT approval.no, thread, id, turn, position, ask_no, kind, guard, digest, deadline, at, question"
    " FROM approval JOIN thread ON thread.no = approval.thread WHERE approval.no > $1 ORDER BY approval.no LIMIT $2";
// Of a thread and of those below it: a page of each, then the first of all of them.
constexpr const char* select_open_count =
    "SELECT count(*), coalesce((SELECT at FROM approval ORDER BY no LIMIT 1), 0) FROM approval";
constexpr const char* select_open_of_thread =
    "SELECT page.no, thread.no, id, turn, position, ask_no, kind, guard, digest, deadline, at, question FROM thread,"
    " LATERAL (SELECT * FROM approval WHERE approval.thread = thread.no AND approval.no > $2"
    " ORDER BY approval.no LIMIT $3) AS page"
    " WHERE id = $1::text OR (id > $1::text || '/' AND id < $1::text || '0'"
    " AND substr(id, length($1::text) + 1) ~ '^(/[1-9][0-9]{0,8}[.](0|[1-9][0-9]{0,8}))+$') ORDER BY page.no LIMIT $3";
constexpr const char* select_place =
    "SELECT approval.no, thread.no, id, turn, position, ask_no, kind, guard, digest, deadline, at, question"
    " FROM approval_ref JOIN thread ON thread.no = approval_ref.thread"
    " LEFT JOIN approval ON approval.no = approval_ref.no WHERE approval_ref.no = $1";
constexpr const char* select_journal =
    "SELECT pos, prev, cmd, at, header, salt, body FROM journal WHERE thread = $1 AND pos > $2 ORDER BY pos";
constexpr const char* select_fate =
    "SELECT seq, EXISTS(SELECT FROM journal WHERE journal.thread = thread.no AND pos = $2 AND cmd = $3)"
    " FROM thread WHERE id = $1";
constexpr const char* select_snapshot =
    "SELECT snapshot.seq, pos, version, state FROM snapshot JOIN thread ON thread.no = snapshot.thread WHERE id = $1";

// A mark stays as long as the thread is not taken by somebody who knows of all its events. One that was put back for
// later is due at once when something new happens.
constexpr const char* insert_ready =
    "INSERT INTO ready(thread, since) SELECT no, clock_timestamp() + $2::bigint * interval '1 millisecond' FROM thread"
    " WHERE id = $1 ON CONFLICT(thread)"
    " DO UPDATE SET since = excluded.since WHERE ready.runner IS NULL AND ready.since > excluded.since";
constexpr const char* put_back_ready =
    "INSERT INTO ready(thread, since) SELECT no, clock_timestamp() + $2::bigint * interval '1 millisecond' FROM thread"
    " WHERE id = $1 ON CONFLICT(thread) DO UPDATE SET runner = NULL, since = excluded.since";
// Threads are locked too: one that is just begun again needs its mark.
//
// By keys, once they are all known: where the server thinks that there are no marks, as after a moment without any, IN
// looks through all of them for each of them, and ten thousand take minutes.
constexpr const char* delete_ended_ready =
    "DELETE FROM ready WHERE thread = ANY(ARRAY("
    "SELECT ready.thread FROM ready, LATERAL (SELECT FROM thread WHERE no = ready.thread"
    " AND (status IN (1, 2) OR (status = 3 AND thread.runner IS NULL)) FOR UPDATE SKIP LOCKED) AS ended"
    " FOR UPDATE OF ready SKIP LOCKED))";
// Of a thread that works for another, the one that works for none is marked. An aborted one (3) only if it was held
// itself: what ran when it was aborted has to be settled. In order, so that two that do the same do not wait for each
// other.
//
// From the few that are held to those that go on: from all threads it would take a second for each million of them.
constexpr const char* mark_of_dead_runners =
    "WITH held AS MATERIALIZED"
    " (SELECT thread.no, id, status FROM thread LEFT JOIN runner ON runner.no = thread.runner"
    " WHERE thread.runner IS NOT NULL AND status IN (0, 3)"
    " AND coalesce(alive_until, '-infinity') <= clock_timestamp())"
    " INSERT INTO ready(thread) SELECT no FROM thread WHERE id = ANY(ARRAY("
    "SELECT CASE status WHEN 0 THEN regexp_replace(id, '(/[1-9][0-9]{0,8}[.](0|[1-9][0-9]{0,8}))+$', '') ELSE id END"
    " FROM held))"
    " AND (status = 0 OR (status = 3 AND id !~ '/[1-9][0-9]{0,8}[.](0|[1-9][0-9]{0,8})$'"
    " AND EXISTS(SELECT FROM held WHERE held.no = thread.no)))"
    " AND NOT EXISTS(SELECT FROM ready WHERE ready.thread = thread.no) ORDER BY no ON CONFLICT DO NOTHING";
constexpr const char* mark_overdue =
    "INSERT INTO ready(thread) SELECT no FROM thread WHERE status = 0 AND id IN"
    " (SELECT regexp_replace(id, '(/[1-9][0-9]{0,8}[.](0|[1-9][0-9]{0,8}))+$', '')"
    " FROM approval JOIN thread AS asking ON asking.no = approval.thread WHERE deadline <= $1)"
    " AND NOT EXISTS(SELECT FROM ready WHERE ready.thread = thread.no) ORDER BY no LIMIT 1000 ON CONFLICT DO NOTHING";
// A row that somebody took since this statement began is looked at once more when it is locked, as it is then, but
// with what this statement sees of other tables: so who took it has to be seen, and seen dead. What an earlier try
// with the same token took, whose answer was lost, is given again.
//
// Threads are looked up mark by mark, oldest first, until there are enough: what was joined, of all threads, when there
// had once been many marks, took a quarter of a second.
constexpr const char* pick_ready =
    "WITH picked AS (SELECT ready.thread FROM ready,"
    " LATERAL (SELECT status, runner AS holder FROM thread WHERE no = ready.thread OFFSET 0) AS marked"
    " WHERE since <= statement_timestamp() AND status IN (0, 3)"
    " AND NOT EXISTS(SELECT FROM runner WHERE runner.no = holder AND alive_until > clock_timestamp())"
    " AND (ready.runner IS NULL OR (ready.runner = $2 AND token = $3) OR EXISTS(SELECT FROM runner AS taker"
    " WHERE taker.no = ready.runner AND alive_until <= clock_timestamp()))"
    " ORDER BY since LIMIT $1 FOR UPDATE OF ready SKIP LOCKED)"
    " UPDATE ready SET runner = $2, token = $3 FROM picked"
    " WHERE ready.thread = picked.thread RETURNING (SELECT id FROM thread WHERE no = ready.thread)";
// After the thread was locked: whoever was about to take it has done so then.
constexpr const char* release_thread = "UPDATE thread SET runner = NULL WHERE id = $1 AND fence = $2 AND runner = $3";

template <std::size_t N>
std::array<std::uint8_t, N> fixed(const std::string& bytes) {
    std::array<std::uint8_t, N> out{};
    std::memcpy(out.data(), bytes.data(), std::min(N, bytes.size()));
    return out;
}

ThreadHead read_head(const Rows& rows, int row) {
    ThreadHead head{.no = rows.integer(row, 0),
                    .id = rows.text(row, 1),
                    .status = static_cast<ThreadStatus>(rows.integer(row, 2)),
                    .seq = rows.integer(row, 3),
                    .head = rows.integer(row, 4),
                    .hash = fixed<32>(rows.bytes(row, 5)),
                    .fence = rows.integer(row, 6),
                    .runner = rows.integer(row, 7),
                    .runner_alive = rows.boolean(row, 11),
                    .task = rows.text(row, 8),
                    .updated_at = rows.integer(row, 9),
                    .open = rows.integer(row, 10)};
    return head;
}

std::vector<ThreadHead> read_heads(const Rows& rows) {
    std::vector<ThreadHead> heads;
    for (int row = 0; row < rows.count(); ++row) heads.push_back(read_head(rows, row));
    return heads;
}

OpenApproval read_open(const Rows& rows, int row) {
    OpenApproval open{.number = rows.integer(row, 0),
                      .thread = rows.integer(row, 1),
                      .thread_id = rows.text(row, 2),
                      .turn = static_cast<int>(rows.integer(row, 3)),
                      .position = static_cast<int>(rows.integer(row, 4)),
                      .ask_no = static_cast<int>(rows.integer(row, 5)),
                      .kind = static_cast<ApprovalKind>(rows.integer(row, 6)),
                      .guard = rows.text(row, 7),
                      .digest = rows.text(row, 8),
                      .asked_at = rows.integer(row, 10),
                      .question = rows.bytes(row, 11)};
    if (!rows.is_null(row, 9)) open.deadline = rows.integer(row, 9);
    return open;
}

}  // namespace

void Tables::begin(Connection::Pipeline& pipeline) const {
    pipeline.add("BEGIN ISOLATION LEVEL READ COMMITTED");
    if (!schema_.empty())
        pipeline.add(
            "SELECT set_config('search_path', quote_ident($1), true), set_config('jit', 'off', true),"
            " set_config('enable_seqscan', 'off', true)",
            Parameters().add(schema_));
}

void Tables::add_thread(Connection::Pipeline& pipeline, const Append& append) {
    pipeline.add(
        insert_thread,
        Parameters().add(append.thread_id).add_bytes(bytes_of(ThreadHead{}.hash)).add(task_of(append)).add(append.at));
}

Rows Tables::read(const char* sql, const Parameters& parameters) {
    if (schema_.empty()) return connection_.run(sql, parameters);
    Connection::Pipeline pipeline(connection_);
    begin(pipeline);
    pipeline.add(sql, parameters);
    pipeline.add("COMMIT");
    auto results = pipeline.finish();
    return std::move(results[results.size() - 2]);
}

bool Tables::is_one_statement(const Append& append) {
    return append.expected_seq && !append.kinds.empty();
}

Result<AppendResult> Tables::write(const Append& append, std::int64_t runner) {
    if (!is_one_statement(append)) return write_locked(append, runner);
    const RowAppend row(append, runner, *append.expected_seq, append.fence);
    const RowAppend* const one[] = {&row};
    auto results = call({}, one, true).written;
    // Where its fence is not the one that was thought, it has to be read first.
    return results.front() ? std::move(*results.front()) : write_locked(append, runner);
}

Tables::Together Tables::together(std::span<const std::string> ids, std::span<const RowAppend* const> appends) {
    return call(ids, appends, false);
}

Tables::Together Tables::call(std::span<const std::string> ids, std::span<const RowAppend* const> appends, bool waits) {
    const Transaction transaction(connection_);  // only with a pooler
    Connection::Pipeline pipeline(connection_);
    const bool pooled = !schema_.empty();
    if (pooled) begin(pipeline);
    if (!ids.empty()) {
        BinaryArray wanted(BinaryArray::Of::text);
        for (const auto& id : ids) wanted.add(id);
        pipeline.add(select_those_threads, Parameters().add(wanted));
    }
    if (!appends.empty()) pipeline.add(append_rows, parameters_of(appends, waits, server_time_));
    if (pooled) pipeline.add("COMMIT");
    try {
        const auto said = pipeline.finish();
        std::size_t next = pooled ? 2 : 0;  // behind BEGIN and the setting of the schema
        Together all{.heads = std::vector<ThreadHead>()};
        if (!ids.empty()) all.heads = read_heads(said[next++]);
        if (!appends.empty()) all.written = read_results(said[next]);
        return all;
    } catch (const Error& error) {
        if (!error.connection_lost() || appends.empty()) throw;
        Together all;
        for (const auto* one : appends) all.written.emplace_back(doubtful(*one, failure_of(error).message));
        return all;
    }
}

Result<AppendResult> Tables::write_locked(const Append& append, std::int64_t runner) {
    const Transaction transaction(connection_);
    Connection::Pipeline locks(connection_);
    begin(locks);
    if (!append.ancestors.empty()) {
        BinaryArray above(BinaryArray::Of::text);
        for (const auto& id : append.ancestors) above.add(id);
        locks.add(lock_above, Parameters().add(above));
    }
    if (append.create) add_thread(locks, append);
    locks.add(lock_thread, Parameters().add(append.thread_id));
    const auto found = std::move(locks.finish().back());
    if (found.count() == 0) return AppendResult{.status = AppendStatus::unknown_thread};
    const auto fence = append.lease == LeaseUse::take ? found.integer(0, 1) : append.fence;
    const RowAppend row(append, runner, append.expected_seq.value_or(found.integer(0, 0)), fence);
    const RowAppend* const one[] = {&row};
    Connection::Pipeline pipeline(connection_);
    pipeline.add(append_rows, parameters_of(one, true, server_time_));
    const auto result_in = [](const std::vector<Rows>& said) { return *read_results(said.front()).front(); };
    // Refused, a thread that was made has to go with the transaction; and without a row nobody could tell later whether
    // it was refused.
    if (append.create || append.kinds.empty()) {
        auto result = result_in(pipeline.finish());
        if (!result || result->status != AppendStatus::done) return result;
        Connection::Pipeline commit(connection_);
        commit.add("COMMIT");
        return finish(commit, row, [&](const auto&) { return result; });
    }
    pipeline.add("COMMIT");
    return finish(pipeline, row, result_in);
}

Result<AppendResult> Tables::finish(Connection::Pipeline& pipeline, const RowAppend& row,
                                    const std::function<Result<AppendResult>(const std::vector<Rows>&)>& result_in) {
    try {
        return result_in(pipeline.finish());
    } catch (const Error& error) {
        if (!error.connection_lost()) throw;
        return doubtful(row, failure_of(error).message);
    }
}

Tables::Fate Tables::fate_of(const Append& append) {
    const auto seq = append.expected_seq.value_or(0);
    const auto pos = seq + static_cast<std::int64_t>(append.kinds.size());
    const auto found =
        read(select_fate, Parameters().add(append.thread_id).add(pos).add_bytes(bytes_of(append.command)));
    if (found.count() == 0) return Fate::open;
    if (found.boolean(0, 1)) return Fate::kept;
    return found.integer(0, 0) == seq ? Fate::open : Fate::over;
}

std::optional<ThreadHead> Tables::find_thread(const std::string& id) {
    auto found = *call({&id, 1}, {}, true).heads;
    if (found.empty()) return std::nullopt;
    return std::move(found.front());
}

std::vector<ThreadHead> Tables::threads() {
    return read_heads(read(select_threads, {}));
}

std::vector<ThreadHead> Tables::descendants(const std::string& thread_id) {
    return read_heads(read(select_below, Parameters().add(thread_id)));
}

std::vector<JournalRow> Tables::journal(std::int64_t thread_no, std::int64_t after) {
    std::vector<JournalRow> rows;
    const auto found = read(select_journal, Parameters().add(thread_no).add(after));
    for (int row = 0; row < found.count(); ++row) {
        const bool first = rows.empty();
        const auto before = first ? 0 : rows.back().pos;
        if ((!first || after == 0) && found.integer(row, 1) != before)
            throw Error("XX001", "a row of the journal is missing; restore it from a copy", false);
        rows.push_back({.pos = found.integer(row, 0),
                        .seq = found.integer(row, 0),
                        .prev = found.integer(row, 1),
                        .command = fixed<16>(found.bytes(row, 2)),
                        .at = found.integer(row, 3),
                        .header = found.bytes(row, 4),
                        .salt = found.bytes(row, 5),
                        .body = found.bytes(row, 6)});
    }
    return rows;
}

std::vector<OpenApproval> Tables::open_approvals(const std::string& thread_id, std::int64_t after, std::size_t limit) {
    Parameters parameters;
    if (!thread_id.empty()) parameters.add(thread_id);
    parameters.add(after).add(static_cast<std::int64_t>(limit));
    const auto found = read(thread_id.empty() ? select_open : select_open_of_thread, parameters);
    std::vector<OpenApproval> open;
    for (int row = 0; row < found.count(); ++row) open.push_back(read_open(found, row));
    return open;
}

OpenCount Tables::count_open() {
    const auto found = read(select_open_count, {});
    OpenCount count{.approvals = found.integer(0, 0)};
    if (count.approvals > 0) count.oldest_asked_at = found.integer(0, 1);
    return count;
}

std::optional<ApprovalPlace> Tables::find_approval(std::int64_t number) {
    const auto found = read(select_place, Parameters().add(number));
    if (found.count() == 0) return std::nullopt;
    ApprovalPlace place{.thread_id = found.text(0, 2)};
    if (!found.is_null(0, 0)) place.open = read_open(found, 0);
    return place;
}

std::optional<std::string> Tables::schema_text(const std::string& digest) {
    const auto found = read("SELECT text FROM schema_text WHERE digest = $1", Parameters().add(digest));
    if (found.count() == 0) return std::nullopt;
    return found.text(0, 0);
}

std::optional<Snapshot> Tables::snapshot(const std::string& thread_id) {
    const auto found = read(select_snapshot, Parameters().add(thread_id));
    if (found.count() == 0) return std::nullopt;
    return Snapshot{.seq = found.integer(0, 0),
                    .pos = found.integer(0, 1),
                    .version = static_cast<int>(found.integer(0, 2)),
                    .state = found.bytes(0, 3)};
}

bool Tables::give_back(const std::string& thread_id, std::int64_t fence, std::int64_t runner, bool goes_on) {
    const Transaction transaction(connection_);
    Connection::Pipeline locks(connection_);
    begin(locks);
    locks.add(lock_thread, Parameters().add(thread_id));
    const auto found = std::move(locks.finish().back());
    if (found.count() == 0 || found.integer(0, 1) < fence) return false;
    Connection::Pipeline pipeline(connection_);
    pipeline.add(release_thread, Parameters().add(thread_id).add(fence).add(runner));
    if (goes_on) pipeline.add(insert_ready, Parameters().add(journal::root_of(thread_id)).add(0));
    pipeline.add("COMMIT");
    (void)pipeline.finish();
    return true;
}

void Tables::wait_for_append(const Append& append) {
    const Transaction transaction(connection_);
    Connection::Pipeline pipeline(connection_);
    begin(pipeline);
    // A thread that is being made is no row yet that could be locked.
    if (append.create) add_thread(pipeline, append);
    pipeline.add(lock_thread, Parameters().add(append.thread_id));
    pipeline.add("ROLLBACK");
    (void)pipeline.finish();
}

void Tables::sweep(UnixMillis now) {
    read(delete_ended_ready, {});
    read(mark_of_dead_runners, {});
    read(mark_overdue, Parameters().add(now));
}

std::vector<std::string> Tables::take_ready(std::size_t limit, std::int64_t runner, std::int64_t token) {
    const auto found = read(pick_ready, Parameters().add(static_cast<std::int64_t>(limit)).add(runner).add(token));
    std::vector<std::string> ids;
    for (int row = 0; row < found.count(); ++row) ids.push_back(found.text(row, 0));
    return ids;
}

void Tables::put_back(const std::string& thread_id, std::int64_t delay_ms) {
    read(put_back_ready, Parameters().add(thread_id).add(delay_ms));
}

std::int64_t Tables::add_runner(const std::string& host, std::int64_t pid, std::int64_t lease_ms) {
    // Of those that are gone and hold nothing nobody needs to know.
    read(
        "DELETE FROM runner WHERE alive_until < clock_timestamp() - interval '1 day'"
        " AND NOT EXISTS(SELECT FROM thread WHERE thread.runner = runner.no)"
        " AND NOT EXISTS(SELECT FROM ready WHERE ready.runner = runner.no)",
        {});
    return read(
               "INSERT INTO runner(host, pid, alive_until)"
               " VALUES($1, $2, clock_timestamp() + $3::bigint * interval '1 millisecond') RETURNING no",
               Parameters().add(host).add(pid).add(lease_ms))
        .integer(0, 0);
}

bool Tables::renew_runner(std::int64_t runner, std::int64_t lease_ms) {
    const auto renewed = read(
        "UPDATE runner SET alive_until = clock_timestamp() + $2::bigint * interval '1 millisecond' WHERE no = $1"
        " AND alive_until > clock_timestamp()",
        Parameters().add(runner).add(lease_ms));
    return renewed.changed() == 1;
}

void Tables::end_runner(std::int64_t runner) {
    read("UPDATE runner SET alive_until = '-infinity' WHERE no = $1", Parameters().add(runner));
}

}  // namespace assent::postgres
