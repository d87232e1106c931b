#include "sim/process.hpp"

#include "sim/host_code.hpp"
#include "sim/world.hpp"

#include <utility>

namespace assent::sim {
namespace {

// The second process of node 1 is n1.2.
std::string name_of(const Node* node, int number) {
    if (node == nullptr) return "p" + std::to_string(number);
    return "n" + std::to_string(node->no) + "." + std::to_string(node->lives);
}

std::string host_of(const World& world, const Node* node, int number) {
    if (node != nullptr) return "h" + std::to_string(node->no);
    return world.shape.several_hosts && number % 2 == 0 ? "h2" : "h1";
}

}  // namespace

Process::Process(World& world, int number, std::string version, Node* place)
    : no(number),
      node(place),
      name(name_of(place, number)),
      guard_version(std::move(version)),
      clock(world.time),
      random(world.seed * 1009 + static_cast<std::uint64_t>(number)),
      store(world.store, number, place),
      world_(world) {
    mark = {.host = host_of(world, place, number), .boot = "b", .pid = 100 + number, .started = number};
    if (node != nullptr) {
        clock.skew_ms = node->skew_ms;
    } else if (world.shape.clocks_differ) {
        clock.skew_ms = world.dice().pick({0, 40, -40}) * minute_ms;
    }
    tools_ = host_tools(world, *this);
    middleware_ = host_middleware(world, *this);
    guards_ = host_guards(world, *this);
    for (const auto& guard : guards_) world.ledger.processes[number].guards[guard->name()] = guard->version();
}

Seat& Process::seat(const std::string& thread) {
    auto& seat = seats[thread];
    if (seat.gate != nullptr) return seat;
    seat.thread = thread;
    seat.gate = std::make_unique<Gate>(GateOptions{.checkpointer = &store,
                                                   .thread_id = thread,
                                                   .tools = tools_,
                                                   .middleware = middleware_,
                                                   .guards = guards_,
                                                   .use_by_ms = use_by_ms,
                                                   .start_within_ms = world_.shape.start_within,
                                                   .hold_batch = world_.shape.hold_batch,
                                                   .clock = &clock,
                                                   .random = &random});
    return seat;
}

InGate::InGate(World& world, Process& process, HostCode allowed)
    : world_(world), process_(process), actor_before_(std::exchange(world.actor, &process)) {
    process_.in_gate = true;
    process_.allowed = allowed;
}

InGate::~InGate() {
    process_.in_gate = false;
    process_.allowed = HostCode::none;
    world_.actor = actor_before_;
}

}  // namespace assent::sim
