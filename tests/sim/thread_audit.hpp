// The auditor's own reading of one journal: a second, plain telling of the rules of docs/concepts.md,
// which shares nothing with the fold of the engine.
#pragma once

#include "journal/events.hpp"
#include "sim/ledger.hpp"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace assent::sim {

/// A question as its events tell.
struct Question {
    journal::Asked asked;
    ApprovalState state = ApprovalState::open;
    std::optional<journal::Answered> answer;
    std::optional<journal::Resolved> resolution;
    std::string decided_by;
    UnixMillis decided_at = 0;
};

struct AttemptAudit {
    enum class Stage { open, released, finished, doubted };
    Stage stage = Stage::open;
    std::size_t call = 0;
    int process = 0;
    Tick claimed = 0;
    std::int64_t fence = 0;
    std::string tool;
    std::string arguments;
    bool may_run_again = false;
    bool returned = false;
    bool on_record = false;  ///< How it ended, by its own process or a receipt.
    Tick given_up = 0;       ///< When others doubted it.
};

struct CallAudit {
    journal::CallRef ref;
    journal::RecordedCall proposed;
    std::string tool;
    std::string arguments;
    bool prepared = false;
    std::optional<journal::Judged> judged;
    bool edited = false;                    ///< To be judged again.
    std::optional<std::int64_t> last_edit;  ///< The question that the edit answered.
    std::size_t asked_before_edit = 0;
    int asks = 0;
    std::vector<std::int64_t> questions;
    std::vector<std::string> attempts;
    bool ended = false;
    std::string text;  ///< Its result, once it has ended.
};

/// A row around its events.
struct RowFacts {
    UnixMillis at = 0;
    StoredRow stored;
};

class ThreadAudit {
public:
    ThreadAudit(std::string thread, bool hold_batch, Ledger& ledger)
        : thread_(std::move(thread)), hold_batch_(hold_batch), ledger_(ledger) {}

    void read(const std::vector<journal::Event>& events, const RowFacts& row);
    /// What must hold once faults have stopped and everything was answered.
    void end();

    [[nodiscard]] const std::map<std::int64_t, Question>& questions() const { return questions_; }
    [[nodiscard]] const std::map<std::string, AttemptAudit>& attempts() const { return attempts_; }
    [[nodiscard]] const std::vector<CallAudit>& calls() const { return calls_; }

    void operator()(const journal::Configured&) {}
    void operator()(const journal::UserMessage& event);
    void operator()(const journal::Queued& event);
    void operator()(const journal::ModelSaid& event);
    void operator()(const journal::Prepared& event);
    void operator()(const journal::Refused& event);
    void operator()(const journal::Judged& event);
    void operator()(const journal::Asked& event);
    void operator()(const journal::Answered& event);
    void operator()(const journal::Claimed& event);
    void operator()(const journal::Released& event);
    void operator()(const journal::Finished& event);
    void operator()(const journal::Doubted& event);
    void operator()(const journal::LateFinished& event);
    void operator()(const journal::Resolved& event);
    void operator()(const journal::Withdrawn& event);
    void operator()(const journal::TimedOut& event);
    void operator()(const journal::Aborted& event);
    void operator()(const journal::RunFinished& event);
    // Nothing that is played delegates or keeps files.
    void operator()(const journal::Delegated& event);
    void operator()(const journal::ChildFinished& event);
    void operator()(const journal::FilesChanged& event);
    void operator()(const journal::Pruned& event);

private:
    void broke(Rule rule, const std::string& what);
    [[nodiscard]] CallAudit* call(const journal::CallRef& ref);
    [[nodiscard]] AttemptAudit* newest_open(const std::string& attempt);
    [[nodiscard]] Question* open_question(std::int64_t number);
    [[nodiscard]] bool has_open_question(const CallAudit& call) const;
    /// Whether people are asked how its newest start ended.
    [[nodiscard]] bool is_in_doubt(const CallAudit& call) const;
    /// Whether a person's answer stands for this guard's asking about the arguments as they are.
    [[nodiscard]] bool satisfied(const CallAudit& call, const journal::GuardVerdict& guard) const;
    [[nodiscard]] bool judging_is_due(const CallAudit& call, const journal::Judged& event) const;
    void note_key(const std::string& key);
    /// Only the process that took the lease last may run the thread.
    void check_runner();
    void check_guards(const CallAudit& call, const journal::Judged& event);
    void check_claim(const CallAudit& call, const journal::Start& start);
    void check_may_start_again(const CallAudit& call);
    void check_result(const std::string& attempt, const ToolResult& result, OutcomeKind outcome, bool late);
    void end_call(CallAudit& call, std::string text);
    void withdraw_questions(const CallAudit& call, ApprovalState state);
    [[nodiscard]] bool all_ended() const;

    std::string thread_;
    bool hold_batch_;
    Ledger& ledger_;
    RowFacts row_;
    std::size_t latest_turn_ = 0;  ///< Where its calls begin.
    std::vector<CallAudit> calls_;
    std::map<std::int64_t, Question> questions_;
    std::map<std::string, AttemptAudit> attempts_;
    std::set<std::string> bindings_;
    std::set<std::pair<std::size_t, std::string>> questions_due_;  ///< By call and guard, in this row.
    std::set<int> asked_before_row_;  ///< Calls of the turn whose questions this row withdrew.
    int turns_ = 0;
    int queued_ = 0;  ///< Prompts that wait for the turn to end.
    std::set<std::string> prompt_keys_;
    bool running_ = false;
    bool aborted_ = false;
    std::string abort_reason_;
};

}  // namespace assent::sim
