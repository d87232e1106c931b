// What happened long ago is removed; that it happened, and when, stays.
#include "gate/session.hpp"
#include "journal/encoding.hpp"
#include "journal/lineage.hpp"

#include <assent/approvals.hpp>

#include <map>

namespace assent {
namespace {

bool has_ended(const ThreadHead& head, UnixMillis before) {
    return head.status != ThreadStatus::active && head.open == 0 && !head.runner_alive && head.updated_at < before;
}

// The last row alone says so: nothing goes on behind it.
Result<bool> pruned_before(Checkpointer& store, const ThreadHead& head) {
    const auto last = store.load(head.id, head.head - 1);
    if (!last) return last.failure();
    if (last->empty()) return true;
    const auto header = journal::decode_header(last->back().header);
    if (!header) return header.failure();
    return header->kinds == std::vector<std::string>{"pruned"};
}

}  // namespace

Result<std::vector<std::string>> Approvals::prune(UnixMillis before, const std::string& by, bool only_look) {
    const auto heads = checkpointer_.threads();
    if (!heads) return heads.failure();
    std::map<std::string, bool> ended;
    for (const auto& head : *heads) ended[head.id] = has_ended(head, before);
    std::vector<std::string> pruned;
    for (const auto& head : *heads) {
        const auto above = journal::ancestors_of(head.id);
        // What works for one that goes on is needed by it.
        if (!ended[head.id] || (!above.empty() && !ended[above.front()])) continue;
        const auto already = pruned_before(checkpointer_, head);
        if (!already) return already.failure();
        if (*already) continue;
        if (!only_look) {
            ThreadSession session(checkpointer_, head.id, clock_, random_);
            const auto read = session.refresh();
            // Something happened behind an earlier pruning: it is left as it is.
            if (!read && read.failure().kind == FailureKind::refused) continue;
            if (!read) return read.failure();
            const auto upto = session.state().seq;
            // Something happened since the list was read.
            if (upto != head.seq) continue;
            // As a runner does it, so that nobody runs it meanwhile.
            auto appended = session.append(
                {.events = {journal::Pruned{.upto = upto, .by = by}}, .lease = LeaseUse::take, .prunes = upto});
            if (!appended) return appended.failure();
            // Somebody goes on with it after all.
            if (appended->status != AppendStatus::done) continue;
            if (auto given = session.give_back(); !given) return given.failure();
        }
        pruned.push_back(head.id);
    }
    return pruned;
}

}  // namespace assent
