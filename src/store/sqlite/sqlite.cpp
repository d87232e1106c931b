#include <assent/sqlite.hpp>

#include "base/real_places.hpp"
#include "journal/encoding.hpp"
#include "store/call_group.hpp"
#include "store/sqlite/commit_watch.hpp"
#include "store/sqlite/database.hpp"
#include "store/sqlite/migrations.hpp"
#include "store/sqlite/ready_marks.hpp"
#include "store/sqlite/rows.hpp"
#include "store/sqlite/runners.hpp"
#include "store/sqlite/turnstile.hpp"

#include <assent/clock.hpp>

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <mutex>

namespace assent {
namespace {

using sqlite::Database;
using sqlite::Error;
using sqlite::ReadyMarks;
using sqlite::Rows;
using sqlite::Transaction;

// The digest of its body is made by who appends.
struct DigestedAppend {
    const Append& append;
    std::string body_digest = journal::body_digest(append.salt, append.body);
};
using Group = CallGroup<DigestedAppend, Result<AppendResult>>;
using Batch = Group::Batch;

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
        database_ = connected();
        auto migrated = sqlite::migrate(*database_, path_, options_.read_only);
        if (!migrated || options_.read_only) return migrated;
        use_write_ahead_log();
        return fresh ? migrated : open_locks();
    }

    // Reads with the connection that writes, whose pages are at hand; while that one is busy with a commit,
    // with another: nobody waits for a disk to read.
    template <class Body>
    auto read(Body body) -> decltype(body(std::declval<Rows>())) {
        if (const std::unique_lock lock(mutex_, std::try_to_lock); lock) return guarded(database_, body);
        const std::lock_guard lock(reader_mutex_);
        return guarded(reader_, body);
    }

    Result<void> give_back(const std::string& thread_id, std::int64_t fence) {
        const std::lock_guard lock(mutex_);
        return guarded(database_, [&](Rows rows) -> Result<void> {
            rows.give_back(thread_id, fence, runner_);
            return {};
        });
    }

    Result<AppendResult> append(const Append& append) {
        if (options_.read_only) return read_only();
        const AppendResult uncertain{.status = AppendStatus::uncertain};
        return std::move(group_.join({append}, [this](const Batch& batch) { commit(batch); }, uncertain)->answer);
    }

    Result<std::vector<ReadyThread>> take_ready(std::size_t limit, UnixMillis now) {
        if (options_.read_only) return read_only();
        const std::lock_guard lock(mutex_);
        return guarded(database_, [&](Rows) -> Result<std::vector<ReadyThread>> {
            pay_back();
            ReadyMarks marks(*database_, lives_);
            // For the most part there is nothing to write.
            if (const auto threads = marks.left_alone(now); !threads.empty()) {
                written([&] { marks.mark(threads); });
            }
            if (marks.free(1, system_clock().now()).empty()) return std::vector<ReadyThread>();
            become_runner();
            std::vector<ReadyThread> ready;
            try {
                written([&] {
                    ready = marks.free(limit, system_clock().now());
                    marks.take(ready, runner_);
                });
            } catch (const Error&) {
                // Perhaps they are taken, and nobody would know.
                for (auto& one : ready) owed_.push_back({.thread = std::move(one.id)});
                throw;
            }
            return ready;
        });
    }

    Result<void> put_back(const std::string& thread_id, std::int64_t delay_ms) {
        if (options_.read_only) return read_only();
        const std::lock_guard lock(mutex_);
        owed_.push_back({.thread = thread_id, .due = delay_ms == 0 ? 0 : system_clock().now() + delay_ms});
        return guarded(database_, [this](Rows) -> Result<void> {
            pay_back();
            return {};
        });
    }

    std::shared_ptr<void> watch(Changed changed) { return watch_.watch(std::move(changed)); }

    [[nodiscard]] bool alive(std::int64_t runner) const {
        return runner != 0 && (runner == runner_ || !locks_ || locks_->held(runner));
    }

    // Of the connection that writes.
    Result<bool> syncs_commits() {
        constexpr std::int64_t full = 2;
        const std::lock_guard lock(mutex_);
        return guarded(database_,
                       [this](Rows) -> Result<bool> { return database_->pragma("PRAGMA synchronous") >= full; });
    }

private:
    struct Owed {
        std::string thread;
        UnixMillis due = 0;
    };

    [[nodiscard]] Failure read_only() const {
        return {FailureKind::database, "the database " + path_ + " is read-only; check its permissions or mode=ro"};
    }

    template <class Body>
    void written(Body body) {
        const sqlite::Turnstile::Turn turn(*turnstile_, options_.busy_ms);
        Transaction transaction(*database_);
        body();
        transaction.commit();
    }

    // As long as this process lives nobody else would go on with them: what fails is owed until it succeeds.
    void pay_back() {
        if (owed_.empty()) return;
        written([this] {
            for (const auto& [thread, due] : owed_) ReadyMarks(*database_, lives_).put_back(thread, due);
        });
        owed_.clear();
    }

    // Turns SQLite's errors into ours. The connection's mutex is held.
    template <class Body>
    auto guarded(std::unique_ptr<Database>& connection, Body body) -> decltype(body(std::declval<Rows>())) {
        try {
            if (!connection) connection = connected();
            return body(Rows(*connection));
        } catch (const Error& error) {
            if ((error.code() & 0xff) == SQLITE_IOERR) connection.reset();
            return sqlite::failure_of(error, path_);
        }
    }

    // After an error of the disk only a new connection tells what is there, and only if no old one is left.
    void disconnect() {
        const std::lock_guard lock(reader_mutex_);
        watch_.disconnect();
        reader_.reset();
        database_.reset();
    }

    [[nodiscard]] std::unique_ptr<Database> connected() const {
        const int flags = options_.read_only ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
        auto database =
            std::make_unique<Database>(file_uri(path_, options_.read_only, locks_ != nullptr), flags, options_.busy_ms);
        if (!options_.read_only && sqlite3_db_readonly(database->handle(), "main") == 1) {
            throw Error(SQLITE_READONLY, "the file may not be written");
        }
        // Checkpoints are made by this connection, in between its commits, and not for every few of them.
        database->execute(
            "PRAGMA synchronous = FULL; PRAGMA foreign_keys = OFF; PRAGMA temp_store = MEMORY;"
            "PRAGMA wal_autocheckpoint = 4000");
        return database;
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
        locks_ = std::make_unique<sqlite::RunnerLocks>(std::move(opened).value());
        turnstile_ = std::make_unique<sqlite::Turnstile>(*locks_);
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

    // All appends of a group in one transaction and one sync. What goes wrong with one of them must not
    // take the others with it: then each is tried alone.
    void commit(const Batch& batch) {
        const std::lock_guard lock(mutex_);
        if (batch.size() > 1 && committed(batch)) return;
        for (const auto& pending : batch) (void)committed({pending});
    }

    // False if nothing was committed, and trying alone may do better. Every append has its result otherwise.
    bool committed(const Batch& batch) {
        try {
            commit_together(batch);
            return true;
        } catch (const Error& error) {
            const int code = error.code() & 0xff;
            if (code == SQLITE_IOERR) disconnect();
            for (const auto& pending : batch) pending->answer = sqlite::failure_of(error, path_);
            // Who has waited for another program does not wait once more for each.
            return code == SQLITE_BUSY;
        }
    }

    void commit_together(const Batch& batch) {
        if (!database_) database_ = connected();
        const auto takes = [](const auto& pending) { return pending->item.append.lease == LeaseUse::take; };
        if (std::any_of(batch.begin(), batch.end(), takes)) become_runner();
        std::vector<AppendResult> results;
        const auto doubt = write_together(batch, results);
        if (!doubt) {
            for (std::size_t i = 0; const auto& pending : batch) pending->answer = std::move(results[i++]);
            return;
        }
        // An error while syncing leaves it open whether the commit is on the disk.
        disconnect();
        for (std::size_t i = 0; const auto& pending : batch)
            pending->answer = after_doubt(pending->item.append, results[i++], *doubt);
    }

    // A failure if the store cannot say whether the commit was kept.
    std::optional<Failure> write_together(const Batch& batch, std::vector<AppendResult>& results) {
        const sqlite::Turnstile::Turn turn(*turnstile_, options_.busy_ms);
        Transaction transaction(*database_);
        for (const auto& pending : batch) {
            results.push_back(Rows(*database_).write(pending->item.append, pending->item.body_digest, runner_, lives_));
        }
        try {
            transaction.commit();
            return std::nullopt;
        } catch (const Error& error) {
            if ((error.code() & 0xff) == SQLITE_BUSY) throw;
            return sqlite::failure_of(error, path_);
        }
    }

    // Never throws: the others of the group must not be tried again.
    Result<AppendResult> after_doubt(const Append& append, const AppendResult& result, const Failure& doubt) {
        if (!append.kinds.empty() && result.status == AppendStatus::done) {
            return AppendResult{.status = AppendStatus::uncertain, .fence = result.fence, .doubt = doubt.message};
        }
        // What was refused may have been refused for another append of its group, which was perhaps not kept.
        const Failure lost{FailureKind::database, doubt.message + "; the last change was not kept: try again"};
        if (result.status != AppendStatus::done) return lost;
        // Without a row there is no command to look for; the lease itself tells.
        try {
            if (!database_) database_ = connected();
            const auto head = Rows(*database_).find_thread(append.thread_id);
            if (head && head->fence == result.fence && head->runner == runner_) return result;
            return lost;
        } catch (const Error& error) {
            return sqlite::failure_of(error, path_);
        }
    }

    std::string path_;
    SqliteOptions options_;
    std::unique_ptr<sqlite::RunnerLocks> locks_;
    std::unique_ptr<sqlite::Turnstile> turnstile_;
    std::mutex mutex_;  // of the connection that writes; taken before the other one
    std::unique_ptr<Database> database_;
    std::mutex reader_mutex_;
    std::unique_ptr<Database> reader_;  // opened when it is first needed
    std::atomic<std::int64_t> runner_ = 0;
    const ReadyMarks::Alive lives_ = [this](std::int64_t runner) { return alive(runner); };
    std::vector<Owed> owed_;  // marks to be put back, under `mutex_`
    Group group_;
    sqlite::CommitWatch watch_{[this] { return connected(); }};
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

Result<StoreFormat> SqliteCheckpointer::format(const std::string& path) {
    try {
        if (auto failure = unusable(path)) return std::move(*failure);
        // One in memory has what a new file has.
        const bool fresh = is_new(path);
        Database database(fresh ? ":memory:" : file_uri(path, true, false), SQLITE_OPEN_READONLY,
                          SqliteOptions{}.busy_ms);
        return sqlite::format_of(database, path);
    } catch (const Error& error) {
        return sqlite::failure_of(error, path);
    }
}

std::vector<std::string> SqliteCheckpointer::files(const std::string& path) {
    std::vector<std::string> all;
    // SQLite puts its own beside the file that a link leads to, we ours beside the link.
    for (const auto& place : real_places({path})) {
        for (const auto* suffix : {"", "-wal", "-shm", "-journal", "-runners"}) all.push_back(place + suffix);
    }
    return all;
}

Result<bool> SqliteCheckpointer::syncs_commits() {
    return store_->syncs_commits();
}

Result<AppendResult> SqliteCheckpointer::append(const Append& append) {
    return store_->append(append);
}

Result<std::optional<ThreadHead>> SqliteCheckpointer::find_thread(const std::string& id) {
    return store_->read([&](Rows rows) -> Result<std::optional<ThreadHead>> {
        auto head = rows.find_thread(id);
        if (head) head->runner_alive = store_->alive(head->runner);
        return head;
    });
}

Result<std::vector<JournalRow>> SqliteCheckpointer::load(const std::string& thread_id, std::int64_t after) {
    return store_->read([&](Rows rows) -> Result<std::vector<JournalRow>> { return rows.load(thread_id, after); });
}

Result<std::vector<ThreadHead>> SqliteCheckpointer::threads() {
    return store_->read([&](Rows rows) -> Result<std::vector<ThreadHead>> {
        auto heads = rows.threads();
        for (auto& head : heads) head.runner_alive = store_->alive(head.runner);
        return heads;
    });
}

Result<std::vector<ThreadHead>> SqliteCheckpointer::descendants(const std::string& thread_id) {
    return store_->read([&](Rows rows) -> Result<std::vector<ThreadHead>> {
        auto heads = rows.descendants(thread_id);
        for (auto& head : heads) head.runner_alive = store_->alive(head.runner);
        return heads;
    });
}

Result<std::vector<OpenApproval>> SqliteCheckpointer::open_approvals(const std::string& thread_id, std::int64_t after,
                                                                     std::size_t limit) {
    return store_->read(
        [&](Rows rows) -> Result<std::vector<OpenApproval>> { return rows.open_approvals(thread_id, after, limit); });
}

Result<OpenCount> SqliteCheckpointer::count_open() {
    return store_->read([](Rows rows) -> Result<OpenCount> { return rows.count_open(); });
}

Result<std::optional<ApprovalPlace>> SqliteCheckpointer::find_approval(std::int64_t number) {
    return store_->read([&](Rows rows) -> Result<std::optional<ApprovalPlace>> { return rows.find_approval(number); });
}

Result<std::string> SqliteCheckpointer::schema(const std::string& digest) {
    return store_->read([&](Rows rows) -> Result<std::string> {
        if (auto text = rows.schema(digest)) return std::move(*text);
        return Failure{FailureKind::database, "the schema of this approval is not stored; the database is damaged"};
    });
}

Result<std::optional<Snapshot>> SqliteCheckpointer::snapshot(const std::string& thread_id) {
    return store_->read([&](Rows rows) -> Result<std::optional<Snapshot>> { return rows.snapshot(thread_id); });
}

Result<void> SqliteCheckpointer::give_back(const std::string& thread_id, std::int64_t fence) {
    return store_->give_back(thread_id, fence);
}

Result<std::vector<ReadyThread>> SqliteCheckpointer::take_ready(std::size_t limit, UnixMillis now) {
    return store_->take_ready(limit, now);
}

Result<void> SqliteCheckpointer::put_back(const std::string& thread_id, std::int64_t delay_ms) {
    return store_->put_back(thread_id, delay_ms);
}

std::shared_ptr<void> SqliteCheckpointer::watch(Changed changed) {
    return store_->watch(std::move(changed));
}

}  // namespace assent
