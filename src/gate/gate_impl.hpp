// What a gate is made of: its thread, its judge, and what it has claimed and not handed out or stored yet.
#pragma once

#include "base/display.hpp"
#include "gate/abort.hpp"
#include "gate/answering.hpp"
#include "gate/inherited.hpp"
#include "gate/judge.hpp"
#include "gate/open_files.hpp"
#include "gate/recorded.hpp"
#include "gate/session.hpp"

#include <assent/gate.hpp>

#include <algorithm>
#include <map>
#include <mutex>
#include <set>

namespace assent {

class Gate::Impl {
public:
    // A change that lost against somebody else's is made again on the new state. Between two of a runner's
    // appends only finitely many answers can come, so this bound is never met in honest use.
    static constexpr int tries_max = 1000;
    static constexpr const char* not_started = "the thread was given back before the tool started";

    static Failure leased_failure(const std::string& thread, const std::string& by) {
        return {FailureKind::leased, "thread " + thread + " is run by " + (by.empty() ? "another process" : by) +
                                         "; wait for it to end or stop it"};
    }
    static Failure fenced_failure(const std::string& thread) {
        return {FailureKind::leased,
                "thread " + thread + " was given back or taken by another process; nothing more was done here"};
    }

    explicit Impl(GateOptions given)
        : options(std::move(given)),
          clock(options.clock != nullptr ? *options.clock : options.checkpointer->clock()),
          random(options.random != nullptr ? *options.random : system_random()),
          judge(options),
          session(*options.checkpointer, options.thread_id, clock, random) {}

    // Appends what `make` gives for the current state, again after every lost race.
    template <class Make>
    Result<void> append(Make make) {
        for (int tries = 0; tries < tries_max; ++tries) {
            Change change = make(session.state());
            if (change.events.empty() && change.lease != LeaseUse::take) return {};
            const bool takes = change.lease == LeaseUse::take;
            auto left = takes ? claimed_attempts(session.state()) : std::set<std::string>();
            auto result = session.append(std::move(change));
            if (!result) return result.failure();
            switch (result->status) {
                case AppendStatus::done:
                    if (takes) left_claimed = std::move(left);
                    return {};
                case AppendStatus::conflict:
                case AppendStatus::closed:
                case AppendStatus::expired:
                    break;
                case AppendStatus::fenced:
                    return fenced_failure(session.id());
                case AppendStatus::leased:
                    return leased_failure(session.id(), result->leased_by);
                case AppendStatus::stopped:
                    if (auto ended = end_with_ancestor(); !ended) return ended;
                    break;
                case AppendStatus::unknown_thread:
                    return Failure{FailureKind::unknown_thread, "no thread is called " + session.id()};
                case AppendStatus::uncertain:
                    return Failure{FailureKind::database,
                                   "the store cannot say whether the last change was kept; try again"};
            }
            if (auto read = session.refresh(); !read) return read.failure();
        }
        return Failure{FailureKind::database, "the store refused the same change too often; try again"};
    }

    // A thread above was aborted, so nothing of this one may start any more.
    Result<void> end_with_ancestor() {
        if (session.state().seq == 0) {
            return Failure{FailureKind::refused,
                           "thread " + session.id() + " was not made: the thread that it would work for was aborted"};
        }
        auto ended = abort_thread(session, {.reason = "the thread that it works for was aborted", .by = "assent"});
        if (!ended) return ended.failure();
        return {};
    }

    // What is next depends on the latest turn alone.
    static journal::ThreadState latest_turn(const journal::ThreadState& state) {
        journal::ThreadState turn;
        turn.calls = state.calls;
        turn.turn_open = state.turn_open;
        turn.running = state.running;
        turn.queue = state.queue;
        turn.aborted = state.aborted;
        return turn;
    }

    // A runner gives the thread back in the same append when only people are waited for afterwards.
    LeaseUse lease_after(const journal::ThreadState& before, const std::vector<journal::Event>& events) const {
        auto after = latest_turn(before);
        for (const auto& event : events) apply(after, event, session.now());
        return lease_in(after);
    }
    LeaseUse lease_in(const journal::ThreadState& after) const {
        const auto step = journal::next(after, options.hold_batch);
        const auto* wait = std::get_if<journal::Wait>(&step);
        const bool idle = std::holds_alternative<journal::Done>(step) ||
                          (wait != nullptr && wait->running == 0 && wait->children == 0);
        return idle ? LeaseUse::give_back : LeaseUse::keep;
    }

    void add_configuration(const journal::ThreadState& state, Change& change) const {
        journal::Configured wanted{.settings = settings ? *settings : state.configured.settings,
                                   .tools = judge.known_tools()};
        if (wanted == state.configured) return;
        change.events.emplace_back(std::move(wanted));
        change.schemas = judge.schemas();
    }

    // Judges one call and adds what follows from it. Questions about older arguments are withdrawn.
    void add_ruling(const journal::Call& call, const RunContext& run, std::vector<journal::Event>& events,
                    Change& change) const {
        for (const auto& ask : call.approvals) {
            if (ask.state != ApprovalState::open) continue;
            events.emplace_back(journal::Withdrawn{.number = ask.asked.number, .reason = "the call is judged again"});
            change.closes_calls.emplace_back(call.ref.turn, call.ref.position);
        }
        FilesOfCall look(files, {});
        auto ruling = judge.rule(session.id(), call, session.now(), run, look);
        events.emplace_back(std::move(ruling.judged));
        for (auto& asked : ruling.asks) events.emplace_back(std::move(asked));
    }

    // What guards may know of the run. `proposed`: the message of a turn that is not stored yet.
    RunContext run_context(const std::stop_token& stop, const Message* proposed = nullptr) {
        return {.system_prompt = options.system_prompt,
                .tools = options.tools,
                .messages = [this, proposed]() -> Result<std::vector<Message>> {
                    if (auto whole = session.read_whole(); !whole) return whole.failure();
                    auto messages = session.state().messages;
                    if (proposed != nullptr) messages.push_back(*proposed);
                    return messages;
                },
                .stop = stop,
                .timeout_ms = options.timeout_ms};
    }
    // Judging was cut short: what guards said counts for nothing.
    static Failure cut_short() {
        return {FailureKind::refused, "the run was interrupted while its calls were judged; resume it to go on"};
    }

    Result<void> expire() {
        return append([this](const journal::ThreadState& state) {
            Change change{.lease = LeaseUse::none};
            for (const auto& call : state.calls) {
                for (const auto& ask : call.approvals) {
                    const auto& deadline = ask.asked.deadline;
                    if (ask.state != ApprovalState::open || !deadline || *deadline > session.now()) continue;
                    change.events.emplace_back(
                        timed_out(ask.asked.number, ask.asked.tool, ask.asked.question, ask.asked.kind));
                    change.closes.push_back(ask.asked.number);
                    change.closes_late = true;
                    change.closes_calls.emplace_back(call.ref.turn, call.ref.position);
                    return change;  // one at a time: one ends the call of the others
                }
            }
            return change;
        });
    }

    [[nodiscard]] Result<PromptTaken> given_before(const journal::PromptKey& given,
                                                   const journal::UserMessage& message) const;
    Result<PromptTaken> begin(const journal::UserMessage& message);
    Result<PromptTaken> queue(const journal::UserMessage& message);
    [[nodiscard]] std::vector<Approval> asked() const {
        std::vector<Approval> asked;
        for (const auto& call : session.state().calls) {
            for (const auto& ask : call.approvals) asked.push_back(approval_of(session.id(), call, ask));
        }
        return asked;
    }
    [[nodiscard]] std::vector<Approval> open() const {
        auto open = asked();
        std::erase_if(open, [](const Approval& approval) { return approval.state != ApprovalState::open; });
        return open;
    }
    Change take_over(const journal::ThreadState& state) const;
    Result<void> look_whether_held();
    Result<void> settle_inherited();
    Result<void> settle_left();
    // Receipts of starts whose end is on record. Most are gone already.
    void drop_receipts() const {
        for (const auto& call : session.state().calls) {
            for (const auto& attempt : call.attempts) {
                if (!attempt.open) judge.drop_receipt(call.tool, attempt.id);
            }
        }
    }
    Result<void> resume_with(const std::vector<GivenAnswer>& answers, const Reviewer& reviewer,
                             std::vector<AnswerResult>& told, Counting counting, const std::stop_token& stop);
    void add_claims(const journal::ThreadState& state, const RunContext& run, Change& change,
                    std::vector<journal::Start>& starts) const;
    Change proposal(const ModelTurn& turn, const journal::ThreadState& state, const std::stop_token& stop);
    journal::Call with_standing_answers(const journal::Call& call) const;
    static void add_late(const journal::Call& call, const Outcome& outcome, const ToolResult& result, Change& change);
    Result<void> finish_earlier(const Outcome& outcome);
    bool still_open(const journal::ThreadState& state, std::int64_t number) const {
        const auto* ask = state.find_ask(number);
        if (ask == nullptr || ask->state != ApprovalState::open) return false;
        return !ask->asked.deadline || *ask->asked.deadline > session.now();
    }

    bool held_back(const journal::ThreadState& state) const { return options.hold_batch && undecided(state); }

    Result<void> tell_none_counts(const std::vector<GivenAnswer>& answers, const std::vector<CheckedAnswer>& checked,
                                  const Reviewer& reviewer, std::vector<AnswerResult>& told);
    Result<void> record_together(const std::vector<GivenAnswer>& answers, const std::vector<CheckedAnswer>& checked,
                                 const Reviewer& reviewer, std::vector<AnswerResult>& told);
    static bool perhaps_stored(const Failure& failure) { return failure.kind == FailureKind::database; }
    void keep_claimed(const std::vector<journal::Start>& starts, std::int64_t until);
    // Until when what is claimed from now on may be started, on the monotonic clock.
    std::int64_t start_by() const;
    Permit make_permit(const journal::Call& call, const std::string& attempt, std::int64_t until,
                       const std::stop_token& stop) const;

    // Whether a claim of `resume` still stands: nobody has doubted it or ended it since.
    static bool stands(const journal::ThreadState& state, const journal::Start& start) {
        const auto* call = state.find(start.call);
        if (call == nullptr || call->stage != journal::CallStage::claimed) return false;
        return call->attempts.back().id == start.attempt && call->attempts.back().open;
    }
    bool awaits_start(const journal::CallRef& call) const {
        return std::any_of(claimed_starts.begin(), claimed_starts.end(),
                           [&](const journal::Start& start) { return start.call == call; });
    }
    // What `resume` claimed and nobody has started: it provably did not run.
    Result<void> release_claimed(const std::string& reason) {
        if (claimed_starts.empty()) return {};
        // One that was stored in doubt is not in the state yet.
        if (auto read = session.refresh(); !read) return read.failure();
        auto released = append([&](const journal::ThreadState& state) {
            Change change{.lease = LeaseUse::none};
            for (const auto& start : claimed_starts) {
                if (!stands(state, start)) continue;
                change.events.emplace_back(journal::Released{.attempt = start.attempt, .reason = reason});
            }
            return change;
        });
        // Who has taken the thread meanwhile has doubted them.
        if (!released && released.failure().kind != FailureKind::leased) return released;
        claimed_starts.clear();
        return {};
    }

    // The result after the hooks, which run once, however often storing it is tried.
    const ToolResult& hooked(const Outcome& outcome, const journal::Call& call) {
        const auto known = results.find(outcome.attempt);
        if (known != results.end()) return known->second;
        ToolResult result = outcome.result;
        if (outcome.started) result = judge.after(call, std::move(result));
        result.text = capped(repaired_utf8(result.text), result_text_max);
        return results.emplace(outcome.attempt, std::move(result)).first->second;
    }

    // Before guards and tools look at them.
    Result<void> open_files() {
        if (auto read = session.read_files(); !read) return read;
        files->update(session.state());
        return {};
    }
    // What a start has changed is stored with its outcome.
    void add_file_changes(const journal::ThreadState& state, const std::string& attempt, Change& change) const {
        auto changes = files->changes(attempt, state.files);
        if (!changes.empty())
            change.events.emplace_back(journal::FilesChanged{.attempt = attempt, .changes = std::move(changes)});
    }

    GateOptions options;
    const Clock& clock;
    Random& random;
    Judge judge;
    ThreadSession session;
    std::optional<std::string> settings;
    std::set<std::string> left_claimed;          // attempts that whoever had the thread before it was taken had begun
    std::map<std::string, Inherited> inherited;  // by attempt, what a dead runner had started; not settled yet
    std::vector<journal::Start> claimed_starts;  // claimed, perhaps, and not started yet
    std::int64_t claimed_until = 0;              // when they may not be started any more
    std::map<std::string, ToolResult> results;   // of outcomes that are not stored yet
    std::shared_ptr<OpenFiles> files = std::make_shared<OpenFiles>();
    std::mutex mutex;  // finish() comes from tool threads
};

}  // namespace assent
