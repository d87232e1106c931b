#include "watch.hpp"

#include <sqlite3.h>

#include <atomic>

namespace bench {
namespace {

std::atomic<std::int64_t> commits{0};
std::atomic<sqlite3*> committer{nullptr};

int note_commit(void* database) {
    commits.fetch_add(1);
    committer = static_cast<sqlite3*>(database);
    return 0;
}

int watch(sqlite3* database, const char** /*error*/, const sqlite3_api_routines* /*api*/) {
    sqlite3_commit_hook(database, &note_commit, database);
    return SQLITE_OK;
}

}  // namespace

void watch_sqlite() {
    // SQLite calls it with the arguments of `watch`, whatever type it declares for it.
    sqlite3_auto_extension(reinterpret_cast<void (*)()>(&watch));
}

std::int64_t commits_so_far() {
    return commits.load();
}

int synchronous_level() {
    sqlite3_stmt* query = nullptr;
    int level = -1;
    const auto prepared = sqlite3_prepare_v2(committer, "PRAGMA synchronous", -1, &query, nullptr);
    if (prepared == SQLITE_OK && sqlite3_step(query) == SQLITE_ROW) level = sqlite3_column_int(query, 0);
    sqlite3_finalize(query);
    return level;
}

}  // namespace bench
