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
#include <assent/clock.hpp>
#include <assent/result.hpp>

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
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

/// The form of the tables of a database. They differ: opening it to write makes today's of them.
struct StoreFormat {
    std::int64_t found = 0;  ///< 0: there are none yet.
    std::int64_t current = 0;
    bool operator==(const StoreFormat&) const = default;
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
    /// Under which it holds the thread. Where it takes it, the one that the thread is thought to stand under: wrong, it
    /// may cost the store a look.
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
    /// Removes salt and body of the thread's rows up to this event, its snapshot and its task. Headers stay.
    std::optional<std::int64_t> prunes;
    bool ready = false;                ///< Somebody should go on with the thread: see `take_ready`.
    std::int64_t ready_after_ms = 0;   ///< Not before so long from now.
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
    std::int64_t fence = 0;         ///< Under which the thread is held; also of an uncertain append that takes it.
    std::int64_t first_number = 0;  ///< Of the first approval that was opened; 0 if none was.
    std::string leased_by;          ///< Leased: who runs it, for people.
    std::string doubt;              ///< Uncertain: what went wrong, for people; may be empty.
};

/// A thread that somebody should go on with.
struct ReadyThread {
    std::string id;
    /// Grows with what happens in it and in those that work for it. 0: there is something to do whatever it was
    /// the last time; else, if nothing happened since one looked, there is nothing to do.
    std::int64_t version = 0;
};

/// Where the question of a number stands.
struct ApprovalPlace {
    std::string thread_id;
    std::optional<OpenApproval> open;
};

/// What waits for people in a whole store.
struct OpenCount {
    std::int64_t approvals = 0;
    std::optional<UnixMillis> oldest_asked_at;  ///< None: nothing is open.
    bool operator==(const OpenCount&) const = default;
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
    /// How many approvals are open. Default: reads them all.
    virtual Result<OpenCount> count_open();
    virtual Result<std::optional<ApprovalPlace>> find_approval(std::int64_t number) = 0;
    virtual Result<std::string> schema(const std::string& digest) = 0;
    virtual Result<std::optional<Snapshot>> snapshot(const std::string& thread_id) = 0;
    /// Gives a thread back without an event; does nothing if the fence is no longer the current one.
    virtual Result<void> give_back(const std::string& thread_id, std::int64_t fence) = 0;

    // For those that run whatever threads there are; see `assent/worker.hpp`.

    /// At most `limit` threads that work for no other, that nobody runs, and that somebody should go on with: what
    /// an append with `ready` said, whose runner died, or with an approval whose deadline is before `now`. As long
    /// as this process lives nobody else gets one of them, until it is run or put back. Default: all that are
    /// active, without a limit, and everybody gets them.
    virtual Result<std::vector<ReadyThread>> take_ready(std::size_t limit, UnixMillis now);
    /// Somebody else should go on with it, not before `delay_ms` from now. Default: does nothing.
    virtual Result<void> put_back(const std::string& thread_id, std::int64_t delay_ms);
    /// How long from now this process surely keeps the threads that it runs, though the store were gone from here
    /// on. Nothing, the default: as long as it lives.
    [[nodiscard]] virtual std::optional<std::int64_t> keeps_for_ms() const { return std::nullopt; }

    /// Calls `lost` when that time is over: what runs must be stopped before others take it. On a thread of the store;
    /// it may not use the store. Until the returned object is gone. Default: never.
    [[nodiscard]] virtual std::shared_ptr<void> when_lost(std::function<void()> lost) const;

    /// The time by which all that share the store agree; of agents, gates and answers that are given no other clock.
    /// Lives as long as the store. Default: the machine's.
    [[nodiscard]] virtual const Clock& clock() const { return system_clock(); }

    using Changed = std::function<void(std::string_view thread_id)>;
    /// Calls `changed` when something was stored, here or elsewhere, as far as the store hears of it at once; an
    /// empty id means any thread. Called on threads of the store or of whoever appends, perhaps for nothing, and
    /// not for everything: who waits looks now and then all the same. It may use neither the store nor wait.
    /// Until the returned object is gone. Default: nothing is heard.
    [[nodiscard]] virtual std::shared_ptr<void> watch(Changed changed);
};

}  // namespace assent
