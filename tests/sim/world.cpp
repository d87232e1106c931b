#include "sim/world.hpp"

#include "base/test_point.hpp"

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

// Whose points are listened to.
World* played = nullptr;

void on_test_point(const char* name) {
    if (played != nullptr) played->pass_point(name);
}

// Counts keep no text.
std::string_view kept(std::string text) {
    static std::set<std::string> texts;
    return *texts.insert(std::move(text)).first;
}

Shape shape_of(std::uint64_t seed, test::Dice& dice) {
    // Few are so long that threads are opened from snapshots.
    const bool is_long = dice.roll(200) == 0;
    Shape shape{.operations = is_long ? 150 : 4 + dice.roll(14), .threads = !is_long && dice.chance(12) ? 2 : 1};
    shape.leases_expire = dice.chance(40);
    shape.several_hosts = dice.chance(30);
    shape.clocks_differ = dice.chance(20);
    shape.hold_batch = dice.chance(20);
    shape.faults = dice.pick({0, 10, 25, 40});
    shape.meanwhile = dice.pick({0, 5, 15});
    if (!has_nodes(seed)) return shape;
    shape.nodes = 2 + dice.roll(2);
    shape.operations += 4;
    shape.start_within = start_within_on_server_ms;
    shape.leases_expire = true;
    shape.clocks_differ = dice.chance(50);
    return shape;
}

}  // namespace

World::World(std::uint64_t seed_given, std::vector<std::string>* log)
    : seed(seed_given), desk_random(mixed(seed_given ^ 0xdeULL)), dice_(std::in_place, mixed(seed_given)), log_(log) {
    shape = shape_of(seed, *dice_);
    for (int i = 1; i <= shape.threads; ++i) threads.push_back("t" + std::to_string(i));
    desk = std::make_unique<Connection>(store, 0);
    store.tick = [this] { return ++ticks_; };
    store.taken = [this](const std::string& thread) { left_to_hosts.erase(thread); };
    store.chance = [this](int percent) { return faults_on_ && dice_->chance(percent); };
    store.lease_is_over = [this](int no) {
        if (store.server) return !store.server->is_alive(no);
        const auto& process = *processes[static_cast<std::size_t>(no) - 1];
        if (process.dead()) return true;
        return shape.leases_expire && process.stalled_since && time.monotonic - *process.stalled_since > lease_ms;
    };
    store.meanwhile = [this](int no) {
        auto* const process = no == 0 ? nullptr : processes[static_cast<std::size_t>(no) - 1].get();
        if (meanwhile && dice_->chance(shape.meanwhile)) {
            meanwhile();
            if (process != nullptr) process->stalled_since.reset();
        }
        // Whether an overdue renewal comes before the request is chance.
        if (store.server && process != nullptr && dice_->chance(50))
            process->store.renew(time.monotonic, time.monotonic);
    };
    play_processes(this);
    played = this;
    listen_to_test_points(on_test_point);
    if (shape.nodes > 0) make_nodes();
}

void World::make_nodes() {
    store.server.emplace(time);
    store.server->skew_ms = shape.clocks_differ ? dice_->pick({0, 3, -3}) * second_ms : 0;
    nodes.reserve(static_cast<std::size_t>(shape.nodes));
    for (int no = 1; no <= shape.nodes; ++no) {
        // Most clocks are a little wrong, some by far.
        const auto skew_ms = dice_->pick({0, 2, -2, 2400, -2400}) * second_ms;
        nodes.push_back({.no = no, .skew_ms = shape.clocks_differ ? skew_ms : 0});
    }
    for (auto& node : nodes) start_process_on(&node, dice_->chance(15) ? "2" : "1");
}

World::~World() {
    meanwhile = nullptr;
    // The dead give nothing back.
    played = nullptr;
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
    auto* const node = nodes.empty() ? nullptr : &nodes[static_cast<std::size_t>(dice_->roll(shape.nodes))];
    return start_process_on(node, std::move(guard_version));
}

Process& World::start_process_on(Node* node, std::string guard_version) {
    if (node != nullptr) ++node->lives;
    processes.push_back(
        std::make_unique<Process>(*this, static_cast<int>(processes.size()) + 1, std::move(guard_version), node));
    auto& process = *processes.back();
    auto& facts = ledger.processes[process.no];
    facts.name = process.name;
    facts.mark = process.mark;
    ledger.count("process started");
    say([&] { return process.name + " starts, guards of version " + process.guard_version; });
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
    say([&] { return process.name + " is killed"; });
}

void World::pass(std::int64_t milliseconds) {
    const auto from = time.monotonic;
    time.pass(milliseconds);
    if (!store.server) return;
    for (auto& process : processes) {
        if (!process->stalled_since) process->store.renew(from, time.monotonic);
    }
}

void World::pass_point(const char* name) {
    if (actor == nullptr || actor->points_before_death == 0 || --actor->points_before_death > 0 || actor->dead())
        return;
    actor->store.die();
    ledger.count(kept("dies at " + std::string(name)));
    say([&] { return actor->name + " dies at " + name; });
}

void World::bury() {
    for (auto& process : processes) {
        if (process->dead()) process->seats.clear();
    }
    if (desk->dead()) desk = std::make_unique<Connection>(store, 0);
}

void World::stop_faults() {
    faults_on_ = false;
    shape.meanwhile = 0;
    shape.faults = 0;
    // Where they go on to differ, an answer may be too old whenever it is given.
    shape.clocks_differ = false;
    if (store.server) store.server->down = false;
    for (auto& node : nodes) {
        node.cut_off = false;
        node.skew_ms = 0;
    }
    for (auto& process : processes) {
        process->clock.skew_ms = 0;
        process->points_before_death = 0;
        process->store.disarm();
        process->stalled_since.reset();
    }
    desk = std::make_unique<Connection>(store, 0);
}

}  // namespace assent::sim
