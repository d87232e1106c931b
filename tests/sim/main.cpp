// The whole engine on played time, store and processes: random sequences, each from a seed, checked by an
// auditor that knows only the journal and the effects. See docs/internals/simulation.md.
//
//   assent-sim [--seeds N] [--first S]     N sequences from seed S on (1; `new`: drawn)
//   assent-sim --seed S [--only 1,4,7]     one sequence, or those of its operations, told in full
//   assent-sim --mutations [--seeds N]     breaks each rule in turn, and the server of several nodes; N seeds of each
//                                          kind of world must show it
//   --worlds nodes|processes|both          only seeds of this kind count (both)
//   --rule R                               with rule R broken
//   --weakness W                           with a server that has this defect
#include "sim/sequence.hpp"
#include "sim/weakness.hpp"

#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace {

using assent::mutated_rule;
using assent::Rule;
using assent::sim::has_nodes;
using assent::sim::Outcomes;
using assent::sim::played_weakness;
using assent::sim::run_sequence;
using assent::sim::Weakness;
using assent::sim::weakness_names;
using Counts = std::map<std::string_view, std::int64_t>;

// So often a sequence is made twice, which must give the same story.
constexpr std::uint64_t seeds_between_replays = 250;

enum class Worlds { both, nodes, processes };

struct Options {
    Worlds worlds = Worlds::both;
    std::uint64_t first = 1;
    std::uint64_t seeds = 1000;
    std::optional<std::uint64_t> seed;
    std::optional<std::set<int>> only;
    bool mutations = false;
};

constexpr std::array rules{Rule::one_door,  Rule::exact_call,      Rule::first_answer,   Rule::at_most_once,
                           Rule::no_replay, Rule::closed_in_doubt, Rule::strictest_wins, Rule::on_record};

int number_of(Rule rule) {
    return static_cast<int>(rule);
}

std::string command_for(std::uint64_t seed, const std::set<int>& only) {
    auto command = "assent-sim --seed " + std::to_string(seed);
    std::string list;
    for (const auto operation : only) list += (list.empty() ? " --only " : ",") + std::to_string(operation);
    command += list;
    if (mutated_rule != 0) command += " --rule " + std::to_string(mutated_rule);
    if (played_weakness != Weakness::none)
        command += " --weakness " + std::to_string(static_cast<int>(played_weakness));
    return command;
}

// The first seed of this kind from `seed` on.
std::uint64_t next_of(Worlds worlds, std::uint64_t seed) {
    const bool fits = worlds == Worlds::both || has_nodes(seed) == (worlds == Worlds::nodes);
    return fits ? seed : seed + 1;
}

std::uint64_t drawn_seed() {
    std::array<std::uint8_t, 4> bytes{};
    assent::system_random().fill(bytes);
    std::uint64_t seed = 0;
    for (const auto byte : bytes) seed = seed << 8 | byte;
    return seed;
}

// The story of one sequence. 1 if a rule is broken.
int tell(std::uint64_t seed, const std::optional<std::set<int>>& only) {
    std::vector<std::string> story;
    const auto outcomes = run_sequence(seed, only, &story);
    for (const auto& line : story) std::printf("%s\n", line.c_str());
    for (const auto& [rule, what] : outcomes.violations) {
        std::printf("rule %d is broken: %s\n", number_of(rule), what.c_str());
    }
    return outcomes.violations.empty() ? 0 : 1;
}

// The shortest story of a seed that breaks a rule.
void report(std::uint64_t seed, const Outcomes& outcomes) {
    const auto rule = outcomes.violations.front().rule;
    const auto needed = assent::sim::needed_operations(seed, outcomes.operations, rule);
    std::printf("sim: seed %s breaks rule %d\n", std::to_string(seed).c_str(), number_of(rule));
    (void)tell(seed, needed);
    std::printf("again: %s\n", command_for(seed, needed).c_str());
}

bool replays(std::uint64_t seed) {
    std::vector<std::string> first;
    std::vector<std::string> second;
    (void)run_sequence(seed, std::nullopt, &first);
    (void)run_sequence(seed, std::nullopt, &second);
    return first == second;
}

void add(Counts& sum, const Counts& more) {
    for (const auto& [what, count] : more) sum[what] += count;
}

std::int64_t print(const char* title, const Counts& counts) {
    std::int64_t all = 0;
    std::printf("%s:\n", title);
    for (const auto& [what, count] : counts) {
        std::printf("%12lld  %s\n", static_cast<long long>(count), std::string(what).c_str());
        all += count;
    }
    return all;
}

void show_progress(std::uint64_t made, std::uint64_t seeds) {
    static const bool on_terminal = isatty(STDERR_FILENO) != 0;
    if (on_terminal && made % 1000 == 0) std::fprintf(stderr, "\r%llu of %llu", 0ULL + made, 0ULL + seeds);
    if (on_terminal && made == seeds) std::fprintf(stderr, "\r");
}

int run_seeds(const Options& options) {
    Counts counts;
    Counts events;
    std::int64_t operations = 0;
    const auto step = options.worlds == Worlds::both ? 1U : 2U;
    const auto first = next_of(options.worlds, options.first);
    const auto last = first + step * (options.seeds - 1);
    std::printf("sim: seeds %s to %s\n", std::to_string(first).c_str(), std::to_string(last).c_str());
    const auto began = std::chrono::steady_clock::now();
    std::uint64_t among_nodes = 0;
    for (auto seed = first; seed <= last; seed += step) {
        const auto outcomes = run_sequence(seed);
        if (!outcomes.violations.empty()) {
            report(seed, outcomes);
            return 1;
        }
        if (seed % seeds_between_replays == 0 && !replays(seed)) {
            std::printf("sim: seed %s does not give the same story twice\n", std::to_string(seed).c_str());
            return 1;
        }
        add(counts, outcomes.counts);
        add(events, outcomes.events);
        operations += outcomes.operations;
        if (has_nodes(seed)) ++among_nodes;
        show_progress((seed - first) / step + 1, options.seeds);
    }
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
    const auto seeds = static_cast<double>(options.seeds);
    print("operations, faults and what came of them", counts);
    const auto all_events = print("events in the journals", events);
    std::printf("sim: every rule holds; %.1f s, %.0f sequences/s, %.1f operations and %.1f events each\n", took.count(),
                seeds / took.count(), static_cast<double>(operations) / seeds, static_cast<double>(all_events) / seeds);
    std::printf("sim: %s of them among several nodes\n", std::to_string(among_nodes).c_str());
    return 0;
}

// How many sequences of this kind it takes to see that the rule is broken, or any rule; 0: more than there were.
std::uint64_t seeds_to_notice(std::optional<Rule> rule, Worlds worlds, const Options& options) {
    auto seed = next_of(worlds, options.first);
    for (std::uint64_t i = 0; i < options.seeds; ++i, seed += 2) {
        for (const auto& violation : run_sequence(seed).violations) {
            if (!rule || violation.rule == *rule) return i + 1;
        }
    }
    return 0;
}

std::string noticed(std::uint64_t seeds) {
    return seeds == 0 ? "NOT NOTICED" : "noticed after " + std::to_string(seeds) + " seeds";
}

int run_mutations(const Options& options) {
    int missed = 0;
    for (const auto rule : rules) {
        mutated_rule = static_cast<std::uint8_t>(rule);
        const auto processes = seeds_to_notice(rule, Worlds::processes, options);
        const auto nodes = seeds_to_notice(rule, Worlds::nodes, options);
        std::printf("rule %d broken: %s; among several nodes %s\n", number_of(rule), noticed(processes).c_str(),
                    noticed(nodes).c_str());
        if (processes == 0 || nodes == 0) ++missed;
    }
    mutated_rule = 0;
    // These show only when several things go wrong at once.
    auto more = options;
    more.seeds *= 4;
    for (std::size_t i = 1; i < weakness_names.size(); ++i) {
        played_weakness = static_cast<Weakness>(i);
        const auto seeds = seeds_to_notice(std::nullopt, Worlds::nodes, more);
        std::printf("server, %s: %s\n", std::string(weakness_names[i]).c_str(), noticed(seeds).c_str());
        if (seeds == 0) ++missed;
    }
    played_weakness = Weakness::none;
    return missed == 0 ? 0 : 1;
}

[[noreturn]] void usage() {
    std::fprintf(stderr,
                 "usage: assent-sim [--seeds N] [--first S|new] [--seed S [--only 1,2,…]] [--mutations]\n"
                 "                  [--worlds nodes|processes|both] [--rule R] [--weakness W]\n");
    std::exit(2);
}

std::set<int> read_list(const std::string& text) {
    std::set<int> numbers;
    std::size_t at = 0;
    while (at < text.size()) {
        std::size_t read = 0;
        numbers.insert(std::stoi(text.substr(at), &read));
        at += read + 1;
    }
    return numbers;
}

Worlds read_worlds(const std::string& text) {
    if (text == "nodes") return Worlds::nodes;
    if (text == "processes") return Worlds::processes;
    if (text != "both") usage();
    return Worlds::both;
}

Weakness read_weakness(const std::string& text) {
    const auto number = std::stoul(text);
    if (number >= weakness_names.size()) usage();
    return static_cast<Weakness>(number);
}

Options read(int argc, char** argv) {
    Options options;
    for (int i = 1; i < argc; ++i) {
        const std::string name = argv[i];
        if (name == "--mutations") {
            options.mutations = true;
            continue;
        }
        if (i + 1 == argc) usage();
        const std::string value = argv[++i];
        if (name == "--seeds") {
            options.seeds = std::stoull(value);
        } else if (name == "--first") {
            options.first = value == "new" ? drawn_seed() : std::stoull(value);
        } else if (name == "--seed") {
            options.seed = std::stoull(value);
        } else if (name == "--rule") {
            mutated_rule = static_cast<std::uint8_t>(std::stoi(value));
        } else if (name == "--weakness") {
            played_weakness = read_weakness(value);
        } else if (name == "--worlds") {
            options.worlds = read_worlds(value);
        } else if (name == "--only") {
            options.only = read_list(value);
        } else {
            usage();
        }
    }
    return options;
}

}  // namespace

int main(int argc, char** argv) try {
    const auto options = read(argc, argv);
    if (options.seed) return tell(*options.seed, options.only);
    return options.mutations ? run_mutations(options) : run_seeds(options);
} catch (const std::exception& error) {
    std::fprintf(stderr, "assent-sim: %s\n", error.what());
    return 2;
}
