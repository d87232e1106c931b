// The way of one process to the store: the store in memory behind faults, under the lease rule of stores that several
// processes share. In a world of several nodes it is a connection to a server, as that of the store on PostgreSQL.
#pragma once

#include "sim/ledger.hpp"
#include "sim/server.hpp"

#include <assent/memory.hpp>

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace assent::sim {

/// What goes wrong at an append.
enum class Fault { fails, uncertain_kept, uncertain_lost, dies_before, dies_after };

/// What all connections share.
struct SharedStore {
    struct Lease {
        int process = 0;
        std::int64_t fence = 0;
    };
    explicit SharedStore(Ledger& ledger_given) : ledger(ledger_given) {}

    MemoryCheckpointer rows;
    std::map<std::string, Lease> leases;
    Ledger& ledger;
    std::optional<Server> server;  ///< In a world of several nodes.
    /// Whether this process has died or cannot have kept its lease.
    std::function<bool(int process)> lease_is_over;
    /// Others act between a read of this process and the append that rests on it.
    std::function<void(int process)> meanwhile;
    std::function<Tick()> tick;
    /// Somebody has the thread now, who will go on with it.
    std::function<void(const std::string& thread)> taken;
    std::function<bool(int percent)> chance;
    /// An append that is still under way though its connection is gone.
    std::optional<std::pair<Append, int>> under_way;
};

class Connection final : public Checkpointer {
public:
    /// `process` 0: a reviewer's program, which never runs threads.
    Connection(SharedStore& shared, int process, const Node* node = nullptr)
        : shared_(shared), process_(process), node_(node) {}

    /// This goes wrong at the append after `appends` others, and so many reads after it fail.
    void arm(Fault fault, int appends, int reads_failing);
    void disarm();
    /// Nothing is stored or read by it any more.
    void die();
    [[nodiscard]] bool dead() const noexcept { return dead_; }
    /// It took a lease, and a second fault kept it from learning so. Only its death frees the thread.
    [[nodiscard]] bool holds_unknowingly() const noexcept { return holds_unknowingly_; }

    Result<AppendResult> append(const Append& append) override;
    Result<std::optional<ThreadHead>> find_thread(const std::string& id) override;
    Result<std::vector<JournalRow>> load(const std::string& thread_id, std::int64_t after) override;
    Result<std::vector<ThreadHead>> threads() override;
    Result<std::vector<OpenApproval>> open_approvals(const std::string& thread_id, std::int64_t after,
                                                     std::size_t limit) override;
    Result<std::optional<ApprovalPlace>> find_approval(std::int64_t number) override;
    Result<std::string> schema(const std::string& digest) override;
    Result<std::optional<Snapshot>> snapshot(const std::string& thread_id) override;
    Result<void> give_back(const std::string& thread_id, std::int64_t fence) override;
    Result<std::vector<ReadyThread>> take_ready(std::size_t limit, UnixMillis now) override;
    Result<void> put_back(const std::string& thread_id, std::int64_t delay_ms) override;
    [[nodiscard]] std::optional<std::int64_t> keeps_for_ms() const override;

    /// What its renewing thread does between these moments of the monotonic clock.
    void renew(std::int64_t from, std::int64_t to);

private:
    /// To be given back, or put back if there is a delay; the server could not be reached.
    struct Owed {
        std::string thread;
        std::int64_t fence = 0;
        std::optional<std::int64_t> delay_ms;
    };

    [[nodiscard]] std::optional<Fault> due_fault();
    [[nodiscard]] std::optional<Failure> read_fault();
    [[nodiscard]] bool reaches_store() const;
    [[nodiscard]] std::optional<Failure> become_runner();
    Result<AppendResult> attempt(const Append& append);
    Result<AppendResult> stored(const Append& append);
    Result<AppendResult> lost(const Append& append);
    Result<AppendResult> write_again(const Append& append, const AppendResult& first);
    Result<AppendResult> after_doubt(const Append& append, AppendResult result);
    Result<AppendResult> after_doubt_of_runner(const Append& append, AppendResult result);
    /// Whether a runner had it whose lease is over.
    bool free_of_dead(const std::string& thread);
    bool free(const std::string& thread, std::int64_t fence);
    void note_row(const Append& append, const AppendResult& result);
    void end_commit_under_way(const std::string& thread);
    [[nodiscard]] std::int64_t fence_of(const std::string& thread) const;
    void sweep(UnixMillis now);
    [[nodiscard]] std::vector<std::string> free_threads();

    SharedStore& shared_;
    int process_;
    const Node* node_;
    bool dead_ = false;
    bool holds_unknowingly_ = false;
    std::optional<Fault> fault_;
    int appends_before_fault_ = 0;
    int reads_failing_after_fault_ = 0;
    int reads_failing_ = 0;
    // Of a runner on a server.
    bool is_runner_ = false;
    std::int64_t renewed_at_ = 0;
    std::vector<Owed> owed_;
    std::set<std::string> known_taken_;  ///< Marks that it took and knows of.
};

/// What a row is known by.
[[nodiscard]] Digest row_digest(std::string_view header, std::string_view salt, std::string_view body);

}  // namespace assent::sim
