#include "store/sqlite/migrations.hpp"

#include <array>

namespace assent::sqlite {
namespace {

constexpr std::int64_t application_id = 0x41534e54;  // "ASNT"

// Step n makes version n of version n - 1. Steps are never changed once released.
//
// What makes appends fast is the small number of distinct pages one touches: journal rows stand in
// global order without a second index, the thread row holds the head, each row the previous position.
constexpr std::array migrations{
    R"sql(
CREATE TABLE schema_version(version INTEGER PRIMARY KEY, at INTEGER NOT NULL) STRICT;
CREATE TABLE thread(
  no INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, status INTEGER NOT NULL, seq INTEGER NOT NULL,
  head INTEGER NOT NULL, hash BLOB NOT NULL, fence INTEGER NOT NULL, runner INTEGER,
  task TEXT NOT NULL, updated_at INTEGER NOT NULL) STRICT;
CREATE TABLE journal(
  pos INTEGER PRIMARY KEY, thread INTEGER NOT NULL, seq INTEGER NOT NULL, prev INTEGER NOT NULL,
  cmd BLOB NOT NULL, at INTEGER NOT NULL, header BLOB NOT NULL, salt BLOB, body BLOB) STRICT;
CREATE TABLE approval(
  no INTEGER PRIMARY KEY, thread INTEGER NOT NULL, turn INTEGER NOT NULL, position INTEGER NOT NULL,
  ask_no INTEGER NOT NULL, kind INTEGER NOT NULL, guard TEXT NOT NULL, digest BLOB NOT NULL,
  deadline INTEGER, at INTEGER NOT NULL, question BLOB NOT NULL) STRICT;
CREATE TABLE approval_ref(no INTEGER PRIMARY KEY, thread INTEGER NOT NULL, pos INTEGER NOT NULL) STRICT;
CREATE INDEX approval_thread ON approval(thread);
CREATE INDEX approval_deadline ON approval(deadline) WHERE deadline IS NOT NULL;
CREATE TABLE schema_text(digest TEXT PRIMARY KEY, text TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE snapshot(
  thread INTEGER PRIMARY KEY, seq INTEGER NOT NULL, pos INTEGER NOT NULL, version INTEGER NOT NULL,
  state BLOB NOT NULL) STRICT;
CREATE TABLE runner(
  no INTEGER PRIMARY KEY, boot TEXT NOT NULL, host TEXT NOT NULL, pid INTEGER NOT NULL, at INTEGER NOT NULL) STRICT;
)sql",
    // What somebody should go on with, and who holds what: a worker reads neither all threads nor those that wait. Of
    // the threads from before nobody knows, so each is looked at once.
    R"sql(
CREATE TABLE ready(no INTEGER PRIMARY KEY, thread INTEGER NOT NULL UNIQUE, due INTEGER NOT NULL, runner INTEGER) STRICT;
CREATE INDEX thread_running ON thread(runner) WHERE runner IS NOT NULL;
INSERT INTO ready(thread, due) SELECT no, 0 FROM thread WHERE status = 0 ORDER BY no;
)sql",
};

constexpr auto current = static_cast<std::int64_t>(migrations.size());

// The version of a database that is ours or empty. One statement, so that all it reads belongs
// together: another process may be setting the database up.
Result<std::int64_t> version_of(Database& database, const std::string& path) {
    auto query = database.query(
        "SELECT (SELECT count(*) FROM sqlite_schema), application_id, user_version"
        " FROM pragma_application_id, pragma_user_version");
    query->step();
    const bool empty = query->integer(0) == 0;
    const auto identity = query->integer(1);
    const auto version = query->integer(2);
    if (identity != application_id && !(empty && identity == 0 && version == 0)) {
        return Failure{FailureKind::database,
                       "the database " + path + " belongs to another program; give another path"};
    }
    if (version > current) {
        return Failure{FailureKind::database, "the database " + path +
                                                  " was made by a newer version of assent (format " +
                                                  std::to_string(version) + ", this one knows " +
                                                  std::to_string(current) + "); use that version"};
    }
    return version;
}

}  // namespace

Result<StoreFormat> format_of(Database& database, const std::string& path) {
    const auto version = version_of(database, path);
    if (!version) return version.failure();
    return StoreFormat{.found = *version, .current = current};
}

Result<void> migrate(Database& database, const std::string& path, bool read_only) {
    auto version = version_of(database, path);
    if (!version) return version.failure();
    if (*version == current) return {};
    if (read_only) {
        return Failure{FailureKind::database, "the database " + path +
                                                  (*version == 0 ? " is not set up yet and cannot be"
                                                                 : " is of an older version and cannot be upgraded") +
                                                  ", it is read-only"};
    }
    Transaction transaction(database);
    // Another process may have done it while we waited for the lock.
    version = version_of(database, path);
    if (!version) return version.failure();
    for (auto step = *version; step < current; ++step) {
        database.execute(migrations[static_cast<std::size_t>(step)]);
        database.execute(
            ("INSERT INTO schema_version VALUES(" + std::to_string(step + 1) + ", unixepoch() * 1000)").c_str());
        database.execute(("PRAGMA user_version = " + std::to_string(step + 1)).c_str());
        database.execute(("PRAGMA application_id = " + std::to_string(application_id)).c_str());
    }
    transaction.commit();
    return {};
}

}  // namespace assent::sqlite
