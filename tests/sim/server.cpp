#include "sim/server.hpp"

#include "sim/weakness.hpp"

#include <algorithm>

namespace assent::sim {

bool Server::is_alive(int runner) const {
    const auto found = alive_until_.find(runner);
    return found != alive_until_.end() && found->second > now();
}

void Server::mark(const std::string& thread) {
    if (is_weak(Weakness::keeps_no_marks)) return;
    const auto [at, fresh] = marks_.try_emplace(thread, Mark{.since = now()});
    // What was put back for later is due at once when something new happens.
    if (!fresh && at->second.taken_by == 0) at->second.since = std::min(at->second.since, now());
}

void Server::put_back(const std::string& thread, std::int64_t delay_ms) {
    marks_[thread] = {.since = now() + delay_ms};
}

std::vector<std::string> Server::take(const std::vector<std::string>& free_threads, std::size_t limit, int runner,
                                      const std::set<std::string>& known) {
    std::vector<std::string> taken;
    for (const auto& thread : free_threads) {
        if (taken.size() == limit) break;
        const auto mark = marks_.find(thread);
        if (mark == marks_.end() || mark->second.since > now()) continue;
        const bool lost =
            mark->second.taken_by == runner && !known.contains(thread) && !is_weak(Weakness::forgets_lost_takes);
        if (is_alive(mark->second.taken_by) && !lost) continue;
        mark->second.taken_by = runner;
        taken.push_back(thread);
    }
    return taken;
}

}  // namespace assent::sim
