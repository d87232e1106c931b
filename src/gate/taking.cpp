// Taking a thread over from a runner that is gone, and what it left.
#include "gate/gate_impl.hpp"

#include <utility>

namespace assent {

using journal::ThreadState;

// Others may have taken the thread since, of which a runner that was stalled has not heard.
Result<void> Gate::Impl::look_whether_held() {
    if (!session.held()) return {};
    if (auto looked = session.look_whether_held(); !looked || session.held()) return looked;
    return release_claimed(not_started);
}

// Takes the thread, whoever held it before being gone.
Change Gate::Impl::take_over(const ThreadState& state) const {
    Change change{.lease = session.held() ? LeaseUse::keep : LeaseUse::take};
    add_configuration(state, change);
    return change;
}

// Takes the thread from a dead runner first: then nobody else asks for the receipts of what it had started, or
// waits for them, and what they prove is recorded by one. Dying in between leaves it to the next.
Result<void> Gate::Impl::settle_inherited() {
    if (!session.held()) {
        if (claimed_attempts(session.state()).empty()) return {};
        auto taken = append([](const ThreadState&) { return Change{.lease = LeaseUse::take}; });
        if (!taken) return taken;
    }
    return settle_left();
}

// A runner that was taken for dead may begin a call until the thread is taken from it, so it is looked at after each
// time that it was.
Result<void> Gate::Impl::settle_left() {
    if (!left_claimed.empty()) inherited = inherit(judge, session.state(), std::exchange(left_claimed, {}));
    if (inherited.empty()) return {};
    auto settled = append(
        [&](const ThreadState& state) { return Change{.events = settle(session.id(), judge, state, inherited)}; });
    if (!settled) return settled;
    for (const auto& [attempt, known] : inherited) judge.drop_receipt(known.tool, attempt);
    inherited.clear();
    return settled;
}

}  // namespace assent
