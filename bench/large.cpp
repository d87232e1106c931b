// Large databases, SQLite and PostgreSQL: a million approvals that wait, ten thousand threads active at once, a
// conversation of a hundred thousand turns.
//
// What is measured of the million is measured in other processes, as it is used: one runs what was answered, this one
// answers any of them, the real program lists them.
#include "any_store.hpp"
#include "child.hpp"
#include "flight.hpp"
#include "report.hpp"
#include "runner.hpp"
#include "server.hpp"
#include "stored.hpp"
#include "workload.hpp"

#include <assent/approvals.hpp>

#include <chrono>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <memory>
#include <random>
#include <stdexcept>
#include <thread>

namespace bench {
namespace {

constexpr double growth_mib_max = 64e6 / (1 << 20);
constexpr double start_ms_max = 50;
constexpr double list_ms_max = 100;
constexpr double long_ratio_max = 3;
constexpr int connections = 16;
constexpr int runner_at_once = 4;
constexpr int short_turns = 100;
constexpr int turns_a_run = 2;  // the call, the final text
constexpr int nobody_is_asked = 1 << 20;
constexpr std::uint64_t seed = 20'261'130;
constexpr std::string_view fresh_cycle = "--fresh-cycle";

struct Work {
    int waiting = 0;
    int answers = 0;  ///< A run.
    int lists = 0;    ///< Fresh programs a run.
    int active = 0;
    int turns = 0;
    int fresh = 0;  ///< Fresh processes a run and length.
};

std::string self;

// A store under measure.
struct Kind {
    std::string name;
    std::string address;
    std::string long_address;  ///< Where the long conversation is: in tables of its own.
    std::function<std::int64_t()> bytes;
};

// --- A million that wait.

void make_waiting(Report& report, const Kind& kind, int from, int count) {
    const auto store = open_store(kind.address, connections);
    const auto workload = make_workload();
    const auto start = seconds();
    const auto ask = [&](std::int64_t i) {
        auto agent = make_agent(workload, *store, "conversation-" + std::to_string(from + i));
        const auto run = agent.prompt(prompt_text(i));
        if (run.status != assent::RunStatus::waiting)
            throw std::runtime_error("the call did not wait" + (run.failure ? ": " + run.failure->message : ""));
        if (const auto made = i + 1; made % 50'000 == 0)
            std::cerr << "large: " << kind.name << ": " << made << " wait, "
                      << static_cast<double>(made) / (seconds() - start) << "/s\n";
    };
    in_flight(count, ask);
    if (from > 0) report.figure(kind.name + ", made", "approvals/s").add(count / (seconds() - start));
}

std::string open_id(assent::Approvals& approvals, std::int64_t number) {
    // That one, or if it was answered already the next.
    auto page = approvals.pending({}, number - 1, 1);
    if (page && page->empty()) page = approvals.pending({}, 0, 1);
    if (!page || page->empty()) throw std::runtime_error("an approval cannot be found");
    return page->front().id;
}

void answer(assent::Approvals& approvals, const std::string& id) {
    const auto answered = approvals.answer(id, assent::approve(), {.name = "somebody"});
    if (!answered) throw std::runtime_error("an answer does not count: " + answered.failure().message);
    if (answered->status != assent::AnswerResult::Status::decided)
        throw std::runtime_error("an answer does not count: " + answered->message);
}

struct Answered {
    std::vector<double> ms;  ///< From the answer to the start of its tool.
    Runner::Memory memory;
};

// Of any `count` of the first `among`, to a runner that has nothing else to do.
Answered answer_some(const Kind& kind, int count, int among, std::mt19937_64& dice) {
    const auto store = open_store(kind.address);
    assent::Approvals approvals(*store);
    Runner runner(self, kind.address, runner_at_once);
    Answered answered;
    for (int i = 0; i < count; ++i) {
        const auto id = open_id(approvals, std::uniform_int_distribution<std::int64_t>(1, among)(dice));
        // At any moment between two looks of the runner.
        std::this_thread::sleep_for(std::chrono::milliseconds(std::uniform_int_distribution(20, 300)(dice)));
        answer(approvals, id);
        const auto told = nanoseconds();
        answered.ms.push_back(static_cast<double>(runner.started() - told) / 1e6);
        runner.wait_for_ends(1);
    }
    answered.memory = runner.memory();
    runner.end();
    return answered;
}

double list_ms(const std::string& program, const Kind& kind, int times) {
    std::vector<double> ms;
    for (int i = 0; i < times; ++i) ms.push_back(run_child({program, "--quiet", "--db", kind.address, "pending"}).ms);
    return median(ms);
}

void measure_waiting(Report& report, const Options& options, const Kind& kind, const Work& work, double few_mib,
                     std::mt19937_64& dice) {
    const auto answered = answer_some(kind, work.answers, work.waiting, dice);
    report.figure(kind.name + ", from any answer to the start of its tool", "ms")
        .at_most(start_ms_max)
        .add(median(answered.ms));
    report.figure(kind.name + ", memory of a runner", "MiB").add(answered.memory.peak_mib);
    report.figure(kind.name + ", memory of a runner, growth", "MiB")
        .at_most(growth_mib_max)
        .note("beside a runner of the same store that did the same with a few that wait")
        .add(answered.memory.peak_mib - few_mib);
    report.figure(kind.name + ", a fresh process lists the first page", "ms")
        .at_most(list_ms_max)
        .add(list_ms(options.program, kind, work.lists));
}

// --- Ten thousand at once.

void measure_active(Report& report, const Kind& kind, const Work& work, std::mt19937_64& dice) {
    {
        const auto store = open_store(kind.address, connections);
        assent::Approvals approvals(*store);
        const auto first = std::uniform_int_distribution<std::int64_t>(1, work.waiting / 2)(dice);
        auto page = approvals.pending({}, first, static_cast<std::size_t>(work.active));
        if (!page || page->size() != static_cast<std::size_t>(work.active))
            throw std::runtime_error("too few approvals wait");
        const auto start = seconds();
        in_flight(
            work.active, [&](std::int64_t i) { answer(approvals, (*page)[static_cast<std::size_t>(i)].id); },
            connections);
        report.figure(kind.name + ", answers", "answers/s").add(work.active / (seconds() - start));
    }
    Runner runner(self, kind.address, work.active, work.active);
    const auto before = runner.memory();
    auto start = seconds();
    runner.wait_for_held();
    report.figure(kind.name + ", all active at once: started", "tools/s").add(work.active / (seconds() - start));
    const auto held = runner.memory();
    report.figure(kind.name + ", all active at once: memory each", "KiB")
        .add((held.now_mib - before.now_mib) * 1024 / work.active);
    start = seconds();
    runner.let_go();
    runner.wait_for_ends(work.active);
    report.figure(kind.name + ", all active at once: ended", "threads/s").add(work.active / (seconds() - start));
    report.figure(kind.name + ", all active at once: memory of the runner at most", "MiB")
        .add(runner.memory().peak_mib);
    runner.end();
}

// --- A long conversation.

std::string conversation_of(int turns) {
    return "conversation-of-" + std::to_string(turns);
}

void make_long(const Kind& kind, int turns) {
    const auto store = open_store(kind.long_address);
    // Nobody is asked: how the turns came about makes no difference to what follows.
    const auto workload = make_workload(true, nobody_is_asked);
    auto agent = make_agent(workload, *store, conversation_of(turns));
    for (int made = 0; made < turns; made += turns_a_run) {
        const auto run = agent.prompt(prompt_text(made));
        if (run.status != assent::RunStatus::done) throw std::runtime_error("a run did not end");
        if (made % 20'000 == 0) std::cerr << "large: " << kind.name << ": " << made << " turns\n";
    }
}

// What a fresh process does: opens the store, goes on with the conversation for a cycle, says how long it took and what
// memory it needed.
void run_fresh_cycle(const std::string& address, const std::string& thread, bool cold) {
    const auto workload = make_workload(cold);
    const auto start = seconds();
    const auto store = open_store(address);
    auto agent = make_agent(workload, *store, thread);
    gated_cycle(agent, 0);
    const auto ms = (seconds() - start) * 1e3;
    std::cout << ms << " " << resident_peak_mib() << std::endl;
}

struct Fresh {
    std::vector<double> ms;
    std::vector<double> mib;
    void add(const Ended& ended) {
        ms.push_back(std::stod(ended.output));
        mib.push_back(std::stod(ended.output.substr(ended.output.find(' '))));
    }
};

void measure_long(Report& report, const Kind& kind, const Work& work) {
    const auto fresh = [&](int turns, const char* how) {
        return run_child({self, std::string(fresh_cycle), kind.long_address, conversation_of(turns), how});
    };
    Fresh small;
    Fresh large;
    Fresh reading;
    for (int i = 0; i < work.fresh; ++i) {
        small.add(fresh(short_turns, "cold"));
        large.add(fresh(work.turns, "cold"));
    }
    const auto name = kind.name + ", a fresh process goes on after " + std::to_string(work.turns) + " turns";
    report.figure(name, "ms a cycle")
        .ratio_at_most(long_ratio_max)
        .note("floor: the same after 100 turns")
        .add(median(large.ms), median(small.ms));
    report.figure(name + ": memory", "MiB").add(median(large.mib), median(small.mib));
    reading.add(fresh(work.turns, "reading"));
    report.figure(name + ", model reads all", "ms a cycle").add(median(reading.ms));
    report.figure(name + ", model reads all: memory", "MiB").add(median(reading.mib));
}

void make_all_long(const std::vector<Kind>& kinds, int turns) {
    // One conversation is one thing after the other: both stores at once.
    in_flight(
        static_cast<std::int64_t>(kinds.size()),
        [&](std::int64_t i) {
            for (const auto length : {short_turns, turns}) make_long(kinds[static_cast<std::size_t>(i)], length);
        },
        static_cast<int>(kinds.size()));
}

// --- All of it.

std::vector<Kind> kinds_of(const Place& place, const PostgresServer& server) {
    const auto file = place.fresh("large.db");
    const auto separator = server.url().contains('?') ? "&" : "?";
    return {{.name = "SQLite",
             .address = "sqlite:" + file,
             .long_address = "sqlite:" + place.fresh("long.db"),
             .bytes = [file] { return checkpointed_bytes(file); }},
            {.name = "PostgreSQL",
             .address = server.url(),
             .long_address = server.url() + separator + "schema=long",
             .bytes = [&server] { return server.number("SELECT pg_database_size(current_database())"); }}};
}

void run(const Options& options) {
    const Place place(options.folder);
    // The program keeps receipts of commands there.
    setenv("XDG_STATE_HOME", place.path("state").c_str(), 1);
    const PostgresServer server(place);
    const auto work =
        options.quick
            ? Work{.waiting = 20'000, .answers = 9, .lists = 5, .active = 500, .turns = 2000, .fresh = 5}
            : Work{.waiting = 1'000'000, .answers = 25, .lists = 9, .active = 10'000, .turns = 100'000, .fresh = 15};
    Report report("large", options, place);
    report.count_as_own([&] { return server.cpu_seconds(); });
    report.fact("waiting", work.waiting);
    report.fact("active", work.active);
    report.fact("turns", work.turns);
    report.fact("seed", seed);
    report.fact("server", boost::json::value_from(server.text("SHOW server_version")));
    std::mt19937_64 dice(seed);
    const auto kinds = kinds_of(place, server);
    std::vector<double> few_mib;
    for (const auto& kind : kinds) {
        const int few = 3 * work.answers;
        make_waiting(report, kind, 0, few);
        few_mib.push_back(answer_some(kind, work.answers, few, dice).memory.peak_mib);
        const auto bytes = kind.bytes();
        make_waiting(report, kind, few, work.waiting);
        report.figure(kind.name + ", stored", "bytes each")
            .add(static_cast<double>(kind.bytes() - bytes) / work.waiting);
    }
    make_all_long(kinds, work.turns);
    for (int i = 1; i <= options.runs; ++i) {
        report.begin_run(i);
        for (std::size_t k = 0; k < kinds.size(); ++k) {
            measure_waiting(report, options, kinds[k], work, few_mib[k], dice);
            measure_active(report, kinds[k], work, dice);
            measure_long(report, kinds[k], work);
        }
        report.end_run();
        // What is made takes long: nothing of it is lost when somebody stops in between.
        report.write();
    }
}

}  // namespace
}  // namespace bench

int main(int count, char** words) {
    const std::vector<std::string> all(words, words + count);
    try {
        if (count == 5 && all[1] == bench::Runner::word) {
            bench::Runner::be({all.begin() + 2, all.end()});
            return 0;
        }
        if (count == 5 && all[1] == bench::fresh_cycle) {
            bench::run_fresh_cycle(all[2], all[3], all[4] == "cold");
            return 0;
        }
    } catch (const std::exception& problem) {
        std::cerr << "bench: " << problem.what() << "\n";
        return 1;
    }
    bench::self = all[0];
    return bench::run_program(count, words, &bench::run);
}
