// Threads for the bodies of tools. One that has ended its work is kept a while for the next call: to make and
// to end a thread costs more than all else that a short call needs.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <vector>

namespace assent {

class ToolThreads {
public:
    using Work = std::move_only_function<void()>;

    /// Those of this process. The child of a fork begins with none.
    static ToolThreads& shared();

    /// Runs `work`, which does not throw, on a thread that runs nothing else until it has ended. Throws
    /// std::system_error when no thread can be made; then nothing of it was run.
    void run(Work work);

private:
    struct Idle {
        Work work;
        std::condition_variable woken;
    };
    void serve(Work work);
    [[nodiscard]] Work next_work();

    std::mutex mutex_;
    std::vector<Idle*> idle_;  // each lives on the stack of its thread
};

}  // namespace assent
