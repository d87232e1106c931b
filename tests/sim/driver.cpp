#include "sim/driver.hpp"

#include "sim/host_code.hpp"
#include "sim/reviewers.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace assent::sim {
namespace {

constexpr int steps_max = 60;

template <class T>
const Failure* failure_of(const Result<T>& result) {
    return result.ok() ? nullptr : &result.failure();
}

}  // namespace

template <class Call>
auto Driver::in_gate(HostCode allowed, Call call) {
    const InGate inside(world_, process_, allowed);
    return call();
}

void Driver::say(const std::string& thread, const char* what, const Failure* failure) {
    world_.say([&] {
        auto line = process_.name + " " + what + " " + thread;
        if (failure != nullptr) line += ": " + failure->message;
        if (process_.dead()) line += " (it died)";
        return line;
    });
}

// Whether the seat is free for another run: nothing of it is further up the stack.
bool Driver::can_use(const std::string& thread) const {
    const auto known = process_.seats.find(thread);
    return known == process_.seats.end() || (known->second.bodies == 0 && !known->second.model_speaks);
}

void Driver::prompt(const std::string& thread) {
    if (!can_use(thread)) return;
    auto& seat = process_.seat(thread);
    const auto prompt = any_prompt();
    const auto taken = in_gate(HostCode::none, [&] { return seat.gate->prompt(prompt, "user"); });
    say(thread, ("prompts \"" + prompt.text + "\"" + (prompt.queue ? ", or queues it, in" : " in")).c_str(),
        failure_of(taken));
    seat.for_worker = seat.for_worker && seat.live;
    if (!taken) {
        if (!seat.live) {
            leave(seat, &taken.failure());
        } else if (world_.store.server && taken.failure().kind == FailureKind::database) {
            // It may be on record all the same; whoever gave it was told to look.
            world_.left_to_hosts.insert(thread);
        }
        return;
    }
    world_.ledger.count(*taken == PromptTaken::begun    ? "prompt begun"
                        : *taken == PromptTaken::queued ? "prompt queued"
                                                        : "prompt repeated");
    seat.live = seat.live || *taken == PromptTaken::begun;
}

// A new one, or one that was given before: whoever gave it may not know what became of it.
Prompt Driver::any_prompt() {
    auto& dice = world_.dice();
    world_.ledger.count("prompt");
    if (!world_.prompts.empty() && dice.chance(15)) return dice.pick(world_.prompts);
    Prompt prompt{.text = "do " + std::to_string(world_.prompts.size() + 1)};
    if (dice.chance(60)) prompt.idempotency_key = prompt.text;
    prompt.queue = dice.chance(35);
    prompt.abort_open = dice.chance(6);
    world_.prompts.push_back(prompt);
    return prompt;
}

void Driver::resume(const std::string& thread) {
    if (!can_use(thread)) return;
    auto& seat = process_.seat(thread);
    world_.ledger.count("resume");
    const auto done = in_gate(HostCode::none, [&] { return seat.gate->resume(); });
    say(thread, "resumes", failure_of(done));
    seat.live = done.ok();
    if (!done) leave(seat, &done.failure());
}

void Driver::resume_with_answers(const std::string& thread) {
    if (!can_use(thread)) return;
    auto& seat = process_.seat(thread);
    Reviewers reviewers(world_, process_.store, process_.clock, process_.random);
    auto answers = in_gate(HostCode::none, [&] { return reviewers.some_answers(thread); });
    if (answers.empty()) return;
    world_.ledger.count("resume with answers");
    const bool together = world_.dice().chance(25);
    const auto reviewer = reviewers.any_reviewer();
    std::vector<GivenAnswer> given;
    for (auto& answer : answers) {
        answer.together = together;
        given.push_back({answer.approval, answer.decision});
    }
    std::vector<AnswerResult> told;
    const auto done = in_gate(HostCode::guards, [&] {
        return seat.gate->resume(given, reviewer, told, together ? Counting::all_or_none : Counting::each);
    });
    for (std::size_t i = 0; i < answers.size(); ++i) {
        std::optional<AnswerResult> result;
        if (i < told.size()) result = told[i];
        reviewers.record(answers[i], reviewer, std::move(result));
    }
    const auto decided = std::count_if(told.begin(), told.end(), [](const AnswerResult& result) {
        return result.status == AnswerResult::Status::decided;
    });
    if (together && decided != 0 && static_cast<std::size_t>(decided) != answers.size()) {
        world_.ledger.broke(Rule::first_answer, "some of several answers count that count together or not at all");
    }
    say(thread, "resumes with answers", failure_of(done));
    seat.live = done.ok();
    seat.for_worker = false;
    if (!done) leave(seat, &done.failure());
}

void Driver::look(const std::string& thread) {
    const auto known = process_.seats.find(thread);
    if (known == process_.seats.end() || known->second.model_speaks) return;
    world_.ledger.count("look");
    const auto done = in_gate(HostCode::none, [&] { return known->second.gate->refresh(); });
    say(thread, "looks at", failure_of(done));
}

void Driver::close(const std::string& thread) {
    const auto known = process_.seats.find(thread);
    if (known == process_.seats.end() || known->second.has_unfinished() || known->second.model_speaks) return;
    // A gate that cannot give its thread back now is kept to try again.
    if (!give_back(known->second) || process_.dead()) return;
    world_.ledger.count("gate closed");
    say(thread, "closes its gate of");
    const InGate inside(world_, process_, HostCode::none);
    process_.seats.erase(known);
}

void Driver::go(const std::string& thread, bool to_the_end) {
    const auto known = process_.seats.find(thread);
    if (known == process_.seats.end() || known->second.model_speaks) return;
    auto& seat = known->second;
    for (int i = 0; i < steps_max; ++i) {
        if (process_.dead() || process_.stalled_since || !seat.live) return;
        if (must_stop(seat)) {
            if (!seat.has_unfinished() || seat.bodies == 0) (void)come_to_rest(thread);
            return;
        }
        if (!to_the_end && world_.dice().chance(8)) return;
        if (step(seat, to_the_end) != Going::on) return;
    }
}

Driver::Going Driver::step(Seat& seat, bool to_the_end) {
    // Bodies and outcomes go on beside the run, in any order.
    if (!seat.outcomes.empty() && (to_the_end || world_.dice().chance(75))) {
        if (finish(seat)) return Going::on;
        if (to_the_end) return Going::failed;
    }
    if (!seat.permits.empty() && (to_the_end || world_.dice().chance(80))) {
        start(seat);
        return Going::on;
    }
    return gate_step(seat);
}

Driver::Going Driver::gate_step(Seat& seat) {
    switch (seat.gate->next()) {
        case GateStep::call_model:
            return propose(seat);
        case GateStep::judge: {
            world_.ledger.count("judged again");
            const auto judged = in_gate(HostCode::guards, [&] { return seat.gate->judge(); });
            say(seat.thread, "judges again", failure_of(judged));
            return judged ? Going::on : go_on_after(seat, judged.failure());
        }
        case GateStep::start:
            return claim(seat);
        case GateStep::wait:
            if (seat.has_unfinished()) {
                // Others may have answered or aborted meanwhile.
                const auto looked = in_gate(HostCode::none, [&] { return seat.gate->refresh(); });
                return looked && seat.bodies == 0 ? Going::on : Going::rests;
            }
            break;
        case GateStep::done:
            if (seat.has_unfinished()) return seat.bodies == 0 ? Going::on : Going::rests;
            break;
    }
    give_back(seat);
    return Going::rests;
}

Driver::Going Driver::propose(Seat& seat) {
    world_.ledger.count("model turn");
    const auto turn = any_turn(world_.dice(), seat.gate->run_turns());
    // The model takes its time; others do not wait for it.
    seat.model_speaks = true;
    if (world_.meanwhile && world_.dice().chance(world_.shape.meanwhile)) world_.meanwhile();
    seat.model_speaks = false;
    if (process_.dead()) return Going::rests;
    auto proposed = in_gate(HostCode::all, [&] { return seat.gate->propose(turn); });
    if (!proposed && tries_again(proposed.failure())) {
        proposed = in_gate(HostCode::all, [&] { return seat.gate->propose(turn); });
    }
    world_.say([&] {
        auto line = process_.name + " proposes in " + seat.thread + ":";
        for (const auto& call : turn.calls) line += " " + call.tool + call.arguments;
        return line + (proposed ? "" : ": " + proposed.failure().message);
    });
    return proposed ? Going::on : go_on_after(seat, proposed.failure());
}

Driver::Going Driver::claim(Seat& seat) {
    world_.ledger.count("claim");
    auto permits = in_gate(HostCode::guards, [&] { return seat.gate->claim(); });
    say(seat.thread, "claims in", failure_of(permits));
    if (!permits) return go_on_after(seat, permits.failure());
    for (auto& permit : *permits) {
        world_.ledger.permits[std::string(permit.attempt())] = {.at_ms = world_.time.monotonic};
        seat.permits.push_back(std::move(permit));
    }
    return Going::on;
}

void Driver::start(Seat& seat) {
    // Between the claim and the start the process may stall.
    if (world_.store.server && world_.meanwhile && world_.dice().chance(world_.shape.meanwhile)) {
        ++seat.bodies;
        world_.meanwhile();
        --seat.bodies;
        process_.stalled_since.reset();
        if (process_.dead() || seat.permits.empty()) return;
    }
    auto permit = std::move(seat.permits.front());
    seat.permits.pop_front();
    const std::string attempt(permit.attempt());
    auto tool = seat.gate->tool(permit.tool());
    if (world_.dice().chance(4)) {
        // A host that mixes its permits up.
        world_.ledger.count("permit given to another tool");
        tool = seat.gate->tool(permit.tool() == "pay" ? "note" : "pay");
    } else if (world_.dice().chance(3)) {
        world_.ledger.count("start given back");
        seat.outcomes.push_back({.attempt = attempt, .result = {.text = "no thread could be started"}});
        return;
    }
    world_.ledger.count("start");
    ++seat.bodies;
    auto* const actor = std::exchange(world_.actor, &process_);
    auto outcome = tool->start(std::move(permit));
    world_.actor = actor;
    --seat.bodies;
    if (process_.dead()) return;
    if (world_.dice().chance(4)) misuse(*tool, permit);
    seat.outcomes.push_back(std::move(outcome));
}

void Driver::misuse(Tool& tool, Permit& spent) {
    world_.ledger.count("permit used twice");
    try {
        (void)tool.start(std::move(spent));
        world_.ledger.broke(Rule::one_door, "a spent permit started a tool again");
    } catch (const std::logic_error&) {  // NOLINT(bugprone-empty-catch): as it has to be
    }
}

bool Driver::finish(Seat& seat) {
    const auto outcome = seat.outcomes.front();
    world_.ledger.count("finish");
    const auto stored = in_gate(HostCode::none, [&] { return seat.gate->finish(outcome); });
    say(seat.thread, "records an outcome in", failure_of(stored));
    if (!stored) return false;
    if (outcome.started) world_.ledger.recorded.insert(outcome.attempt);
    seat.outcomes.pop_front();
    return true;
}

bool Driver::tries_again(const Failure& failure) {
    return failure.kind == FailureKind::database && !process_.dead() && world_.dice().chance(40);
}

Driver::Going Driver::go_on_after(Seat& seat, const Failure& failure) {
    if (tries_again(failure)) return Going::on;
    end_failed(seat, failure);
    return Going::failed;
}

void Driver::end_failed(Seat& seat, const Failure& failure) {
    seat.live = false;
    if (process_.dead()) return;
    if (seat.bodies > 0) {
        // What waits for the body further up the stack is not started any more.
        for (const auto& permit : seat.permits) seat.outcomes.push_back({.attempt = std::string(permit.attempt())});
        seat.permits.clear();
        return;
    }
    while (!seat.permits.empty() && !process_.dead()) start(seat);
    for (int tries = 0; tries < 3 && !seat.outcomes.empty() && !process_.dead(); ++tries) (void)finish(seat);
    if (process_.dead()) return;
    if (failure.kind != FailureKind::database) {
        const auto said = in_gate(HostCode::none, [&] { return seat.gate->fail(failure); });
        say(seat.thread, "ends its run of", failure_of(said));
    }
    (void)in_gate(HostCode::none, [&] { return seat.gate->give_back(); });
    leave(seat, &failure);
}

bool Driver::give_back(Seat& seat) {
    const auto given = in_gate(HostCode::none, [&] { return seat.gate->give_back(); });
    say(seat.thread, "gives back", failure_of(given));
    if (!given) return false;
    seat.live = false;
    const auto next = seat.gate->next();
    if (next != GateStep::wait && next != GateStep::done) leave(seat, nullptr);
    return true;
}

void Driver::leave(Seat& seat, const Failure* failure) {
    if (!world_.store.server || process_.dead()) return;
    const bool failed = seat.gate->status() == ThreadStatus::failed;
    const bool in_doubt = failure == nullptr || failure->kind == FailureKind::database;
    // A run that failed of its own is for people to look at.
    if (failed || (!seat.for_worker && in_doubt)) world_.left_to_hosts.insert(seat.thread);
    // Also what is run elsewhere: it may be given back there without anybody's knowing that it was to be run here.
    if (seat.for_worker) (void)process_.store.put_back(seat.thread, failure == nullptr ? 0 : retry_ms);
}

bool Driver::must_stop(const Seat& seat) const {
    const auto keeps = process_.store.keeps_for_ms();
    return seat.for_worker && keeps && *keeps <= 0;
}

std::size_t Driver::work(std::size_t limit, bool to_the_end) {
    const auto ready = process_.store.take_ready(limit, process_.clock.now());
    if (!ready) {
        say("", "cannot ask for work", &ready.failure());
        return 0;
    }
    for (const auto& one : *ready) {
        if (process_.dead()) break;
        world_.ledger.count("mark taken");
        say(one.id, "takes the mark of");
        run_marked(one.id, to_the_end);
    }
    return ready->size();
}

void Driver::run_marked(const std::string& thread, bool to_the_end) {
    auto& seat = process_.seat(thread);
    if (seat.live || !can_use(thread)) {
        // It is run here already, and looked at again after that.
        (void)process_.store.put_back(thread, 0);
        return;
    }
    seat.for_worker = true;
    resume(thread);
    go(thread, to_the_end);
}

bool Driver::come_to_rest(const std::string& thread) {
    auto& seat = process_.seats.at(thread);
    while (!seat.permits.empty()) start(seat);
    while (!seat.outcomes.empty()) {
        if (!finish(seat)) return false;
    }
    return give_back(seat);
}

}  // namespace assent::sim
