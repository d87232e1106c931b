// Everything of one sequence: true time, one store, the nodes and processes over it, and the ledger of what happened.
// All of it follows from the seed.
#pragma once

#include "sim/process.hpp"

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace assent::sim {

/// How long an approval may be used after the answer.
inline constexpr std::int64_t use_by_ms = 30 * minute_ms;
/// A permit must be used sooner than the lease of a stalled process can be taken.
inline constexpr std::int64_t start_within_ms = 10 * second_ms;
/// On a server the store says how long a process keeps its threads, whatever the host may wish.
inline constexpr std::int64_t start_within_on_server_ms = minute_ms;
/// When a worker tries a thread again that it could not run.
inline constexpr std::int64_t retry_ms = 30 * second_ms;

/// What kind of world this is.
struct Shape {
    int operations = 0;
    int threads = 1;
    int nodes = 0;  ///< Machines that share a database server; 0: processes share a file.
    /// A stalled process loses its threads; else only death ends a lease. On a server, its runners' leases tell.
    bool leases_expire = false;
    bool several_hosts = false;
    bool clocks_differ = false;
    bool hold_batch = false;
    std::int64_t start_within = start_within_ms;
    int faults = 0;     ///< Percent of operations that arm one.
    int meanwhile = 0;  ///< Percent of appends and bodies during which others act.
};

/// Whether this seed's world has several nodes: every other one.
[[nodiscard]] constexpr bool has_nodes(std::uint64_t seed) {
    return seed % 2 == 1;
}

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

    /// On any node, if there are nodes.
    Process& start_process(std::string guard_version);
    /// Processes that live, are not stalled and are in no gate: those that can be told to do something.
    std::vector<Process*> ready_processes();
    /// Those that can stall: anywhere, also between a read and an append.
    std::vector<Process*> running_processes();
    /// One of them; a new one if there is none and no process is on the stack.
    Process* any_process();
    void kill(Process& process);
    /// Time passes for everybody, and the leases of runners that neither stall nor are cut off are renewed.
    void pass(std::int64_t milliseconds);
    /// The process whose code is on the stack passes a test point.
    void pass_point(const char* name);
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
    std::vector<Node> nodes;
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
    /// Whose run a host was told of that it failed, or left midway: it has to resume them itself.
    std::set<std::string> left_to_hosts;

private:
    void make_nodes();
    Process& start_process_on(Node* node, std::string guard_version);

    bool faults_on_ = true;
    std::optional<test::Dice> dice_;
    Tick ticks_ = 0;
    std::vector<std::string>* log_;
};

}  // namespace assent::sim
