// The way of one process to the store: the store in memory behind faults, under the lease rule of stores
// that several processes share.
#pragma once

#include "sim/ledger.hpp"

#include <assent/memory.hpp>

#include <functional>
#include <map>
#include <optional>
#include <string>

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
    /// Whether this process has died or cannot have kept its lease.
    std::function<bool(int process)> lease_is_over;
    /// Others act between a read of this process and the append that rests on it.
    std::function<void(int process)> meanwhile;
    std::function<Tick()> tick;
};

class Connection final : public Checkpointer {
public:
    /// `process` 0: a reviewer's program, which never runs threads.
    Connection(SharedStore& shared, int process) : shared_(shared), process_(process) {}

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

private:
    [[nodiscard]] std::optional<Fault> due_fault();
    [[nodiscard]] std::optional<Failure> read_fault();
    Result<AppendResult> stored(const Append& append);
    Result<AppendResult> after_doubt(const Append& append, const AppendResult& result);

    SharedStore& shared_;
    int process_;
    bool dead_ = false;
    bool holds_unknowingly_ = false;
    std::optional<Fault> fault_;
    int appends_before_fault_ = 0;
    int reads_failing_after_fault_ = 0;
    int reads_failing_ = 0;
};

/// What a row is known by.
[[nodiscard]] Digest row_digest(std::string_view header, std::string_view salt, std::string_view body);

}  // namespace assent::sim
