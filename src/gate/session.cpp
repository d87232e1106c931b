#include "gate/session.hpp"

#include "base/base32.hpp"
#include "base/sha256.hpp"
#include "base/test_point.hpp"
#include "journal/encoding.hpp"
#include "journal/lineage.hpp"
#include "journal/trace.hpp"

#include <algorithm>

namespace assent {
namespace {

// A thread is opened from its last snapshot and at most about this many rows. A snapshot leaves the
// conversation out, so its size does not grow with the thread, and it rides on an append that is made anyway.
constexpr int rows_between_snapshots = 64;
constexpr std::size_t task_bytes_max = 120;

std::optional<ThreadStatus> status_after(const journal::ThreadState& before,
                                         const std::vector<journal::Event>& events) {
    std::optional<ThreadStatus> status;
    for (const auto& event : events) {
        if (std::holds_alternative<journal::UserMessage>(event) || std::holds_alternative<journal::ModelSaid>(event)) {
            status = ThreadStatus::active;
        } else if (std::holds_alternative<journal::Queued>(event)) {
            if (!before.running) status = ThreadStatus::active;
        } else if (std::holds_alternative<journal::Aborted>(event)) {
            status = ThreadStatus::aborted;
        } else if (const auto* finished = std::get_if<journal::RunFinished>(&event)) {
            const auto ok = before.queue.empty() ? ThreadStatus::done : ThreadStatus::active;
            status = finished->ok ? ok : ThreadStatus::failed;
        }
    }
    return status;
}

Result<std::vector<journal::Event>> read_row(const JournalRow& row) {
    if (is_pruned(row))
        return Failure{FailureKind::refused, "what happened in this thread was pruned; begin another one"};
    const auto header = journal::decode_header(row.header);
    if (!header) return header.failure();
    // The chain covers the header alone: what stands beside it must be what it says.
    const bool same = header->seq == row.seq && header->at == row.at &&
                      journal::body_digest(row.salt, row.body) == header->body_digest;
    if (!same) {
        return Failure{FailureKind::database,
                       "a journal row was changed after it was written; restore the database from a copy"};
    }
    return journal::decode(row.body, header->first_number);
}

OpenApproval row_of(const std::string& thread_id, const journal::ThreadState& state, const journal::Asked& asked,
                    UnixMillis at) {
    const auto* call = state.find(asked.call);
    const journal::Call fresh{.ref = asked.call, .tool = asked.tool};
    journal::Ask ask{.asked = asked, .asked_at = at};
    ask.asked.number = 0;  // the store gives it
    return {.turn = asked.call.turn,
            .position = asked.call.position,
            .ask_no = asked.ask_no,
            .kind = asked.kind,
            .guard = asked.guard,
            .digest = asked.binding,
            .deadline = asked.deadline,
            .question = journal::encode_question(approval_of(thread_id, call == nullptr ? fresh : *call, ask))};
}

// The event up to which the journal says that it was pruned.
Result<std::int64_t> pruned_upto(const std::vector<JournalRow>& rows) {
    std::int64_t upto = 0;
    for (const auto& row : rows) {
        const auto header = journal::decode_header(row.header);
        if (!header) return header.failure();
        if (header->kinds != std::vector<std::string>{"pruned"}) continue;
        const auto events = read_row(row);
        if (!events) return events.failure();
        if (const auto* pruned = std::get_if<journal::Pruned>(&events->front())) upto = std::max(upto, pruned->upto);
    }
    return upto;
}

// Whether the thread has something to do behind an event that somebody adds who does not run it. What became of a
// call is recorded by whoever runs it; but a late outcome may end a doubt, behind which another waits.
bool moves_thread(const journal::Event& event) {
    return !std::holds_alternative<journal::Finished>(event) && !std::holds_alternative<journal::Released>(event) &&
           !std::holds_alternative<journal::Pruned>(event);
}

// At most `bytes_max` bytes, cut between characters.
std::string beginning(const std::string& text, std::size_t bytes_max) {
    if (text.size() <= bytes_max) return text;
    while (bytes_max > 0 && (static_cast<unsigned char>(text[bytes_max]) & 0xc0U) == 0x80U) --bytes_max;
    return text.substr(0, bytes_max);
}

}  // namespace

ThreadSession::ThreadSession(Checkpointer& store, std::string thread_id, const Clock& clock, Random& random)
    : store_(store),
      thread_id_(std::move(thread_id)),
      ancestors_(journal::ancestors_of(thread_id_)),
      clock_(clock),
      random_(random) {}

Result<bool> ThreadSession::refresh() {
    // Threads are never removed: one that was read before is there, and one look tells whether it has new rows.
    if (pos_ == 0) {
        auto head = store_.find_thread(thread_id_);
        if (!head) return head.failure();
        if (!head->has_value()) return false;
        last_fence_ = (*head)->fence;
        if ((*head)->head == 0) return true;
        auto snapshot = store_.snapshot(thread_id_);
        if (!snapshot) return snapshot.failure();
        if (snapshot->has_value() && (*snapshot)->version == journal::snapshot_version) {
            if (auto state = journal::decode_state((*snapshot)->state); state) {
                state_ = std::move(state).value();
                pos_ = (*snapshot)->pos;
            }
        }
    }
    auto rows = store_.load(thread_id_, pos_);
    if (!rows) return rows.failure();
    for (const auto& row : *rows) {
        auto events = read_row(row);
        if (!events) return events.failure();
        take_in(*events, row.at);
        pos_ = row.pos;
        ++rows_since_snapshot_;
    }
    return true;
}

Result<void> ThreadSession::read_whole() {
    if (!state_.messages_cut && !state_.files_cut) return {};
    auto rows = store_.load(thread_id_, 0);
    if (!rows) return rows.failure();
    // Aside, and no further than the state has come: what is next stays as it is.
    journal::ThreadState whole;
    for (const auto& row : *rows) {
        if (row.pos > pos_) break;
        auto events = read_row(row);
        if (!events) return events.failure();
        for (const auto& event : *events) journal::apply(whole, event, row.at);
    }
    if (whole.seq != state_.seq) {
        return Failure{FailureKind::database, "the journal of thread " + thread_id_ +
                                                  " does not fit its snapshot; restore the database from a copy"};
    }
    state_.messages = std::move(whole.messages);
    state_.messages_cut = false;
    state_.files = std::move(whole.files);
    state_.files_cut = false;
    return {};
}

void ThreadSession::take_in(const std::vector<journal::Event>& events, UnixMillis at) {
    for (const auto& event : events) journal::apply(state_, event, at);
}

Result<AppendResult> ThreadSession::append(Change change) {
    Append append{.thread_id = thread_id_,
                  .create = change.create,
                  .lease = change.lease,
                  .fence = change.lease == LeaseUse::take ? last_fence_ : fence_,
                  .at = clock_.now(),
                  .status = status_after(state_, change.events),
                  .closes = std::move(change.closes),
                  .closes_calls = std::move(change.closes_calls),
                  .closes_late = change.closes_late,
                  .closes_thread = change.closes_thread,
                  .schemas = std::move(change.schemas)};
    if (change.expects_seq) append.expected_seq = state_.seq;
    // Whatever a runner does to go on. What records or settles (outcomes, answers, aborts) is not stopped.
    if (change.lease != LeaseUse::none && !state_.aborted) append.ancestors = ancestors_;
    random_.fill(append.command);
    auto events = std::move(change.events);
    if (!events.empty()) {
        std::array<std::uint8_t, 16> salt{};
        random_.fill(salt);
        append.salt.assign(reinterpret_cast<const char*>(salt.data()), salt.size());
        append.body = journal::encode(events);
        // What was no UTF-8 is stored as U+FFFD, and the state holds what is stored.
        if (append.body.contains("\xef\xbf\xbd")) {
            auto stored = journal::decode(append.body, 0);
            if (!stored) return stored.failure();
            events = std::move(stored).value();
        }
    }
    add_events(append, events);
    append.prunes = change.prunes;
    append.ready = change.lease == LeaseUse::none && std::any_of(events.begin(), events.end(), moves_thread);
    append.snapshot = snapshot_if_due(change, events, append.at);
    auto result = store_append(append);
    if (result && result->status == AppendStatus::fenced) held_ = false;
    if (!result || result->status != AppendStatus::done) return result;
    rows_since_snapshot_ = append.snapshot ? 0 : rows_since_snapshot_ + 1;

    if (change.lease == LeaseUse::take) fence_ = last_fence_ = result->fence;
    if (change.lease == LeaseUse::take) held_ = true;
    if (change.lease == LeaseUse::give_back) held_ = false;
    // A session that was never read is only used for this append: there is no state to keep up.
    if (!change.expects_seq && pos_ == 0) return result;
    const auto seq_expected = state_.seq + static_cast<std::int64_t>(events.size());
    if (result->seq != seq_expected) {
        // Others appended in between: read theirs and ours in the stored order.
        if (auto read = refresh(); !read) return read.failure();
        return result;
    }
    auto number = result->first_number;
    for (auto& event : events) {
        if (auto* asked = std::get_if<journal::Asked>(&event)) asked->number = number++;
        journal::apply(state_, event, append.at);
    }
    pos_ = result->pos;
    return result;
}

void ThreadSession::add_events(Append& append, const std::vector<journal::Event>& events) const {
    bool asks = false;
    for (const auto& event : events) {
        append.kinds.emplace_back(journal::kind_of(event));
        asks = asks || std::holds_alternative<journal::Asked>(event);
        if (const auto* said = std::get_if<journal::UserMessage>(&event))
            append.task = beginning(said->text, task_bytes_max);
    }
    if (!asks) return;
    // Questions show their call as it is after the events before them.
    journal::ThreadState preview;
    preview.calls = state_.calls;
    for (const auto& event : events) {
        if (const auto* asked = std::get_if<journal::Asked>(&event)) {
            append.opens.push_back(row_of(thread_id_, preview, *asked, append.at));
        } else {
            journal::apply(preview, event, append.at);
        }
    }
}

Result<AppendResult> ThreadSession::store_append(const Append& append) {
    const std::string name = append.kinds.empty() ? "lease" : append.kinds.front();
    test_point(("before:" + name).c_str());
    auto result = store_.append(append);
    if (result && result->status == AppendStatus::uncertain) {
        // Only the store itself knows whether it was kept: look for our command.
        auto rows = store_.load(thread_id_, pos_);
        if (!rows) {
            // Held without knowing it could be run by nobody.
            if (append.lease == LeaseUse::take) (void)store_.give_back(thread_id_, result->fence);
            return rows.failure();
        }
        const auto found =
            std::find_if(rows->begin(), rows->end(), [&](const auto& row) { return row.command == append.command; });
        if (found == rows->end()) {
            const auto what = result->doubt.empty() ? "the store failed" : result->doubt;
            return Failure{FailureKind::database, what + "; the last change was not kept: try again"};
        }
        const auto header = journal::decode_header(found->header);
        if (!header) return header.failure();
        result->status = AppendStatus::done;
        result->seq = found->seq;
        result->pos = found->pos;
        result->first_number = header->first_number;
    }
    test_point(("after:" + name).c_str());
    return result;
}

std::optional<Snapshot> ThreadSession::snapshot_if_due(const Change& change, const std::vector<journal::Event>& events,
                                                       UnixMillis at) {
    const bool owner = change.lease == LeaseUse::keep || change.lease == LeaseUse::give_back;
    if (!owner || !change.expects_seq || rows_since_snapshot_ < rows_between_snapshots) return std::nullopt;
    auto state = journal::cut_off(state_);
    for (const auto& event : events) {
        // The number of a question is not known before the append is made.
        if (std::holds_alternative<journal::Asked>(event)) return std::nullopt;
        journal::apply(state, event, at);
    }
    return Snapshot{.version = journal::snapshot_version, .state = journal::encode_state(journal::cut_off(state))};
}

Result<void> ThreadSession::look_whether_held() {
    if (!held_) return {};
    const auto head = store_.find_thread(thread_id_);
    if (!head) return head.failure();
    held_ = head->has_value() && (*head)->runner != 0 && (*head)->fence == fence_;
    return {};
}

Result<void> ThreadSession::give_back(bool goes_on, std::int64_t after_ms) {
    if (!held_) return {};
    goes_on_ = goes_on_ || goes_on;
    auto given = goes_on_ ? give_to_others(after_ms) : store_.give_back(thread_id_, fence_);
    // Until the store has it, this is still the runner.
    if (given) held_ = goes_on_ = false;
    return given;
}

// In one step: between giving back and saying so nobody would go on with it.
Result<void> ThreadSession::give_to_others(std::int64_t after_ms) {
    const auto given = store_.append({.thread_id = thread_id_,
                                      .lease = LeaseUse::give_back,
                                      .fence = fence_,
                                      .at = clock_.now(),
                                      .ready = true,
                                      .ready_after_ms = after_ms});
    if (!given) return given.failure();
    // It is done, or others have it already.
    return {};
}

Approval approval_of(const std::string& thread_id, const journal::Call& call, const journal::Ask& ask) {
    const auto& asked = ask.asked;
    Approval approval{.number = asked.number,
                      .kind = asked.kind,
                      .thread = thread_id,
                      .parent = journal::ancestors_of(thread_id),
                      .turn = asked.call.turn,
                      .position = asked.call.position,
                      .ask_no = asked.ask_no,
                      .tool = asked.tool,
                      .tool_call_id = call.proposed.id,
                      .arguments = asked.arguments,
                      .digest = asked.binding,
                      .guard = asked.guard,
                      .guard_version = asked.guard_version,
                      .reason = asked.reason,
                      .question = asked.question,
                      .schema = asked.schema,
                      .state = ask.state,
                      .asked_at = ask.asked_at,
                      .deadline = asked.deadline,
                      .use_by_ms = asked.use_by_ms,
                      .decided_by = ask.decided_by,
                      .decided_at = ask.decided_at,
                      .close_reason = ask.close_reason,
                      .attempt = asked.attempt};
    if (call.proposed.arguments != asked.arguments) approval.arguments_raw = call.proposed.arguments;
    if (ask.answer) approval.decision = ask.answer->decision;
    if (ask.answer) approval.answer = journal::answer_json(asked, *ask.answer);
    if (ask.state == ApprovalState::approved && asked.use_by_ms) approval.use_by = *ask.decided_at + *asked.use_by_ms;
    for (const auto& attempt : call.attempts) {
        if (attempt.id != asked.attempt) continue;
        approval.process = "process " + std::to_string(attempt.process.pid) + " on " + attempt.process.host;
    }
    if (asked.number != 0) {
        Digest digest{};
        const auto raw = unhex(asked.binding);
        std::copy_n(raw.begin(), std::min(raw.size(), digest.size()), digest.begin());
        approval.id = public_id(asked.number, digest);
    }
    return approval;
}

bool is_pruned(const JournalRow& row) {
    if (!row.body.empty() || !row.salt.empty()) return false;
    const auto header = journal::decode_header(row.header);
    return header.ok() && header->body_digest != journal::body_digest({}, {});
}

Result<void> walk_thread(Checkpointer& store, const std::string& thread_id,
                         const std::function<void(const journal::ThreadState&, const journal::Event&, const JournalRow&,
                                                  const std::string& hash)>& visit) {
    auto head = store.find_thread(thread_id);
    if (!head) return head.failure();
    if (!head->has_value()) return Failure{FailureKind::unknown_thread, "no thread is called " + thread_id};
    auto rows = store.load(thread_id, 0);
    if (!rows) return rows.failure();
    const auto upto = pruned_upto(*rows);
    if (!upto) return upto.failure();
    journal::ThreadState state;
    Digest hash{};
    for (const auto& row : *rows) {
        hash = journal::chain(hash, row.header);
        if (is_pruned(row) && row.seq > *upto) {
            return Failure{FailureKind::database, "what happened in thread " + thread_id +
                                                      " was removed, and nothing says by whom; restore the database "
                                                      "from a copy"};
        }
        if (is_pruned(row)) {
            state.seq = row.seq;
            continue;
        }
        auto events = read_row(row);
        if (!events) return events.failure();
        const auto text = hex(hash);
        for (const auto& event : *events) {
            journal::apply(state, event, row.at);
            visit(state, event, row, text);
        }
    }
    // A row that came after the head was read is not counted against the chain.
    const auto last = rows->empty() ? 0 : rows->back().pos;
    if (last == (*head)->head && hash != (*head)->hash) {
        return Failure{FailureKind::database, "the journal of thread " + thread_id +
                                                  " does not fit its chain; restore the database from a copy"};
    }
    return {};
}

}  // namespace assent
