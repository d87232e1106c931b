// The child threads that do the delegated calls of one thread, while its loop runs.
#pragma once

#include "agent/agent_tree.hpp"
#include "agent/run_limits.hpp"
#include "agent/told.hpp"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace assent {

/// A thread and those below it as they were when it came to rest.
struct Seen {
    std::map<std::string, std::int64_t> events;  ///< Number of the last event, by thread.
    std::optional<UnixMillis> deadline;          ///< The earliest of their open approvals.

    /// Whether somebody has answered or aborted since, or a deadline has passed. Reads one row a thread.
    [[nodiscard]] Result<bool> is_outdated(Checkpointer& store, UnixMillis now) const;
    void add(const Gate& gate);
};

struct RunStops {
    std::stop_token stop;  ///< Whatever stops a run: also that its thread can be taken by others.
    std::stop_token ends;  ///< Somebody wants it to end.
};

class Children {
public:
    struct Child;

    /// All are references to what lives longer. `on_start` is called before a child goes on, on the caller's
    /// thread; `on_rest` when it has come to rest, on the child's thread, as the last thing that it does.
    Children(const AgentNode& agent, Gate& gate, Told& told, RunLimits& limits, RunStops stops,
             std::function<void()> on_start, std::function<void(Child&)> on_rest);
    ~Children();

    /// Records the ends of children that have ended, and has those go on that can, each on a thread of its own.
    [[nodiscard]] Result<void> look();
    /// Whether `look` would have one go on, or end. Reads one row a child.
    [[nodiscard]] Result<bool> can_go_on() const;
    /// Takes a child back that has come to rest.
    [[nodiscard]] Result<void> settle(Child& child);
    [[nodiscard]] int running() const noexcept { return running_; }
    /// Why a child cannot go on, if one cannot; none is started any more.
    [[nodiscard]] const std::optional<Failure>& failure() const noexcept { return failure_; }
    /// Whoever had the child may have left it since.
    void forget_failure() noexcept { failure_.reset(); }
    /// Adds what was seen of the children. None may run.
    void add_seen(Seen& seen) const;

private:
    [[nodiscard]] Result<void> add_new(const std::vector<Delegation>& open);
    [[nodiscard]] Result<void> look_at(Child& child);
    void start(Child& child);
    void go(Child& child);
    [[nodiscard]] Run run(Child& child);
    [[nodiscard]] UnixMillis now() const;

    const AgentNode& agent_;
    Gate& gate_;
    Told& told_;
    RunLimits& limits_;
    RunStops stops_;
    std::function<void()> on_start_;
    std::function<void(Child&)> on_rest_;
    std::vector<std::unique_ptr<Child>> children_;
    int running_ = 0;
    std::optional<Failure> failure_;
};

}  // namespace assent
