// A disk whose power can be cut and which can fail, under every SQLite connection that is opened while it lives.
//
// What a file has for sure is what it had when it was last synced. Of what was written since, a cut leaves any part:
// each write whole, torn at sectors, or not at all. Names of files are as sure as on a file system that keeps a journal
// of them: made and deleted ones are with the next sync of any file.
//
// Thread-safety: SQLite may call from several threads; the members here are for the test's own.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <vector>

namespace assent::test {

struct DiskFaults {
    std::int64_t cut_at = 0;   ///< The power is cut before this operation, counted from 1. 0: never.
    std::int64_t fail_at = 0;  ///< This operation fails, and `fails` in all.
    int fails = 1;
    bool is_full = false;  ///< Writes fail as on a full disk.
    bool lies = false;     ///< Says that it has synced, and has not.
};

class PlayedDisk {
public:
    PlayedDisk(DiskFaults faults, std::uint64_t seed);
    PlayedDisk(const PlayedDisk&) = delete;
    PlayedDisk& operator=(const PlayedDisk&) = delete;
    ~PlayedDisk();

    /// Reads, writes, truncations and syncs so far.
    [[nodiscard]] std::int64_t operations() const noexcept { return operations_; }
    [[nodiscard]] bool is_cut() const noexcept { return cut_; }
    /// Writes what a cut at this moment leaves into a folder; the files keep their names.
    void write_remains(const std::filesystem::path& folder);

private:
    friend struct PlayedFile;
    enum class Operation : std::uint8_t { read, write, truncate, sync };
    struct Pending {
        std::int64_t offset = 0;
        std::string bytes;
        bool truncates = false;  // to `offset`
    };
    struct Contents {
        std::string synced;
        std::vector<Pending> pending;
    };
    using Names = std::map<std::string, std::shared_ptr<Contents>>;

    /// What the operation fails with, or SQLITE_OK.
    int begin(Operation operation);
    void synced(Contents& contents);
    std::string remains_of(const Contents& contents);
    static void apply(std::string& bytes, const Pending& pending, std::size_t begin, std::size_t end);

    static int open(sqlite3_vfs* vfs, const char* name, sqlite3_file* file, int flags, int* out);
    static int remove(sqlite3_vfs* vfs, const char* name, int sync_folder);

    sqlite3_vfs* real_;
    sqlite3_vfs vfs_;
    std::mutex mutex_;
    DiskFaults faults_;
    std::mt19937_64 random_;
    std::int64_t operations_ = 0;
    bool cut_ = false;
    Names names_;         // as the program sees them
    Names synced_names_;  // as they are for sure
};

}  // namespace assent::test
