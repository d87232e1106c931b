#include "sim/world.hpp"

#include <algorithm>

namespace assent::sim {
namespace {

// Neighbouring seeds give unlike worlds.
std::uint64_t mixed(std::uint64_t value) {
    value += 0x9e3779b97f4a7c15ULL;
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9ULL;
    value = (value ^ (value >> 27)) * 0x94d049bb133111ebULL;
    return value ^ (value >> 31);
}

Shape shape_of(test::Dice& dice) {
    // Few are so long that threads are opened from snapshots.
    const bool is_long = dice.roll(200) == 0;
    Shape shape{.operations = is_long ? 150 : 4 + dice.roll(14), .threads = !is_long && dice.chance(12) ? 2 : 1};
    shape.leases_expire = dice.chance(40);
    shape.several_hosts = dice.chance(30);
    shape.clocks_differ = dice.chance(20);
    shape.hold_batch = dice.chance(20);
    shape.faults = dice.pick({0, 10, 25, 40});
    shape.meanwhile = dice.pick({0, 5, 15});
    return shape;
}

}  // namespace

World::World(std::uint64_t seed_given, std::vector<std::string>* log)
    : seed(seed_given), desk_random(mixed(seed_given ^ 0xdeULL)), dice_(std::in_place, mixed(seed_given)), log_(log) {
    shape = shape_of(*dice_);
    for (int i = 1; i <= shape.threads; ++i) threads.push_back("t" + std::to_string(i));
    desk = std::make_unique<Connection>(store, 0);
    store.tick = [this] { return ++ticks_; };
    store.lease_is_over = [this](int no) {
        const auto& process = *processes[static_cast<std::size_t>(no) - 1];
        if (process.dead()) return true;
        return shape.leases_expire && process.stalled_since && time.monotonic - *process.stalled_since > lease_ms;
    };
    store.meanwhile = [this](int no) {
        if (!meanwhile || !dice_->chance(shape.meanwhile)) return;
        meanwhile();
        if (no != 0) processes[static_cast<std::size_t>(no) - 1]->stalled_since.reset();
    };
    play_processes(this);
}

World::~World() {
    meanwhile = nullptr;
    // The dead give nothing back.
    for (auto& process : processes) process->store.die();
    processes.clear();
    play_processes(nullptr);
}

journal::ProcessMark World::self() const {
    return actor == nullptr ? journal::ProcessMark{.host = "h1", .boot = "b", .pid = 1, .started = 1} : actor->mark;
}

ProcessLife World::life_of(const journal::ProcessMark& mark) const {
    if (mark.host != self().host) return ProcessLife::unknown;
    for (const auto& process : processes) {
        if (process->mark == mark) return process->dead() ? ProcessLife::dead : ProcessLife::alive;
    }
    return ProcessLife::unknown;
}

void World::use_dice_of(int operation) {
    dice_.emplace(mixed(seed + mixed(static_cast<std::uint64_t>(operation))));
}

Process& World::start_process(std::string guard_version) {
    processes.push_back(
        std::make_unique<Process>(*this, static_cast<int>(processes.size()) + 1, std::move(guard_version)));
    auto& process = *processes.back();
    ledger.processes[process.no].mark = process.mark;
    ledger.count("process started");
    say([&] { return "p" + std::to_string(process.no) + " starts, guards of version " + process.guard_version; });
    return process;
}

std::vector<Process*> World::ready_processes() {
    std::vector<Process*> ready;
    for (const auto& process : processes) {
        if (!process->dead() && !process->stalled_since && !process->in_gate) ready.push_back(process.get());
    }
    return ready;
}

std::vector<Process*> World::running_processes() {
    std::vector<Process*> running;
    for (const auto& process : processes) {
        if (!process->dead() && !process->stalled_since) running.push_back(process.get());
    }
    return running;
}

Process* World::any_process() {
    const auto ready = ready_processes();
    if (!ready.empty()) return dice_->pick(ready);
    return &start_process(dice_->chance(15) ? "2" : "1");
}

void World::kill(Process& process) {
    process.store.die();
    ledger.count("process killed");
    say([&] { return "p" + std::to_string(process.no) + " is killed"; });
}

void World::bury() {
    for (auto& process : processes) {
        if (process->dead()) process->seats.clear();
    }
    if (desk->dead()) desk = std::make_unique<Connection>(store, 0);
}

void World::stop_faults() {
    shape.meanwhile = 0;
    shape.faults = 0;
    for (auto& process : processes) {
        process->store.disarm();
        process->stalled_since.reset();
    }
    desk = std::make_unique<Connection>(store, 0);
}

}  // namespace assent::sim
