// SQLite's C interface with destructors and our errors.
#pragma once

#include <assent/result.hpp>

#include <sqlite3.h>

#include <cstdint>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

namespace assent::sqlite {

/// What SQLite said no to. Caught at the store's members and returned as a Failure.
class Error : public std::runtime_error {
public:
    Error(int code, const std::string& message) : std::runtime_error(message), code_(code) {}
    [[nodiscard]] int code() const noexcept { return code_; }  ///< Extended result code.

private:
    int code_;
};

/// A failure kind `database` with words for people for the code of `error`.
[[nodiscard]] Failure failure_of(const Error& error, const std::string& path);

class Statement {
public:
    Statement(sqlite3* database, std::string_view sql);

    /// Texts and blobs are not copied: they must live until the statement is run or reset.
    Statement& bind(std::int64_t value);
    Statement& bind(int value) { return bind(static_cast<std::int64_t>(value)); }
    Statement& bind(std::string_view text);
    Statement& bind_blob(std::string_view bytes);
    Statement& bind_null();

    /// Moves to the next row; false after the last. Throws Error.
    bool step();
    /// Runs a statement that gives no rows, and makes it ready for another use, also when it throws.
    void run();
    void reset() noexcept;
    [[nodiscard]] bool has_bound() const noexcept { return bound_ != 0; }

    [[nodiscard]] std::int64_t integer(int column) const;
    [[nodiscard]] bool is_null(int column) const;
    [[nodiscard]] std::string text(int column) const;  ///< Also blobs.

private:
    void check(int code);
    struct Finalize {
        void operator()(sqlite3_stmt* statement) const noexcept { sqlite3_finalize(statement); }
    };
    sqlite3* database_;
    std::unique_ptr<sqlite3_stmt, Finalize> statement_;
    int bound_ = 0;
};

/// A kept statement in use. Its end resets it: a read left open would pin an old view of the database.
class Query {
public:
    explicit Query(Statement& statement) noexcept : statement_(statement) {}
    Query(const Query&) = delete;
    Query& operator=(const Query&) = delete;
    ~Query() { statement_.reset(); }
    Statement* operator->() const noexcept { return &statement_; }

private:
    Statement& statement_;
};

class Database {
public:
    /// `uri` is a file: URI. Throws Error.
    Database(const std::string& uri, int flags, std::int64_t busy_ms);

    /// A prepared statement for one `run()`, kept for the next use.
    Statement& statement(const char* sql);
    /// The same for reading rows.
    [[nodiscard]] Query query(const char* sql) { return Query(statement(sql)); }
    void execute(const char* sql);
    [[nodiscard]] sqlite3* handle() const noexcept { return database_.get(); }
    [[nodiscard]] std::int64_t pragma(const char* sql);

private:
    struct Close {
        void operator()(sqlite3* database) const noexcept { sqlite3_close_v2(database); }
    };
    static int wait_for_writer(void* self, int tries);
    std::unique_ptr<sqlite3, Close> database_;
    std::map<const char*, Statement> statements_;
    std::int64_t busy_ms_;
};

/// Rolls back unless committed.
class Transaction {
public:
    explicit Transaction(Database& database);
    Transaction(const Transaction&) = delete;
    Transaction& operator=(const Transaction&) = delete;
    ~Transaction();
    void commit();

private:
    Database& database_;
    bool open_ = true;
};

}  // namespace assent::sqlite
