// Gated cycles on PostgreSQL by 1, 2 and 4 processes, 16 conversations in flight in all, beside pgbench on the same
// server: 16 clients that insert one row a transaction.
//
// Commits are counted by the server: the records of its write-ahead log tell which transactions wrote rows and
// committed. pg_stat_database would count everything that only reads, too; pg_stat_wal counts syncs, of which several
// commits share one.
#include "child.hpp"
#include "flight.hpp"
#include "report.hpp"
#include "server.hpp"
#include "workload.hpp"

#include <assent/postgres.hpp>

#include <unistd.h>

#include <atomic>
#include <fstream>
#include <iostream>
#include <memory>
#include <stdexcept>

namespace bench {
namespace {

constexpr int in_flight_in_all = 16;
constexpr int appends_a_cycle = 5;
constexpr double ratio_min = 0.5;
constexpr double commits_max = 5;
constexpr int warm_up = 3;  // cycles of each conversation in flight
constexpr std::string_view cycles_word = "--cycles";

struct Work {
    int floor_seconds = 0;
    int seconds = 0;
    int counted = 0;  ///< Cycles whose commits are counted.
};

std::string self;

// --- What a process does.

// Says that it is ready, waits to be told to go, says how many cycles it made in how many seconds. With `cycles` it
// makes so many, else as many as it can in `for_seconds`.
void run_cycles(const std::string& url, int at_once, int for_seconds, int cycles) {
    assent::PostgresCheckpointer store(url, {.connections_max = at_once});
    const auto workload = make_workload();
    std::atomic<std::int64_t> next = 0;
    const auto cycle = [&] {
        const auto i = next.fetch_add(1);
        gated_cycle(workload, store, std::to_string(getpid()) + "-" + std::to_string(i), i);
    };
    in_flight(std::int64_t{at_once} * warm_up, [&](std::int64_t) { cycle(); }, at_once);
    std::cout << "ready" << std::endl;
    std::string told;
    std::getline(std::cin, told);
    const auto before = next.load();
    const auto start = seconds();
    const auto until_end = [&](std::int64_t) {
        while (seconds() - start < for_seconds) cycle();
    };
    if (cycles > 0) {
        in_flight(cycles, [&](std::int64_t) { cycle(); }, at_once);
    } else {
        in_flight(at_once, until_end, at_once);
    }
    std::cout << next.load() - before << " " << seconds() - start << std::endl;
    if (workload.ran->load() != next) throw std::runtime_error("the tool did not run once a cycle");
}

// --- The benchmark.

struct Made {
    double rate = 0;
    double cycles = 0;  ///< With those of the warm-up.
};

Made cycles_by(const std::string& url, int processes, int for_seconds, int cycles = 0) {
    const int at_once = in_flight_in_all / processes;
    std::vector<std::unique_ptr<Running>> all;
    for (int i = 0; i < processes; ++i) {
        all.push_back(std::make_unique<Running>(
            std::vector<std::string>{self, std::string(cycles_word), url, std::to_string(at_once),
                                     std::to_string(for_seconds), std::to_string(cycles)}));
    }
    for (const auto& process : all) {
        if (process->line() != "ready") throw std::runtime_error("a process does not work");
    }
    for (const auto& process : all) process->say("go");
    Made made;
    for (const auto& process : all) {
        const auto line = process->line();
        const auto count = std::stod(line);
        made.rate += count / std::stod(line.substr(line.find(' ')));
        made.cycles += count + at_once * warm_up;
    }
    for (const auto& process : all) process->end();
    return made;
}

std::int64_t row_bytes(const PostgresServer& server) {
    return server.number(
        "SELECT avg(octet_length(cmd) + octet_length(header) + octet_length(salt) + octet_length(body))::bigint"
        " FROM assent.journal");
}

double pgbench_rate(const PostgresServer& server, const Place& place, std::int64_t bytes, int for_seconds) {
    const auto script = place.path("simple-insert.sql");
    std::ofstream(script) << "INSERT INTO floor(body) VALUES (decode(repeat('5a', " << bytes << "), 'hex'));\n";
    const auto ended = run_child({server.program("pgbench"), "-n", "-M", "prepared", "-c16", "-j2",
                                  "-T" + std::to_string(for_seconds), "-f", script, server.url()});
    static constexpr std::string_view before = "tps = ";
    const auto at = ended.output.find(before);
    if (at == std::string::npos) throw std::runtime_error("pgbench says no rate: " + ended.output);
    return std::stod(ended.output.substr(at + before.size()));
}

struct Commits {
    double with_rows = 0;
    double without = 0;  ///< Notices.
    double cycles = 0;
};

Commits commits_of(const PostgresServer& server, int cycles) {
    const auto from = server.text("SELECT pg_current_wal_insert_lsn()");
    Commits commits{.cycles = cycles_by(server.url(), 1, 0, cycles).cycles};
    const auto counted = [&](const char* which) {
        return static_cast<double>(server.number(
            std::string("SELECT count(*) FILTER (WHERE ") + which +
            ") FROM (SELECT bool_or(resource_manager LIKE 'Heap%') AS with_rows FROM pg_get_wal_records_info('" + from +
            "', pg_current_wal_flush_lsn()) WHERE xid::text <> '0' GROUP BY xid"
            " HAVING bool_or(resource_manager = 'Transaction' AND record_type LIKE 'COMMIT%')) AS committed"));
    };
    commits.with_rows = counted("with_rows");
    commits.without = counted("NOT with_rows");
    return commits;
}

// What a process commits once, such as that it is there, is in both counts.
void count_commits(Report& report, const PostgresServer& server, const Work& work) {
    const auto few = commits_of(server, work.counted / 5);
    const auto many = commits_of(server, work.counted);
    const auto cycles = many.cycles - few.cycles;
    report.figure("commits a cycle", "commits")
        .at_most(commits_max)
        .note("transactions with rows and a commit record in the server's log")
        .add((many.with_rows - few.with_rows) / cycles);
    report.figure("notices a cycle, not synced", "commits").add((many.without - few.without) / cycles);
}

// Processor time that the benchmark's processes and the server used from one moment on.
class Used {
public:
    explicit Used(const PostgresServer& server) : server_(server) {}
    void add_to(Report& report, const std::string& name, const std::string& each, double count) const {
        const auto of_server = server_.cpu_seconds() - of_server_;
        const auto own = CpuTime::now().own - own_;
        report.figure(name + ", processor time", "ms " + each).add((own + of_server) * 1e3 / count);
        report.figure(name + ", processor time, the server's", "ms " + each).add(of_server * 1e3 / count);
    }

private:
    const PostgresServer& server_;
    double own_ = CpuTime::now().own;
    double of_server_ = server_.cpu_seconds();
};

void measure(Report& report, const PostgresServer& server, const Place& place, const Work& work, std::int64_t bytes) {
    const Used by_pgbench(server);
    const auto raw = pgbench_rate(server, place, bytes, work.floor_seconds);
    report.figure("pgbench, 16 clients, one row a commit", "commits/s").add(raw);
    by_pgbench.add_to(report, "pgbench", "a commit", raw * work.floor_seconds);
    for (const int processes : {1, 2, 4}) {
        const auto syncs = [&] { return server.number("SELECT wal_sync FROM pg_stat_wal"); };
        const auto before = syncs();
        const Used by_cycles(server);
        const auto made = cycles_by(server.url(), processes, work.seconds);
        const auto name = std::to_string(processes) + (processes == 1 ? " process" : " processes");
        report.figure(name + ", 16 in flight", "cycles/s")
            .ratio_at_least(ratio_min)
            .note("floor: pgbench's rate through 5")
            .add(made.rate, raw / appends_a_cycle);
        report.figure(name + ", syncs", "a cycle").add(static_cast<double>(syncs() - before) / made.cycles);
        by_cycles.add_to(report, name, "a cycle", made.cycles);
    }
    count_commits(report, server, work);
}

void run(const Options& options) {
    const Place place(options.folder);
    const PostgresServer server(place);
    const auto work = options.quick ? Work{.floor_seconds = 5, .seconds = 3, .counted = 200}
                                    : Work{.floor_seconds = 30, .seconds = 10, .counted = 1000};
    Report report("postgres", options, place);
    report.count_as_own([&] { return server.cpu_seconds(); });
    server.execute("CREATE EXTENSION pg_walinspect");
    server.execute("CREATE TABLE floor(body bytea NOT NULL)");
    (void)cycles_by(server.url(), 1, 1);
    const auto bytes = row_bytes(server);
    report.fact("row_bytes", bytes);
    report.fact("server", boost::json::value_from(server.text("SHOW server_version")));
    for (const auto* setting : {"fsync", "synchronous_commit", "wal_sync_method", "shared_buffers"})
        report.fact(setting, boost::json::value_from(server.text(std::string("SHOW ") + setting)));
    for (int i = 1; i <= options.runs; ++i) {
        report.begin_run(i);
        measure(report, server, place, work, bytes);
        report.end_run();
    }
    report.write();
}

}  // namespace
}  // namespace bench

int main(int count, char** words) {
    if (count == 6 && words[1] == bench::cycles_word) {
        bench::run_cycles(words[2], std::stoi(words[3]), std::stoi(words[4]), std::stoi(words[5]));
        return 0;
    }
    bench::self = words[0];
    return bench::run_program(count, words, &bench::run);
}
