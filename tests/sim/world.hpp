// Everything of one sequence: true time, one store, the processes over it, and the ledger of what happened.
// All of it follows from the seed.
#pragma once

#include "sim/process.hpp"

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace assent::sim {

inline constexpr std::int64_t second_ms = 1000;
inline constexpr std::int64_t minute_ms = 60 * second_ms;
inline constexpr std::int64_t hour_ms = 60 * minute_ms;
/// How long an approval may be used after the answer.
inline constexpr std::int64_t use_by_ms = 30 * minute_ms;
/// A permit must be used sooner than the lease of a stalled process can be taken.
inline constexpr std::int64_t start_within_ms = 10 * second_ms;
inline constexpr std::int64_t lease_ms = 15 * second_ms;

/// What kind of world this is.
struct Shape {
    int operations = 0;
    int threads = 1;
    bool leases_expire = false;  ///< As on several machines; else only death ends a lease.
    bool several_hosts = false;
    bool clocks_differ = false;
    bool hold_batch = false;
    int faults = 0;     ///< Percent of operations that arm one.
    int meanwhile = 0;  ///< Percent of appends and bodies during which others act.
};

class World final : public PlayedProcesses {
public:
    explicit World(std::uint64_t seed, std::vector<std::string>* log = nullptr);
    World(const World&) = delete;
    World& operator=(const World&) = delete;
    ~World() override;

    [[nodiscard]] journal::ProcessMark self() const override;
    [[nodiscard]] ProcessLife life_of(const journal::ProcessMark& mark) const override;

    /// The choices of one operation, the same whatever other operations there are.
    void use_dice_of(int operation);
    test::Dice& dice() { return *dice_; }

    Process& start_process(std::string guard_version);
    /// Processes that live, are not stalled and are in no gate: those that can be told to do something.
    std::vector<Process*> ready_processes();
    /// Those that can stall: anywhere, also between a read and an append.
    std::vector<Process*> running_processes();
    /// One of them; a new one if there is none and no process is on the stack.
    Process* any_process();
    void kill(Process& process);
    /// Frees what is left of the dead. Not while a process is on the stack.
    void bury();
    void stop_faults();

    /// A line of the story, made only if somebody reads it.
    template <class Make>
    void say(Make make) {
        if (log_ != nullptr) log_->push_back(make());
    }

    const std::uint64_t seed;
    Shape shape;
    Time time;
    Ledger ledger;
    SharedStore store{ledger};
    std::vector<std::unique_ptr<Process>> processes;
    Process* actor = nullptr;     ///< The process whose gate or body is on the stack.
    int depth = 0;                ///< Operations inside operations.
    int stamps = 0;               ///< Given out by `before_tool`, each once.
    std::vector<Prompt> prompts;  ///< Given so far.
    /// Reviewers' programs; a dead one is replaced by the next.
    std::unique_ptr<Connection> desk;
    PlayedClock desk_clock{time};
    test::FakeRandom desk_random;
    /// What happens while somebody is between two steps. Set by the sequence.
    std::function<void()> meanwhile;
    std::vector<std::string> threads;

private:
    std::optional<test::Dice> dice_;
    Tick ticks_ = 0;
    std::vector<std::string>* log_;
};

}  // namespace assent::sim
