#include <assent/gate.hpp>

#include "base/display.hpp"
#include "base/sha256.hpp"
#include "gate/binding.hpp"
#include "gate/judge.hpp"
#include "gate/permit_state.hpp"
#include "gate/process.hpp"
#include "gate/session.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <set>

namespace assent {
namespace {

using namespace journal;  // NOLINT(google-build-using-namespace): the gate speaks the journal's words throughout

// A change that lost against somebody else's is made again on the new state. Between two of a runner's
// appends only finitely many answers can come, so this bound is never met in honest use.
constexpr int tries_max = 1000;
constexpr std::size_t result_text_max = 1024 * 1024;

Failure leased_failure(const std::string& thread, const std::string& by) {
    return {FailureKind::leased, "thread " + thread + " is run by " + (by.empty() ? "another process" : by) +
                                     "; wait for it to end or stop it"};
}

Failure fenced_failure(const std::string& thread) {
    return {FailureKind::leased, "another process has taken thread " + thread + "; nothing more was done here"};
}

RecordedCall recorded(const ProposedCall& call) {
    RecordedCall out{.tool = repaired_utf8(call.tool), .arguments = repaired_utf8(call.arguments)};
    if (call.id) out.id = repaired_utf8(*call.id);
    if (!valid_utf8(call.arguments)) {
        out.arguments_hex = hex({reinterpret_cast<const std::uint8_t*>(call.arguments.data()), call.arguments.size()});
    }
    return out;
}

ModelSaid recorded(const ModelTurn& turn, int number) {
    ModelSaid said{.turn = number,
                   .text = repaired_utf8(turn.text),
                   .stop_reason = repaired_utf8(turn.stop_reason),
                   .provider_content = repaired_utf8(turn.provider_content),
                   .input_tokens = turn.input_tokens,
                   .output_tokens = turn.output_tokens};
    for (const auto& call : turn.calls) said.calls.push_back(recorded(call));
    return said;
}

// The question about a call whose process died.
Asked doubt_question(const std::string& thread_id, const Call& call, const std::string& reason) {
    Question question{.description = "The process that ran this call ended before it could say how the call ended.",
                      .allowed = {}};
    return {.call = call.ref,
            .ask_no = call.asks + 1,
            .kind = ApprovalKind::unknown,
            .tool = call.tool,
            .arguments = call.arguments,
            .guard = "unknown outcome",
            .guard_version = "1",
            .reason = reason,
            .question = question,
            .binding = binding_of(thread_id, call, call.asks + 1, "unknown outcome", "1"),
            .attempt = call.attempts.back().id};
}

}  // namespace

class Gate::Impl {
public:
    explicit Impl(GateOptions given)
        : options(std::move(given)),
          clock(options.clock != nullptr ? *options.clock : system_clock()),
          judge(options),
          session(*options.checkpointer, options.thread_id, clock,
                  options.random != nullptr ? *options.random : system_random()) {}

    // Appends what `make` gives for the current state, again after every lost race.
    template <class Make>
    Result<void> append(Make make) {
        for (int tries = 0; tries < tries_max; ++tries) {
            const Change change = make(session.state());
            if (change.events.empty() && change.lease != LeaseUse::take) return {};
            auto result = session.append(change);
            if (!result) return result.failure();
            switch (result->status) {
                case AppendStatus::done:
                    return {};
                case AppendStatus::conflict:
                case AppendStatus::closed:
                case AppendStatus::expired:
                    break;
                case AppendStatus::fenced:
                    return fenced_failure(session.id());
                case AppendStatus::leased:
                    return leased_failure(session.id(), result->leased_by);
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

    // A runner gives the thread back in the same append when only people are waited for afterwards.
    LeaseUse lease_after(const ThreadState& before, const std::vector<Event>& events) const {
        ThreadState after;
        after.calls = before.calls;
        after.turn_open = before.turn_open;
        after.running = before.running;
        after.aborted = before.aborted;
        for (const auto& event : events) apply(after, event, session.now());
        const auto step = journal::next(after);
        const auto* wait = std::get_if<Wait>(&step);
        const bool idle = std::holds_alternative<Done>(step) || (wait != nullptr && wait->running == 0);
        return idle ? LeaseUse::give_back : LeaseUse::keep;
    }

    void add_configuration(const ThreadState& state, Change& change) const {
        Configured wanted{.settings = settings ? *settings : state.configured.settings, .tools = judge.known_tools()};
        if (wanted == state.configured) return;
        change.events.emplace_back(std::move(wanted));
        change.schemas = judge.schemas();
    }

    // Judges one call and adds what follows from it. Questions about older arguments are withdrawn.
    void add_ruling(const Call& call, std::vector<Event>& events, Change& change) const {
        for (const auto& ask : call.approvals) {
            if (ask.state != ApprovalState::open) continue;
            events.emplace_back(Withdrawn{.number = ask.asked.number, .reason = "the call is judged again"});
            change.closes_call = {call.ref.turn, call.ref.position};
        }
        auto ruling = judge.rule(session.id(), call, session.now());
        events.emplace_back(std::move(ruling.judged));
        for (auto& asked : ruling.asks) events.emplace_back(std::move(asked));
    }

    Result<void> expire() {
        return append([this](const ThreadState& state) {
            Change change{.lease = LeaseUse::none};
            for (const auto& call : state.calls) {
                for (const auto& ask : call.approvals) {
                    const auto& deadline = ask.asked.deadline;
                    if (ask.state != ApprovalState::open || !deadline || *deadline > session.now()) continue;
                    change.events.emplace_back(timed_out(ask));
                    change.closes.push_back(ask.asked.number);
                    change.closes_late = true;
                    change.closes_call = {call.ref.turn, call.ref.position};
                    return change;  // one at a time: one ends the call of the others
                }
            }
            return change;
        });
    }

    static TimedOut timed_out(const Ask& ask) {
        return {.number = ask.asked.number,
                .text = "Nobody approved the call of `" + ask.asked.tool + "` in time. It did not run."};
    }

    Permit make_permit(const Call& call, const std::string& attempt, const std::stop_token& stop) const;

    // The result after the hooks, which run once, however often storing it is tried.
    const ToolResult& hooked(const Outcome& outcome) {
        const auto known = results.find(outcome.attempt);
        if (known != results.end()) return known->second;
        ToolResult result = outcome.result;
        const auto* call = session.state().find_attempt(outcome.attempt);
        if (call != nullptr && outcome.started) result = judge.after(*call, std::move(result));
        result.text = capped(repaired_utf8(result.text), result_text_max);
        return results.emplace(outcome.attempt, std::move(result)).first->second;
    }

    GateOptions options;
    const Clock& clock;
    Judge judge;
    ThreadSession session;
    std::optional<std::string> settings;
    std::map<std::string, ToolResult> results;  // of outcomes that are not stored yet
    std::mutex mutex;                           // finish() comes from tool threads
};

Gate::Gate(GateOptions options) {
    if (options.checkpointer == nullptr) throw ConfigError("a gate needs a checkpointer");
    if (options.thread_id.empty()) throw ConfigError("a gate needs a thread id");
    if (!valid_utf8(options.thread_id)) throw ConfigError("a thread id must be valid utf-8");
    impl_ = std::make_unique<Impl>(std::move(options));
}

Gate::~Gate() {
    (void)give_back();
}

Result<bool> Gate::load() {
    return impl_->session.refresh();
}

Result<void> Gate::refresh() {
    const std::lock_guard lock(impl_->mutex);
    if (auto read = impl_->session.refresh(); !read) return read.failure();
    return impl_->expire();
}

Result<void> Gate::give_back() {
    const std::lock_guard lock(impl_->mutex);
    return impl_->session.give_back();
}

void Gate::configure(std::string settings) {
    impl_->settings = std::move(settings);
}

Result<void> Gate::prompt(const std::string& text, const std::string& by) {
    const std::lock_guard lock(impl_->mutex);
    if (auto read = impl_->session.refresh(); !read) return read.failure();
    bool waiting = false;
    auto done = impl_->append([&](const ThreadState& state) {
        Change change{.lease = impl_->session.held() ? LeaseUse::keep : LeaseUse::take, .create = true};
        waiting = state.turn_open;
        if (waiting) return Change{.lease = LeaseUse::none};
        impl_->add_configuration(state, change);
        change.events.emplace_back(UserMessage{.text = repaired_utf8(text), .by = by});
        return change;
    });
    if (!done || !waiting) return done;
    std::string open;
    for (const auto& approval : this->open())
        open += (open.empty() ? "" : ", ") + approval.id + " (" + approval.tool + ")";
    return Failure{FailureKind::waiting,
                   "thread " + impl_->session.id() +
                       (open.empty() ? " has calls that have not ended; resume or abort it first"
                                     : " waits for people: " + open + "; answer, resume or abort it first")};
}

Result<void> Gate::resume() {
    const std::lock_guard lock(impl_->mutex);
    auto known = impl_->session.refresh();
    if (!known) return known.failure();
    if (!*known) return Failure{FailureKind::unknown_thread, "no thread is called " + impl_->session.id()};
    auto taken = impl_->append([&](const ThreadState& state) {
        Change change{.lease = impl_->session.held() ? LeaseUse::keep : LeaseUse::take};
        impl_->add_configuration(state, change);
        // Whoever held the thread before is gone: nobody will say how the calls it started ended.
        for (const auto& call : state.calls) {
            if (call.stage != CallStage::claimed || impl_->session.held()) continue;
            const auto tool = impl_->judge.tool(call.tool);
            const bool again = tool != nullptr && tool->spec().idempotent;
            const std::string reason = "its process ended before the outcome was recorded";
            change.events.emplace_back(
                Doubted{.attempt = call.attempts.back().id, .reason = reason, .may_run_again = again});
            if (!again && !state.aborted) change.events.emplace_back(doubt_question(impl_->session.id(), call, reason));
        }
        return change;
    });
    if (!taken) return taken;
    return impl_->expire();
}

Result<void> Gate::propose(const ModelTurn& turn) {
    const std::lock_guard lock(impl_->mutex);
    return impl_->append([&](const ThreadState& state) {
        Change change;
        if (state.aborted) return change;  // what the model said after an abort is dropped
        ThreadState preview;
        preview.running = true;
        const auto add = [&](Event event) {
            apply(preview, event, impl_->session.now());
            change.events.push_back(std::move(event));
        };
        add(recorded(turn, state.turns + 1));
        std::set<std::string> ids;
        for (std::size_t i = 0; i < turn.calls.size(); ++i) {
            const CallRef ref{state.turns + 1, static_cast<int>(i)};
            const auto id = preview.find(ref)->proposed.id;
            if (id && !ids.insert(*id).second) {
                add(Refused{.call = ref,
                            .text = "Error: the call id is used twice in this turn; nothing of this call ran"});
                continue;
            }
            add(impl_->judge.prepare(*preview.find(ref)));
            if (preview.find(ref)->stage == CallStage::ended) continue;
            std::vector<Event> events;
            impl_->add_ruling(*preview.find(ref), events, change);
            for (auto& event : events) add(std::move(event));
        }
        if (turn.calls.empty()) add(RunFinished{.ok = true});
        change.lease = impl_->lease_after(state, change.events);
        return change;
    });
}

Result<void> Gate::refuse_proposed(const ModelTurn& turn, const std::string& text) {
    const std::lock_guard lock(impl_->mutex);
    return impl_->append([&](const ThreadState& state) {
        Change change;
        if (state.aborted) return change;
        change.events.emplace_back(recorded(turn, state.turns + 1));
        for (std::size_t i = 0; i < turn.calls.size(); ++i) {
            change.events.emplace_back(Refused{.call = {state.turns + 1, static_cast<int>(i)}, .text = text});
        }
        return change;
    });
}

Result<void> Gate::judge() {
    const std::lock_guard lock(impl_->mutex);
    return impl_->append([&](const ThreadState& state) {
        Change change;
        for (const auto& call : state.calls) {
            if (call.stage != CallStage::edited) continue;
            if (const auto error = impl_->judge.check_edited(call); !error.empty()) {
                change.events.emplace_back(Refused{.call = call.ref, .text = error});
                change.closes_call = {call.ref.turn, call.ref.position};
            } else {
                impl_->add_ruling(call, change.events, change);
            }
            // One call an append: what it closes belongs to it alone.
            change.lease = impl_->lease_after(state, change.events);
            return change;
        }
        return change;
    });
}

Permit Gate::Impl::make_permit(const Call& call, const std::string& attempt, const std::stop_token& stop) const {
    auto state = std::make_unique<Permit::State>();
    state->tool = call.tool;
    state->attempt = attempt;
    state->arguments = *Arguments::parse(call.arguments, options.json_limits);
    state->sha256 = hex(sha256(call.arguments));
    state->idempotency_key = assent::idempotency_key(session.id(), call.ref);
    state->stop = stop;
    state->start_by = clock.monotonic() + options.start_within_ms;
    state->clock = &clock;
    return Permit(std::move(state));
}

namespace {

// The guards whose approvals can no longer be used: too old, or given for something else.
std::vector<std::string> void_approvals(const std::string& thread_id, const Call& call, UnixMillis now) {
    std::vector<std::string> guards;
    for (const auto& guard : call.satisfied) {
        const bool asks = std::any_of(call.verdicts.begin(), call.verdicts.end(), [&](const GuardVerdict& stored) {
            return stored.guard == guard && stored.verdict == Verdict::ask;
        });
        // A guard that does not ask any more needs no approval.
        if (!asks) continue;
        const auto ask = std::find_if(call.approvals.rbegin(), call.approvals.rend(), [&](const Ask& known) {
            return known.asked.guard == guard && known.answer.has_value();
        });
        const bool gone = ask == call.approvals.rend();
        const bool late =
            !gone && ask->asked.use_by_ms && ask->decided_at && *ask->decided_at + *ask->asked.use_by_ms < now;
        const bool other =
            !gone && ask->state == ApprovalState::approved &&
            ask->asked.binding != binding_of(thread_id, call, ask->asked.ask_no, guard, ask->asked.guard_version);
        if (gone || late || other) guards.push_back(guard);
    }
    return guards;
}

}  // namespace

Result<std::vector<Permit>> Gate::claim(const std::stop_token& stop) {
    const std::lock_guard lock(impl_->mutex);
    auto& session = impl_->session;
    std::vector<Start> starts;
    auto appended = impl_->append([&](const ThreadState& state) {
        Change change{.lease = session.held() ? LeaseUse::keep : LeaseUse::take};
        starts.clear();
        for (const auto& call : state.calls) {
            if (call.stage != CallStage::ready) continue;
            const auto voided = void_approvals(session.id(), call, session.now());
            if (!voided.empty() || impl_->judge.outdated(call)) {
                Call again = call;
                std::erase_if(again.satisfied, [&](const auto& guard) {
                    const bool is_void = std::find(voided.begin(), voided.end(), guard) != voided.end();
                    return is_void || impl_->judge.has_changed(call, guard);
                });
                impl_->add_ruling(again, change.events, change);
                continue;
            }
            starts.push_back(
                {.call = call.ref, .attempt = session.random_hex(16), .arguments_sha256 = hex(sha256(call.arguments))});
        }
        if (!starts.empty()) change.events.emplace_back(Claimed{.starts = starts, .process = this_process()});
        if (starts.empty() && session.held() && !change.events.empty())
            change.lease = impl_->lease_after(state, change.events);
        return change;
    });
    if (!appended) return appended.failure();
    std::vector<Permit> permits;
    for (const auto& start : starts) {
        const auto* call = session.state().find(start.call);
        if (call == nullptr) continue;
        permits.push_back(impl_->make_permit(*call, start.attempt, stop));
    }
    return permits;
}

Result<void> Gate::finish(const Outcome& outcome) {
    const std::lock_guard lock(impl_->mutex);
    const auto& result = impl_->hooked(outcome);
    auto stored = impl_->append([&](const ThreadState& state) {
        Change change{.lease = LeaseUse::none};
        const auto* call = state.find_attempt(outcome.attempt);
        if (call == nullptr) return change;
        const bool newest = call->attempts.back().id == outcome.attempt && call->attempts.back().open;
        if (!newest) {
            if (call->attempts.back().id == outcome.attempt && call->stage == CallStage::ended)
                return change;  // recorded before
            change.events.emplace_back(
                LateFinished{.attempt = outcome.attempt, .outcome = outcome.kind, .result = result});
            if (call->stage == CallStage::unknown) change.closes_call = {call->ref.turn, call->ref.position};
        } else if (!outcome.started) {
            change.events.emplace_back(Released{.attempt = outcome.attempt, .reason = result.text});
        } else if (outcome.kind == OutcomeKind::unknown) {
            const std::string reason = "the tool could not say how it ended";
            change.events.emplace_back(Doubted{.attempt = outcome.attempt, .reason = reason});
            if (!state.aborted) change.events.emplace_back(doubt_question(impl_->session.id(), *call, reason));
        } else {
            change.events.emplace_back(Finished{.attempt = outcome.attempt, .outcome = outcome.kind, .result = result});
        }
        return change;
    });
    if (stored) impl_->results.erase(outcome.attempt);
    return stored;
}

Result<void> Gate::fail(const Failure& failure) {
    const std::lock_guard lock(impl_->mutex);
    return impl_->append([&](const ThreadState& state) {
        Change change{.lease = LeaseUse::give_back};
        if (state.aborted || !impl_->session.held()) return change;
        change.events.emplace_back(
            RunFinished{.ok = false, .failure_kind = std::string(to_string(failure.kind)), .message = failure.message});
        return change;
    });
}

GateStep Gate::next() const {
    const auto step = journal::next(impl_->session.state());
    switch (step.index()) {
        case 0:
            return GateStep::call_model;
        case 1:
            return GateStep::judge;
        case 2:
            return GateStep::start;
        case 3:
            return GateStep::wait;
        default:
            return GateStep::done;
    }
}

std::span<const Message> Gate::messages() const noexcept {
    return impl_->session.state().messages;
}

std::vector<CallReport> Gate::calls() const {
    std::vector<CallReport> reports;
    for (const auto& call : impl_->session.state().calls) {
        CallReport report{.turn = call.ref.turn,
                          .position = call.ref.position,
                          .tool = call.tool,
                          .tool_call_id = call.proposed.id,
                          .arguments = call.arguments.empty() ? call.proposed.arguments : call.arguments,
                          .ran = call.ran,
                          .running = call.stage == CallStage::claimed,
                          .waiting = call.stage == CallStage::asked || call.stage == CallStage::unknown,
                          .edited = call.edited};
        if (call.stage == CallStage::ended) {
            report.outcome = call.outcome;
            report.text = call.result.text;
            report.is_error = call.result.is_error;
            report.details = call.result.details;
        }
        if (call.outcome == OutcomeKind::denied && report.outcome) {
            for (const auto& verdict : call.verdicts) {
                if (verdict.verdict == Verdict::deny) report.denied_by = "guard " + verdict.guard;
            }
            for (const auto& ask : call.approvals) {
                if (ask.state == ApprovalState::denied) report.denied_by = ask.decided_by;
            }
        }
        reports.push_back(std::move(report));
    }
    return reports;
}

std::vector<Approval> Gate::open() const {
    std::vector<Approval> open;
    for (const auto& call : impl_->session.state().calls) {
        for (const auto& ask : call.approvals) {
            if (ask.state == ApprovalState::open) open.push_back(approval_of(impl_->session.id(), call, ask));
        }
    }
    return open;
}

ThreadStatus Gate::status() const noexcept {
    return impl_->session.state().status;
}
bool Gate::aborted() const noexcept {
    return impl_->session.state().aborted.has_value();
}
int Gate::turns() const noexcept {
    return impl_->session.state().turns;
}
int Gate::run_turns() const noexcept {
    return impl_->session.state().run_turns;
}
int Gate::run_calls() const noexcept {
    return impl_->session.state().run_calls;
}

int Gate::running() const noexcept {
    const auto& calls = impl_->session.state().calls;
    return static_cast<int>(
        std::count_if(calls.begin(), calls.end(), [](const Call& call) { return call.stage == CallStage::claimed; }));
}

std::string Gate::settings() const {
    return impl_->session.state().configured.settings;
}
std::shared_ptr<Tool> Gate::tool(std::string_view name) const {
    return impl_->judge.tool(name);
}

CallPreview Gate::preview(const ProposedCall& proposed) const {
    Call call{.ref = {1, 0}, .proposed = recorded(proposed), .tool = repaired_utf8(proposed.tool)};
    const auto event = impl_->judge.prepare(call);
    if (const auto* refused = std::get_if<Refused>(&event)) return {.refusal = refused->text};
    if (const auto* denied = std::get_if<Judged>(&event))
        return {.guards = {{"before_tool", Verdict::deny, denied->text}}};
    call.arguments = std::get<Prepared>(event).arguments;
    const auto ruling = impl_->judge.rule(impl_->session.id(), call, impl_->session.now());
    CallPreview preview{.arguments = call.arguments, .verdict = ruling.judged.verdict};
    for (const auto& said : ruling.judged.guards) preview.guards.push_back({said.guard, said.verdict, said.reason});
    return preview;
}

}  // namespace assent
