#include "gate/abort.hpp"

#include "gate/recorded.hpp"
#include "journal/lineage.hpp"

#include <algorithm>

namespace assent {
namespace {

int started_calls(const journal::ThreadState& state) {
    return static_cast<int>(std::ranges::count(state.calls, journal::CallStage::claimed, &journal::Call::stage));
}

}  // namespace

Result<AbortResult> abort_thread(ThreadSession& session, const journal::Aborted& event) {
    while (true) {
        auto known = session.refresh();
        if (!known) return known.failure();
        if (!*known) return Failure{FailureKind::unknown_thread, "no thread is called " + session.id()};
        const auto& state = session.state();
        AbortResult result{.status = state.status};
        if (!state.running && state.status != ThreadStatus::failed) return result;
        auto appended = session.append({.events = {event}, .lease = LeaseUse::none, .closes_thread = true});
        if (!appended) return appended.failure();
        if (appended->status == AppendStatus::conflict) continue;
        if (appended->status != AppendStatus::done) {
            return Failure{FailureKind::database, "the store refused the abort; try again"};
        }
        result.aborted = true;
        result.status = ThreadStatus::aborted;
        result.running = started_calls(session.state());
        return result;
    }
}

Result<int> abort_below(Checkpointer& store, const Clock& clock, Random& random, const std::string& thread,
                        int turn_max, const journal::Aborted& event) {
    auto heads = store.descendants(thread);
    if (!heads) return heads.failure();
    int running = 0;
    for (const auto& head : *heads) {
        const bool active = head.status == ThreadStatus::active || head.status == ThreadStatus::failed;
        if (!active || journal::call_behind(head.id, thread)->turn > turn_max) continue;
        ThreadSession session(store, head.id, clock, random);
        if (auto read = session.refresh(); !read) return read.failure();
        if (end_of(session.state())) continue;
        auto aborted = abort_thread(session, event);
        if (!aborted) return aborted.failure();
        running += aborted->running;
    }
    return running;
}

Result<AbortResult> Approvals::abort(const std::string& thread, const std::string& reason, const std::string& by) {
    const journal::Aborted event{.reason = reason, .by = by};
    ThreadSession session(checkpointer_, thread, clock_, random_);
    auto result = abort_thread(session, event);
    if (!result) return result;
    // From here on nothing is begun below. Also when the thread had ended: an earlier abort may not have come
    // through to all.
    auto running = abort_below(checkpointer_, clock_, random_, thread, session.state().turns, event);
    if (!running) return running.failure();
    result->running += *running;
    return result;
}

}  // namespace assent
