// What a permit holds. Seen by the gate and by Tool::start alone.
#pragma once

#include <assent/clock.hpp>
#include <assent/thread_files.hpp>
#include <assent/tool.hpp>

#include <memory>
#include <string>
#include <vector>

namespace assent {

struct Permit::State {
    std::string tool;
    std::string attempt;
    Arguments arguments;
    std::string sha256;  ///< Of the arguments that were claimed.
    std::string idempotency_key;
    struct Approved {
        std::string guard;    ///< As it calls itself.
        std::string details;  ///< Of its question.
    };
    std::vector<Approved> approved;  ///< What people were asked and approved.
    std::shared_ptr<ThreadFiles> files;
    std::stop_token stop;
    std::int64_t start_by = 0;  ///< On the monotonic clock.
    const Clock* clock = nullptr;
};

}  // namespace assent
