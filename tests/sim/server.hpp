// What several nodes share besides the rows: a database server as PostgreSQL is one, with a clock of its own, the
// leases of runners and the marks of threads that somebody should go on with.
#pragma once

#include "sim/time.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace assent::sim {

/// How long a runner that gives no sign keeps its threads, and how often it gives one.
inline constexpr std::int64_t lease_ms = 15 * second_ms;
inline constexpr std::int64_t heartbeat_ms = lease_ms / 3;

/// A machine of a world of several nodes.
struct Node {
    int no = 0;
    std::int64_t skew_ms = 0;  ///< Of its clock.
    bool cut_off = false;      ///< Nothing that its processes send arrives.
    int lives = 0;             ///< Processes that were started on it.
};

class Server {
public:
    explicit Server(const Time& time) : time_(time) {}

    [[nodiscard]] UnixMillis now() const { return time_.now + skew_ms; }
    [[nodiscard]] std::int64_t monotonic() const { return time_.monotonic; }

    void renew(int runner, UnixMillis at) { alive_until_[runner] = at + lease_ms; }
    [[nodiscard]] bool is_alive(int runner) const;

    void mark(const std::string& thread);
    void unmark(const std::string& thread) { marks_.erase(thread); }
    void put_back(const std::string& thread, std::int64_t delay_ms);
    [[nodiscard]] bool is_marked(const std::string& thread) const { return marks_.contains(thread); }
    /// Those that are due and that no other living runner has taken. What this runner took, but does not know of,
    /// since the answer was lost, it gets again.
    std::vector<std::string> take(const std::vector<std::string>& free_threads, std::size_t limit, int runner,
                                  const std::set<std::string>& known);

    std::int64_t skew_ms = 0;
    bool down = false;
    int restarts = 0;  ///< Each drops all connections.

private:
    struct Mark {
        UnixMillis since = 0;
        int taken_by = 0;
    };

    const Time& time_;
    std::map<int, UnixMillis> alive_until_;
    std::map<std::string, Mark> marks_;
};

}  // namespace assent::sim
