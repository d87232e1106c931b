// A gated cycle: prompt → asked → approved → ran → final text, all durable, each in a conversation of its own;
// one after the other and with 64 conversations in flight, in memory and in SQLite.
#include "flight.hpp"
#include "floor.hpp"
#include "report.hpp"
#include "stored.hpp"
#include "watch.hpp"
#include "workload.hpp"

#include <assent/memory.hpp>
#include <assent/sqlite.hpp>

#include <algorithm>
#include <atomic>
#include <stdexcept>

namespace bench {
namespace {

constexpr double commits_max = 5;
constexpr double serial_ratio_max = 1.5;
constexpr double flight_ratio_min = 0.5;

struct Work {
    int serial = 0;
    int flight = 0;
    double floor_seconds = 0;
};

struct Timed {
    double seconds = 0;
    std::vector<double> cycle_ms;
};

class Cycles {
public:
    explicit Cycles(assent::Checkpointer& store) : store_(store) {}

    Timed serial(int cycles) {
        Timed timed;
        const auto start = seconds();
        for (int i = 0; i < cycles; ++i) timed.cycle_ms.push_back(one());
        timed.seconds = seconds() - start;
        return timed;
    }

    Timed concurrent(int cycles) {
        Timed timed{.cycle_ms = std::vector<double>(static_cast<std::size_t>(cycles))};
        const auto start = seconds();
        in_flight(cycles, [&](std::int64_t i) { timed.cycle_ms[static_cast<std::size_t>(i)] = one(); });
        timed.seconds = seconds() - start;
        return timed;
    }

    void check() const {
        if (workload_.ran->load() != next_) throw std::runtime_error("the tool did not run once a cycle");
    }

private:
    double one() {
        const auto start = seconds();
        const auto i = next_.fetch_add(1);
        gated_cycle(workload_, store_, "conversation-" + std::to_string(i), i);
        return (seconds() - start) * 1e3;
    }

    assent::Checkpointer& store_;
    Workload workload_ = make_workload();
    std::atomic<std::int64_t> next_ = 0;
};

double at_quantile(std::vector<double> values, double quantile) {
    std::sort(values.begin(), values.end());
    return values[static_cast<std::size_t>(quantile * static_cast<double>(values.size() - 1))];
}

double each_second(const Timed& timed) {
    return static_cast<double>(timed.cycle_ms.size()) / timed.seconds;
}

void measure_memory(Report& report, const Work& work) {
    assent::MemoryCheckpointer store;
    Cycles cycles(store);
    (void)cycles.serial(work.serial / 10);
    const auto serial = cycles.serial(work.serial);
    report.figure("memory, serial", "cycles/s").add(each_second(serial));
    report.figure("memory, 64 in flight", "cycles/s").add(each_second(cycles.concurrent(work.flight)));
    cycles.check();
}

void measure_sqlite(Report& report, const Place& place, const Work& work, const RowBytes& rows) {
    const auto path = place.fresh("cycle.db");
    assent::SqliteCheckpointer store(path);
    Cycles cycles(store);
    (void)cycles.serial(work.serial / 10);
    report.fact("synchronous", synchronous_level());

    const auto single = [&] { return raw_rows_a_second(place.fresh("floor.db"), rows, 1, work.floor_seconds); };
    const auto before = single();
    const auto commits = commits_so_far();
    const auto serial = cycles.serial(work.serial);
    const auto commits_each =
        static_cast<double>(commits_so_far() - commits) / static_cast<double>(serial.cycle_ms.size());
    const auto raw = (before + single()) / 2;
    report.figure("raw commits of the same rows", "commits/s").add(raw);
    report.figure("SQLite, commits a cycle", "commits").at_most(commits_max).add(commits_each);
    report.figure("SQLite, serial", "ms a cycle")
        .ratio_at_most(serial_ratio_max)
        .note("floor: 5 raw commits of the same bytes")
        .add(serial.seconds * 1e3 / static_cast<double>(serial.cycle_ms.size()), 5 * 1e3 / raw);
    report.figure("SQLite, serial, rate", "cycles/s").add(each_second(serial));
    report.figure("SQLite, serial, 99 of 100 within", "ms").add(at_quantile(serial.cycle_ms, 0.99));

    (void)cycles.concurrent(work.flight / 10);
    const auto first_commit = commits_so_far();
    const auto first_row = number_in(path, "SELECT count(*) FROM journal");
    const auto flight = cycles.concurrent(work.flight);
    const auto made = static_cast<double>(commits_so_far() - first_commit);
    const auto group = static_cast<double>(number_in(path, "SELECT count(*) FROM journal") - first_row) / made;
    const auto grouped = raw_rows_a_second(place.fresh("floor.db"), rows, group, work.floor_seconds);
    report.figure("raw grouped rows", "rows/s").add(grouped);
    report.figure("SQLite, 64 in flight, appends a commit", "appends").add(group);
    report.figure("SQLite, 64 in flight", "cycles/s")
        .ratio_at_least(flight_ratio_min)
        .note("floor: one raw writer, the same rows, bytes and group size")
        .add(each_second(flight), grouped / static_cast<double>(rows.size()));
    report.figure("SQLite, 64 in flight, half within", "ms").add(at_quantile(flight.cycle_ms, 0.5));
    report.figure("SQLite, 64 in flight, 99 of 100 within", "ms").add(at_quantile(flight.cycle_ms, 0.99));
    cycles.check();
}

void run(const Options& options) {
    const Place place(options.folder);
    const auto work = options.quick ? Work{.serial = 200, .flight = 2000, .floor_seconds = 0.3}
                                    : Work{.serial = 1000, .flight = 16000, .floor_seconds = 1};
    Report report("cycle", options, place);
    watch_sqlite();
    const auto rows = cycle_row_bytes(place.fresh("rows.db"));
    report.fact("row_bytes", boost::json::value_from(rows));
    for (int i = 1; i <= options.runs; ++i) {
        report.begin_run(i);
        measure_memory(report, work);
        measure_sqlite(report, place, work, rows);
        report.end_run();
    }
    report.write();
}

}  // namespace
}  // namespace bench

int main(int count, char** words) {
    return bench::run_program(count, words, &bench::run);
}
