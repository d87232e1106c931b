#include "store/postgres/tables.hpp"

#include "journal/encoding.hpp"
#include "journal/lineage.hpp"

#include <algorithm>
#include <cstring>

namespace assent::postgres {
namespace {

constexpr const char* select_thread =
    "SELECT thread.no, id, status, seq, head, hash, fence, coalesce(runner, 0), task, updated_at,"
    " (SELECT count(*) FROM approval WHERE approval.thread = thread.no),"
    " EXISTS(SELECT FROM runner WHERE runner.no = thread.runner AND alive_until > clock_timestamp())"
    " FROM thread WHERE id = $1";
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
// First the threads above, root first, then the thread, then its approvals: everybody locks in this order. Those
// above cannot be aborted before the append is committed: an abort that follows finds what it began.
constexpr const char* lock_above = "SELECT status FROM thread WHERE id = ANY($1::text[]) ORDER BY id FOR SHARE";
constexpr const char* lock_thread =
    "SELECT thread.no, id, status, seq, head, hash, fence, coalesce(runner, 0), task, updated_at, 0, false"
    " FROM thread WHERE id = $1 FOR UPDATE";
// Its own right may have run out without its knowing.
constexpr const char* select_taker = "SELECT FROM runner WHERE no = $1 AND alive_until > clock_timestamp()";
// A statement of its own, after the lock: one that waited for the lock would look at the runner from before.
constexpr const char* select_live_runner =
    "SELECT 'process ' || pid || ' on ' || host FROM runner JOIN thread ON thread.runner = runner.no"
    " WHERE id = $1 AND alive_until > clock_timestamp()";
constexpr const char* insert_thread =
    "INSERT INTO thread(id, status, seq, head, hash, fence, task, updated_at) VALUES($1, 0, 0, 0, $2, 0, $3, $4)"
    " ON CONFLICT(id) DO NOTHING";
constexpr const char* select_closing =
    "SELECT approval.no, deadline, coalesce(deadline <= extract(epoch FROM clock_timestamp()) * 1000, false)"
    " FROM approval JOIN thread ON thread.no = approval.thread"
    " WHERE approval.no = ANY($1::bigint[]) AND id = $2";
constexpr const char* select_numbers = "SELECT nextval('approval_number') FROM generate_series(1, $1::integer)";
constexpr const char* delete_closing = "DELETE FROM approval WHERE no = ANY($1::bigint[])";
constexpr const char* delete_call = "DELETE FROM approval WHERE thread = $1 AND turn = $2 AND position = $3";
constexpr const char* delete_of_thread = "DELETE FROM approval WHERE thread = $1";
constexpr const char* insert_journal =
    "INSERT INTO journal(thread, pos, prev, cmd, at, header, salt, body) VALUES($1, $2, $3, $4, $5, $6, $7, $8)";
constexpr const char* insert_approval = "INSERT INTO approval VALUES($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)";
constexpr const char* insert_ref = "INSERT INTO approval_ref VALUES($1, $2)";
constexpr const char* insert_schema = "INSERT INTO schema_text VALUES($1, $2) ON CONFLICT DO NOTHING";
constexpr const char* insert_snapshot =
    "INSERT INTO snapshot VALUES($1, $2, $3, $4, $5) ON CONFLICT(thread) DO UPDATE SET seq = excluded.seq,"
    " pos = excluded.pos, version = excluded.version, state = excluded.state";
constexpr const char* update_thread =
    "UPDATE thread SET status = $2, seq = $3, head = $4, hash = $5, fence = $6, runner = nullif($7::bigint, 0),"
    " updated_at = $8 WHERE no = $1";
constexpr const char* prune_journal = "UPDATE journal SET salt = NULL, body = NULL WHERE thread = $1 AND pos <= $2";
constexpr const char* prune_snapshot = "DELETE FROM snapshot WHERE thread = $1";
constexpr const char* prune_task = "UPDATE thread SET task = '' WHERE no = $1";
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
    "SELECT pos, prev, cmd, at, header, salt, body FROM journal"
    " WHERE thread = (SELECT no FROM thread WHERE id = $1) AND pos > $2 ORDER BY pos";
constexpr const char* select_snapshot =
    "SELECT snapshot.seq, pos, version, state FROM snapshot JOIN thread ON thread.no = snapshot.thread WHERE id = $1";

// A mark stays as long as the thread is not taken by somebody who knows of all its events. One that was put back for
// later is due at once when something new happens.
constexpr const char* insert_ready =
    "INSERT INTO ready(thread, since) SELECT no, clock_timestamp() + $2::bigint * interval '1 millisecond' FROM thread"
    " WHERE id = $1 ON CONFLICT(thread)"
    " DO UPDATE SET since = excluded.since WHERE ready.runner IS NULL AND ready.since > excluded.since";
constexpr const char* delete_ready = "DELETE FROM ready WHERE thread = $1";
constexpr const char* put_back_ready =
    "INSERT INTO ready(thread, since) SELECT no, clock_timestamp() + $2::bigint * interval '1 millisecond' FROM thread"
    " WHERE id = $1 ON CONFLICT(thread) DO UPDATE SET runner = NULL, since = excluded.since";
// Threads are locked too: one that is just begun again needs its mark.
constexpr const char* delete_ended_ready =
    "DELETE FROM ready WHERE thread IN (SELECT ready.thread FROM ready JOIN thread ON thread.no = ready.thread"
    " WHERE status IN (1, 2) OR (status = 3 AND thread.runner IS NULL) FOR UPDATE SKIP LOCKED)";
// Of a thread that works for another, the one that works for none is marked. An aborted one (3) only if it was held
// itself: what ran when it was aborted has to be settled. In order, so that two that do the same do not wait for each
// other.
constexpr const char* mark_of_dead_runners =
    "INSERT INTO ready(thread) SELECT no FROM thread WHERE ((status = 3 AND id !~ "
    "'/[1-9][0-9]{0,8}[.](0|[1-9][0-9]{0,8})$'"
    " AND EXISTS(SELECT FROM runner WHERE runner.no = thread.runner AND alive_until <= clock_timestamp()))"
    " OR status = 0 AND id IN"
    " (SELECT regexp_replace(held.id, '(/[1-9][0-9]{0,8}[.](0|[1-9][0-9]{0,8}))+$', '')"
    " FROM thread AS held LEFT JOIN runner ON runner.no = held.runner"
    " WHERE held.runner IS NOT NULL AND held.status = 0"
    " AND coalesce(alive_until, '-infinity') <= clock_timestamp()))"
    " AND NOT EXISTS(SELECT FROM ready WHERE ready.thread = thread.no) ORDER BY no ON CONFLICT DO NOTHING";
constexpr const char* mark_overdue =
    "INSERT INTO ready(thread) SELECT no FROM thread WHERE status = 0 AND id IN"
    " (SELECT regexp_replace(id, '(/[1-9][0-9]{0,8}[.](0|[1-9][0-9]{0,8}))+$', '')"
    " FROM approval JOIN thread AS asking ON asking.no = approval.thread WHERE deadline <= $1)"
    " AND NOT EXISTS(SELECT FROM ready WHERE ready.thread = thread.no) ORDER BY no LIMIT 1000 ON CONFLICT DO NOTHING";
// A row that somebody took since this statement began is looked at once more when it is locked, as it is then, but
// with what this statement sees of other tables: so who took it has to be seen, and seen dead. What an earlier try
// with the same token took, whose answer was lost, is given again.
constexpr const char* pick_ready =
    "WITH picked AS (SELECT ready.thread FROM ready JOIN thread ON thread.no = ready.thread"
    " LEFT JOIN runner AS holder ON holder.no = thread.runner"
    " WHERE since <= clock_timestamp() AND status IN (0, 3)"
    " AND coalesce(holder.alive_until, '-infinity') <= clock_timestamp()"
    " AND (ready.runner IS NULL OR (ready.runner = $2 AND token = $3) OR EXISTS(SELECT FROM runner AS taker"
    " WHERE taker.no = ready.runner AND alive_until <= clock_timestamp()))"
    " ORDER BY since LIMIT $1 FOR UPDATE OF ready SKIP LOCKED)"
    " UPDATE ready SET runner = $2, token = $3 FROM picked JOIN thread ON thread.no = picked.thread"
    " WHERE ready.thread = picked.thread RETURNING id";
// After the thread was locked: whoever was about to take it has done so then.
constexpr const char* release_thread = "UPDATE thread SET runner = NULL WHERE id = $1 AND fence = $2 AND runner = $3";

// Another append may take numbers between ours; they must follow each other, so they are taken again.
constexpr int number_tries_max = 50;

std::string_view bytes_of(const auto& array) {
    return {reinterpret_cast<const char*>(array.data()), array.size()};
}

template <std::size_t N>
std::array<std::uint8_t, N> fixed(const std::string& bytes) {
    std::array<std::uint8_t, N> out{};
    std::memcpy(out.data(), bytes.data(), std::min(N, bytes.size()));
    return out;
}

// {1,2,3}
std::string array_of(const std::vector<std::int64_t>& numbers) {
    std::string text = "{";
    for (const auto number : numbers) text += (text.size() == 1 ? "" : ",") + std::to_string(number);
    return text + "}";
}

// {"a","b\"c"}
std::string array_of(const std::vector<std::string>& texts) {
    std::string array = "{";
    for (const auto& text : texts) {
        array += array.size() == 1 ? "\"" : ",\"";
        for (const char c : text) {
            if (c == '"' || c == '\\') array += '\\';
            array += c;
        }
        array += '"';
    }
    return array + "}";
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

// For people to read in lists; the server keeps no zero byte in a text.
std::string task_of(const Append& append) {
    std::string task;
    for (const char c : append.task) task += c == '\0' ? std::string("\xef\xbf\xbd") : std::string(1, c);
    return task;
}

// What stops this append of `runner`, if anything does.
AppendStatus check(const Append& append, const Tables::Standing& standing, std::int64_t runner) {
    const auto& head = standing.head;
    const auto& open = standing.open;
    if (head.no == 0) return AppendStatus::unknown_thread;
    if (standing.stopped) return AppendStatus::stopped;
    if (append.lease == LeaseUse::take && head.runner_alive) return AppendStatus::leased;
    const bool owns = append.lease == LeaseUse::keep || append.lease == LeaseUse::give_back;
    if (owns && append.fence != head.fence) return AppendStatus::fenced;
    if (append.expected_seq && *append.expected_seq != head.seq) return AppendStatus::conflict;
    // Given back by a runner that was not told of it, or held under a right that has run out.
    if (owns && (head.runner == 0 || head.runner != runner)) return AppendStatus::fenced;
    for (auto number = append.closes.begin(); number != append.closes.end(); ++number) {
        if (std::find(append.closes.begin(), number, *number) != number) return AppendStatus::closed;
        const auto found =
            std::find_if(open.begin(), open.end(), [&](const auto& known) { return known.number == *number; });
        if (found == open.end()) return AppendStatus::closed;
        if (append.closes_late) continue;
        if (found->is_past || (found->deadline && *found->deadline <= append.at)) return AppendStatus::expired;
    }
    return AppendStatus::done;
}

}  // namespace

void Tables::begin(Connection::Pipeline& pipeline) const {
    pipeline.add("BEGIN ISOLATION LEVEL READ COMMITTED");
    if (!schema_.empty())
        pipeline.add("SELECT set_config('search_path', quote_ident($1), true)", Parameters().add(schema_));
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

Tables::Standing Tables::lock(const Append& append, std::int64_t runner) {
    Connection::Pipeline pipeline(connection_);
    begin(pipeline);
    if (!append.ancestors.empty()) pipeline.add(lock_above, Parameters().add(array_of(append.ancestors)));
    if (append.create) add_thread(pipeline, append);
    pipeline.add(lock_thread, Parameters().add(append.thread_id));
    // Each statement costs the server about as much as a row: only what this append asks for.
    const std::size_t takes = append.lease == LeaseUse::take ? 2 : 0;
    const std::size_t closes = append.closes.empty() ? 0 : 1;
    if (takes != 0) {
        pipeline.add(select_taker, Parameters().add(runner));
        pipeline.add(select_live_runner, Parameters().add(append.thread_id));
    }
    if (closes != 0) pipeline.add(select_closing, Parameters().add(array_of(append.closes)).add(append.thread_id));
    const auto results = pipeline.finish();
    const auto& found = results[results.size() - 1 - takes - closes];
    Standing standing;
    if (!append.ancestors.empty()) {
        // Behind BEGIN, and the setting of a schema.
        const auto& above = results[schema_.empty() ? 1 : 2];
        for (int row = 0; row < above.count(); ++row)
            standing.stopped |= static_cast<ThreadStatus>(above.integer(row, 0)) == ThreadStatus::aborted;
    }
    if (takes != 0) standing.taker_lives = results[results.size() - 2 - closes].count() != 0;
    if (found.count() == 0) return standing;
    standing.head = read_head(found, 0);
    if (takes != 0) {
        const auto& holder = results[results.size() - 1 - closes];
        standing.head.runner_alive = holder.count() != 0;
        if (standing.head.runner_alive) standing.runner_words = holder.text(0, 0);
    }
    if (closes == 0) return standing;
    const auto& open = results.back();
    for (int row = 0; row < open.count(); ++row) {
        auto& closing = standing.open.emplace_back();
        closing.number = open.integer(row, 0);
        if (!open.is_null(row, 1)) closing.deadline = open.integer(row, 1);
        closing.is_past = server_time_ && open.boolean(row, 2);
    }
    return standing;
}

std::int64_t Tables::next_numbers(std::size_t count) {
    if (count == 0) return 0;
    for (int tries = 0; tries < number_tries_max; ++tries) {
        const auto rows = connection_.run(select_numbers, Parameters().add(static_cast<std::int64_t>(count)));
        const auto first = rows.integer(0, 0);
        if (rows.integer(rows.count() - 1, 0) == first + static_cast<std::int64_t>(count) - 1) return first;
    }
    throw Error("", "too many questions are asked at the same time", false);
}

AppendResult Tables::write(const Append& append, std::int64_t runner) {
    const Transaction transaction(connection_);
    const auto standing = lock(append, runner);
    if (append.lease == LeaseUse::take && !standing.taker_lives)
        throw Error("55000", "the right of this process to run threads has run out; try again", false);
    AppendResult result{.status = check(append, standing, runner)};
    if (result.status == AppendStatus::leased) result.leased_by = standing.runner_words;
    if (result.status != AppendStatus::done) return result;
    auto head = standing.head;
    if (append.lease == LeaseUse::take) {
        ++head.fence;
        head.runner = runner;
    }
    if (append.lease == LeaseUse::give_back) head.runner = 0;
    if (append.status) head.status = *append.status;
    result.first_number = next_numbers(append.opens.size());
    Connection::Pipeline pipeline(connection_);
    add_rows(pipeline, append, head, result.first_number);
    pipeline.add("COMMIT");
    try {
        (void)pipeline.finish();
    } catch (const Error& error) {
        if (!error.connection_lost()) throw;
        return {.status = AppendStatus::uncertain, .fence = head.fence, .doubt = failure_of(error).message};
    }
    result.seq = head.seq;
    result.pos = head.head;
    result.fence = head.fence;
    return result;
}

// Of a thread that works for another, the one that works for none goes on.
void Tables::add_ready(Connection::Pipeline& pipeline, const Append& append, const ThreadHead& head) {
    const auto root = journal::root_of(append.thread_id);
    if (append.ready) pipeline.add(insert_ready, Parameters().add(root).add(append.ready_after_ms));
    if (append.lease == LeaseUse::take && append.expected_seq && root == append.thread_id)
        pipeline.add(delete_ready, Parameters().add(head.no));
}

void Tables::add_questions(Connection::Pipeline& pipeline, const Append& append, std::int64_t thread,
                           std::int64_t number) {
    for (const auto& row : append.opens) {
        pipeline.add(insert_approval, Parameters()
                                          .add(number)
                                          .add(thread)
                                          .add(row.turn)
                                          .add(row.position)
                                          .add(row.ask_no)
                                          .add(static_cast<std::int64_t>(row.kind))
                                          .add(row.guard)
                                          .add(row.digest)
                                          .add(row.deadline)
                                          .add(append.at)
                                          .add_bytes(row.question));
        pipeline.add(insert_ref, Parameters().add(number).add(thread));
        ++number;
    }
}

void Tables::add_rows(Connection::Pipeline& pipeline, const Append& append, ThreadHead& head,
                      std::int64_t first_number) {
    if (!append.closes.empty()) pipeline.add(delete_closing, Parameters().add(array_of(append.closes)));
    for (const auto& [turn, position] : append.closes_calls)
        pipeline.add(delete_call, Parameters().add(head.no).add(turn).add(position));
    if (append.closes_thread) pipeline.add(delete_of_thread, Parameters().add(head.no));
    if (!append.kinds.empty()) {
        head.seq += static_cast<std::int64_t>(append.kinds.size());
        head.updated_at = append.at;
        const auto header =
            journal::encode(journal::Header{.thread = append.thread_id,
                                            .seq = head.seq,
                                            .at = append.at,
                                            .kinds = append.kinds,
                                            .first_number = first_number,
                                            .body_digest = journal::body_digest(append.salt, append.body)});
        head.hash = journal::chain(head.hash, header);
        // The number of its last event is a row's position.
        pipeline.add(insert_journal, Parameters()
                                         .add(head.no)
                                         .add(head.seq)
                                         .add(head.head)
                                         .add_bytes(bytes_of(append.command))
                                         .add(append.at)
                                         .add_bytes(header)
                                         .add_bytes(append.salt)
                                         .add_bytes(append.body));
        head.head = head.seq;
    }
    add_questions(pipeline, append, head.no, first_number);
    // In one order, or two that bring the same ones would wait for each other.
    auto schemas = append.schemas;
    std::ranges::sort(schemas);
    for (const auto& [digest, text] : schemas) pipeline.add(insert_schema, Parameters().add(digest).add(text));
    if (append.snapshot) {
        pipeline.add(insert_snapshot, Parameters()
                                          .add(head.no)
                                          .add(head.seq)
                                          .add(head.head)
                                          .add(append.snapshot->version)
                                          .add_bytes(append.snapshot->state));
    }
    pipeline.add(update_thread, Parameters()
                                    .add(head.no)
                                    .add(static_cast<std::int64_t>(head.status))
                                    .add(head.seq)
                                    .add(head.head)
                                    .add_bytes(bytes_of(head.hash))
                                    .add(head.fence)
                                    .add(head.runner)
                                    .add(head.updated_at));
    add_ready(pipeline, append, head);
    if (!append.prunes) return;
    pipeline.add(prune_journal, Parameters().add(head.no).add(*append.prunes));
    pipeline.add(prune_snapshot, Parameters().add(head.no));
    pipeline.add(prune_task, Parameters().add(head.no));
}

std::optional<ThreadHead> Tables::find_thread(const std::string& id) {
    const auto rows = read(select_thread, Parameters().add(id));
    if (rows.count() == 0) return std::nullopt;
    return read_head(rows, 0);
}

std::vector<ThreadHead> Tables::threads() {
    const auto rows = read(select_threads, {});
    std::vector<ThreadHead> heads;
    for (int row = 0; row < rows.count(); ++row) heads.push_back(read_head(rows, row));
    return heads;
}

std::vector<ThreadHead> Tables::descendants(const std::string& thread_id) {
    const auto rows = read(select_below, Parameters().add(thread_id));
    std::vector<ThreadHead> heads;
    for (int row = 0; row < rows.count(); ++row) heads.push_back(read_head(rows, row));
    return heads;
}

std::vector<JournalRow> Tables::load(const std::string& thread_id, std::int64_t after) {
    const auto found = read(select_journal, Parameters().add(thread_id).add(after));
    std::vector<JournalRow> rows;
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

void Tables::give_back(const std::string& thread_id, std::int64_t fence, std::int64_t runner, bool goes_on) {
    const Transaction transaction(connection_);
    Connection::Pipeline pipeline(connection_);
    begin(pipeline);
    pipeline.add(lock_thread, Parameters().add(thread_id));
    pipeline.add(release_thread, Parameters().add(thread_id).add(fence).add(runner));
    if (goes_on) pipeline.add(insert_ready, Parameters().add(journal::root_of(thread_id)).add(0));
    pipeline.add("COMMIT");
    (void)pipeline.finish();
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
