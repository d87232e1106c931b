#include <assent/approvals.hpp>

#include "base/base32.hpp"
#include "gate/session.hpp"
#include "journal/encoding.hpp"
#include "journal/lineage.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace assent {
namespace {

constexpr std::size_t open_in_thread_max = 10'000;

Failure not_found(const std::string& id) {
    return {FailureKind::not_found, "no approval has the id " + id + "; list the open ones with pending"};
}

// The row of an open approval as people see it: the number came with the row, so the id is made here.
Result<Approval> open_one(const OpenApproval& row) {
    auto approval = journal::decode_question(row.question);
    if (!approval) return approval;
    approval->number = row.number;
    approval->asked_at = row.asked_at;
    approval->thread = row.thread_id;
    approval->parent = journal::ancestors_of(row.thread_id);
    Digest digest{};
    const auto raw = unhex(row.digest);
    std::copy_n(raw.begin(), std::min(raw.size(), digest.size()), digest.begin());
    approval->id = public_id(row.number, digest);
    return approval;
}

// A decided approval, from the journal: as it stood while its call was known.
Result<Approval> decided_one(Checkpointer& store, const std::string& thread_id, std::int64_t number) {
    std::optional<Approval> found;
    auto walked = walk_thread(
        store, thread_id,
        [&](const journal::ThreadState& state, const journal::Event&, const JournalRow&, const std::string&) {
            for (const auto& call : state.calls) {
                for (const auto& ask : call.approvals) {
                    if (ask.asked.number == number) found = approval_of(thread_id, call, ask);
                }
            }
        });
    if (!walked) return walked.failure();
    if (!found)
        return Failure{FailureKind::database, "the approval is not in its thread's journal; the database is damaged"};
    return std::move(*found);
}

// The last approval of a thread that had this id of its style: who answers too late by it is told what stands.
Result<Approval> last_decided(Checkpointer& store, const std::string& thread_id, const std::string& id) {
    std::optional<Approval> last;
    auto walked = walk_thread(
        store, thread_id,
        [&](const journal::ThreadState& state, const journal::Event&, const JournalRow&, const std::string&) {
            for (const auto& call : state.calls) {
                for (const auto& ask : call.approvals) {
                    if (ask.asked.question.interrupt_id == id && ask.state != ApprovalState::open)
                        last = approval_of(thread_id, call, ask);
                }
            }
        });
    if (!walked && walked.failure().kind != FailureKind::unknown_thread) return walked.failure();
    if (!last) return not_found(id);
    return std::move(*last);
}

// Calls that have ended and are not in `known`, which then holds them.
std::vector<EndedCall> newly_ended(const journal::ThreadState& state, std::set<std::pair<int, int>>& known) {
    std::vector<EndedCall> calls;
    for (const auto& call : state.calls) {
        if (call.stage != journal::CallStage::ended) continue;
        if (!known.emplace(call.ref.turn, call.ref.position).second) continue;
        calls.push_back(
            {.turn = call.ref.turn, .position = call.ref.position, .tool = call.tool, .outcome = call.outcome});
    }
    return calls;
}

}  // namespace

Approvals::Approvals(Checkpointer& checkpointer, const Clock& clock, Random& random)
    : checkpointer_(checkpointer), clock_(clock), random_(random) {}

Result<std::vector<Approval>> Approvals::pending(const std::string& thread, std::int64_t after, std::size_t limit) {
    auto rows = checkpointer_.open_approvals(thread, after, limit);
    if (!rows) return rows.failure();
    std::vector<Approval> open;
    for (const auto& row : *rows) {
        auto approval = open_one(row);
        if (!approval) return approval.failure();
        open.push_back(std::move(approval).value());
    }
    return open;
}

Result<Approval> Approvals::find(const std::string& id, const std::string& thread) {
    if (const auto read = read_public_id(id)) {
        auto place = checkpointer_.find_approval(read->number);
        if (!place) return place.failure();
        if (place->has_value()) {
            auto approval = (*place)->open ? open_one(*(*place)->open)
                                           : decided_one(checkpointer_, (*place)->thread_id, read->number);
            if (!approval) return approval;
            const bool of_thread = thread.empty() || thread == approval->thread ||
                                   journal::call_behind(approval->thread, thread).has_value();
            if (of_thread && approval->id.ends_with(read->check)) return approval;
        }
    }
    // An approval without an interrupt id is not meant by an empty one.
    if (thread.empty() || id.empty()) return not_found(id);
    auto open = pending(thread, 0, open_in_thread_max);
    if (!open) return open.failure();
    std::erase_if(*open, [&](const Approval& approval) { return approval.question.interrupt_id != id; });
    if (open->empty()) return last_decided(checkpointer_, thread, id);
    if (open->size() == 1) return open->front();
    std::string ids;
    for (const auto& approval : *open) ids += (ids.empty() ? "" : ", ") + approval.id;
    return Failure{FailureKind::ambiguous,
                   "several open approvals have the id " + id + ": " + ids + "; use one of these"};
}

Result<std::vector<HistoryEntry>> Approvals::history(const std::string& thread) {
    std::vector<HistoryEntry> entries;
    std::set<std::pair<int, int>> ended;
    auto walked = walk_thread(checkpointer_, thread,
                              [&](const journal::ThreadState& state, const journal::Event& event, const JournalRow& row,
                                  const std::string& hash) {
                                  entries.push_back({.seq = state.seq,
                                                     .at = row.at,
                                                     .event = std::string(journal::kind_of(event)),
                                                     .fields = journal::event_json(event),
                                                     .hash = hash,
                                                     .calls = newly_ended(state, ended)});
                              });
    if (!walked) return walked.failure();
    return entries;
}

Result<std::vector<Message>> Approvals::transcript(const std::string& thread) {
    ThreadSession session(checkpointer_, thread, clock_, random_);
    auto known = session.refresh();
    if (!known) return known.failure();
    if (!*known) return Failure{FailureKind::unknown_thread, "no thread is called " + thread};
    if (auto whole = session.read_whole(); !whole) return whole.failure();
    return session.state().messages;
}

Result<std::string> Approvals::settings(const std::string& thread) {
    ThreadSession session(checkpointer_, thread, clock_, random_);
    auto known = session.refresh();
    if (!known) return known.failure();
    if (!*known) return Failure{FailureKind::unknown_thread, "no thread is called " + thread};
    return session.state().configured.settings;
}

}  // namespace assent
