// One thread of a store, loaded: its state, and appends with their preconditions.
#pragma once

#include "journal/thread.hpp"

#include <assent/checkpointer.hpp>

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace assent {

/// What to append, in terms of events. Questions among them open their approvals.
struct Change {
    std::vector<journal::Event> events;
    LeaseUse lease = LeaseUse::keep;
    bool expects_seq = true;  ///< Only if nothing was appended since the state was read.
    bool create = false;
    std::vector<std::int64_t> closes;
    bool closes_late = false;
    std::vector<std::pair<int, int>> closes_calls;
    bool closes_thread = false;
    std::vector<std::pair<std::string, std::string>> schemas;
    std::optional<std::int64_t> prunes;
};

class ThreadSession {
public:
    ThreadSession(Checkpointer& store, std::string thread_id, const Clock& clock, Random& random);

    /// Reads what was appended since. False if the thread does not exist.
    Result<bool> refresh();
    /// One durable append. After `done` the state holds its events; after any other status it is as
    /// before. An uncertain commit is looked up and comes out as done or as a failure.
    Result<AppendResult> append(Change change);
    /// Makes the state hold the whole conversation and all files. Reads the whole journal if it does not.
    Result<void> read_whole();
    /// The same for the files alone.
    Result<void> read_files() { return state_.files_cut ? read_whole() : Result<void>(); }
    /// Asks the store whether the thread is still held, if it was: `held` says so afterwards.
    Result<void> look_whether_held();
    /// Gives the thread back without an event. `goes_on`: somebody should go on with it, not before `after_ms`.
    Result<void> give_back(bool goes_on = false, std::int64_t after_ms = 0);

    [[nodiscard]] const journal::ThreadState& state() const noexcept { return state_; }
    [[nodiscard]] const std::string& id() const noexcept { return thread_id_; }
    [[nodiscard]] bool held() const noexcept { return held_; }
    [[nodiscard]] UnixMillis now() const { return clock_.now(); }

private:
    Result<void> give_to_others(std::int64_t after_ms);
    Result<AppendResult> store_append(const Append& append);
    void take_in(const std::vector<journal::Event>& events, UnixMillis at);
    void add_events(Append& append, const std::vector<journal::Event>& events) const;
    [[nodiscard]] std::optional<Snapshot> snapshot_if_due(const Change& change,
                                                          const std::vector<journal::Event>& events, UnixMillis at);

    Checkpointer& store_;
    std::string thread_id_;
    std::vector<std::string> ancestors_;
    const Clock& clock_;
    Random& random_;
    journal::ThreadState state_;
    std::int64_t pos_ = 0;
    std::int64_t fence_ = 0;       // under which it holds the thread, or held it
    std::int64_t last_fence_ = 0;  // under which it was seen to stand
    bool held_ = false;
    bool goes_on_ = false;  // it is to be given back so that others go on, which failed before
    int rows_since_snapshot_ = 0;
};

/// The approval of a question as people see it.
[[nodiscard]] Approval approval_of(const std::string& thread_id, const journal::Call& call, const journal::Ask& ask);

/// Whether what happened in this row was removed.
[[nodiscard]] bool is_pruned(const JournalRow& row);

/// Reads every row of a thread from its beginning and gives each event with its row to `visit`, with
/// the state after it. Checks the chain, also of what was pruned, which is not visited. Failure kinds
/// unknown_thread, database.
Result<void> walk_thread(Checkpointer& store, const std::string& thread_id,
                         const std::function<void(const journal::ThreadState&, const journal::Event&, const JournalRow&,
                                                  const std::string& hash)>& visit);

}  // namespace assent
