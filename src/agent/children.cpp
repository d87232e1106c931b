#include "agent/children.hpp"

#include "agent/run.hpp"
#include "agent/tool_threads.hpp"
#include "base/display.hpp"

#include <cxxabi.h>

#include <algorithm>
#include <system_error>

namespace assent {
namespace {

// Of one thread. Each may have as many of its own.
constexpr int running_max = 8;
constexpr std::size_t error_text_max = 2000;

Failure broken(std::string_view what) {
    return {FailureKind::internal, "a sub-agent failed: " + safe_to_show(capped(what, error_text_max)).text};
}

}  // namespace

struct Children::Child {
    std::string thread;
    Task task;
    std::unique_ptr<Gate> gate;
    Told* told = nullptr;
    std::optional<Seen> seen;  // none: nobody has looked at it yet
    bool running = false;
    Run rest;  // how it came to rest
};

Result<bool> Seen::is_outdated(Checkpointer& store, UnixMillis now) const {
    if (deadline && *deadline <= now) return true;
    for (const auto& [thread, event] : events) {
        const auto head = store.find_thread(thread);
        if (!head) return head.failure();
        if (head->has_value() && (*head)->seq != event) return true;
    }
    return false;
}

void Seen::add(const Gate& gate) {
    events[gate.thread_id()] = gate.seq();
    for (const auto& approval : gate.open()) {
        if (approval.deadline && (!deadline || *approval.deadline < *deadline)) deadline = approval.deadline;
    }
}

Children::Children(const AgentNode& agent, Gate& gate, Told& told, RunLimits& limits, RunStops stops,
                   std::function<void()> on_start, std::function<void(Child&)> on_rest)
    : agent_(agent),
      gate_(gate),
      told_(told),
      limits_(limits),
      stops_(std::move(stops)),
      on_start_(std::move(on_start)),
      on_rest_(std::move(on_rest)) {}

Children::~Children() = default;

Result<void> Children::look() {
    const auto open = gate_.delegated();
    std::erase_if(children_, [&](const auto& child) {
        return !child->running && std::ranges::find(open, child->thread, &Delegation::child) == open.end();
    });
    if (failure_) return {};
    if (auto added = add_new(open); !added) return added;
    for (const auto& child : children_) {
        if (running_ == running_max) break;
        if (child->running) continue;
        if (auto looked = look_at(*child); !looked) return looked;
    }
    return {};
}

Result<bool> Children::can_go_on() const {
    for (const auto& delegation : gate_.delegated()) {
        const auto known = [&](const auto& child) { return child->thread == delegation.child; };
        if (std::ranges::none_of(children_, known)) return true;  // nobody here has looked at it yet
    }
    for (const auto& child : children_) {
        if (child->running) continue;
        if (!child->seen) return true;
        auto outdated = child->seen->is_outdated(*agent_.options.checkpointer, now());
        if (!outdated || *outdated) return outdated;
    }
    return false;
}

Result<void> Children::add_new(const std::vector<Delegation>& open) {
    for (const auto& delegation : open) {
        const auto is_known = [&](const auto& child) { return child->thread == delegation.child; };
        if (std::ranges::any_of(children_, is_known)) continue;
        auto task = task_of(agent_, delegation);
        if (!task) return task.failure();
        auto gate = std::make_unique<Gate>(gate_options(*task->agent, delegation.child));
        children_.push_back(std::make_unique<Child>(Child{.thread = delegation.child,
                                                          .task = std::move(task).value(),
                                                          .gate = std::move(gate),
                                                          .told = &told_.of(delegation.child)}));
    }
    return {};
}

Result<void> Children::look_at(Child& child) {
    auto& store = *agent_.options.checkpointer;
    if (child.seen) {
        const auto outdated = child.seen->is_outdated(store, now());
        if (!outdated) return outdated.failure();
        if (!*outdated) return {};
    }
    auto known = child.gate->load();
    if (!known) return known.failure();
    if (const auto end = child.gate->end()) return gate_.join(child.thread, *end);
    // One that only waits for people is left alone: not even its lease is taken.
    const bool below = child.gate->running() > 0 || !child.gate->delegated().empty();
    Seen seen;
    seen.add(*child.gate);
    const bool overdue = seen.deadline && *seen.deadline <= now();
    if (*known && child.gate->next() == GateStep::wait && !below && !overdue) {
        child.seen = std::move(seen);
    } else {
        start(child);
    }
    return {};
}

void Children::start(Child& child) {
    child.running = true;
    ++running_;
    on_start_();
    try {
        ToolThreads::shared().run([this, &child] { go(child); });
    } catch (const std::system_error&) {
        child.rest = {.failure = broken("no thread could be started for it")};
        on_rest_(child);
    }
}

void Children::go(Child& child) {
    try {
        child.rest = run(child);
    } catch (const abi::__forced_unwind&) {
        throw;
    } catch (const std::exception& error) {
        child.rest = {.failure = broken(error.what())};
    } catch (...) {
        child.rest = {.failure = broken("for an unknown reason")};
    }
    on_rest_(child);
}

Run Children::run(Child& child) {
    if (auto begun = child.gate->begin(child.task.description, gate_.thread_id()); !begun) {
        (void)child.gate->give_back(begun.failure().kind == FailureKind::database);
        return {.failure = begun.failure()};
    }
    RunLoop loop(*child.task.agent, *child.gate, *child.told, limits_, stops_);
    auto rest = loop.go();
    child.seen = loop.seen();
    return rest;
}

Result<void> Children::settle(Child& child) {
    child.running = false;
    --running_;
    if (const auto end = child.gate->end()) return gate_.join(child.thread, *end);
    if (child.rest.failure && !child.rest.interrupted && !failure_) failure_ = child.rest.failure;
    return {};
}

void Children::add_seen(Seen& seen) const {
    for (const auto& child : children_) {
        if (!child->seen) continue;
        seen.events.insert(child->seen->events.begin(), child->seen->events.end());
        const auto& deadline = child->seen->deadline;
        if (deadline && (!seen.deadline || *deadline < *seen.deadline)) seen.deadline = deadline;
    }
}

UnixMillis Children::now() const {
    const auto& options = agent_.options;
    return (options.clock != nullptr ? *options.clock : options.checkpointer->clock()).now();
}

}  // namespace assent
