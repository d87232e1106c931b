#include "agent/run_limits.hpp"

#include "gate/session.hpp"

namespace assent {

Result<void> RunLimits::add_used(const AgentOptions& options, const Gate& gate) {
    turns_ += gate.run_turns();
    calls_ += gate.run_calls();
    for (const auto& delegation : gate.delegated()) {
        if (auto added = add_used_by(options, delegation.child); !added) return added;
    }
    return {};
}

Result<void> RunLimits::add_used_by(const AgentOptions& options, const std::string& child) {
    auto& store = *options.checkpointer;
    ThreadSession session(store, child, options.clock != nullptr ? *options.clock : store.clock(),
                          options.random != nullptr ? *options.random : system_random());
    if (auto known = session.refresh(); !known) return known.failure();
    const auto& state = session.state();
    turns_ += state.run_turns;
    calls_ += state.run_calls;
    for (const auto& call : state.calls) {
        if (call.stage != journal::CallStage::delegated) continue;
        if (auto added = add_used_by(options, journal::child_of(call)); !added) return added;
    }
    return {};
}

void RunLimits::count_from(const Gate& root) {
    const std::lock_guard lock(mutex_);
    turns_ = root.run_turns();
    calls_ = root.run_calls();
}

bool RunLimits::take_turn() {
    const std::lock_guard lock(mutex_);
    if (turns_ >= turns_max_) return false;
    ++turns_;
    return true;
}

void RunLimits::give_back_turn() {
    const std::lock_guard lock(mutex_);
    --turns_;
}

bool RunLimits::take_calls(int calls) {
    const std::lock_guard lock(mutex_);
    if (calls > calls_max_ - calls_) return false;
    calls_ += calls;
    return true;
}

}  // namespace assent
