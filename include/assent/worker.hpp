// Runs whatever threads of a store there are to run: those that were answered, whose deadline has passed, whose process
// died. Any number of processes may do so on one store, on as many machines as can reach it; each thread is run by one.
//
// Thread-safety: `run` is called once at a time; `stop` tokens from any thread.
#pragma once

#include <assent/agent.hpp>
#include <assent/checkpointer.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>

namespace assent {

struct WorkerOptions {
    Checkpointer* store = nullptr;  ///< Must outlive the worker.
    /// The agent that a thread runs with; `thread_id` and `checkpointer` of it are set by the worker. Called on
    /// several threads at once. A failure: it cannot be run here; it is tried again, here or elsewhere, after
    /// `retry_ms`.
    std::function<Result<AgentOptions>(const std::string& thread_id)> agent;
    std::size_t threads_max = 4;  ///< How many are run at once. Others wait in the store, or go to another process.
    std::int64_t look_ms = 1000;  ///< How often it looks for work, besides when the store tells of some.
    std::int64_t retry_ms = 30'000;
    /// What came of a run; called on several threads at once, and may not throw. A failure of kind `leased`: another
    /// process had it already.
    std::function<void(const Run& run)> ended;
    /// The store failed, which is tried again after `look_ms`; on the thread of `run`.
    std::function<void(const Failure& failure)> store_failed;
    const Clock* clock = nullptr;  ///< None: the store's.
};

class Worker {
public:
    /// Throws ConfigError: no store, no agents, nothing at once.
    explicit Worker(WorkerOptions options);

    /// Works until `stop` is requested, then lets what runs come to rest and gives it back: tools are told to stop,
    /// and what became of them is recorded. A process that can no longer keep its threads, since the store is gone
    /// for too long, stops their tools before another may take them.
    void run(const std::stop_token& stop);
    /// The same until there is nothing to do; what waits for people is nothing to do.
    void run_until_idle(const std::stop_token& stop = {});

private:
    WorkerOptions options_;
};

}  // namespace assent
