// Journals in one SQLite file (write-ahead log, every commit synced). Several processes of one
// machine may share it: any may answer, one runs a thread, and the death of that one is proved by a
// lock it held, not by a timer.
//
// Beside PATH stand PATH-wal and PATH-shm (SQLite's own) and PATH-runners (locks of live processes).
// New files get mode 0600. Not for network file systems.
#pragma once

#include <assent/checkpointer.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace assent {

struct SqliteOptions {
    bool read_only = false;
    /// How long to wait for another process that is writing, in milliseconds.
    std::int64_t busy_ms = 10'000;
};

class SqliteCheckpointer final : public Checkpointer {
public:
    /// Opens or makes the database. Failure kind `database`: the file cannot be opened, is no
    /// database, belongs to another program, is damaged, or was made by a newer version.
    static Result<std::unique_ptr<SqliteCheckpointer>> open(const std::string& path, const SqliteOptions& options = {});
    /// The same; throws std::runtime_error with the failure's message.
    explicit SqliteCheckpointer(const std::string& path, const SqliteOptions& options = {});
    ~SqliteCheckpointer() override;

    /// Which tables are there. Changes nothing; a file that is not there has none. Failure kind `database` as for
    /// `open`.
    static Result<StoreFormat> format(const std::string& path);

    /// The files that a database at `path` is made of, also those that do not exist now, and where its
    /// links lead. Whoever can write one of them can decide for a person: give them to
    /// `ShellOptions::closed`.
    [[nodiscard]] static std::vector<std::string> files(const std::string& path);
    /// Whether each commit is on the disk before it counts.
    Result<bool> syncs_commits();

    Result<AppendResult> append(const Append& append) override;
    Result<std::optional<ThreadHead>> find_thread(const std::string& id) override;
    Result<std::vector<JournalRow>> load(const std::string& thread_id, std::int64_t after) override;
    Result<std::vector<ThreadHead>> threads() override;
    Result<std::vector<ThreadHead>> descendants(const std::string& thread_id) override;
    Result<std::vector<OpenApproval>> open_approvals(const std::string& thread_id, std::int64_t after,
                                                     std::size_t limit) override;
    Result<OpenCount> count_open() override;
    Result<std::optional<ApprovalPlace>> find_approval(std::int64_t number) override;
    Result<std::string> schema(const std::string& digest) override;
    Result<std::optional<Snapshot>> snapshot(const std::string& thread_id) override;
    Result<void> give_back(const std::string& thread_id, std::int64_t fence) override;
    Result<std::vector<ReadyThread>> take_ready(std::size_t limit, UnixMillis now) override;
    Result<void> put_back(const std::string& thread_id, std::int64_t delay_ms) override;
    /// Looks every few milliseconds whether somebody committed, as long as somebody waits.
    [[nodiscard]] std::shared_ptr<void> watch(Changed changed) override;

private:
    class Store;
    explicit SqliteCheckpointer(std::unique_ptr<Store> store);
    std::unique_ptr<Store> store_;
};

}  // namespace assent
