// Where journals are kept: the seam for stores.
//
// A store keeps rows and compares before it writes; it knows nothing of what the events mean. One
// append is one transaction: its preconditions are checked and all its rows written, or nothing.
//
// Thread-safety: all members may be called from several threads and, where the store is shared, from
// several processes. Errors: Failure kind `database`; an append that may or may not have been stored
// is `AppendStatus::uncertain`.
#pragma once

#include <assent/approval.hpp>
#include <assent/result.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace assent {

/// How a thread stands as a whole. Stored as a number: never renumber.
enum class ThreadStatus : std::uint8_t { active = 0, done = 1, failed = 2, aborted = 3 };

struct ThreadHead {
    std::int64_t no = 0;
    std::string id;
    ThreadStatus status = ThreadStatus::active;
    std::int64_t seq = 0;   ///< Number of the last event.
    std::int64_t head = 0;  ///< Position of the last journal row.
    std::array<std::uint8_t, 32> hash{};
    std::int64_t fence = 0;   ///< Raised whenever a runner takes the thread.
    std::int64_t runner = 0;  ///< Who runs it; 0: nobody.
    bool runner_alive = false;
    std::string task;  ///< The beginning of the first prompt.
    UnixMillis updated_at = 0;
    std::int64_t open = 0;  ///< Open approvals; filled by `threads` and `find_thread`.
};

struct JournalRow {
    std::int64_t pos = 0;
    std::int64_t seq = 0;  ///< Number of its last event.
    std::int64_t prev = 0;
    std::array<std::uint8_t, 16> command{};
    UnixMillis at = 0;
    std::string header;
    std::string salt;
    std::string body;
};

/// An open approval as rows know it. `question` is opaque to the store.
struct OpenApproval {
    std::int64_t number = 0;
    std::int64_t thread = 0;
    std::string thread_id;
    int turn = 0;
    int position = 0;
    int ask_no = 0;
    ApprovalKind kind = ApprovalKind::approve;
    std::string guard;
    std::string digest;  ///< Hex.
    std::optional<UnixMillis> deadline;
    UnixMillis asked_at = 0;
    std::string question;
};

/// What an append does with the right to run the thread.
enum class LeaseUse : std::uint8_t {
    none,       ///< Needs no lease (answers, outcomes, aborts).
    take,       ///< Takes it, if nobody alive has it.
    keep,       ///< Must hold it: not given back, and the fence the current one.
    give_back,  ///< Must hold it, and gives it back.
};

/// A cache of a thread's state after the row at `pos`.
struct Snapshot {
    std::int64_t seq = 0;
    std::int64_t pos = 0;
    int version = 0;
    std::string state;
};

struct Append {
    std::string thread_id;
    bool create = false;  ///< Make the thread if it does not exist.
    LeaseUse lease = LeaseUse::none;
    std::optional<std::int64_t> expected_seq;
    std::int64_t fence = 0;
    /// Threads whose status must not be `aborted`, or the append is refused as `stopped`.
    std::vector<std::string> ancestors;
    // The journal row; no events: only the lease changes.
    std::array<std::uint8_t, 16> command{};
    UnixMillis at = 0;
    std::vector<std::string> kinds;
    std::string salt;
    std::string body;
    std::string task;
    std::optional<ThreadStatus> status;
    // Approvals. Numbers of opened ones are given in order from `AppendResult::first_number`.
    std::vector<OpenApproval> opens;
    std::vector<std::int64_t> closes;               ///< Each must be open, or the append is refused as `closed`.
    std::vector<std::pair<int, int>> closes_calls;  ///< Also all of these turns and positions.
    bool closes_late = false;                       ///< The deadline of what it closes does not matter.
    bool closes_thread = false;                     ///< Also all of the thread.
    std::vector<std::pair<std::string, std::string>> schemas;  ///< Digest and text, kept once each.
    std::optional<Snapshot> snapshot;  ///< Of the state after this append; the store gives it its position.
};

enum class AppendStatus : std::uint8_t {
    done,
    conflict,  ///< The expected sequence is not the current one.
    fenced,    ///< Another runner took the thread, or this one has given it back.
    leased,    ///< Another live runner has the thread.
    closed,    ///< An approval to close is not open any more.
    expired,   ///< An approval to close is past its deadline.
    unknown_thread,
    stopped,    ///< A thread above this one was aborted.
    uncertain,  ///< Perhaps stored: look for the command.
};

struct AppendResult {
    AppendStatus status = AppendStatus::uncertain;
    std::int64_t seq = 0;
    std::int64_t pos = 0;
    std::int64_t fence = 0;
    std::int64_t first_number = 0;  ///< Of the first approval that was opened; 0 if none was.
    std::string leased_by;          ///< Leased: who runs it, for people.
    std::string doubt;              ///< Uncertain: what went wrong, for people; may be empty.
};

/// Where the question of a number stands.
struct ApprovalPlace {
    std::string thread_id;
    std::optional<OpenApproval> open;
};

class Checkpointer {
public:
    virtual ~Checkpointer() = default;

    virtual Result<AppendResult> append(const Append& append) = 0;
    virtual Result<std::optional<ThreadHead>> find_thread(const std::string& id) = 0;
    /// Rows after position `after`, oldest first.
    virtual Result<std::vector<JournalRow>> load(const std::string& thread_id, std::int64_t after) = 0;
    virtual Result<std::vector<ThreadHead>> threads() = 0;
    /// The threads that work for this one, at any depth: their ids go on with `/TURN.POSITION`, once or more
    /// often. Default: looks through all threads.
    virtual Result<std::vector<ThreadHead>> descendants(const std::string& thread_id);
    /// Open approvals with a number above `after`, by number; if `thread_id` is given, of that thread and its
    /// descendants.
    virtual Result<std::vector<OpenApproval>> open_approvals(const std::string& thread_id, std::int64_t after,
                                                             std::size_t limit) = 0;
    virtual Result<std::optional<ApprovalPlace>> find_approval(std::int64_t number) = 0;
    virtual Result<std::string> schema(const std::string& digest) = 0;
    virtual Result<std::optional<Snapshot>> snapshot(const std::string& thread_id) = 0;
    /// Gives a thread back without an event; does nothing if the fence is no longer the current one.
    virtual Result<void> give_back(const std::string& thread_id, std::int64_t fence) = 0;
};

}  // namespace assent
