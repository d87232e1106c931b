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

/// A process that one talks with in lines. Its end: when it is told that nothing more is said.
class Running {
public:
    /// Throws std::runtime_error if it cannot be started.
    explicit Running(const std::vector<std::string>& words);
    Running(const Running&) = delete;
    Running& operator=(const Running&) = delete;
    ~Running();

    void say(const std::string& line);
    /// The next line it wrote. Throws std::runtime_error if it ended instead.
    [[nodiscard]] std::string line();
    /// Says nothing more and waits for its end. Throws std::runtime_error if that is no good one.
    void end();

private:
    void close_input();
    int child_ = 0;
    int input_ = -1;
    int output_ = -1;
    std::string rest_;
};

/// Runs a program to its end. Throws std::runtime_error if it does not end well.
[[nodiscard]] Ended run_child(const std::vector<std::string>& words);

}  // namespace bench
