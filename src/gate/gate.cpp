#include <assent/gate.hpp>

#include "base/mutation.hpp"
#include "base/sha256.hpp"
#include "gate/binding.hpp"
#include "gate/gate_impl.hpp"
#include "gate/permit_state.hpp"
#include "gate/process.hpp"
#include "journal/lineage.hpp"

#include <algorithm>
#include <set>

namespace assent {
namespace {

using namespace journal;  // NOLINT(google-build-using-namespace): the gate speaks the journal's words throughout

// What the model said after an abort is dropped, and so is a turn that was perhaps not kept, was, and comes again.
bool wants_turn(const ThreadState& state) {
    return !state.aborted && std::holds_alternative<CallModel>(journal::next(state));
}

// Whether guards were asked in this change who were told to stop.
bool cut_short_in(const Change& change, const std::stop_token& stop) {
    return stop.stop_requested() &&
           std::ranges::any_of(change.events, [](const Event& event) { return std::holds_alternative<Judged>(event); });
}

}  // namespace

Gate::Gate(GateOptions options) {
    if (options.checkpointer == nullptr) throw ConfigError("a gate needs a checkpointer");
    if (options.thread_id.empty()) throw ConfigError("a gate needs a thread id");
    if (!valid_utf8(options.thread_id)) throw ConfigError("a thread id must be valid utf-8");
    if (child_of(options.thread_id).has_value() != options.child) {
        throw ConfigError(options.child ? "a child thread needs an id that ends in /TURN.POSITION"
                                        : "a thread id that ends in /TURN.POSITION belongs to a sub-agent; go on with "
                                          "the thread that it works for, or choose another id");
    }
    impl_ = std::make_unique<Impl>(std::move(options));
}

Gate::~Gate() {
    // What cannot be recorded any more is doubted by whoever goes on with the thread.
    if (!give_back()) (void)impl_->session.give_back();
}

Result<bool> Gate::load() {
    return impl_->session.refresh();
}

Result<void> Gate::refresh() {
    const std::lock_guard lock(impl_->mutex);
    if (auto read = impl_->session.refresh(); !read) return read.failure();
    return impl_->expire();
}

Result<void> Gate::give_back(bool goes_on, std::int64_t after_ms) {
    const std::lock_guard lock(impl_->mutex);
    if (auto released = impl_->release_claimed(Impl::not_started); !released) return released;
    return impl_->session.give_back(goes_on, after_ms);
}

void Gate::configure(std::string settings) {
    impl_->settings = std::move(settings);
}

Result<void> Gate::resume() {
    std::vector<AnswerResult> none;
    return resume({}, {}, none);
}

Result<void> Gate::resume(const std::vector<GivenAnswer>& answers, const Reviewer& reviewer,
                          std::vector<AnswerResult>& told, Counting counting, const std::stop_token& stop) {
    const std::lock_guard lock(impl_->mutex);
    // Where all that is answered is known to be open, no look is needed: what is appended to a state that is not the
    // latest is refused, and made again on that.
    const bool known_open = !answers.empty() && std::ranges::all_of(answers, [this](const GivenAnswer& answer) {
        return impl_->still_open(impl_->session.state(), answer.approval.number);
    });
    if (!known_open) {
        auto known = impl_->session.refresh();
        if (!known) return known.failure();
        if (!*known) return Failure{FailureKind::unknown_thread, "no thread is called " + impl_->session.id()};
    }
    if (auto held = impl_->look_whether_held(); !held) return held;
    // Answers count although another runner has the thread; `resume_with` sees to that.
    auto settled = impl_->settle_inherited();
    if (!settled && (answers.empty() || settled.failure().kind != FailureKind::leased)) return settled;
    impl_->drop_receipts();
    if (answers.empty()) {
        auto taken = impl_->append([this](const ThreadState& state) { return impl_->take_over(state); });
        if (taken) taken = impl_->settle_left();
        return taken ? impl_->expire() : taken;
    }
    return impl_->resume_with(answers, reviewer, told, counting, stop);
}

// Of answers that count together one does not: each is told what came of it, and nothing is stored.
Result<void> Gate::Impl::tell_none_counts(const std::vector<GivenAnswer>& answers,
                                          const std::vector<CheckedAnswer>& checked, const Reviewer& reviewer,
                                          std::vector<AnswerResult>& told) {
    Approvals approvals(*options.checkpointer, clock, random);
    std::optional<Failure> why;
    for (std::size_t i = 0; i < answers.size(); ++i) {
        const auto* answered = std::get_if<Answered>(&checked[i]);
        if (answered != nullptr && still_open(session.state(), answered->number)) {
            told.push_back({.status = AnswerResult::Status::refused,
                            .approval = answers[i].approval,
                            .message = "the answers count together and another one does not; approval " +
                                       answers[i].approval.id + " stays open"});
            continue;
        }
        if (answered == nullptr) {
            told.push_back(std::get<AnswerResult>(checked[i]));
        } else {
            auto late = approvals.answer(answers[i].approval.id, answers[i].decision, reviewer, session.id());
            if (!late) return late.failure();
            told.push_back(std::move(late).value());
        }
        if (!why) why = none_counts(told.back());
    }
    return why.value_or(Failure{FailureKind::refused,
                                "one of the answers leaves nothing to ask where another one answers; none of the "
                                "answers counts"});
}

// All answers in one append, for a thread that goes on elsewhere.
Result<void> Gate::Impl::record_together(const std::vector<GivenAnswer>& answers,
                                         const std::vector<CheckedAnswer>& checked, const Reviewer& reviewer,
                                         std::vector<AnswerResult>& told) {
    Change change{.lease = LeaseUse::none, .expects_seq = false};
    for (const auto& answer : checked) add_answer(std::get<Answered>(answer), change);
    auto appended = session.append(std::move(change));
    if (!appended) return appended.failure();
    if (appended->status != AppendStatus::done) {
        if (auto read = session.refresh(); !read) return read.failure();
        return tell_none_counts(answers, checked, reviewer, told);
    }
    for (std::size_t i = 0; i < answers.size(); ++i)
        told.push_back(decided(answers[i].approval, std::get<Answered>(checked[i]), session.now()));
    return {};
}

// Answers and the claim of what they make ready are one append: the answerer is the owner.
Result<void> Gate::Impl::resume_with(const std::vector<GivenAnswer>& answers, const Reviewer& reviewer,
                                     std::vector<AnswerResult>& told, Counting counting, const std::stop_token& stop) {
    std::vector<CheckedAnswer> checked;
    for (const auto& given : answers) {
        auto answer = check_answer(*options.checkpointer, clock, random, given.approval, given.decision, reviewer);
        if (!answer) return answer.failure();
        checked.push_back(std::move(answer).value());
    }
    if (auto opened = open_files(); !opened) return opened;
    const bool together = counting == Counting::all_or_none;
    const auto counts = [&](const ThreadState& state, const CheckedAnswer& answer) {
        const auto* answered = std::get_if<Answered>(&answer);
        return answered != nullptr && still_open(state, answered->number);
    };
    const auto run = run_context(stop);
    bool one_fails = false;
    std::vector<bool> stored(answers.size());
    std::vector<Start> starts;
    std::int64_t until = 0;
    auto appended = append([&](const ThreadState& state) {
        // Made again, it may be on a state with newer ones.
        files->update(state);
        until = start_by();
        auto change = take_over(state);
        auto preview = latest_turn(state);
        for (const auto& event : change.events) apply(preview, event, session.now());
        for (std::size_t i = 0; i < checked.size(); ++i) {
            const auto* answered = std::get_if<Answered>(&checked[i]);
            stored[i] = counts(preview, checked[i]);
            one_fails = together && !stored[i];
            if (one_fails) return Change{.lease = LeaseUse::none};
            if (!stored[i]) continue;
            add_answer(*answered, change);
            apply(preview, *answered, session.now());
        }
        starts.clear();
        auto claiming = change;
        add_claims(preview, run, claiming, starts);
        if (!cut_short_in(claiming, stop)) return claiming;
        // The answers count, what guards said does not.
        starts.clear();
        return change;
    });
    if (one_fails) return tell_none_counts(answers, checked, reviewer, told);
    // From here on the claims are ours to start or to release, whatever else fails.
    if (appended || perhaps_stored(appended.failure())) keep_claimed(starts, until);
    if (together && !appended) {
        if (appended.failure().kind != FailureKind::leased) return appended;
        auto recorded = record_together(answers, checked, reviewer, told);
        return recorded ? appended : recorded;
    }
    // Those that did not make it are told what stands, or are recorded although the thread goes on elsewhere.
    Approvals approvals(*options.checkpointer, clock, random);
    for (std::size_t i = 0; i < answers.size(); ++i) {
        if (appended && stored[i]) {
            told.push_back(decided(answers[i].approval, std::get<Answered>(checked[i]), session.now()));
        } else if (const auto* refused = std::get_if<AnswerResult>(&checked[i])) {
            told.push_back(*refused);
        } else {
            auto result = approvals.answer(answers[i].approval.id, answers[i].decision, reviewer, session.id());
            if (!result) return result.failure();
            told.push_back(std::move(result).value());
        }
    }
    if (appended) appended = settle_left();
    return appended ? expire() : appended;
}

// The model's turn with the verdicts on its calls and the questions that come of them.
Change Gate::Impl::proposal(const ModelTurn& turn, const ThreadState& state, const std::stop_token& stop) {
    Change change;
    ThreadState preview;
    preview.running = true;
    const auto add = [&](Event event) {
        apply(preview, event, session.now());
        change.events.push_back(std::move(event));
    };
    add(recorded(turn, state.turns + 1));
    const auto proposed = preview.messages.back();
    const auto run = run_context(stop, &proposed);
    std::set<std::string> ids;
    for (std::size_t i = 0; i < turn.calls.size(); ++i) {
        const CallRef ref{state.turns + 1, static_cast<int>(i)};
        const auto id = preview.find(ref)->proposed.id;
        if (id && !ids.insert(*id).second) {
            add(Refused{.call = ref,
                        .text = "Error: the call id is used twice in this turn; nothing of this call ran"});
            continue;
        }
        add(judge.prepare(*preview.find(ref)));
        if (preview.find(ref)->stage == CallStage::ended) continue;
        std::vector<Event> events;
        add_ruling(*preview.find(ref), run, events, change);
        for (auto& event : events) add(std::move(event));
    }
    if (turn.calls.empty()) add(RunFinished{.ok = true});
    change.lease = lease_in(preview);
    return change;
}

Result<void> Gate::propose(const ModelTurn& turn, const std::stop_token& stop) {
    const std::lock_guard lock(impl_->mutex);
    if (auto opened = impl_->open_files(); !opened) return opened;
    // Guards are asked once, however often the append is made again: they may be slow, or count what they see. Only
    // behind a turn that was perhaps not kept, and was, this is another turn.
    std::optional<Change> made;
    int made_after = 0;
    bool stopped = false;
    auto stored = impl_->append([&](const ThreadState& state) {
        if (!wants_turn(state)) return Change{};
        if (!made || made_after != state.turns) made = impl_->proposal(turn, state, stop);
        made_after = state.turns;
        stopped = stop.stop_requested() && !turn.calls.empty();
        if (stopped) return Change{};
        auto change = *made;
        // What was queued since is answered next.
        if (turn.calls.empty() && !state.queue.empty()) change.lease = LeaseUse::keep;
        return change;
    });
    if (stored && stopped) return Impl::cut_short();
    return stored;
}

Result<void> Gate::refuse_proposed(const ModelTurn& turn, const std::string& text) {
    const std::lock_guard lock(impl_->mutex);
    return impl_->append([&](const ThreadState& state) {
        Change change;
        if (!wants_turn(state)) return change;
        change.events.emplace_back(recorded(turn, state.turns + 1));
        for (std::size_t i = 0; i < turn.calls.size(); ++i) {
            change.events.emplace_back(Refused{.call = {state.turns + 1, static_cast<int>(i)}, .text = text});
        }
        return change;
    });
}

Result<void> Gate::judge(const std::stop_token& stop) {
    const std::lock_guard lock(impl_->mutex);
    if (auto opened = impl_->open_files(); !opened) return opened;
    const auto run = impl_->run_context(stop);
    bool stopped = false;
    auto stored = impl_->append([&](const ThreadState& state) {
        Change change;
        for (const auto& call : state.calls) {
            const bool again = mutated(Rule::no_replay) && call.stage == CallStage::asked;
            if (call.stage != CallStage::edited && !again) continue;
            if (const auto error = impl_->judge.check_edited(call); !error.empty()) {
                change.events.emplace_back(Refused{.call = call.ref, .text = error});
                change.closes_calls.emplace_back(call.ref.turn, call.ref.position);
            } else {
                impl_->add_ruling(impl_->with_standing_answers(call), run, change.events, change);
            }
            stopped = stop.stop_requested();
            if (stopped) return Change{};
            // One call an append: what it closes belongs to it alone.
            change.lease = impl_->lease_after(state, change.events);
            return change;
        }
        return change;
    });
    if (stored && stopped) return Impl::cut_short();
    return stored;
}

// A claim that was perhaps stored, and was, stands when the store can be read again: nobody has started it.
void Gate::Impl::keep_claimed(const std::vector<Start>& starts, std::int64_t until) {
    claimed_until = claimed_starts.empty() ? until : std::min(claimed_until, until);
    claimed_starts.insert(claimed_starts.end(), starts.begin(), starts.end());
}

// A process may stall while a claim is stored, or behind it. Its permit then ends before others may take the thread.
std::int64_t Gate::Impl::start_by() const {
    const auto keeps = options.checkpointer->keeps_for_ms();
    return clock.monotonic() + std::min(options.start_within_ms, keeps.value_or(options.start_within_ms));
}

Permit Gate::Impl::make_permit(const Call& call, const std::string& attempt, std::int64_t until,
                               const std::stop_token& stop) const {
    auto state = std::make_unique<Permit::State>();
    state->tool = call.tool;
    state->attempt = attempt;
    state->arguments = *Arguments::parse(call.arguments, options.json_limits);
    state->sha256 = hex(sha256(call.arguments));
    state->idempotency_key = assent::idempotency_key(session.id(), call.ref);
    for (const auto& guard : call.satisfied) {
        auto path_rules = judge.path_rules(guard);
        const auto asked = std::find_if(call.approvals.rbegin(), call.approvals.rend(),
                                        [&](const Ask& ask) { return asks_for(ask.asked, guard) && ask.answer; });
        if (path_rules.empty() || asked == call.approvals.rend()) continue;
        // Who edits the call says where it leads: the places of the old one count no more.
        const bool edited = asked->state == ApprovalState::edited;
        state->approved_paths.push_back(
            {std::move(path_rules), edited ? std::string() : asked->asked.question.details});
    }
    state->files = std::make_shared<FilesOfCall>(files, attempt);
    state->stop = stop;
    // Whoever first became a runner with this claim knows only now how long it keeps the thread.
    state->start_by = std::min(until, start_by());
    state->clock = &clock;
    return Permit(std::move(state));
}

// The call with those answers alone that still count: not gone stale, and given to the guards as they are now.
Call Gate::Impl::with_standing_answers(const Call& call) const {
    const auto voided = void_approvals(session.id(), call, session.now());
    Call standing = call;
    std::erase_if(standing.satisfied, [&](const auto& guard) {
        const bool is_void = std::find(voided.begin(), voided.end(), guard) != voided.end();
        return is_void || judge.has_changed(call, guard);
    });
    return standing;
}

// Claims what is ready in `state`; what was approved but cannot be used any more is judged again instead.
void Gate::Impl::add_claims(const ThreadState& state, const RunContext& run, Change& change,
                            std::vector<Start>& starts) const {
    if (held_back(state)) return;
    std::vector<Event> delegations;
    for (const auto& call : state.calls) {
        if (call.stage != CallStage::ready) continue;
        const auto voided = void_approvals(session.id(), call, session.now());
        if ((!voided.empty() || judge.outdated(call)) && !mutated(Rule::exact_call)) {
            add_ruling(with_standing_answers(call), run, change.events, change);
            continue;
        }
        if (judge.delegates(call.tool)) {
            delegations.emplace_back(Delegated{.call = call.ref, .child = child_id(session.id(), call.ref)});
            continue;
        }
        starts.push_back(
            {.call = call.ref, .attempt = new_attempt_id(random), .arguments_sha256 = hex(sha256(call.arguments))});
    }
    // One that is asked again holds back the others.
    const bool asks_again = std::any_of(change.events.begin(), change.events.end(),
                                        [](const Event& event) { return std::holds_alternative<Asked>(event); });
    if (options.hold_batch && asks_again) {
        starts.clear();
        delegations.clear();
    }
    change.events.insert(change.events.end(), delegations.begin(), delegations.end());
    if (!starts.empty()) change.events.emplace_back(Claimed{.starts = starts, .process = this_process()});
}

Result<std::vector<Permit>> Gate::claim(const std::stop_token& stop) {
    const std::lock_guard lock(impl_->mutex);
    auto& session = impl_->session;
    if (!impl_->claimed_starts.empty()) {
        // Somebody may have aborted the thread since `resume`.
        if (auto read = session.refresh(); !read) return read.failure();
        if (session.state().aborted) {
            auto released = impl_->release_claimed("the thread was aborted before the tool started");
            if (!released) return released.failure();
        }
    }
    if (auto opened = impl_->open_files(); !opened) return opened.failure();
    const auto run = impl_->run_context(stop);
    std::vector<Start> starts;
    std::int64_t until = 0;
    bool stopped = false;
    auto appended = impl_->append([&](const ThreadState& state) {
        until = impl_->start_by();
        Change change{.lease = session.held() ? LeaseUse::keep : LeaseUse::none};
        starts.clear();
        const bool ready = std::any_of(state.calls.begin(), state.calls.end(),
                                       [](const Call& call) { return call.stage == CallStage::ready; });
        if (!ready || impl_->held_back(state)) return change;
        if (!session.held()) change.lease = LeaseUse::take;
        impl_->add_claims(state, run, change, starts);
        stopped = cut_short_in(change, stop);
        if (stopped) return Change{.lease = LeaseUse::none};
        if (starts.empty() && session.held()) change.lease = impl_->lease_after(state, change.events);
        return change;
    });
    if (!appended) {
        if (Impl::perhaps_stored(appended.failure())) impl_->keep_claimed(starts, until);
        return appended.failure();
    }
    if (stopped) return Impl::cut_short();
    if (auto settled = impl_->settle_left(); !settled) {
        impl_->keep_claimed(starts, until);
        return settled.failure();
    }
    // What `resume` claimed together with the answers comes first.
    if (!impl_->claimed_starts.empty()) until = std::min(until, impl_->claimed_until);
    starts.insert(starts.begin(), impl_->claimed_starts.begin(), impl_->claimed_starts.end());
    impl_->claimed_starts.clear();
    std::vector<Permit> permits;
    for (const auto& start : starts) {
        if (!Impl::stands(session.state(), start)) continue;
        permits.push_back(impl_->make_permit(*session.state().find(start.call), start.attempt, until, stop));
    }
    return permits;
}

Result<void> Gate::fail(const Failure& failure) {
    const std::lock_guard lock(impl_->mutex);
    if (auto released = impl_->release_claimed(Impl::not_started); !released) return released;
    return impl_->append([&](const ThreadState& state) {
        Change change{.lease = LeaseUse::give_back};
        if (state.aborted || !impl_->session.held()) return change;
        change.events.emplace_back(
            RunFinished{.ok = false, .failure_kind = std::string(to_string(failure.kind)), .message = failure.message});
        return change;
    });
}

GateStep Gate::next() const {
    if (!impl_->claimed_starts.empty()) return GateStep::start;
    const auto step = journal::next(impl_->session.state(), impl_->options.hold_batch);
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

Result<std::span<const Message>> Gate::messages() const {
    const std::lock_guard lock(impl_->mutex);
    if (auto whole = impl_->session.read_whole(); !whole) return whole.failure();
    return std::span<const Message>(impl_->session.state().messages);
}

Result<std::map<std::string, std::string>> Gate::files() const {
    const std::lock_guard lock(impl_->mutex);
    if (auto whole = impl_->session.read_files(); !whole) return whole.failure();
    std::map<std::string, std::string> files;
    for (const auto& [path, text] : impl_->session.state().files) files.emplace(path, *text);
    return files;
}

const std::string& Gate::last_text() const noexcept {
    return impl_->session.state().last_text;
}

std::vector<CallReport> Gate::calls() const {
    std::vector<CallReport> reports;
    for (const auto& call : impl_->session.state().calls) {
        reports.push_back(report_of(call));
        if (impl_->awaits_start(call.ref)) reports.back().running = false;
    }
    return reports;
}

std::vector<Approval> Gate::open() const {
    return impl_->open();
}

std::vector<Approval> Gate::asked() const {
    return impl_->asked();
}

std::vector<Delegation> Gate::delegated() const {
    std::vector<Delegation> open;
    for (const auto& call : impl_->session.state().calls) {
        if (call.stage == CallStage::delegated) open.push_back({.child = child_of(call), .arguments = call.arguments});
    }
    return open;
}

std::optional<ChildEnd> Gate::end() const {
    return end_of(impl_->session.state());
}
const std::string& Gate::thread_id() const noexcept {
    return impl_->session.id();
}
std::int64_t Gate::seq() const noexcept {
    return impl_->session.state().seq;
}
ThreadStatus Gate::status() const noexcept {
    return impl_->session.state().status;
}
bool Gate::aborted() const noexcept {
    return impl_->session.state().aborted.has_value();
}
std::string Gate::abort_reason() const {
    const auto& aborted = impl_->session.state().aborted;
    return aborted ? journal::abort_reason(*aborted) : std::string();
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
    FilesOfCall look(impl_->files, {});
    const auto ruling = impl_->judge.rule(impl_->session.id(), call, impl_->session.now(), {}, look);
    CallPreview preview{.arguments = call.arguments, .verdict = ruling.judged.verdict};
    for (const auto& said : ruling.judged.guards) preview.guards.push_back({said.guard, said.verdict, said.reason});
    return preview;
}

}  // namespace assent
