#include "sim/sequence.hpp"

#include "sim/auditor.hpp"
#include "sim/driver.hpp"
#include "sim/reviewers.hpp"
#include "sim/story.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

namespace assent::sim {
namespace {

constexpr int depth_max = 2;
// A thread that is answered and driven without faults ends long before this.
constexpr int rounds_max = 40;

class Sequence {
public:
    Sequence(std::uint64_t seed, std::vector<std::string>* story) : world_(seed, story) {
        world_.meanwhile = [this] { meanwhile(); };
    }

    Outcomes run(const std::optional<std::set<int>>& only, std::vector<std::string>* story) {
        for (int i = 0; i < world_.shape.operations; ++i) {
            if (only && !only->contains(i)) continue;
            world_.use_dice_of(i);
            world_.say([&] { return "-- operation " + std::to_string(i); });
            operate();
            world_.bury();
        }
        world_.use_dice_of(-1);
        settle();
        if (world_.store.server) {
            work_to_the_end();
        } else {
            take_to_their_ends();
        }
        Auditor auditor(world_);
        auditor.audit();
        if (story != nullptr) tell_journals(world_, *story);
        return {.violations = std::move(world_.ledger.violations),
                .operations = world_.shape.operations,
                .counts = std::move(world_.ledger.counts),
                .events = auditor.events()};
    }

private:
    struct Weighted {
        int weight;
        void (Sequence::*operation)();
    };

    void operate() {
        // The last three in a world of several nodes only.
        static constexpr std::array<Weighted, 17> operations{{{12, &Sequence::prompt},
                                                              {22, &Sequence::go_on},
                                                              {8, &Sequence::resume_with_answers},
                                                              {20, &Sequence::answer},
                                                              {6, &Sequence::answer_again},
                                                              {5, &Sequence::resolve},
                                                              {3, &Sequence::abort},
                                                              {6, &Sequence::pass_time},
                                                              {4, &Sequence::look},
                                                              {3, &Sequence::close},
                                                              {4, &Sequence::kill},
                                                              {8, &Sequence::stall_or_wake},
                                                              {2, &Sequence::start_process},
                                                              {1, &Sequence::jump_clock},
                                                              {24, &Sequence::work},
                                                              {8, &Sequence::cut_or_mend},
                                                              {4, &Sequence::crash_or_start_server}}};
        static constexpr auto sum_of = [](auto begin, auto end) {
            return std::accumulate(begin, end, 0, [](int sum, const Weighted& one) { return sum + one.weight; });
        };
        static constexpr int everywhere = sum_of(operations.begin(), operations.end() - 3);
        static constexpr int among_nodes = sum_of(operations.begin(), operations.end());
        if (world_.dice().chance(world_.shape.faults)) arm_fault();
        auto roll = world_.dice().roll(world_.store.server ? among_nodes : everywhere);
        for (const auto& [weight, operation] : operations) {
            roll -= weight;
            if (roll >= 0) continue;
            (this->*operation)();
            return;
        }
    }

    // Somebody else acts between two steps of what is on the stack.
    void meanwhile() {
        if (world_.depth >= depth_max) return;
        ++world_.depth;
        auto* const actor = std::exchange(world_.actor, nullptr);
        world_.ledger.count("meanwhile");
        world_.say([] { return "   meanwhile:"; });
        operate();
        world_.say([] { return "   after that:"; });
        world_.actor = actor;
        --world_.depth;
    }

    const std::string& any_thread() { return world_.dice().pick(world_.threads); }
    Reviewers at_desk() { return {world_, *world_.desk, world_.desk_clock, world_.desk_random}; }

    void prompt() {
        auto& process = *world_.any_process();
        const auto& thread = any_thread();
        Driver driver(world_, process);
        driver.prompt(thread);
        driver.go(thread, false);
    }
    void go_on() {
        auto& process = *world_.any_process();
        const auto& thread = any_thread();
        Driver driver(world_, process);
        const auto known = process.seats.find(thread);
        if (known == process.seats.end() || !known->second.live) {
            if (known != process.seats.end()) known->second.for_worker = false;
            driver.resume(thread);
        }
        driver.go(thread, false);
    }
    void resume_with_answers() {
        auto& process = *world_.any_process();
        const auto& thread = any_thread();
        Driver driver(world_, process);
        driver.resume_with_answers(thread);
        driver.go(thread, false);
    }
    void answer() {
        auto reviewers = at_desk();
        const int answers = 1 + world_.dice().roll(2);
        for (int i = 0; i < answers; ++i) reviewers.answer(any_thread());
    }
    void answer_again() { at_desk().answer_again(); }
    void resolve() { at_desk().resolve(any_thread()); }
    void abort() { at_desk().abort(any_thread()); }
    void work() {
        auto& process = *world_.any_process();
        world_.ledger.count("work");
        Driver(world_, process).work(static_cast<std::size_t>(1 + world_.dice().roll(2)), false);
    }
    void cut_or_mend() {
        auto& node = world_.nodes[static_cast<std::size_t>(world_.dice().roll(world_.shape.nodes))];
        node.cut_off = !node.cut_off;
        world_.ledger.count(node.cut_off ? "network: node cut off" : "network: node is back");
        world_.say([&] {
            return "node " + std::to_string(node.no) + (node.cut_off ? " is cut off" : " reaches the server again");
        });
        // Long enough to lose what it runs, or a moment.
        if (node.cut_off) world_.pass(world_.dice().chance(60) ? 2 * lease_ms : second_ms);
        if (node.cut_off && world_.dice().chance(60)) work();
        if (world_.depth > 0 && world_.dice().chance(50)) node.cut_off = false;
    }
    void crash_or_start_server() {
        auto& server = *world_.store.server;
        if (server.down) {
            server.down = false;
            world_.say([] { return std::string("the server is there again"); });
            return;
        }
        ++server.restarts;
        world_.store.under_way.reset();
        world_.ledger.count("server crashed");
        server.down = world_.dice().chance(50);
        world_.say([&] { return std::string("the server crashes") + (server.down ? "" : " and is started again"); });
        world_.pass(world_.dice().pick({second_ms, second_ms, 2 * lease_ms}));
    }
    void look() {
        const auto ready = world_.ready_processes();
        if (!ready.empty()) Driver(world_, *world_.dice().pick(ready)).look(any_thread());
    }
    void close() {
        const auto ready = world_.ready_processes();
        if (!ready.empty()) Driver(world_, *world_.dice().pick(ready)).close(any_thread());
    }
    void pass_time() {
        const auto ms = world_.dice().pick({second_ms, 20 * second_ms, 20 * second_ms, 20 * minute_ms, 3 * hour_ms});
        world_.ledger.count("time passes");
        world_.say([&] { return std::to_string(ms / second_ms) + " s pass"; });
        world_.pass(ms);
    }
    void kill() {
        const auto ready = world_.ready_processes();
        if (!ready.empty()) world_.kill(*world_.dice().pick(ready));
    }
    void start_process() { world_.start_process(world_.dice().pick({"1", "1", "2", "3"})); }
    void stall_or_wake() {
        for (auto& process : world_.processes) {
            if (!process->stalled_since || process->dead() || process->in_gate) continue;
            world_.say([&] { return process->name + " wakes up"; });
            process->stalled_since.reset();
            return;
        }
        const auto running = world_.running_processes();
        if (running.empty()) return;
        auto& process = *world_.dice().pick(running);
        world_.ledger.count("process stalled");
        world_.say([&] { return process.name + " stalls"; });
        process.stalled_since = world_.time.monotonic;
        const bool long_enough = world_.dice().chance(70);
        const auto over_ms = world_.dice().pick({2 * lease_ms, lease_ms + second_ms});
        world_.pass(long_enough ? over_ms : second_ms);
        // Others look after what it was doing.
        if (!long_enough || !world_.dice().chance(70)) return;
        if (world_.store.server && world_.dice().chance(50)) {
            work();
        } else {
            go_on();
        }
    }
    void jump_clock() {
        const auto ready = world_.ready_processes();
        if (!world_.shape.clocks_differ || ready.empty()) return;
        world_.ledger.count("clock jumps");
        auto& process = *world_.dice().pick(ready);
        const auto jump_ms = world_.dice().pick({hour_ms, -hour_ms});
        if (process.node == nullptr) {
            process.clock.skew_ms += jump_ms;
            return;
        }
        process.node->skew_ms += jump_ms;
        for (auto& other : world_.processes) {
            if (other->node == process.node) other->clock.skew_ms = process.node->skew_ms;
        }
    }
    void arm_fault() {
        const auto fault = world_.dice().pick(
            {Fault::fails, Fault::uncertain_kept, Fault::uncertain_lost, Fault::dies_before, Fault::dies_after});
        const int appends = world_.dice().roll(3);
        const int reads = world_.dice().chance(25) ? 1 + world_.dice().roll(2) : 0;
        const auto ready = world_.ready_processes();
        if (world_.store.server && !ready.empty() && world_.dice().chance(25)) {
            auto& process = *world_.dice().pick(ready);
            process.points_before_death = 1 + world_.dice().roll(8);
            world_.say([&] { return process.name + " will die at some point"; });
            return;
        }
        const bool at_desk = ready.empty() || world_.dice().chance(25);
        auto& connection = at_desk ? *world_.desk : world_.dice().pick(ready)->store;
        world_.say([&] { return std::string("something will fail for ") + (at_desk ? "the reviewers" : "a process"); });
        connection.arm(fault, appends, reads);
    }

    // Faults stop: every process finishes what it had begun.
    void settle() {
        world_.say([] { return std::string("-- faults stop"); });
        world_.meanwhile = nullptr;
        world_.stop_faults();
        for (auto& process : world_.processes) {
            if (process->dead()) continue;
            Driver driver(world_, *process);
            for (const auto& thread : world_.threads) {
                if (!process->seats.contains(thread)) continue;
                if (!driver.come_to_rest(thread)) {
                    world_.ledger.broke(Rule::at_most_once, "an outcome cannot be recorded although the store works");
                }
                driver.close(thread);
            }
            if (process->store.holds_unknowingly()) {
                world_.ledger.count("process ended to free a lease");
                world_.kill(*process);
            }
        }
    }

    // One process takes each thread to its end.
    void take_to_their_ends() {
        auto& last = world_.start_process("1");
        for (const auto& thread : world_.threads) {
            const auto head = world_.store.rows.find_thread(thread);
            if (head && head->has_value()) take_to_its_end(last, thread);
        }
    }

    // Those workers that live go on with what is marked, and nothing else: a thread that nobody marks stays as it is,
    // which the auditor sees. Only what a host was told of that it failed is for that host to resume.
    void work_to_the_end() {
        if (world_.ready_processes().empty()) world_.start_process("1");
        int idle_rounds = 0;
        for (int round = 0; round < rounds_max; ++round) {
            // The leases of the dead end, and what was put back for later is due.
            world_.pass(2 * lease_ms + retry_ms);
            bool some = false;
            for (auto* process : world_.ready_processes()) {
                some = Driver(world_, *process).work(world_.threads.size(), true) > 0 || some;
            }
            for (const auto& thread : world_.threads) {
                const int questions = at_desk().answer_all(thread);
                if (questions < 0) {
                    world_.ledger.broke(Rule::waiting_costs_nothing, "a question in " + thread + " cannot be ended");
                    return;
                }
                some = some || questions > 0;
            }
            idle_rounds = some ? 0 : idle_rounds + 1;
            // What was owed to the server comes back to it in the first, and is due in the next.
            if (idle_rounds < 2) continue;
            if (world_.left_to_hosts.empty()) return;
            resume_one_as_host();
        }
        world_.ledger.broke(Rule::waiting_costs_nothing, "there is always something to do");
    }

    void resume_one_as_host() {
        const auto thread = *world_.left_to_hosts.begin();
        world_.left_to_hosts.erase(thread);
        const auto head = world_.store.rows.find_thread(thread);
        if (!head->has_value()) return;
        world_.ledger.count("resumed by its host at the end");
        auto& process = *world_.dice().pick(world_.ready_processes());
        Driver driver(world_, process);
        process.seat(thread).for_worker = false;
        driver.resume(thread);
        driver.go(thread, true);
    }

    void take_to_its_end(Process& process, const std::string& thread) {
        Driver driver(world_, process);
        for (int round = 0; round < rounds_max; ++round) {
            driver.resume(thread);
            auto& seat = process.seat(thread);
            if (!seat.live) {
                world_.ledger.broke(Rule::waiting_costs_nothing,
                                    "thread " + thread + " is held by a process that does not run it");
                return;
            }
            driver.go(thread, true);
            if (seat.gate->next() == GateStep::done) return;
            const int questions = at_desk().answer_all(thread);
            if (questions < 0) break;
        }
        world_.ledger.broke(Rule::waiting_costs_nothing, "thread " + thread + " does not come to its end");
    }

    World world_;
};

bool breaks(const Outcomes& outcomes, Rule rule) {
    for (const auto& violation : outcomes.violations) {
        if (violation.rule == rule) return true;
    }
    return false;
}

}  // namespace

Outcomes run_sequence(std::uint64_t seed, const std::optional<std::set<int>>& only, std::vector<std::string>* story) {
    return Sequence(seed, story).run(only, story);
}

std::set<int> needed_operations(std::uint64_t seed, int operations, Rule rule) {
    std::set<int> needed;
    for (int i = 0; i < operations; ++i) needed.insert(i);
    // First many at once, then one by one, until nothing more can be left out.
    for (auto chunk = static_cast<std::size_t>(operations); chunk > 0;) {
        const auto before = needed.size();
        const std::vector<int> order(needed.rbegin(), needed.rend());
        for (std::size_t at = 0; at < order.size(); at += chunk) {
            auto fewer = needed;
            for (auto i = at; i < std::min(at + chunk, order.size()); ++i) fewer.erase(order[i]);
            if (breaks(run_sequence(seed, fewer), rule)) needed = std::move(fewer);
        }
        if (chunk > 1 || needed.size() == before) chunk /= 2;
    }
    return needed;
}

}  // namespace assent::sim
