// Journals in memory: for tests, and for hosts that need nothing to outlive the process.
#pragma once

#include <assent/checkpointer.hpp>

#include <memory>

namespace assent {

/// Keeps everything until it is destroyed. One mutex; any number of agents and threads may share it.
class MemoryCheckpointer final : public Checkpointer {
public:
    MemoryCheckpointer();
    ~MemoryCheckpointer() override;

    Result<AppendResult> append(const Append& append) override;
    Result<std::optional<ThreadHead>> find_thread(const std::string& id) override;
    Result<std::vector<JournalRow>> load(const std::string& thread_id, std::int64_t after) override;
    Result<std::vector<ThreadHead>> threads() override;
    Result<std::vector<ThreadHead>> descendants(const std::string& thread_id) override;
    Result<std::vector<OpenApproval>> open_approvals(const std::string& thread_id, std::int64_t after,
                                                     std::size_t limit) override;
    Result<std::optional<ApprovalPlace>> find_approval(std::int64_t number) override;
    Result<std::string> schema(const std::string& digest) override;
    Result<std::optional<Snapshot>> snapshot(const std::string& thread_id) override;
    Result<void> give_back(const std::string& thread_id, std::int64_t fence) override;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace assent
