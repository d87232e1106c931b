// A process that runs what was answered, as `assent work` does, and says when.
#pragma once

#include "child.hpp"

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

namespace bench {

/// Nanoseconds on the monotonic clock, which is one for all processes.
[[nodiscard]] std::int64_t nanoseconds();

class Runner {
public:
    /// The first word of the program's own arguments when it is started as a runner.
    static constexpr std::string_view word = "--runner";
    /// Is the runner until nothing more is said to it. `words`: those behind `word`.
    static void be(const std::vector<std::string>& words);

    /// Starts `self` as a runner of at most `at_once` threads on the store at `address`. With `held` tools stay in
    /// their body until so many are there and `let_go` was called. Returns when it looks for work.
    Runner(const std::string& self, const std::string& address, int at_once, int held = 0);

    /// When the next tool started.
    [[nodiscard]] std::int64_t started();
    /// Until so many runs have ended. Throws std::runtime_error if one ended otherwise than done.
    void wait_for_ends(int count);
    /// Until all that are held are there.
    void wait_for_held();
    void let_go() { process_.say("go"); }

    struct Memory {
        double now_mib = 0;
        double peak_mib = 0;
    };
    [[nodiscard]] Memory memory();
    void end() { process_.end(); }

private:
    // The next line that begins with `kind`, without it; those before are kept for others.
    std::string next(const std::string& kind);

    Running process_;
    std::deque<std::string> early_;
};

}  // namespace bench
