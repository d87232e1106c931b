#include "floor.hpp"

#include "place.hpp"

#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

#include <memory>
#include <stdexcept>
#include <string>

namespace bench {
namespace {

struct CloseDatabase {
    void operator()(sqlite3* database) const { sqlite3_close_v2(database); }
};
struct Finalize {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using Statement = std::unique_ptr<sqlite3_stmt, Finalize>;

Statement prepared(sqlite3* database, const char* sql) {
    sqlite3_stmt* statement = nullptr;
    if (sqlite3_prepare_v2(database, sql, -1, &statement, nullptr) != SQLITE_OK) {
        throw std::runtime_error(std::string("the floor cannot be measured: ") + sqlite3_errmsg(database));
    }
    return Statement(statement);
}

void run(const Statement& statement) {
    if (sqlite3_step(statement.get()) != SQLITE_DONE || sqlite3_reset(statement.get()) != SQLITE_OK) {
        throw std::runtime_error("the floor cannot be measured: sqlite refused a statement");
    }
}

}  // namespace

double raw_rows_a_second(const std::string& path, const RowBytes& rows, double group, double for_seconds) {
    sqlite3* opened = nullptr;
    const int code = sqlite3_open(path.c_str(), &opened);
    const std::unique_ptr<sqlite3, CloseDatabase> database(opened);
    if (code != SQLITE_OK) throw std::runtime_error("the floor cannot be measured: no database can be made");
    // As the store does it.
    sqlite3_exec(opened,
                 "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 4000;"
                 "CREATE TABLE floor(pos INTEGER PRIMARY KEY, body BLOB) STRICT",
                 nullptr, nullptr, nullptr);
    const auto begin = prepared(opened, "BEGIN IMMEDIATE");
    const auto insert = prepared(opened, "INSERT INTO floor(body) VALUES(?)");
    const auto commit = prepared(opened, "COMMIT");
    std::size_t largest = 0;
    for (const auto bytes : rows) largest = std::max(largest, bytes);
    const std::string body(largest, 'x');
    std::size_t written = 0;
    double due = 0;
    const auto start = seconds();
    while (seconds() - start < for_seconds) {
        run(begin);
        for (due += group; due >= 1; due -= 1) {
            sqlite3_bind_blob64(insert.get(), 1, body.data(), rows[written % rows.size()], SQLITE_STATIC);
            run(insert);
            ++written;
        }
        run(commit);
    }
    return static_cast<double>(written) / (seconds() - start);
}

double synced_appends_a_second(const std::string& path, std::size_t bytes, double for_seconds) {
    const int file = open(path.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
    if (file < 0) throw std::runtime_error("the floor cannot be measured: no file can be made");
    const std::string block(bytes, 'x');
    int appended = 0;
    bool good = true;
    const auto start = seconds();
    while (good && seconds() - start < for_seconds) {
        good = write(file, block.data(), block.size()) == static_cast<ssize_t>(block.size()) && fdatasync(file) == 0;
        ++appended;
    }
    const auto took = seconds() - start;
    close(file);
    if (!good) throw std::runtime_error("the floor cannot be measured: a file cannot be written");
    return appended / took;
}

}  // namespace bench
