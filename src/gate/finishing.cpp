// How starts and delegated calls ended: recorded, however late.
#include "base/display.hpp"
#include "gate/gate_impl.hpp"

#include <optional>

namespace assent {
namespace {

using namespace journal;  // NOLINT(google-build-using-namespace): as in gate.cpp

const std::string cannot_say = "the tool could not say how it ended";

}  // namespace

// An outcome of a start that was given up. It ends the call only if this start is what is in doubt.
void Gate::Impl::add_late(const Call& call, const Outcome& outcome, const ToolResult& result, Change& change) {
    const bool in_doubt = call.stage == CallStage::unknown && call.attempts.back().id == outcome.attempt;
    if (in_doubt && outcome.kind == OutcomeKind::unknown) {
        // The doubt stays; that the body came back makes a retry safe.
        change.events.emplace_back(Doubted{.attempt = outcome.attempt, .reason = cannot_say, .returned = true});
        return;
    }
    change.events.emplace_back(LateFinished{.attempt = outcome.attempt, .outcome = outcome.kind, .result = result});
    if (in_doubt) change.closes_calls.emplace_back(call.ref.turn, call.ref.position);
}

// A start of an earlier turn: the state holds it no more, the journal does.
Result<void> Gate::Impl::finish_earlier(const Outcome& outcome) {
    if (!outcome.started) return {};
    std::optional<Call> call;
    bool recorded = false;
    const auto look = [&](const ThreadState& state, const Event& event, const JournalRow&, const std::string&) {
        const auto* known = std::holds_alternative<Claimed>(event) ? state.find_attempt(outcome.attempt) : nullptr;
        if (known != nullptr) call = *known;
        const auto* finished = std::get_if<Finished>(&event);
        const auto* late = std::get_if<LateFinished>(&event);
        recorded = recorded || (finished != nullptr && finished->attempt == outcome.attempt) ||
                   (late != nullptr && late->attempt == outcome.attempt);
    };
    if (auto walked = walk_thread(*options.checkpointer, session.id(), look); !walked) return walked;
    if (!call) return {};
    if (!recorded) {
        const LateFinished late{.attempt = outcome.attempt, .outcome = outcome.kind, .result = hooked(outcome, *call)};
        auto stored = append([&](const ThreadState&) { return Change{.events = {late}, .lease = LeaseUse::none}; });
        if (!stored) return stored;
    }
    results.erase(outcome.attempt);
    judge.drop_receipt(call->tool, outcome.attempt);
    return {};
}

Result<void> Gate::finish(const Outcome& outcome) {
    const std::lock_guard lock(impl_->mutex);
    const auto& state_now = impl_->session.state();
    if (state_now.find_attempt(outcome.attempt) == nullptr) {
        if (auto read = impl_->session.refresh(); !read) return read.failure();
    }
    const auto* begun = state_now.find_attempt(outcome.attempt);
    if (begun == nullptr) return impl_->finish_earlier(outcome);
    const auto& result = impl_->hooked(outcome, *begun);
    std::optional<std::string> tool;
    bool counts = false;
    auto stored = impl_->append([&](const ThreadState& state) {
        Change change{.lease = LeaseUse::none};
        const auto* call = state.find_attempt(outcome.attempt);
        tool.reset();
        counts = false;
        if (call == nullptr || call->stage == CallStage::delegated) return change;
        tool = call->tool;
        const bool newest = call->attempts.back().id == outcome.attempt;
        if (!newest || !call->attempts.back().open) {
            const bool stands = newest && call->stage == CallStage::ended && call->outcome == outcome.kind &&
                                call->result.text == result.text;
            // It was recorded before, or it settles the doubt, or it changes nothing.
            counts = stands || (newest && call->stage == CallStage::unknown && outcome.kind != OutcomeKind::unknown);
            if (stands) return change;
            if (counts) impl_->add_file_changes(state, outcome.attempt, change);
            impl_->add_late(*call, outcome, result, change);
        } else if (!outcome.started) {
            change.events.emplace_back(Released{.attempt = outcome.attempt, .reason = result.text});
        } else if (outcome.kind == OutcomeKind::unknown) {
            change.events.emplace_back(Doubted{.attempt = outcome.attempt, .reason = cannot_say, .returned = true});
            if (!state.aborted) {
                change.events.emplace_back(doubt_question(impl_->session.id(), *call, cannot_say, result));
            }
        } else {
            counts = true;
            impl_->add_file_changes(state, outcome.attempt, change);
            change.events.emplace_back(Finished{.attempt = outcome.attempt, .outcome = outcome.kind, .result = result});
        }
        return change;
    });
    if (!stored) return stored;
    if (!tool) return impl_->finish_earlier(outcome);
    impl_->results.erase(outcome.attempt);
    impl_->files->settle(outcome.attempt, impl_->session.state(),
                         counts ? OpenFiles::Changes::stored : OpenFiles::Changes::dropped);
    impl_->judge.drop_receipt(*tool, outcome.attempt);
    return stored;
}

Result<void> Gate::join(const std::string& child, const ChildEnd& end) {
    const std::lock_guard lock(impl_->mutex);
    const auto* delegated = impl_->session.state().find_attempt(child);
    if (delegated == nullptr) return {};
    const auto& result = impl_->hooked({.attempt = child,
                                        .kind = end.outcome,
                                        .result = {.text = end.text, .is_error = end.outcome != OutcomeKind::done},
                                        .started = end.outcome != OutcomeKind::cancelled},
                                       *delegated);
    auto stored = impl_->append([&](const ThreadState& state) {
        Change change{.lease = LeaseUse::none};
        const auto* call = state.find_attempt(child);
        if (call == nullptr || call->stage != CallStage::delegated) return change;
        change.events.emplace_back(ChildFinished{.child = child,
                                                 .outcome = end.outcome,
                                                 .result = result,
                                                 .turns_used = end.turns,
                                                 .calls_used = end.calls});
        return change;
    });
    if (stored) impl_->results.erase(child);
    return stored;
}

}  // namespace assent
