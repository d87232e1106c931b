#include <assent/sqlite.hpp>

#include "journal/encoding.hpp"
#include "store/sqlite/database.hpp"
#include "store/sqlite/migrations.hpp"
#include "store/sqlite/runners.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <mutex>

namespace assent {
namespace {

using sqlite::Database;
using sqlite::Error;
using sqlite::Query;
using sqlite::Transaction;

constexpr std::string_view uri_escapes = "%?#&";

std::string file_uri(const std::string& path, bool read_only, bool has_side_file) {
    std::string escaped;
    for (const char c : path) {
        if (uri_escapes.find(c) == std::string_view::npos) {
            escaped += c;
        } else {
            static constexpr std::string_view digits = "0123456789abcdef";
            escaped += '%';
            escaped += digits[static_cast<unsigned char>(c) >> 4];
            escaped += digits[c & 0xf];
        }
    }
    // With these beginnings no path is taken for a host's name or for a database in memory.
    const std::string uri = (path.starts_with('/') ? "file://" : "file:./") + escaped;
    if (read_only) return uri + "?mode=ro";
    // A new database gets the mode of the runners file, which is made before it with 0600.
    return has_side_file ? uri + "?modeof=" + escaped + "-runners" : uri;
}

// The file is looked at by its name only: opening it here would drop SQLite's locks.
std::optional<Failure> unusable(const std::string& path) {
    if (path.empty() || path.contains('\0')) {
        return Failure{FailureKind::database, "a database needs the path of a file; give one"};
    }
    std::error_code ignored;
    if (!std::filesystem::is_directory(path, ignored)) return std::nullopt;
    return Failure{FailureKind::database, "the database " + path + " is a folder; give the path of a file"};
}

bool is_new(const std::string& path) {
    std::error_code error;
    const auto size = std::filesystem::file_size(path, error);
    return error ? !std::filesystem::exists(path, error) : size == 0;
}

std::string_view bytes(const auto& array) {
    return {reinterpret_cast<const char*>(array.data()), array.size()};
}

template <std::size_t N>
std::array<std::uint8_t, N> fixed(const std::string& text) {
    std::array<std::uint8_t, N> out{};
    std::memcpy(out.data(), text.data(), std::min(N, text.size()));
    return out;
}

}  // namespace

class SqliteCheckpointer::Store {
public:
    Store(std::string path, const SqliteOptions& options) : path_(std::move(path)), options_(options) {}

    Result<void> prepare() {
        // Beside a file that turns out to be somebody else's nothing is made.
        const bool fresh = !options_.read_only && is_new(path_);
        if (fresh) {
            if (auto opened = open_locks(); !opened) return opened;
        }
        connect();
        auto migrated = sqlite::migrate(*database_, path_, options_.read_only);
        if (!migrated || options_.read_only) return migrated;
        use_write_ahead_log();
        return fresh ? migrated : open_locks();
    }

    // Runs `body` under the lock and turns SQLite's errors into ours.
    template <class Body>
    auto guarded(Body body) -> decltype(body(std::declval<Store&>())) {
        const std::lock_guard lock(mutex_);
        try {
            if (!database_) connect();
            return body(*this);
        } catch (const Error& error) {
            // After an error of the disk only a new connection tells what is there.
            if ((error.code() & 0xff) == SQLITE_IOERR) database_.reset();
            return sqlite::failure_of(error, path_);
        }
    }

    Result<AppendResult> append(const Append& append) {
        if (options_.read_only) {
            return Failure{FailureKind::database,
                           "the database " + path_ + " is read-only; check its permissions or mode=ro"};
        }
        if (append.lease == LeaseUse::take) become_runner();
        AppendResult result;
        {
            Transaction transaction(*database_);
            result.status = write(append, result);
            if (result.status != AppendStatus::done) return result;
            try {
                transaction.commit();
                return result;
            } catch (const Error& error) {
                if ((error.code() & 0xff) == SQLITE_BUSY) throw;
            }
        }
        // An error while syncing leaves it open whether the commit is on the disk: only a new
        // connection tells the truth.
        database_.reset();
        if (!append.kinds.empty()) return AppendResult{.status = AppendStatus::uncertain};
        // Without a row there is no command to look for; the lease itself tells.
        connect();
        const auto head = find_thread(append.thread_id);
        if (head && head->fence == result.fence && head->runner == runner_) return result;
        return Failure{FailureKind::database, "the store did not keep the last change; try again"};
    }

    std::optional<ThreadHead> find_thread(const std::string& id) {
        auto query = database_->query(
            "SELECT no, id, status, seq, head, hash, fence, ifnull(runner, 0), task, updated_at,"
            " (SELECT count(*) FROM approval WHERE approval.thread = thread.no) FROM thread WHERE id = ?");
        query->bind(id);
        if (!query->step()) return std::nullopt;
        return read_head(query);
    }

    std::vector<ThreadHead> threads() {
        auto query = database_->query(
            "SELECT no, id, status, seq, head, hash, fence, ifnull(runner, 0), task, updated_at,"
            " (SELECT count(*) FROM approval WHERE approval.thread = thread.no) FROM thread ORDER BY no");
        std::vector<ThreadHead> heads;
        while (query->step()) heads.push_back(read_head(query));
        return heads;
    }

    std::vector<JournalRow> load(const std::string& thread_id, std::int64_t after) {
        // One read transaction, so that head and rows belong together.
        auto head = database_->query("SELECT head FROM thread WHERE id = ?");
        head->bind(thread_id);
        std::int64_t pos = head->step() ? head->integer(0) : 0;
        std::vector<JournalRow> rows;
        auto query = database_->query("SELECT pos, seq, prev, cmd, at, header, salt, body FROM journal WHERE pos = ?");
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

    std::vector<OpenApproval> open_approvals(const std::string& thread_id, std::int64_t after, std::size_t limit) {
        auto query = database_->query(
            thread_id.empty()
                ? "SELECT approval.no, thread, id, turn, position, ask_no, kind, guard, digest, deadline, at, question"
                  " FROM approval JOIN thread ON thread.no = approval.thread WHERE approval.no > ?"
                  " ORDER BY approval.no LIMIT ?"
                : "SELECT approval.no, thread, id, turn, position, ask_no, kind, guard, digest, deadline, at, question"
                  " FROM approval JOIN thread ON thread.no = approval.thread WHERE approval.no > ? AND id = ?3"
                  " ORDER BY approval.no LIMIT ?2");
        query->bind(after).bind(static_cast<std::int64_t>(limit));
        if (!thread_id.empty()) query->bind(thread_id);
        std::vector<OpenApproval> rows;
        while (query->step()) rows.push_back(read_open(query));
        return rows;
    }

    std::optional<ApprovalPlace> find_approval(std::int64_t number) {
        auto place = database_->query(
            "SELECT id FROM approval_ref JOIN thread ON thread.no = approval_ref.thread WHERE approval_ref.no = ?");
        place->bind(number);
        if (!place->step()) return std::nullopt;
        ApprovalPlace found{.thread_id = place->text(0)};
        auto query = database_->query(
            "SELECT approval.no, thread, id, turn, position, ask_no, kind, guard, digest, deadline, at, question"
            " FROM approval JOIN thread ON thread.no = approval.thread WHERE approval.no = ?");
        query->bind(number);
        if (query->step()) found.open = read_open(query);
        return found;
    }

    Result<std::string> schema(const std::string& digest) {
        auto query = database_->query("SELECT text FROM schema_text WHERE digest = ?");
        query->bind(digest);
        if (query->step()) return query->text(0);
        return Failure{FailureKind::database, "the schema of this approval is not stored; the database is damaged"};
    }

    std::optional<Snapshot> snapshot(const std::string& thread_id) {
        auto query = database_->query(
            "SELECT snapshot.seq, pos, version, state FROM snapshot JOIN thread ON thread.no = snapshot.thread WHERE "
            "id = ?");
        query->bind(thread_id);
        if (!query->step()) return std::nullopt;
        return Snapshot{.seq = query->integer(0),
                        .pos = query->integer(1),
                        .version = static_cast<int>(query->integer(2)),
                        .state = query->text(3)};
    }

    void keep_snapshot(const std::string& thread_id, const Snapshot& snapshot) {
        database_->statement("INSERT OR REPLACE INTO snapshot SELECT no, ?2, ?3, ?4, ?5 FROM thread WHERE id = ?1")
            .bind(thread_id)
            .bind(snapshot.seq)
            .bind(snapshot.pos)
            .bind(snapshot.version)
            .bind_blob(snapshot.state)
            .run();
    }

    void give_back(const std::string& thread_id, std::int64_t fence) {
        database_->statement("UPDATE thread SET runner = NULL WHERE id = ? AND fence = ?")
            .bind(thread_id)
            .bind(fence)
            .run();
    }

private:
    void connect() {
        const int flags = options_.read_only ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
        auto database = std::make_unique<Database>(file_uri(path_, options_.read_only, locks_.has_value()), flags,
                                                   options_.busy_ms);
        if (!options_.read_only && sqlite3_db_readonly(database->handle(), "main") == 1) {
            throw Error(SQLITE_READONLY, "the file may not be written");
        }
        database_ = std::move(database);
        database_->execute("PRAGMA synchronous = FULL; PRAGMA foreign_keys = OFF; PRAGMA temp_store = MEMORY");
    }

    // SQLite does not call its busy handler here, and two processes may set up one database at once.
    void use_write_ahead_log() {
        for (std::int64_t tries = 0;; ++tries) {
            try {
                return database_->execute("PRAGMA journal_mode = WAL");
            } catch (const Error& error) {
                if ((error.code() & 0xff) != SQLITE_BUSY || tries >= options_.busy_ms) throw;
                sqlite3_sleep(1);
            }
        }
    }

    Result<void> open_locks() {
        auto opened = sqlite::RunnerLocks::open(path_ + "-runners");
        if (!opened) return opened.failure();
        locks_.emplace(std::move(opened).value());
        return {};
    }

    // The number under which this process holds threads; given once, at the first need.
    void become_runner() {
        if (runner_ != 0) return;
        auto insert = database_->query("INSERT INTO runner(boot, host, pid, at) VALUES(?, ?, ?, unixepoch() * 1000)");
        while (true) {
            insert->reset();
            insert->bind(sqlite::boot_id()).bind(sqlite::host_name()).bind(static_cast<std::int64_t>(getpid())).run();
            const auto number = sqlite3_last_insert_rowid(database_->handle());
            if (!locks_->hold(number)) continue;
            runner_ = number;
            return;
        }
    }

    bool alive(std::int64_t runner) const {
        return runner != 0 && (runner == runner_ || !locks_ || locks_->held(runner));
    }

    AppendStatus write(const Append& append, AppendResult& result) {
        auto head = find_thread(append.thread_id);
        if (!head) {
            if (!append.create) return AppendStatus::unknown_thread;
            database_
                ->statement(
                    "INSERT INTO thread(id, status, seq, head, hash, fence, task, updated_at) VALUES(?, 0, 0, 0, ?, 0, "
                    "?, ?)")
                .bind(append.thread_id)
                .bind_blob(bytes(ThreadHead{}.hash))
                .bind(append.task)
                .bind(append.at)
                .run();
            head = find_thread(append.thread_id);
        }
        if (append.lease == LeaseUse::take && head->runner_alive) {
            result.leased_by = describe_runner(head->runner);
            return AppendStatus::leased;
        }
        const bool owns = append.lease == LeaseUse::keep || append.lease == LeaseUse::give_back;
        if (owns && append.fence != head->fence) return AppendStatus::fenced;
        if (append.expected_seq && *append.expected_seq != head->seq) return AppendStatus::conflict;
        if (const auto closed = close_approvals(append, head->no); closed != AppendStatus::done) return closed;

        if (append.lease == LeaseUse::take) {
            ++head->fence;
            head->runner = runner_;
        }
        if (append.lease == LeaseUse::give_back) head->runner = 0;
        if (append.status) head->status = *append.status;
        result.first_number = database_->pragma("SELECT ifnull(max(no), 0) + 1 FROM approval_ref");
        if (!append.kinds.empty()) write_row(append, *head, result.first_number);
        open_approvals_of(append, *head, result.first_number);
        database_
            ->statement(
                "UPDATE thread SET status = ?2, seq = ?3, head = ?4, hash = ?5, fence = ?6, runner = nullif(?7, 0),"
                " updated_at = ?8 WHERE no = ?1")
            .bind(head->no)
            .bind(static_cast<std::int64_t>(head->status))
            .bind(head->seq)
            .bind(head->head)
            .bind_blob(bytes(head->hash))
            .bind(head->fence)
            .bind(head->runner)
            .bind(head->updated_at)
            .run();
        result.seq = head->seq;
        result.pos = head->head;
        result.fence = head->fence;
        return AppendStatus::done;
    }

    // The compare-and-set of answers: an approval that is not open any more is not deleted again.
    AppendStatus close_approvals(const Append& append, std::int64_t thread) {
        for (const auto number : append.closes) {
            auto query = database_->query("SELECT deadline FROM approval WHERE no = ? AND thread = ?");
            query->bind(number).bind(thread);
            if (!query->step()) return AppendStatus::closed;
            const bool late = !query->is_null(0) && query->integer(0) <= append.at;
            if (late && !append.closes_late) return AppendStatus::expired;
            database_->statement("DELETE FROM approval WHERE no = ?").bind(number).run();
        }
        if (append.closes_call) {
            database_->statement("DELETE FROM approval WHERE thread = ? AND turn = ? AND position = ?")
                .bind(thread)
                .bind(append.closes_call->first)
                .bind(append.closes_call->second)
                .run();
        }
        if (append.closes_thread) database_->statement("DELETE FROM approval WHERE thread = ?").bind(thread).run();
        return AppendStatus::done;
    }

    void write_row(const Append& append, ThreadHead& head, std::int64_t first_number) {
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
        database_
            ->statement(
                "INSERT INTO journal(thread, seq, prev, cmd, at, header, salt, body) VALUES(?, ?, ?, ?, ?, ?, ?, ?)")
            .bind(head.no)
            .bind(head.seq)
            .bind(head.head)
            .bind_blob(bytes(append.command))
            .bind(append.at)
            .bind_blob(header)
            .bind_blob(append.salt)
            .bind_blob(append.body)
            .run();
        head.head = sqlite3_last_insert_rowid(database_->handle());
    }

    void open_approvals_of(const Append& append, const ThreadHead& head, std::int64_t number) {
        for (const auto& row : append.opens) {
            auto insert = database_->query("INSERT INTO approval VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
            insert->bind(number).bind(head.no).bind(row.turn).bind(row.position).bind(row.ask_no);
            insert->bind(static_cast<std::int64_t>(row.kind)).bind(row.guard).bind_blob(row.digest);
            if (row.deadline) {
                insert->bind(*row.deadline);
            } else {
                insert->bind_null();
            }
            insert->bind(append.at).bind_blob(row.question).run();
            database_->statement("INSERT INTO approval_ref VALUES(?, ?, ?)")
                .bind(number)
                .bind(head.no)
                .bind(head.head)
                .run();
            ++number;
        }
        for (const auto& [digest, text] : append.schemas) {
            database_->statement("INSERT OR IGNORE INTO schema_text VALUES(?, ?)").bind(digest).bind(text).run();
        }
    }

    ThreadHead read_head(const Query& query) const {
        ThreadHead head{.no = query->integer(0),
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
        head.runner_alive = alive(head.runner);
        return head;
    }

    OpenApproval read_open(const Query& query) const {
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

    std::string describe_runner(std::int64_t runner) {
        auto query = database_->query("SELECT pid, host FROM runner WHERE no = ?");
        query->bind(runner);
        if (!query->step()) return "another process";
        return "process " + std::to_string(query->integer(0)) + " on " + query->text(1);
    }

    std::mutex mutex_;
    std::string path_;
    SqliteOptions options_;
    std::optional<sqlite::RunnerLocks> locks_;
    std::unique_ptr<Database> database_;
    std::int64_t runner_ = 0;
};

Result<std::unique_ptr<SqliteCheckpointer>> SqliteCheckpointer::open(const std::string& path,
                                                                     const SqliteOptions& options) {
    try {
        if (auto failure = unusable(path)) return std::move(*failure);
        auto store = std::make_unique<Store>(path, options);
        if (auto prepared = store->prepare(); !prepared) return prepared.failure();
        return std::unique_ptr<SqliteCheckpointer>(new SqliteCheckpointer(std::move(store)));
    } catch (const Error& error) {
        return sqlite::failure_of(error, path);
    }
}

SqliteCheckpointer::SqliteCheckpointer(const std::string& path, const SqliteOptions& options) {
    auto opened = SqliteCheckpointer::open(path, options);
    if (!opened) throw std::runtime_error(opened.failure().message);
    store_ = std::move(opened.value()->store_);
}

SqliteCheckpointer::SqliteCheckpointer(std::unique_ptr<Store> store) : store_(std::move(store)) {}
SqliteCheckpointer::~SqliteCheckpointer() = default;

Result<AppendResult> SqliteCheckpointer::append(const Append& append) {
    return store_->guarded([&](Store& store) { return store.append(append); });
}

Result<std::optional<ThreadHead>> SqliteCheckpointer::find_thread(const std::string& id) {
    return store_->guarded([&](Store& store) -> Result<std::optional<ThreadHead>> { return store.find_thread(id); });
}

Result<std::vector<JournalRow>> SqliteCheckpointer::load(const std::string& thread_id, std::int64_t after) {
    return store_->guarded(
        [&](Store& store) -> Result<std::vector<JournalRow>> { return store.load(thread_id, after); });
}

Result<std::vector<ThreadHead>> SqliteCheckpointer::threads() {
    return store_->guarded([](Store& store) -> Result<std::vector<ThreadHead>> { return store.threads(); });
}

Result<std::vector<OpenApproval>> SqliteCheckpointer::open_approvals(const std::string& thread_id, std::int64_t after,
                                                                     std::size_t limit) {
    return store_->guarded([&](Store& store) -> Result<std::vector<OpenApproval>> {
        return store.open_approvals(thread_id, after, limit);
    });
}

Result<std::optional<ApprovalPlace>> SqliteCheckpointer::find_approval(std::int64_t number) {
    return store_->guarded(
        [&](Store& store) -> Result<std::optional<ApprovalPlace>> { return store.find_approval(number); });
}

Result<std::string> SqliteCheckpointer::schema(const std::string& digest) {
    return store_->guarded([&](Store& store) { return store.schema(digest); });
}

Result<std::optional<Snapshot>> SqliteCheckpointer::snapshot(const std::string& thread_id) {
    return store_->guarded([&](Store& store) -> Result<std::optional<Snapshot>> { return store.snapshot(thread_id); });
}

Result<void> SqliteCheckpointer::keep_snapshot(const std::string& thread_id, const Snapshot& snapshot) {
    return store_->guarded([&](Store& store) -> Result<void> {
        store.keep_snapshot(thread_id, snapshot);
        return {};
    });
}

Result<void> SqliteCheckpointer::give_back(const std::string& thread_id, std::int64_t fence) {
    return store_->guarded([&](Store& store) -> Result<void> {
        store.give_back(thread_id, fence);
        return {};
    });
}

}  // namespace assent
