// What a worker runs at the moment.
#pragma once

#include <assent/worker.hpp>

#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

namespace assent {

class Workload {
public:
    enum class Until : std::uint8_t { stopped, idle };

    explicit Workload(const WorkerOptions& options) : options_(options) {}
    /// Returns when nothing runs any more.
    void run(const std::stop_token& stop, Until until);

private:
    struct Work {
        bool again = false;
        bool ended = false;
        std::jthread thread;
    };
    struct Looked {
        std::int64_t version = 0;     // of which it was run to its rest
        std::int64_t not_before = 0;  // by the monotonic clock
    };

    bool take_some();
    void begin(const ReadyThread& ready);
    void work(const ReadyThread& ready, const std::stop_token& stop);
    Run run_thread(const std::string& id, const std::stop_token& stop) const;
    void settle(const ReadyThread& ready, const Run& run);
    [[nodiscard]] bool runs_already(const ReadyThread& ready);
    [[nodiscard]] bool worth(const ReadyThread& ready);
    std::size_t collect();
    void stop_all();
    void wait();
    void wake();

    const WorkerOptions& options_;
    std::mutex mutex_;
    std::condition_variable_any changed_;
    bool woken_ = false;                   // under `mutex_`, as the next two
    std::map<std::string, Work> running_;  // by thread id
    std::map<std::string, Looked> looked_;
};

}  // namespace assent
