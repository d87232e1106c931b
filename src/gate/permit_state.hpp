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
    struct ApprovedPaths {
        std::string path_rules;
        std::string details;  ///< Of the question.
    };
    std::vector<ApprovedPaths> approved_paths;  ///< What people approved where path permissions asked.
    std::shared_ptr<ThreadFiles> files;
    std::stop_token stop;
    std::int64_t start_by = 0;  ///< On the monotonic clock.
    const Clock* clock = nullptr;
};

}  // namespace assent
