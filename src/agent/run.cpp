#include "agent/run.hpp"

#include "agent/tool_threads.hpp"
#include "base/display.hpp"

#include <cxxabi.h>

#include <algorithm>
#include <chrono>
#include <system_error>

namespace assent {
namespace {

using namespace std::chrono_literals;

// How often a loop that only waits for its tools looks for answers and aborts of other processes.
constexpr auto look_interval = 100ms;
// Storing an outcome is tried again with growing pauses. Where a dead process is known to be dead, its receipts tell
// the outcome: there it ends after some tries, and the process can. Where others only wait for a lease to run out, it
// is kept as long as the process lives, and for a while after it was told to stop.
constexpr int record_tries_max = 8;
constexpr int record_tries_silent = 3;  // of which nobody is told
constexpr auto record_pause = 50ms;
constexpr auto record_pause_max = 5s;
constexpr auto record_after_stop_max = 1min;
constexpr std::size_t error_text_max = 2000;
// A run that the store failed is not tried again at once by the next worker.
constexpr std::int64_t retry_after_ms = 5000;
// A loop that waits for people looks at least this often; the channel may look more often.
constexpr std::int64_t look_at_least_ms = 1000;

bool same_call(const CallReport& a, const CallReport& b) {
    return a.turn == b.turn && a.position == b.position;
}

}  // namespace

RunLoop::RunLoop(const AgentNode& agent, Gate& gate, Told& told, RunLimits& limits, RunStops stops)
    : options_(agent.options),
      asks_on_(agent.asks_on.get()),
      is_root_(agent.name.empty()),
      gate_(gate),
      told_(told),
      limits_(limits),
      stop_(std::move(stops.stop)),
      ends_(std::move(stops.ends)),
      children_(
          agent, gate, told, limits, {.stop = tools_stop_.get_token(), .ends = ends_},
          [this] {
              const std::lock_guard lock(mutex_);
              ++bodies_;
          },
          [this](Children::Child& child) { rested(child); }) {}

RunLoop::~RunLoop() {
    tools_stop_.request_stop();
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return bodies_ == 0; });
}

Run RunLoop::go() {
    // Whatever stops the run stops its tools.
    const std::stop_callback forward(stop_, [this] { tools_stop_.request_stop(); });
    if (options_.channel != nullptr) asked_after_ = options_.channel->mark();
    while (true) {
        // Before the next turn takes the place of this one.
        tell_over();
        tell_ended_calls();
        tell_new_questions();
        if (stop_.stop_requested()) return interrupted();
        if (elsewhere_) {
            if (auto over = wait_for_people()) return std::move(*over);
            continue;
        }
        note_channel();
        Result<void> step;
        switch (gate_.next()) {
            case GateStep::call_model:
                step = call_model();
                break;
            case GateStep::judge:
                step = gate_.judge(stop_);
                break;
            case GateStep::start:
                step = start_ready();
                break;
            case GateStep::wait: {
                if (running_ == 0 && overdue()) {
                    step = gate_.resume();
                    break;
                }
                const auto moved = wait();
                if (!moved) {
                    step = moved.failure();
                } else if (!*moved) {
                    const auto on_channel = waits_on_channel();
                    if (!on_channel) return ended(RunStatus::failed, on_channel.failure());
                    if (!*on_channel) return at_rest(RunStatus::waiting);
                    if (auto over = wait_for_people()) return std::move(*over);
                }
                break;
            }
            case GateStep::done:
                // After an abort children may still be coming to rest.
                if (auto drained = drain(); !drained) return ended(RunStatus::failed, drained.failure());
                return at_rest(gate_.aborted() ? RunStatus::aborted : RunStatus::done);
        }
        if (step) continue;
        if (stop_.stop_requested()) return interrupted();
        elsewhere_ = options_.channel != nullptr && running_ == 0 && step.failure().kind == FailureKind::leased;
        if (elsewhere_) {
            if (auto over = leave_to_others()) return std::move(*over);
            continue;
        }
        // The run cannot go on, but what was started must still be recorded.
        if (auto drained = drain(); !drained) return ended(RunStatus::failed, drained.failure());
        // A store that failed ends no conversation: the thread goes on from what it has. One that fails here too
        // changes nothing.
        // One that somebody else runs, or of which somebody else runs a part, goes on there.
        const auto kind = step.failure().kind;
        const bool goes_on = kind == FailureKind::database || kind == FailureKind::leased;
        if (!goes_on) (void)gate_.fail(step.failure());
        (void)gate_.give_back(goes_on, retry_after_ms);
        return ended(gate_.aborted() ? RunStatus::aborted : RunStatus::failed, step.failure());
    }
}

// Another runner has this thread or one below: it is left to it for a moment, then looked at again.
std::optional<Run> RunLoop::leave_to_others() {
    children_.forget_failure();
    auto& channel = *options_.channel;
    const Channel::Mark now{.changes = channel.mark().changes, .detaches = asked_after_.detaches};
    if (channel.wait(now, look_at_least_ms, stop_) || stop_.stop_requested()) return std::nullopt;
    if (auto back = gate_.give_back(); !back) return ended(RunStatus::failed, back.failure());
    return suspended();
}

Run RunLoop::follow() {
    elsewhere_ = true;
    return go();
}

// While something is open a detach counts, whenever it came.
void RunLoop::note_channel() {
    if (options_.channel == nullptr || !gate_.open().empty() || !gate_.delegated().empty()) return;
    asked_after_ = options_.channel->mark();
}

// Of a loop in which nothing runs.
Result<bool> RunLoop::waits_on_channel() const {
    if (options_.channel == nullptr) return false;
    if (gate_.running() > 0) return true;
    auto requests = has_requests();
    if (!requests || *requests) return requests;
    // What children asked may have been answered just now: they go on.
    return children_.can_go_on();
}

// Unknown outcomes are no requests: who waits on a channel would wait for ever for what it does not tell.
Result<bool> RunLoop::has_requests() const {
    const auto is_request = [](const Approval& one) { return one.kind != ApprovalKind::unknown; };
    if (std::ranges::any_of(gate_.open(), is_request)) return true;
    if (gate_.delegated().empty()) return false;
    for (std::int64_t after = 0;;) {
        const auto below = Approvals(*options_.checkpointer).pending(gate_.thread_id(), after);
        if (!below) return below.failure();
        if (std::ranges::any_of(*below, is_request)) return true;
        if (below->empty()) return false;
        after = below->back().number;
    }
}

// Nothing: the thread has moved on. A run: nobody waits here any more.
std::optional<Run> RunLoop::wait_for_people() {
    auto& channel = *options_.channel;
    // Who waits for people holds no thread.
    if (auto back = gate_.give_back(); !back) return ended(RunStatus::failed, back.failure());
    while (true) {
        const Channel::Mark before{.changes = channel.mark().changes, .detaches = asked_after_.detaches};
        if (auto read = gate_.refresh(); !read) return ended(RunStatus::failed, read.failure());
        tell_over();
        tell_ended_calls();
        tell_new_questions();
        if (stop_.stop_requested()) return interrupted();
        const auto moved = may_go_on();
        if (!moved) return ended(RunStatus::failed, moved.failure());
        if (*moved) return std::nullopt;
        if (!channel.wait(before, until_deadline(), stop_)) return suspended();
    }
}

// Takes the thread where that is needed to go on; another runner may have it.
Result<bool> RunLoop::may_go_on() {
    const auto next = gate_.next();
    const bool for_people = next == GateStep::wait && gate_.running() == 0;
    // A claim takes the thread by itself.
    const bool free = next == GateStep::done || (next == GateStep::start && !elsewhere_);
    if (free) {
        elsewhere_ = false;
        return true;
    }
    if (for_people) {
        auto below = children_.can_go_on();
        if (!below) return below;
        auto requests = *below ? Result<bool>(false) : has_requests();
        if (!requests) return requests;
        if (*requests) {
            elsewhere_ = false;
            return false;
        }
    }
    // A look is cheaper than a try, which writes.
    const auto head = options_.checkpointer->find_thread(gate_.thread_id());
    if (!head) return head.failure();
    if (head->has_value() && (*head)->runner_alive) {
        elsewhere_ = true;
        return false;
    }
    auto taken = gate_.resume();
    elsewhere_ = !taken && taken.failure().kind == FailureKind::leased;
    if (!taken && !elsewhere_) return taken.failure();
    return !elsewhere_;
}

bool RunLoop::overdue() const {
    const auto open = gate_.open();
    return std::any_of(open.begin(), open.end(),
                       [this](const auto& one) { return one.deadline && *one.deadline <= clock().now(); });
}

std::int64_t RunLoop::until_deadline() const {
    auto wait = look_at_least_ms;
    for (const auto& approval : gate_.open()) {
        if (approval.deadline) wait = std::min(wait, *approval.deadline - clock().now());
    }
    return std::max<std::int64_t>(wait, 1);
}

const Clock& RunLoop::clock() const {
    return options_.clock != nullptr ? *options_.clock : options_.checkpointer->clock();
}

Run RunLoop::suspended() {
    // What was answered before the detach is not open any more.
    if (auto read = gate_.refresh(); !read) return ended(RunStatus::failed, read.failure());
    tell_over();
    tell(AgentSuspendedEvent{.pending = open_requests()});
    tell({.kind = AgentEvent::Kind::waiting});
    return ended(RunStatus::waiting);
}

// Those of sub-agents too. A store that fails now does not keep the prompt from coming back.
std::vector<HitlRequest> RunLoop::open_requests() const {
    std::vector<HitlRequest> requests;
    for (std::int64_t after = 0;;) {
        const auto open = Approvals(*options_.checkpointer).pending(gate_.thread_id(), after);
        if (!open) return told_.requests;
        for (const auto& approval : *open) {
            if (approval.kind != ApprovalKind::unknown) requests.push_back(hitl_request(approval));
        }
        if (open->empty()) return requests;
        after = open->back().number;
    }
}

Result<void> RunLoop::call_model() {
    if (is_root_) limits_.count_from(gate_);
    if (!limits_.take_turn()) {
        return Failure{FailureKind::refused, "the run reached its limit of " + std::to_string(options_.turns_max) +
                                                 " model turns; raise the limit and resume to go on"};
    }
    auto turn = ask_model();
    if (!turn) limits_.give_back_turn();
    if (!turn) return turn.failure();
    if (!limits_.take_calls(static_cast<int>(turn->calls.size()))) {
        const auto limit = "the limit of " + std::to_string(options_.calls_max) + " tool calls per run is reached";
        auto stored = gate_.refuse_proposed(*turn, "Error: this call did not run: " + limit);
        if (!stored) return stored;
        return Failure{FailureKind::refused, limit + "; raise the limit and resume to go on"};
    }
    auto stored = gate_.propose(*turn, stop_);
    // A turn without calls is the end: `finished` tells of it.
    if (stored && !turn->calls.empty()) tell({.kind = AgentEvent::Kind::turn, .text = turn->text});
    return stored;
}

Result<ModelTurn> RunLoop::ask_model() {
    std::vector<const ToolSpec*> tools;
    for (const auto& tool : options_.tools) tools.push_back(&tool->spec());
    const ModelRequest request{.system_prompt = options_.system_prompt,
                               .messages = [this] { return gate_.messages(); },
                               .tools = tools,
                               .turn = gate_.turns() + 1,
                               .on_text_dropped = [this] { tell({.kind = AgentEvent::Kind::text_dropped}); }};
    const auto tell_text = [this](std::string_view text) {
        tell({.kind = AgentEvent::Kind::text, .text = std::string(text)});
    };
    // What a host's model throws ends the run like any failure of the service: stored, and resumable.
    try {
        return options_.model->turn(request, tell_text, stop_);
    } catch (const abi::__forced_unwind&) {
        throw;
    } catch (const std::exception& error) {
        return Failure{FailureKind::model,
                       "the model failed: " + safe_to_show(capped(error.what(), error_text_max)).text};
    } catch (...) {
        return Failure{FailureKind::model, "the model failed"};
    }
}

Result<void> RunLoop::start_ready() {
    // Those of an earlier claim that still run were told of before.
    const auto before = gate_.calls();
    const auto ran_before = [&](const CallReport& call) {
        return std::any_of(before.begin(), before.end(),
                           [&](const auto& known) { return known.running && same_call(known, call); });
    };
    auto permits = gate_.claim(tools_stop_.get_token());
    if (!permits) return permits.failure();
    for (const auto& call : gate_.calls()) {
        if (call.running && !ran_before(call)) tell({.kind = AgentEvent::Kind::started, .call = call});
    }
    for (auto& permit : *permits) {
        auto tool = gate_.tool(permit.tool());
        ++running_;
        const std::string attempt(permit.attempt());
        {
            const std::lock_guard lock(mutex_);
            ++bodies_;
        }
        try {
            ToolThreads::shared().run([this, tool = std::move(tool), own = std::move(permit)]() mutable {
                auto outcome = tool->start(std::move(own));
                // Once it is told, the caller may end whatever the tool uses, even the process.
                tool.reset();
                ended(std::move(outcome));
            });
        } catch (const std::system_error&) {
            ended(
                {.attempt = attempt, .result = {.text = "no thread could be started for the tool", .is_error = true}});
        }
    }
    return {};
}

void RunLoop::ended(Outcome outcome) {
    const std::lock_guard lock(mutex_);
    outcomes_.push_back(std::move(outcome));
    --bodies_;
    changed_.notify_all();
}

void RunLoop::rested(Children::Child& child) {
    const std::lock_guard lock(mutex_);
    rested_.push_back(&child);
    --bodies_;
    changed_.notify_all();
}

// True once something has moved, false if only people are waited for.
Result<bool> RunLoop::wait() {
    if (auto looked = children_.look(); !looked) return looked.failure();
    if (gate_.next() != GateStep::wait) return true;
    if (running_ == 0 && children_.running() == 0) {
        if (!children_.failure()) return false;
        // A child also fails because this thread was aborted.
        if (auto read = gate_.refresh(); !read) return read.failure();
        if (gate_.next() != GateStep::wait) return true;
        return *children_.failure();
    }
    if (auto waited = wait_for_tools(); !waited) return waited.failure();
    return true;
}

Result<void> RunLoop::wait_for_tools() {
    std::vector<Outcome> ended;
    std::vector<Children::Child*> rested;
    {
        std::unique_lock lock(mutex_);
        changed_.wait_for(lock, look_interval, [this] { return !outcomes_.empty() || !rested_.empty(); });
        ended.assign(outcomes_.begin(), outcomes_.end());
        outcomes_.clear();
        rested.swap(rested_);
    }
    running_ -= static_cast<int>(ended.size());
    Result<void> all;
    for (const auto& outcome : ended) {
        if (auto stored = record(outcome); !stored) all = stored;
    }
    for (auto* child : rested) {
        if (auto settled = children_.settle(*child); !settled) all = settled;
    }
    if (!all || !ended.empty() || !rested.empty()) return all;
    // Others may have answered or aborted meanwhile.
    if (auto read = gate_.refresh(); !read) return read;
    if (gate_.aborted()) tools_stop_.request_stop();
    return {};
}

Result<void> RunLoop::record(const Outcome& outcome) {
    std::chrono::milliseconds pause = record_pause;
    std::chrono::milliseconds waited_after_stop{};
    for (int tries = 1;; ++tries) {
        auto stored = gate_.finish(outcome);
        const bool leased = options_.checkpointer->keeps_for_ms().has_value();
        const bool enough = leased ? waited_after_stop >= record_after_stop_max : tries >= record_tries_max;
        if (stored || enough) return stored;
        if (tries == record_tries_silent)
            tell({.kind = AgentEvent::Kind::not_stored, .text = stored.failure().message});
        std::unique_lock lock(mutex_);
        changed_.wait_for(lock, pause, [] { return false; });
        if (ends_.stop_requested()) waited_after_stop += pause;
        pause = std::min<std::chrono::milliseconds>(pause * 2, record_pause_max);
    }
}

Result<void> RunLoop::drain() {
    tools_stop_.request_stop();
    Result<void> all;
    while (running_ > 0 || children_.running() > 0) {
        if (auto step = wait_for_tools(); !step) all = step;
    }
    tell_ended_calls();
    return all;
}

Run RunLoop::at_rest(RunStatus status) {
    if (auto back = gate_.give_back(); !back) return ended(RunStatus::failed, back.failure());
    if (status == RunStatus::waiting) tell({.kind = AgentEvent::Kind::waiting});
    return ended(status);
}

Run RunLoop::interrupted() {
    auto drained = drain();
    auto back = gate_.give_back(true);
    Failure failure{FailureKind::refused, "the run was interrupted; resume it to go on"};
    if (!back) failure = back.failure();
    if (!drained) failure = drained.failure();
    auto run = ended(RunStatus::failed, failure);
    run.interrupted = true;
    return run;
}

Run RunLoop::ended(RunStatus status, std::optional<Failure> failure) {
    tell_ended_calls();
    Run run{.status = status,
            .thread = gate_.thread_id(),
            .interrupts = gate_.open(),
            .calls = told_.ended,
            .failure = std::move(failure)};
    // A store that fails here is told by the next step that needs it; `Gate::files` tries again.
    if (auto files = gate_.files()) run.files = std::move(files).value();
    for (auto& call : gate_.calls()) {
        if (call.waiting) run.calls.push_back(std::move(call));
    }
    const bool has_text = status == RunStatus::done || status == RunStatus::aborted;
    if (has_text) run.text = gate_.last_text();
    if (has_text) tell({.kind = AgentEvent::Kind::finished, .text = run.text});
    if (status == RunStatus::aborted) tell(AgentAbortedEvent{.reason = gate_.abort_reason()});
    return run;
}

Seen RunLoop::seen() const {
    Seen seen;
    seen.add(gate_);
    children_.add_seen(seen);
    return seen;
}

void RunLoop::tell(AgentEvent event) const {
    if (!options_.listener) return;
    event.thread = gate_.thread_id();
    try {
        options_.listener(event);
    } catch (const abi::__forced_unwind&) {
        throw;
    } catch (...) {  // NOLINT(bugprone-empty-catch): said below
        // Whoever watches never changes what is watched.
    }
}

void RunLoop::tell_ended_calls() {
    for (const auto& call : gate_.calls()) {
        const bool told = std::any_of(told_.ended.begin(), told_.ended.end(),
                                      [&](const auto& known) { return same_call(known, call); });
        if (!call.outcome || told) continue;
        told_.ended.push_back(call);
        // What an abort cut off has not ended by itself: the end of the whole tells of it.
        if (gate_.aborted() && *call.outcome == OutcomeKind::cancelled && !call.ran) continue;
        tell({.kind = AgentEvent::Kind::ended, .call = call});
    }
}

void RunLoop::tell_new_questions() {
    for (auto& approval : gate_.open()) {
        if (std::find(told_.questions.begin(), told_.questions.end(), approval.id) != told_.questions.end()) continue;
        told_.questions.push_back(approval.id);
        if (asks_on_ != nullptr && approval.kind != ApprovalKind::unknown) {
            told_.requests.push_back(hitl_request(approval));
            tell(HitlRequestEvent{.request = told_.requests.back()});
            asks_on_->changed();
        }
        tell({.kind = AgentEvent::Kind::asked, .approval = std::move(approval)});
    }
}

// Requests that are over since. An abort ends all at once and is told by itself.
void RunLoop::tell_over() {
    if (told_.requests.empty()) return;
    const auto asked = gate_.asked();
    std::erase_if(told_.requests, [&](const HitlRequest& request) {
        const auto known =
            std::find_if(asked.begin(), asked.end(), [&](const auto& one) { return one.id == request.id; });
        if (known != asked.end() && known->state == ApprovalState::open) return false;
        // Of an earlier turn: another runner went on.
        Approvals approvals(*options_.checkpointer, clock());
        const auto read = known == asked.end() ? approvals.find(request.id) : Result<Approval>(*known);
        if (!read) return false;
        if (read->state == ApprovalState::aborted) return true;
        tell(HitlAnswerEvent{.id = request.id,
                             .question_id = request.question_id,
                             .answer = read->answer,
                             .answered_by = read->decided_by,
                             .cancelled = read->state == ApprovalState::withdrawn,
                             .timed_out = read->state == ApprovalState::timed_out});
        return true;
    });
}

void RunLoop::tell(HitlEvent event) const {
    tell(AgentEvent{.kind = AgentEvent::Kind::hitl, .hitl = std::move(event)});
}

}  // namespace assent
