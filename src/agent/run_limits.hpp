// The limits of one prompt: model turns and calls of the agent and of all agents below it, counted together.
#pragma once

#include <assent/agent.hpp>

#include <mutex>
#include <string>

namespace assent {

class RunLimits {
public:
    RunLimits(int turns_max, int calls_max) noexcept : turns_max_(turns_max), calls_max_(calls_max) {}

    /// Counts what a run has used before: of the gate's thread, and of those below that have not ended.
    Result<void> add_used(const AgentOptions& options, const Gate& gate);

    /// What the root has on record when it asks its model: then nothing runs below it, and a prompt that was
    /// queued has begun anew.
    void count_from(const Gate& root);

    /// False: none is left.
    [[nodiscard]] bool take_turn();
    /// A turn that the model did not give.
    void give_back_turn();
    /// All or none.
    [[nodiscard]] bool take_calls(int calls);

private:
    Result<void> add_used_by(const AgentOptions& options, const std::string& child);

    std::mutex mutex_;
    int turns_max_;
    int calls_max_;
    int turns_ = 0;
    int calls_ = 0;
};

}  // namespace assent
