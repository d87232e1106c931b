// The gated cycle of a conversation that has 10 to 10,000 earlier turns: in a process that goes on, and in a
// fresh one; and the bytes that a turn leaves in the database.
#include "child.hpp"
#include "report.hpp"
#include "stored.hpp"
#include "workload.hpp"

#include <assent/sqlite.hpp>

#include <filesystem>
#include <iostream>
#include <map>
#include <memory>
#include <string_view>

namespace bench {
namespace {

constexpr int sizes[] = {10, 100, 1'000, 10'000};
constexpr double growth_max = 1.1;
constexpr double bytes_spread_max = 1.05;
constexpr const char* thread_id = "grown";
constexpr std::string_view fresh_cycle = "--fresh-cycle";

struct Work {
    int cycles = 0;  ///< A size and run, in one process.
    int fresh = 0;   ///< A size and run, each in a process of its own.
};

// A store and an agent that goes on with the conversation in it.
struct Grown {
    explicit Grown(const std::string& path, const Workload& workload)
        : store(path), agent(make_agent(workload, store, thread_id)) {}
    assent::SqliteCheckpointer store;
    assent::Agent agent;
};

std::string grown_name(int size) {
    return "grown-" + std::to_string(size) + ".db";
}

// One conversation, kept as it is whenever it has one of the sizes.
void build(const Place& place) {
    const auto path = place.fresh("growing.db");
    const auto workload = make_workload();
    int turns = 0;
    for (const auto size : sizes) {
        std::cerr << "growth: a conversation of " << size << " turns\n";
        {
            Grown grown(path, workload);
            for (; turns < size; ++turns) gated_cycle(grown.agent, turns);
        }
        (void)checkpointed_bytes(path);
        std::filesystem::copy_file(path, place.fresh(grown_name(size)));
    }
}

std::string copy_of(const Place& place, int size) {
    const auto path = place.fresh("copy-" + std::to_string(size) + ".db");
    std::filesystem::copy_file(place.path(grown_name(size)), path);
    return path;
}

double cycle_ms(assent::Agent& agent, int i) {
    const auto start = seconds();
    gated_cycle(agent, i);
    return (seconds() - start) * 1e3;
}

// Sizes take turns, so that what else the machine does meets all of them alike.
void measure_going_on(Report& report, const Place& place, const Work& work) {
    const auto workload = make_workload();
    std::map<int, std::string> paths;
    std::map<int, std::int64_t> bytes;
    std::map<int, std::unique_ptr<Grown>> all;
    std::map<int, std::vector<double>> ms;
    for (const auto size : sizes) {
        paths[size] = copy_of(place, size);
        bytes[size] = static_cast<std::int64_t>(std::filesystem::file_size(paths[size]));
        all[size] = std::make_unique<Grown>(paths[size], workload);
        gated_cycle(all[size]->agent, size);
    }
    for (int i = 0; i < work.cycles; ++i) {
        for (const auto size : sizes) ms[size].push_back(cycle_ms(all[size]->agent, size + i + 1));
    }
    all.clear();
    std::map<int, double> each;
    for (const auto size : sizes) {
        each[size] = static_cast<double>(checkpointed_bytes(paths[size]) - bytes[size]) / (work.cycles + 1);
        auto& figure = report.figure("in one process, " + std::to_string(size) + " earlier turns", "ms a cycle");
        if (size == 10'000) figure.ratio_at_most(growth_max).note("floor: the same with 10 earlier turns");
        figure.add(median(ms[size]), median(ms[10]));
    }
    for (const auto size : sizes) {
        auto& figure = report.figure("stored, " + std::to_string(size) + " earlier turns", "bytes a turn");
        if (size == 10'000) figure.ratio_at_most(bytes_spread_max);
        figure.add(each[size], each[10]);
    }
}

void measure_fresh(Report& report, const Place& place, const Work& work, const std::string& self) {
    for (const auto* how : {"cold", "reading"}) {
        const bool cold = std::string_view(how) == "cold";
        std::map<int, std::vector<double>> ms;
        std::map<int, std::string> paths;
        for (const auto size : sizes) paths[size] = copy_of(place, size);
        for (int i = 0; i < work.fresh; ++i) {
            for (const auto size : sizes) {
                ms[size].push_back(std::stod(run_child({self, std::string(fresh_cycle), paths[size], how}).output));
            }
        }
        for (const auto size : sizes) {
            auto& figure = report.figure(std::string("in a fresh process, ") + (cold ? "" : "model reads all, ") +
                                             std::to_string(size) + " earlier turns",
                                         "ms a cycle");
            if (cold && size == 10'000) figure.ratio_at_most(growth_max).note("floor: the same with 10 earlier turns");
            figure.add(median(ms[size]), median(ms[10]));
        }
    }
}

// What a fresh process does: opens the store, goes on with the conversation for a cycle, says how long it took.
void run_fresh_cycle(const std::string& path, bool cold) {
    const auto workload = make_workload(cold);
    const auto start = seconds();
    Grown grown(path, workload);
    gated_cycle(grown.agent, 0);
    std::cout << (seconds() - start) * 1e3 << "\n";
}

std::string self;

void run(const Options& options) {
    const Place place(options.folder);
    const auto work = options.quick ? Work{.cycles = 60, .fresh = 9} : Work{.cycles = 250, .fresh = 25};
    Report report("growth", options, place);
    build(place);
    for (int i = 1; i <= options.runs; ++i) {
        report.begin_run(i);
        measure_going_on(report, place, work);
        measure_fresh(report, place, work, self);
        report.end_run();
    }
    report.write();
}

}  // namespace
}  // namespace bench

int main(int count, char** words) {
    if (count == 4 && words[1] == bench::fresh_cycle) {
        bench::run_fresh_cycle(words[2], words[3] == std::string_view("cold"));
        return 0;
    }
    bench::self = words[0];
    return bench::run_program(count, words, &bench::run);
}
