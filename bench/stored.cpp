#include "stored.hpp"

#include "workload.hpp"

#include <assent/sqlite.hpp>

#include <sqlite3.h>

#include <filesystem>
#include <memory>
#include <stdexcept>
#include <utility>

namespace bench {
namespace {

constexpr int busy_ms = 10'000;

struct CloseDatabase {
    void operator()(sqlite3* database) const { sqlite3_close_v2(database); }
};
struct Finalize {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};

std::vector<std::int64_t> numbers_in(const std::string& path, const std::string& sql) {
    sqlite3* opened = nullptr;
    const int code = sqlite3_open_v2(path.c_str(), &opened, SQLITE_OPEN_READWRITE, nullptr);
    const std::unique_ptr<sqlite3, CloseDatabase> database(opened);
    sqlite3_stmt* prepared = nullptr;
    if (code != SQLITE_OK || sqlite3_busy_timeout(opened, busy_ms) != SQLITE_OK ||
        sqlite3_prepare_v2(opened, sql.c_str(), -1, &prepared, nullptr) != SQLITE_OK) {
        throw std::runtime_error("the database cannot be read: " + std::string(sqlite3_errmsg(opened)));
    }
    const std::unique_ptr<sqlite3_stmt, Finalize> statement(prepared);
    std::vector<std::int64_t> numbers;
    while (sqlite3_step(prepared) == SQLITE_ROW) numbers.push_back(sqlite3_column_int64(prepared, 0));
    if (sqlite3_reset(prepared) != SQLITE_OK) {
        throw std::runtime_error("the database cannot be read: " + std::string(sqlite3_errmsg(opened)));
    }
    return numbers;
}

}  // namespace

std::int64_t number_in(const std::string& path, const std::string& sql) {
    const auto numbers = numbers_in(path, sql);
    if (numbers.size() != 1) throw std::runtime_error("the database does not answer: " + sql);
    return numbers.front();
}

RowBytes cycle_row_bytes(const std::string& path) {
    const auto workload = make_workload();
    assent::SqliteCheckpointer store(path);
    // The second cycle of a thread: the first also records what the thread runs with.
    auto agent = make_agent(workload, store, "conversation-0");
    gated_cycle(agent, 0);
    const auto last = number_in(path, "SELECT max(pos) FROM journal");
    const auto asked = agent.prompt(prompt_text(1));
    if (asked.interrupts.size() != 1) throw std::runtime_error("the call did not wait");
    const auto question = number_in(path, "SELECT length(question) + length(digest) + length(guard) FROM approval");
    (void)agent.resume({{asked.interrupts[0].id, assent::approve()}});
    RowBytes rows;
    for (const auto bytes : numbers_in(path,
                                       "SELECT length(cmd) + length(header) + length(salt) + length(body) FROM journal"
                                       " WHERE pos > " +
                                           std::to_string(last) + " ORDER BY pos")) {
        rows.push_back(static_cast<std::size_t>(bytes));
    }
    if (rows.size() < 2) throw std::runtime_error("a cycle should leave several rows");
    rows[1] += static_cast<std::size_t>(question);
    return rows;
}

std::int64_t checkpointed_bytes(const std::string& path) {
    if (number_in(path, "PRAGMA wal_checkpoint(TRUNCATE)") != 0) {
        throw std::runtime_error("the database is busy and cannot be measured");
    }
    return static_cast<std::int64_t>(std::filesystem::file_size(path));
}

}  // namespace bench
