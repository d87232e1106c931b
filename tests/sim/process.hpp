// One played process: its way to the store, its clock, its tools and guards, and the threads it drives.
#pragma once

#include "sim/connection.hpp"
#include "sim/time.hpp"
#include "sim/wishes.hpp"
#include "support/dice.hpp"

#include <assent/gate.hpp>

#include <list>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace assent::sim {

/// What code of the host may run: `before_tool` while a turn is proposed, guards where calls are judged.
enum class HostCode { none, guards, all };

/// A thread as one process drives it.
struct Seat {
    std::string thread;
    std::unique_ptr<Gate> gate;
    bool live = false;        ///< The gate was prompted or resumed and has not come to rest.
    bool for_worker = false;  ///< It is run since it was marked, as `Worker` does.
    std::list<Permit> permits;
    std::list<Outcome> outcomes;  ///< Not on record yet.
    // Further up the stack:
    int bodies = 0;             ///< Running now, as if on threads of their own.
    bool model_speaks = false;  ///< The run loop is inside the model.

    [[nodiscard]] bool has_unfinished() const { return bodies > 0 || !permits.empty() || !outcomes.empty(); }
};

class World;

class Process {
public:
    Process(World& world, int no, std::string guard_version, Node* node);
    Process(const Process&) = delete;
    Process& operator=(const Process&) = delete;

    /// The seat for this thread, made if need be.
    Seat& seat(const std::string& thread);
    [[nodiscard]] bool dead() const noexcept { return store.dead(); }

    const int no;
    Node* const node;  ///< Where it runs; null in a world that has none.
    const std::string name;
    const std::string guard_version;
    journal::ProcessMark mark;
    PlayedClock clock;
    test::FakeRandom random;
    Connection store;
    std::map<std::string, Seat> seats;
    bool in_gate = false;  ///< A member of one of its gates is on the stack.
    HostCode allowed = HostCode::none;
    std::optional<std::int64_t> stalled_since;  ///< On the monotonic clock.
    int points_before_death = 0;                ///< It dies at the last of so many test points; 0: at none.

private:
    World& world_;
    std::vector<std::shared_ptr<Tool>> tools_;
    std::vector<std::shared_ptr<Middleware>> middleware_;
    std::vector<std::shared_ptr<Guard>> guards_;
};

/// A process is inside one of its gates, where this code of the host may run.
class InGate {
public:
    InGate(World& world, Process& process, HostCode allowed);
    InGate(const InGate&) = delete;
    InGate& operator=(const InGate&) = delete;
    ~InGate();

private:
    World& world_;
    Process& process_;
    Process* actor_before_;
};

}  // namespace assent::sim
