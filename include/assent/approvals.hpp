// Answering from anywhere: any process that can open the store may list and answer approvals. It
// needs neither the agent nor its guards.
//
// Thread-safety: all members may be called from several threads.
#pragma once

#include <assent/checkpointer.hpp>
#include <assent/model.hpp>
#include <assent/tool.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assent {

/// What came of an answer.
struct AnswerResult {
    enum class Status {
        decided,    ///< This answer counts.
        already,    ///< The same person had given the same answer.
        conflict,   ///< Somebody decided otherwise before; `approval` says who, what, when.
        expired,    ///< It came after the deadline.
        not_found,  ///< No approval has this id.
        ambiguous,  ///< Several open approvals have it.
        refused,    ///< The answer is not acceptable; the approval stays open.
    };
    Status status = Status::not_found;
    Approval approval;                 ///< As it stands now; empty when not found.
    std::string message;               ///< For people, when the status is not `decided` or `already`.
    Refusal refusal = Refusal::other;  ///< Refused: why.
    bool still_judged = false;         ///< An edit: recorded, and judged again before it runs.
    bool lost_race = false;            ///< The answer lost in the store's compare-and-set itself.
};

/// What came of an abort.
struct AbortResult {
    bool aborted = false;  ///< False: the thread had already ended.
    ThreadStatus status = ThreadStatus::aborted;
    int running = 0;  ///< Calls that had been started, children's too; they are waited for or become unknown.
};

/// A call that has come to its end.
struct EndedCall {
    int turn = 0;
    int position = 0;
    std::string tool;
    OutcomeKind outcome = OutcomeKind::failed;

    bool operator==(const EndedCall&) const = default;
};

/// One stored event, as JSON for people and scripts.
struct HistoryEntry {
    std::int64_t seq = 0;
    UnixMillis at = 0;
    std::string event;             ///< Its kind.
    std::string fields;            ///< JSON text of an object: `event` and its own fields.
    std::string hash;              ///< Head of the chain after the row that holds it, hex.
    std::vector<EndedCall> calls;  ///< Those that ended by this event.
};

class Approvals {
public:
    /// By the clock of the store. Keeps references, which must live as long as this object.
    explicit Approvals(Checkpointer& checkpointer) : Approvals(checkpointer, checkpointer.clock()) {}
    Approvals(Checkpointer& checkpointer, const Clock& clock, Random& random = system_random());

    /// Open approvals by number, those above `after` only; of one thread and those that work for it if `thread`
    /// is given.
    Result<std::vector<Approval>> pending(const std::string& thread = {}, std::int64_t after = 0,
                                          std::size_t limit = 100);

    /// The approval with this id, open or decided. With `thread` it must be of that thread or of one that works
    /// for it, and `id` may also be its interrupt or question id if exactly one open approval there has it; if none
    /// has it any more, the last of `thread` itself that had it is meant, which reads its journal. Failure kinds
    /// not_found, ambiguous, database.
    Result<Approval> find(const std::string& id, const std::string& thread = {});

    Result<AnswerResult> answer(const std::string& id, const Decision& decision, const Reviewer& reviewer,
                                const std::string& thread = {});
    /// The answer in the form of the approval's style, as JSON text. Text that is no JSON is refused.
    Result<AnswerResult> answer_json(const std::string& id, std::string_view json, const Reviewer& reviewer,
                                     const std::string& thread = {});

    /// Ends the call that is asked about, as cancelled: the model is told `cancelled: REASON`. Not for unknown
    /// outcomes. Status `decided`, `conflict`, `expired`, …, as for an answer.
    Result<AnswerResult> cancel(const std::string& id, const std::string& reason, const Reviewer& reviewer,
                                const std::string& thread = {});

    /// Ends an unknown outcome. `text`: the result for the model (done, fail). Retry is refused while
    /// the process that started the call is known to live.
    Result<AnswerResult> resolve(const std::string& id, Resolution how, std::string_view text, const Reviewer& reviewer,
                                 const std::string& thread = {});

    /// Cancels what has not started, in this thread and then in all that work for it: when it returns, nothing
    /// of them starts any more. If it fails in between, call it again. Failure kinds unknown_thread, database.
    Result<AbortResult> abort(const std::string& thread, const std::string& reason, const std::string& by);

    /// Removes what happened in threads that have ended and in which nothing happened since `before`, those that
    /// work for them among them; their ids. When and in what order something happened stays, so that the chain can
    /// still be checked, and an event says who removed what. Such a thread cannot go on. Those that were pruned
    /// before are left alone. With `only_look` nothing is removed. Reads all threads.
    Result<std::vector<std::string>> prune(UnixMillis before, const std::string& by, bool only_look = false);

    /// Everything that happened in a thread, but for what was pruned. Failure kinds unknown_thread, database (also when
    /// the chain does not hold).
    Result<std::vector<HistoryEntry>> history(const std::string& thread);
    /// The conversation up to now, and the calls of the latest turn.
    Result<std::vector<Message>> transcript(const std::string& thread);
    /// The settings a host recorded with `Gate::configure`; empty if none.
    Result<std::string> settings(const std::string& thread);

private:
    Result<AnswerResult> resolve_found(const Approval& approval, Resolution how, std::string_view text,
                                       const Reviewer& reviewer);
    Result<AnswerResult> answer_found(const Approval& approval, const Decision& decision, const Reviewer& reviewer);
    Result<AnswerResult> expire_found(const Approval& approval);

    Checkpointer& checkpointer_;
    const Clock& clock_;
    Random& random_;
};

}  // namespace assent
