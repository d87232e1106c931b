// `work`: runs the threads of a database.
#pragma once

#include "cli/context.hpp"

#include <cstddef>
#include <string>

namespace assent::cli {

struct WorkOptions {
    std::size_t at_once = 4;
    bool until_idle = false;
    int lease_seconds = 10;
    std::string notify;   ///< A command of the host's.
    std::string metrics;  ///< Address to serve metrics on; empty: none.
};

/// Runs what is ready until it is told to end, or with `until_idle` until there is nothing to do.
int work_command(Context& context, const WorkOptions& options);

}  // namespace assent::cli
