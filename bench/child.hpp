// Other processes: how long they take from their start to their end, and what they need.
#pragma once

#include <string>
#include <vector>

namespace bench {

struct Ended {
    double ms = 0;        ///< From before the start to after the end.
    double peak_mib = 0;  ///< The most memory that was resident.
    std::string output;   ///< What it wrote to its standard output.
};

/// Runs a program to its end. Throws std::runtime_error if it does not end well.
[[nodiscard]] Ended run_child(const std::vector<std::string>& words);

}  // namespace bench
