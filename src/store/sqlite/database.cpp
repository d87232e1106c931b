#include "store/sqlite/database.hpp"

#include <cerrno>

namespace assent::sqlite {
namespace {

// What the last call on `database` failed with. A file beside the database that finds no room (its shared
// memory) is an I/O error to SQLite; to people it is a full disk like any other.
Error last_error(sqlite3* database) {
    const int code = sqlite3_extended_errcode(database);
    const bool no_room = (code & 0xff) == SQLITE_IOERR && sqlite3_system_errno(database) == ENOSPC;
    return {no_room ? SQLITE_FULL : code, sqlite3_errmsg(database)};
}

}  // namespace

Failure failure_of(const Error& error, const std::string& path) {
    const std::string where = "the database " + path;
    switch (error.code() & 0xff) {
        case SQLITE_BUSY:
        case SQLITE_LOCKED:
            return {FailureKind::database, where + " is locked by another program; try again when it has ended"};
        case SQLITE_READONLY:
            return {FailureKind::database, where + " is read-only; check its permissions or mode=ro"};
        case SQLITE_NOTADB:
            return {FailureKind::database, where + " is not a database; give another path"};
        case SQLITE_CORRUPT:
            return {FailureKind::database, where + " is damaged (cut off or overwritten); restore it from a copy"};
        case SQLITE_FULL:
            return {FailureKind::database, where + " cannot grow, the disk is full; free some space"};
        case SQLITE_CANTOPEN:
            return {FailureKind::database,
                    where + " cannot be opened; check that the folder exists and may be written"};
        case SQLITE_PERM:
        case SQLITE_AUTH:
            return {FailureKind::database, where + " may not be opened by this user"};
        default:
            return {FailureKind::database, where + " failed: " + error.what()};
    }
}

Statement::Statement(sqlite3* database, std::string_view sql) : database_(database) {
    sqlite3_stmt* statement = nullptr;
    check(sqlite3_prepare_v3(database, sql.data(), static_cast<int>(sql.size()), SQLITE_PREPARE_PERSISTENT, &statement,
                             nullptr));
    statement_.reset(statement);
}

void Statement::check(int code) {
    if (code == SQLITE_OK || code == SQLITE_ROW || code == SQLITE_DONE) return;
    throw last_error(database_);
}

Statement& Statement::bind(std::int64_t value) {
    check(sqlite3_bind_int64(statement_.get(), ++bound_, value));
    return *this;
}

Statement& Statement::bind(std::string_view text) {
    check(sqlite3_bind_text64(statement_.get(), ++bound_, text.data(), text.size(), SQLITE_TRANSIENT, SQLITE_UTF8));
    return *this;
}

Statement& Statement::bind_blob(std::string_view bytes) {
    check(sqlite3_bind_blob64(statement_.get(), ++bound_, bytes.data(), bytes.size(), SQLITE_TRANSIENT));
    return *this;
}

Statement& Statement::bind_null() {
    check(sqlite3_bind_null(statement_.get(), ++bound_));
    return *this;
}

bool Statement::step() {
    const int code = sqlite3_step(statement_.get());
    check(code);
    return code == SQLITE_ROW;
}

void Statement::run() {
    step();
    reset();
}

void Statement::reset() noexcept {
    sqlite3_reset(statement_.get());
    sqlite3_clear_bindings(statement_.get());
    bound_ = 0;
}

std::int64_t Statement::integer(int column) const {
    return sqlite3_column_int64(statement_.get(), column);
}

bool Statement::is_null(int column) const {
    return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL;
}

std::string Statement::text(int column) const {
    const auto* bytes = static_cast<const char*>(sqlite3_column_blob(statement_.get(), column));
    const auto size = sqlite3_column_bytes(statement_.get(), column);
    return bytes == nullptr ? std::string() : std::string(bytes, static_cast<std::size_t>(size));
}

// A short poll, so that an answer is not starved by a runner that commits all the time.
int Database::wait_for_writer(void* self, int tries) {
    const auto* database = static_cast<const Database*>(self);
    if (tries > database->busy_ms_) return 0;
    sqlite3_sleep(1);
    return 1;
}

Database::Database(const std::string& uri, int flags, std::int64_t busy_ms) : busy_ms_(busy_ms) {
    sqlite3* handle = nullptr;
    const int code = sqlite3_open_v2(uri.c_str(), &handle,
                                     flags | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, nullptr);
    database_.reset(handle);
    if (code != SQLITE_OK) {
        const bool forbidden = handle != nullptr && (sqlite3_system_errno(handle) == EACCES);
        throw Error(forbidden ? SQLITE_PERM : code, handle == nullptr ? "out of memory" : sqlite3_errmsg(handle));
    }
    sqlite3_busy_handler(handle, &wait_for_writer, this);
}

Statement& Database::statement(const char* sql) {
    const auto found = statements_.find(sql);
    if (found != statements_.end()) {
        found->second.reset();
        return found->second;
    }
    return statements_.emplace(sql, Statement(database_.get(), sql)).first->second;
}

void Database::execute(const char* sql) {
    const int code = sqlite3_exec(database_.get(), sql, nullptr, nullptr, nullptr);
    if (code != SQLITE_OK) throw last_error(database_.get());
}

std::int64_t Database::pragma(const char* sql) {
    Statement query(database_.get(), sql);
    return query.step() ? query.integer(0) : 0;
}

Transaction::Transaction(Database& database) : database_(database) {
    database.statement("BEGIN IMMEDIATE").run();
}

Transaction::~Transaction() {
    if (!open_ || sqlite3_get_autocommit(database_.handle()) != 0) return;
    sqlite3_exec(database_.handle(), "ROLLBACK", nullptr, nullptr, nullptr);
}

void Transaction::commit() {
    database_.statement("COMMIT").run();
    open_ = false;
}

}  // namespace assent::sqlite
