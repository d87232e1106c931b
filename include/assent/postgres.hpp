// Journals in a PostgreSQL database (15 or later): any number of processes on any number of machines share it;
// any may answer, one at a time runs a thread.
//
// A process that runs threads holds a lease, renewed in the background; one that dies, hangs or is cut off loses
// it when it runs out, and its threads go on elsewhere. All times of leases are the database's.
//
// Works through a pooler in transaction mode with `PostgresOptions::prepared` and `listen` off.
//
// Thread-safety: all members may be called from several threads. Appends and looks at single threads that come together
// share one connection in turn, and may wait some milliseconds for each other; every other call takes a connection of
// the pool and waits for one where all are in use.
//
// Numbers of approvals are given before they can be seen: of two that are asked at the same time the higher may be seen
// first. Whoever goes on behind the highest number it knows looks now and then from the beginning.
//
// Errors: Failure kind `database`. The password of the address is in no message.
#pragma once

#include <assent/checkpointer.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace assent {

struct PostgresOptions {
    std::string schema = "assent";  ///< Where the tables are; letters, digits and underscores.
    /// Make or upgrade the tables when opened. Without, another version of them is a failure: for roles that may
    /// not change tables.
    bool migrate = true;
    int connections_max = 8;  ///< Of the pool; one more renews the lease, and with `listen` one more hears and tells.
    /// How long connecting may take; and how long all of the pool may be in use, none given back, before it is a
    /// failure.
    std::int64_t connect_ms = 10'000;
    /// A server that says nothing for so long while it is asked counts as gone; what it was doing is in doubt.
    std::int64_t answer_ms = 30'000;
    std::int64_t lease_ms = 10'000;  ///< How long a runner that gives no sign keeps its threads.
    /// How often at most `take_ready` looks for threads of dead runners and for deadlines that have passed.
    std::int64_t sweep_ms = 250;
    /// A deadline is compared with the server's clock, once the thread is locked. Without, with the time that comes
    /// with an answer, which is for tests that play time.
    bool server_time = true;
    bool prepared = true;  ///< Statements are prepared once a connection.
    bool listen = true;    ///< One connection more hears of what others stored; without, who waits only looks again.
};

class PostgresCheckpointer final : public Checkpointer {
public:
    /// `url`: postgresql://USER:PASSWORD@HOST:PORT/DATABASE?sslmode=…, as libpq reads it; what it leaves out comes
    /// from libpq's own environment variables and files. Two parameters are ours and go before the options:
    /// `schema=NAME`, and `pooler=transaction` (neither `prepared` nor `listen`).
    static Result<std::unique_ptr<PostgresCheckpointer>> open(const std::string& url,
                                                              const PostgresOptions& options = {});
    /// The same; throws std::runtime_error with the failure's message.
    explicit PostgresCheckpointer(const std::string& url, const PostgresOptions& options = {});
    ~PostgresCheckpointer() override;

    /// Which tables are there. Changes nothing.
    static Result<StoreFormat> format(const std::string& url, const PostgresOptions& options = {});

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
    [[nodiscard]] std::optional<std::int64_t> keeps_for_ms() const override;
    [[nodiscard]] std::shared_ptr<void> when_lost(std::function<void()> lost) const override;
    /// The server's clock, asked for when the store is opened and with each renewal of a lease, in between carried on
    /// by the machine's monotonic one.
    [[nodiscard]] const Clock& clock() const override;
    [[nodiscard]] std::shared_ptr<void> watch(Changed changed) override;

private:
    class Store;
    explicit PostgresCheckpointer(std::unique_ptr<Store> store);
    std::unique_ptr<Store> store_;
};

}  // namespace assent
