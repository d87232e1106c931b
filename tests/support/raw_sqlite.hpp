// SQLite without the store: as another program uses it, and with a disk that fails when told.
#pragma once

#include <sqlite3.h>

#include <atomic>
#include <stdexcept>
#include <string>

namespace assent::test {

/// A connection of another program.
class RawSqlite {
public:
    explicit RawSqlite(const std::string& path) {
        const int code = sqlite3_open_v2(path.c_str(), &database_, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr);
        if (code != SQLITE_OK) throw std::runtime_error(sqlite3_errmsg(database_));
        sqlite3_busy_timeout(database_, 10'000);
    }
    RawSqlite(const RawSqlite&) = delete;
    RawSqlite& operator=(const RawSqlite&) = delete;
    ~RawSqlite() { sqlite3_close_v2(database_); }

    void run(const std::string& sql) const {
        if (sqlite3_exec(database_, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) {
            throw std::runtime_error(sqlite3_errmsg(database_));
        }
    }
    /// The first column of the first row, as text.
    std::string value(const std::string& sql) const {
        sqlite3_stmt* statement = nullptr;
        sqlite3_prepare_v2(database_, sql.c_str(), -1, &statement, nullptr);
        std::string text;
        if (sqlite3_step(statement) == SQLITE_ROW) {
            text = reinterpret_cast<const char*>(sqlite3_column_text(statement, 0));
        }
        const int code = sqlite3_finalize(statement);
        if (code != SQLITE_OK) throw std::runtime_error(sqlite3_errmsg(database_));
        return text;
    }

private:
    sqlite3* database_ = nullptr;
};

/// While one lives, every connection that is opened syncs through it.
class FailingDisk {
public:
    FailingDisk() {
        vfs() = *sqlite3_vfs_find(nullptr);
        real_open() = vfs().xOpen;
        vfs().zName = "failing-disk";
        vfs().xOpen = &open;
        syncs() = 0;
        failures() = 0;
        sqlite3_vfs_register(&vfs(), 1);
    }
    FailingDisk(const FailingDisk&) = delete;
    FailingDisk& operator=(const FailingDisk&) = delete;
    ~FailingDisk() { sqlite3_vfs_unregister(&vfs()); }

    /// The next `count` syncs fail.
    static void fail_syncs(int count) { failures() = count; }
    static std::atomic<int>& syncs() {
        static std::atomic<int> count = 0;
        return count;
    }

private:
    static sqlite3_vfs& vfs() {
        static sqlite3_vfs own;
        return own;
    }
    static decltype(sqlite3_vfs::xOpen)& real_open() {
        static decltype(sqlite3_vfs::xOpen) function = nullptr;
        return function;
    }
    static decltype(sqlite3_io_methods::xSync)& real_sync() {
        static decltype(sqlite3_io_methods::xSync) function = nullptr;
        return function;
    }
    static std::atomic<int>& failures() {
        static std::atomic<int> count = 0;
        return count;
    }
    static int open(sqlite3_vfs* self, const char* name, sqlite3_file* file, int flags, int* out) {
        const int code = real_open()(self, name, file, flags, out);
        if (code != SQLITE_OK || file->pMethods == nullptr || file->pMethods->xSync == &sync) return code;
        // Kept for ever: files of a connection may outlive this object. One set of methods a kind of file.
        auto* methods = new sqlite3_io_methods(*file->pMethods);
        real_sync() = methods->xSync;
        methods->xSync = &sync;
        kept()[kept_count()++ % kept_max] = methods;
        file->pMethods = methods;
        return code;
    }
    static int sync(sqlite3_file* file, int flags) {
        ++syncs();
        if (failures() > 0 && failures()-- > 0) return SQLITE_IOERR_FSYNC;
        return real_sync()(file, flags);
    }
    // Reachable, so that no leak is reported.
    static constexpr int kept_max = 1024;
    static sqlite3_io_methods** kept() {
        static sqlite3_io_methods* all[kept_max];
        return all;
    }
    static int& kept_count() {
        static int count = 0;
        return count;
    }
};

}  // namespace assent::test
