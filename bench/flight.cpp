#include "flight.hpp"

#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace bench {

void in_flight(std::int64_t count, const std::function<void(std::int64_t)>& work, int at_once) {
    std::atomic<std::int64_t> next = 0;
    std::mutex mutex;
    std::exception_ptr problem;
    {
        std::vector<std::jthread> threads;
        for (int i = 0; i < at_once; ++i) {
            threads.emplace_back([&] {
                try {
                    for (auto at = next.fetch_add(1); at < count; at = next.fetch_add(1)) work(at);
                } catch (...) {
                    const std::lock_guard lock(mutex);
                    problem = std::current_exception();
                }
            });
        }
    }
    if (problem) std::rethrow_exception(problem);
}

}  // namespace bench
