// A connection of a process that runs threads of a server: its lease, and the marks of what there is to do.
#include "sim/connection.hpp"
#include "sim/weakness.hpp"

#include <algorithm>
#include <utility>

namespace assent::sim {
namespace {

// A thread whose tools have to be stopped in time needs some.
constexpr std::int64_t kept_surely_ms = lease_ms * 3 / 4;
constexpr std::size_t many = 1000;
// Percent of requests for work whose answer gets lost while faults are played.
constexpr int answers_lost = 10;

// What an aborted thread had started when its runner died has to come to an end, too.
bool may_go_on(const ThreadHead& head) {
    return head.status == ThreadStatus::active || head.status == ThreadStatus::aborted;
}

}  // namespace

std::optional<Failure> Connection::become_runner() {
    if (!shared_.server || is_runner_) return std::nullopt;
    if (!reaches_store()) return Failure{FailureKind::database, "the server cannot be reached"};
    is_runner_ = true;
    renewed_at_ = shared_.server->monotonic();
    shared_.server->renew(process_, shared_.server->now());
    return std::nullopt;
}

std::optional<std::int64_t> Connection::keeps_for_ms() const {
    if (!is_runner_) return std::nullopt;
    const auto surely = is_weak(Weakness::promises_too_long) ? 4 * lease_ms : kept_surely_ms;
    return surely - (shared_.server->monotonic() - renewed_at_);
}

void Connection::renew(std::int64_t from, std::int64_t to) {
    if (!is_runner_ || dead_ || !reaches_store()) return;
    auto& server = *shared_.server;
    // What is overdue, since the process stalled or was cut off, comes first.
    auto at = renewed_at_ + heartbeat_ms <= from ? from : renewed_at_;
    at += (to - at) / heartbeat_ms * heartbeat_ms;
    if (at == renewed_at_) return;
    renewed_at_ = at;
    server.renew(process_, server.now() - (to - at));
    for (const auto& owed : std::exchange(owed_, {})) {
        const auto& [thread, fence, delay_ms] = owed;
        // An append that takes it may come late.
        const auto head = shared_.rows.find_thread(thread);
        if (!delay_ms && (!head->has_value() || (*head)->fence < fence)) {
            owed_.push_back(owed);
            continue;
        }
        shared_.ledger.count("owed to the server, and done");
        if (delay_ms) {
            server.put_back(thread, *delay_ms);
        } else if (free(thread, fence)) {
            // Its run is over, or was told that it has not begun.
            server.mark(thread);
        }
    }
}

// Threads that can be run and that no living runner has, in the order in which they were made.
std::vector<std::string> Connection::free_threads() {
    std::vector<std::string> free;
    for (const auto& head : *shared_.rows.threads()) {
        const auto held = shared_.leases.find(head.id);
        const bool runs = held != shared_.leases.end() && !shared_.lease_is_over(held->second.process);
        if (may_go_on(head) && !runs) free.push_back(head.id);
    }
    return free;
}

// Marks what nobody has marked: threads of dead runners, and questions past their deadline, which `now` tells.
void Connection::sweep(UnixMillis now) {
    auto& server = *shared_.server;
    for (const auto& head : *shared_.rows.threads()) {
        if (!may_go_on(head)) {
            server.unmark(head.id);
            continue;
        }
        if (server.is_marked(head.id)) continue;
        const auto held = shared_.leases.find(head.id);
        const bool of_dead = held != shared_.leases.end() && shared_.lease_is_over(held->second.process);
        const auto open = shared_.rows.open_approvals(head.id, 0, many);
        const bool overdue = std::any_of(open->begin(), open->end(), [&](const OpenApproval& approval) {
            return approval.deadline && *approval.deadline <= now;
        });
        if (of_dead) shared_.ledger.count("mark: of a dead runner");
        if (overdue) shared_.ledger.count("mark: past a deadline");
        if (of_dead || overdue) server.mark(head.id);
    }
}

Result<std::vector<ReadyThread>> Connection::take_ready(std::size_t limit, UnixMillis now) {
    shared_.meanwhile(process_);
    if (auto fault = read_fault()) return std::move(*fault);
    if (auto unknown = become_runner()) return std::move(*unknown);
    sweep(now);
    auto& server = *shared_.server;
    auto taken = server.take(free_threads(), limit, process_, known_taken_);
    if (!taken.empty() && shared_.chance(answers_lost)) {
        shared_.ledger.count("network: answer about marks lost");
        if (shared_.chance(50)) return Failure{FailureKind::database, "the server cannot be reached"};
        // A statement that writes nothing which matters twice is sent again.
        taken = server.take(free_threads(), limit, process_, known_taken_);
    }
    std::vector<ReadyThread> ready;
    for (auto& thread : taken) {
        known_taken_.insert(thread);
        ready.push_back({.id = std::move(thread)});
    }
    return ready;
}

Result<void> Connection::put_back(const std::string& thread_id, std::int64_t delay_ms) {
    known_taken_.erase(thread_id);
    if (auto fault = read_fault()) {
        if (!dead_) owed_.push_back({.thread = thread_id, .delay_ms = delay_ms});
        return std::move(*fault);
    }
    shared_.server->put_back(thread_id, delay_ms);
    return {};
}

}  // namespace assent::sim
