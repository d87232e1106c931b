// What the gate costs a call that nobody is asked about: a run whose call the rules allow, against a plain call
// of the same function with the same number of commits of the same rows and bytes made by hand.
#include "floor.hpp"
#include "report.hpp"
#include "stored.hpp"
#include "watch.hpp"
#include "workload.hpp"

#include <assent/memory.hpp>
#include <assent/sqlite.hpp>

#include <stdexcept>

namespace bench {
namespace {

constexpr int nobody_is_asked = 1'000'000;

struct Work {
    int runs = 0;
    double floor_seconds = 0;
};

void ungated_run(const Workload& workload, assent::Checkpointer& store, std::int64_t i) {
    auto agent = make_agent(workload, store, "conversation-" + std::to_string(i));
    const auto run = agent.prompt(prompt_text(i));
    if (run.status != assent::RunStatus::done) throw std::runtime_error("the run did not end");
}

// Microseconds a run.
double runs_us(const Workload& workload, assent::Checkpointer& store, int runs, std::int64_t& next) {
    const auto start = seconds();
    for (int i = 0; i < runs; ++i) ungated_run(workload, store, next++);
    return (seconds() - start) * 1e6 / runs;
}

void measure(Report& report, const Place& place, const Work& work) {
    const auto workload = make_workload(false, nobody_is_asked);
    std::int64_t next = 0;
    assent::MemoryCheckpointer memory;
    (void)runs_us(workload, memory, work.runs / 10, next);
    report.figure("memory", "µs a run").add(runs_us(workload, memory, work.runs, next));

    const auto path = place.fresh("ungated.db");
    assent::SqliteCheckpointer store(path);
    (void)runs_us(workload, store, work.runs / 10, next);
    report.fact("synchronous", synchronous_level());
    const auto first = commits_so_far();
    const auto us = runs_us(workload, store, work.runs, next);
    const auto commits = static_cast<double>(commits_so_far() - first) / work.runs;
    const auto bytes = number_in(path,
                                 "SELECT avg(length(cmd) + length(header) + length(salt) + length(body))"
                                 " FROM (SELECT * FROM journal ORDER BY pos DESC LIMIT 100)");
    const RowBytes rows{static_cast<std::size_t>(bytes)};
    const auto raw = raw_rows_a_second(place.fresh("floor.db"), rows, 1, work.floor_seconds);
    report.figure("SQLite, commits a run", "commits").add(commits);
    report.figure("SQLite", "µs a run")
        .note("floor: the function called plainly, and as many raw commits of the same bytes")
        .add(us, commits * 1e6 / raw);
}

void run(const Options& options) {
    const Place place(options.folder);
    const auto work = options.quick ? Work{.runs = 200, .floor_seconds = 0.3} : Work{.runs = 1000, .floor_seconds = 1};
    Report report("ungated", options, place);
    watch_sqlite();
    for (int i = 1; i <= options.runs; ++i) {
        report.begin_run(i);
        measure(report, place, work);
        report.end_run();
    }
    report.write();
}

}  // namespace
}  // namespace bench

int main(int count, char** words) {
    return bench::run_program(count, words, &bench::run);
}
