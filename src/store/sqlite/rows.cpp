#include "store/sqlite/rows.hpp"

#include "journal/encoding.hpp"
#include "journal/lineage.hpp"
#include "store/sqlite/ready_marks.hpp"

#include <algorithm>
#include <cstring>

namespace assent::sqlite {
namespace {

constexpr const char* select_thread =
    "SELECT no, id, status, seq, head, hash, fence, ifnull(runner, 0), task, updated_at,"
    " (SELECT count(*) FROM approval WHERE approval.thread = thread.no) FROM thread WHERE id = ?";
constexpr const char* select_threads =
    "SELECT no, id, status, seq, head, hash, fence, ifnull(runner, 0), task, updated_at,"
    " (SELECT count(*) FROM approval WHERE approval.thread = thread.no) FROM thread ORDER BY no";
// Ids that begin with ?1 and a slash: the character after the slash is 0.
constexpr const char* select_below =
    "SELECT no, id, status, seq, head, hash, fence, ifnull(runner, 0), task, updated_at,"
    " (SELECT count(*) FROM approval WHERE approval.thread = thread.no) FROM thread"
    " WHERE id > ?1 || '/' AND id < ?1 || '0' ORDER BY no";
// What an append needs to know of its thread; the open approvals are not counted here.
constexpr const char* select_head =
    "SELECT no, id, status, seq, head, hash, fence, ifnull(runner, 0), '', updated_at, 0 FROM thread WHERE id = ?";
// The place of any number, and the columns of its question while that is open.
constexpr const char* select_place =
    "SELECT approval.no, thread.no, id, turn, position, ask_no, kind, guard, digest, deadline, at, question"
    " FROM approval_ref JOIN thread ON thread.no = approval_ref.thread"
    " LEFT JOIN approval ON approval.no = approval_ref.no WHERE approval_ref.no = ?";
constexpr const char* select_open_after =
    "SELECT approval.no, thread, id, turn, position, ask_no, kind, guard, digest, deadline, at, question"
    " FROM approval JOIN thread ON thread.no = approval.thread WHERE approval.no > ? ORDER BY approval.no LIMIT ?";
constexpr const char* select_open_count =
    "SELECT count(*), ifnull((SELECT at FROM approval ORDER BY no LIMIT 1), 0) FROM approval";
// Of a thread and of ids below it; from the few threads to their approvals, not the other way round.
constexpr const char* select_open_of_thread =
    "SELECT approval.no, thread, id, turn, position, ask_no, kind, guard, digest, deadline, at, question"
    " FROM thread CROSS JOIN approval ON thread.no = approval.thread"
    " WHERE (id = ?1 OR (id > ?1 || '/' AND id < ?1 || '0')) AND approval.no > ?2 ORDER BY approval.no";

std::string_view bytes(const auto& array) {
    return {reinterpret_cast<const char*>(array.data()), array.size()};
}

template <std::size_t N>
std::array<std::uint8_t, N> fixed(const std::string& text) {
    std::array<std::uint8_t, N> out{};
    std::memcpy(out.data(), text.data(), std::min(N, text.size()));
    return out;
}

ThreadHead read_head(const Query& query) {
    return {.no = query->integer(0),
            .id = query->text(1),
            .status = static_cast<ThreadStatus>(query->integer(2)),
            .seq = query->integer(3),
            .head = query->integer(4),
            .hash = fixed<32>(query->text(5)),
            .fence = query->integer(6),
            .runner = query->integer(7),
            .task = query->text(8),
            .updated_at = query->integer(9),
            .open = query->integer(10)};
}

OpenApproval read_open(const Query& query) {
    OpenApproval row{.number = query->integer(0),
                     .thread = query->integer(1),
                     .thread_id = query->text(2),
                     .turn = static_cast<int>(query->integer(3)),
                     .position = static_cast<int>(query->integer(4)),
                     .ask_no = static_cast<int>(query->integer(5)),
                     .kind = static_cast<ApprovalKind>(query->integer(6)),
                     .guard = query->text(7),
                     .digest = query->text(8),
                     .asked_at = query->integer(10),
                     .question = query->text(11)};
    if (!query->is_null(9)) row.deadline = query->integer(9);
    return row;
}

}  // namespace

std::optional<ThreadHead> Rows::find_thread(const std::string& id) {
    auto query = database_.query(select_thread);
    query->bind(id);
    if (!query->step()) return std::nullopt;
    return read_head(query);
}

std::vector<ThreadHead> Rows::threads() {
    auto query = database_.query(select_threads);
    std::vector<ThreadHead> heads;
    while (query->step()) heads.push_back(read_head(query));
    return heads;
}

std::vector<ThreadHead> Rows::descendants(const std::string& thread_id) {
    auto query = database_.query(select_below);
    query->bind(thread_id);
    std::vector<ThreadHead> heads;
    while (query->step()) {
        auto head = read_head(query);
        if (journal::call_behind(head.id, thread_id)) heads.push_back(std::move(head));
    }
    return heads;
}

std::vector<JournalRow> Rows::load(const std::string& thread_id, std::int64_t after) {
    // One read transaction, so that head and rows belong together.
    auto head = database_.query("SELECT head FROM thread WHERE id = ?");
    head->bind(thread_id);
    std::int64_t pos = head->step() ? head->integer(0) : 0;
    std::vector<JournalRow> rows;
    if (pos <= after) return rows;
    auto query = database_.query("SELECT pos, seq, prev, cmd, at, header, salt, body FROM journal WHERE pos = ?");
    while (pos > after) {
        query->reset();
        query->bind(pos);
        if (!query->step()) throw Error(SQLITE_CORRUPT, "a journal row is missing");
        rows.push_back({.pos = query->integer(0),
                        .seq = query->integer(1),
                        .prev = query->integer(2),
                        .command = fixed<16>(query->text(3)),
                        .at = query->integer(4),
                        .header = query->text(5),
                        .salt = query->text(6),
                        .body = query->text(7)});
        if (rows.back().prev >= pos) throw Error(SQLITE_CORRUPT, "a journal row comes before itself");
        pos = rows.back().prev;
    }
    std::reverse(rows.begin(), rows.end());
    return rows;
}

std::vector<OpenApproval> Rows::open_approvals(const std::string& thread_id, std::int64_t after, std::size_t limit) {
    std::vector<OpenApproval> rows;
    if (thread_id.empty()) {
        auto query = database_.query(select_open_after);
        query->bind(after).bind(static_cast<std::int64_t>(limit));
        while (query->step()) rows.push_back(read_open(query));
        return rows;
    }
    auto query = database_.query(select_open_of_thread);
    query->bind(thread_id).bind(after);
    while (rows.size() < limit && query->step()) {
        auto row = read_open(query);
        // A host's own id may lie between those of the children.
        if (row.thread_id == thread_id || journal::call_behind(row.thread_id, thread_id))
            rows.push_back(std::move(row));
    }
    return rows;
}

OpenCount Rows::count_open() {
    auto query = database_.query(select_open_count);
    query->step();
    OpenCount count{.approvals = query->integer(0)};
    if (count.approvals > 0) count.oldest_asked_at = query->integer(1);
    return count;
}

std::optional<ApprovalPlace> Rows::find_approval(std::int64_t number) {
    auto query = database_.query(select_place);
    query->bind(number);
    if (!query->step()) return std::nullopt;
    ApprovalPlace found{.thread_id = query->text(2)};
    if (!query->is_null(0)) found.open = read_open(query);
    return found;
}

std::optional<std::string> Rows::schema(const std::string& digest) {
    auto query = database_.query("SELECT text FROM schema_text WHERE digest = ?");
    query->bind(digest);
    if (!query->step()) return std::nullopt;
    return query->text(0);
}

std::optional<Snapshot> Rows::snapshot(const std::string& thread_id) {
    auto query = database_.query(
        "SELECT snapshot.seq, pos, version, state FROM snapshot JOIN thread ON thread.no = snapshot.thread WHERE id = "
        "?");
    query->bind(thread_id);
    if (!query->step()) return std::nullopt;
    return Snapshot{.seq = query->integer(0),
                    .pos = query->integer(1),
                    .version = static_cast<int>(query->integer(2)),
                    .state = query->text(3)};
}

void Rows::give_back(const std::string& thread_id, std::int64_t fence, std::int64_t runner) {
    database_.statement("UPDATE thread SET runner = NULL WHERE id = ? AND fence = ? AND runner = ?")
        .bind(thread_id)
        .bind(fence)
        .bind(runner)
        .run();
}

std::string Rows::describe_runner(std::int64_t runner) {
    auto query = database_.query("SELECT pid, host FROM runner WHERE no = ?");
    query->bind(runner);
    if (!query->step()) return "another process";
    return "process " + std::to_string(query->integer(0)) + " on " + query->text(1);
}

AppendResult Rows::write(const Append& append, const std::string& body_digest, std::int64_t runner,
                         const std::function<bool(std::int64_t)>& alive) {
    AppendResult result;
    auto head = head_of(append.thread_id);
    result.status = check(append, head, alive, result);
    if (result.status != AppendStatus::done) return result;
    if (head.no == 0) {
        head.no = make_thread(append);
        head.updated_at = append.at;
    }
    if (append.lease == LeaseUse::take) {
        ++head.fence;
        head.runner = runner;
    }
    if (append.lease == LeaseUse::give_back) head.runner = 0;
    if (append.status) head.status = *append.status;
    close_approvals(append, head.no);
    if (!append.opens.empty()) result.first_number = next_number();
    if (!append.kinds.empty()) write_row(append, body_digest, head, result.first_number);
    open_approvals_of(append, head, result.first_number);
    keep_extras(append, head);
    update_thread(head);
    ReadyMarks::note(database_, append, head);
    if (append.prunes) prune(head, *append.prunes);
    result.seq = head.seq;
    result.pos = head.head;
    result.fence = head.fence;
    return result;
}

ThreadHead Rows::head_of(const std::string& id) {
    auto query = database_.query(select_head);
    query->bind(id);
    return query->step() ? read_head(query) : ThreadHead{};
}

// Reads only: a refused append of a group must leave nothing behind.
AppendStatus Rows::check(const Append& append, const ThreadHead& head, const std::function<bool(std::int64_t)>& alive,
                         AppendResult& result) {
    if (head.no == 0 && !append.create) return AppendStatus::unknown_thread;
    if (any_aborted(append.ancestors)) return AppendStatus::stopped;
    if (append.lease == LeaseUse::take && alive(head.runner)) {
        result.leased_by = describe_runner(head.runner);
        return AppendStatus::leased;
    }
    const bool owns = append.lease == LeaseUse::keep || append.lease == LeaseUse::give_back;
    if (owns && append.fence != head.fence) return AppendStatus::fenced;
    if (append.expected_seq && *append.expected_seq != head.seq) return AppendStatus::conflict;
    // Given back by a runner that was not told of it.
    if (owns && head.runner == 0) return AppendStatus::fenced;
    for (std::size_t i = 0; i < append.closes.size(); ++i) {
        const auto number = append.closes[i];
        const auto earlier = append.closes.begin() + static_cast<std::ptrdiff_t>(i);
        if (std::find(append.closes.begin(), earlier, number) != earlier) return AppendStatus::closed;
        auto query = database_.query("SELECT deadline FROM approval WHERE no = ? AND thread = ?");
        query->bind(number).bind(head.no);
        if (!query->step()) return AppendStatus::closed;
        const bool late = !query->is_null(0) && query->integer(0) <= append.at;
        if (late && !append.closes_late) return AppendStatus::expired;
    }
    return AppendStatus::done;
}

bool Rows::any_aborted(const std::vector<std::string>& threads) {
    return std::ranges::any_of(threads, [this](const auto& id) { return head_of(id).status == ThreadStatus::aborted; });
}

std::int64_t Rows::make_thread(const Append& append) {
    database_
        .statement(
            "INSERT INTO thread(id, status, seq, head, hash, fence, task, updated_at) VALUES(?, 0, 0, 0, ?, 0, ?, ?)")
        .bind(append.thread_id)
        .bind_blob(bytes(ThreadHead{}.hash))
        .bind(append.task)
        .bind(append.at)
        .run();
    return sqlite3_last_insert_rowid(database_.handle());
}

void Rows::close_approvals(const Append& append, std::int64_t thread) {
    for (const auto number : append.closes) {
        database_.statement("DELETE FROM approval WHERE no = ?").bind(number).run();
    }
    for (const auto& [turn, position] : append.closes_calls) {
        database_.statement("DELETE FROM approval WHERE thread = ? AND turn = ? AND position = ?")
            .bind(thread)
            .bind(turn)
            .bind(position)
            .run();
    }
    if (append.closes_thread) database_.statement("DELETE FROM approval WHERE thread = ?").bind(thread).run();
}

std::int64_t Rows::next_number() {
    auto query = database_.query("SELECT ifnull(max(no), 0) + 1 FROM approval_ref");
    query->step();
    return query->integer(0);
}

void Rows::write_row(const Append& append, const std::string& body_digest, ThreadHead& head,
                     std::int64_t first_number) {
    head.seq += static_cast<std::int64_t>(append.kinds.size());
    head.updated_at = append.at;
    const auto header = journal::encode(journal::Header{.thread = append.thread_id,
                                                        .seq = head.seq,
                                                        .at = append.at,
                                                        .kinds = append.kinds,
                                                        .first_number = first_number,
                                                        .body_digest = body_digest});
    head.hash = journal::chain(head.hash, header);
    database_
        .statement("INSERT INTO journal(thread, seq, prev, cmd, at, header, salt, body) VALUES(?, ?, ?, ?, ?, ?, ?, ?)")
        .bind(head.no)
        .bind(head.seq)
        .bind(head.head)
        .bind_blob(bytes(append.command))
        .bind(append.at)
        .bind_blob(header)
        .bind_blob(append.salt)
        .bind_blob(append.body)
        .run();
    head.head = sqlite3_last_insert_rowid(database_.handle());
}

void Rows::open_approvals_of(const Append& append, const ThreadHead& head, std::int64_t number) {
    for (const auto& row : append.opens) {
        auto insert = database_.query("INSERT INTO approval VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
        insert->bind(number).bind(head.no).bind(row.turn).bind(row.position).bind(row.ask_no);
        insert->bind(static_cast<std::int64_t>(row.kind)).bind(row.guard).bind_blob(row.digest);
        if (row.deadline) {
            insert->bind(*row.deadline);
        } else {
            insert->bind_null();
        }
        insert->bind(append.at).bind_blob(row.question).run();
        database_.statement("INSERT INTO approval_ref VALUES(?, ?, ?)")
            .bind(number)
            .bind(head.no)
            .bind(head.head)
            .run();
        ++number;
    }
}

void Rows::keep_extras(const Append& append, const ThreadHead& head) {
    for (const auto& [digest, text] : append.schemas) {
        database_.statement("INSERT OR IGNORE INTO schema_text VALUES(?, ?)").bind(digest).bind(text).run();
    }
    if (!append.snapshot) return;
    database_.statement("INSERT OR REPLACE INTO snapshot VALUES(?, ?, ?, ?, ?)")
        .bind(head.no)
        .bind(head.seq)
        .bind(head.head)
        .bind(append.snapshot->version)
        .bind_blob(append.snapshot->state)
        .run();
}

// Rows have no index by thread: from each to the one before it.
void Rows::prune(const ThreadHead& head, std::int64_t upto) {
    auto query = database_.query("SELECT seq, prev FROM journal WHERE pos = ?");
    for (auto pos = head.head; pos != 0;) {
        query->reset();
        query->bind(pos);
        if (!query->step()) throw Error(SQLITE_CORRUPT, "a journal row is missing");
        if (query->integer(0) <= upto)
            database_.statement("UPDATE journal SET salt = NULL, body = NULL WHERE pos = ?").bind(pos).run();
        pos = query->integer(1);
    }
    database_.statement("DELETE FROM snapshot WHERE thread = ?").bind(head.no).run();
    database_.statement("UPDATE thread SET task = '' WHERE no = ?").bind(head.no).run();
}

void Rows::update_thread(const ThreadHead& head) {
    database_
        .statement(
            "UPDATE thread SET status = ?2, seq = ?3, head = ?4, hash = ?5, fence = ?6, runner = nullif(?7, 0),"
            " updated_at = ?8 WHERE no = ?1")
        .bind(head.no)
        .bind(static_cast<std::int64_t>(head.status))
        .bind(head.seq)
        .bind(head.head)
        .bind_blob(bytes(head.hash))
        .bind(head.fence)
        .bind(head.runner)
        .bind(head.updated_at)
        .run();
}

}  // namespace assent::sqlite
