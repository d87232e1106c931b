#include "agent/tool_threads.hpp"

#include <pthread.h>

#include <chrono>
#include <thread>

namespace assent {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t idle_max = 64;
constexpr auto idle_time = 10s;

ToolThreads* threads_of_process = nullptr;

// Never destroyed: the threads are not waited for when the process ends. After a fork none of them is there.
void begin_with_none() {
    threads_of_process = new ToolThreads;
}

}  // namespace

ToolThreads& ToolThreads::shared() {
    static const bool made = [] {
        begin_with_none();
        return pthread_atfork(nullptr, nullptr, &begin_with_none) == 0;
    }();
    (void)made;
    return *threads_of_process;
}

void ToolThreads::run(Work work) {
    {
        const std::lock_guard lock(mutex_);
        if (!idle_.empty()) {
            auto* const idle = idle_.back();
            idle_.pop_back();
            idle->work = std::move(work);
            idle->woken.notify_one();
            return;
        }
    }
    std::thread([this, own = std::move(work)]() mutable { serve(std::move(own)); }).detach();
}

void ToolThreads::serve(Work work) {
    while (work) {
        work();
        work = next_work();
    }
}

// Nothing: there is none, or enough threads wait already.
ToolThreads::Work ToolThreads::next_work() {
    Idle own;
    std::unique_lock lock(mutex_);
    if (idle_.size() >= idle_max) return {};
    idle_.push_back(&own);
    const bool given = own.woken.wait_for(lock, idle_time, [&] { return static_cast<bool>(own.work); });
    if (!given) std::erase(idle_, &own);
    return std::move(own.work);
}

}  // namespace assent
