// 100,000 calls that wait for a person: how fast they are made, what each takes on the disk, and what a fresh
// process of the real program needs to answer one or to list a page.
#include "child.hpp"
#include "flight.hpp"
#include "floor.hpp"
#include "report.hpp"
#include "stored.hpp"
#include "watch.hpp"
#include "workload.hpp"

#include <assent/approvals.hpp>
#include <assent/sqlite.hpp>

#include <stdexcept>

namespace bench {
namespace {

constexpr double made_ratio_min = 0.5;
constexpr double resident_mib_max = 30;
constexpr double first_answer_ms_max = 20;

struct Work {
    int waiting = 0;
    int answers = 0;  ///< Fresh processes a run.
    double floor_seconds = 0;
};

void make(Report& report, const Place& place, const std::string& path, const Work& work, const RowBytes& rows) {
    assent::SqliteCheckpointer store(path);
    const auto workload = make_workload();
    const auto ask = [&](std::int64_t i) {
        auto agent = make_agent(workload, store, "conversation-" + std::to_string(i));
        const auto run = agent.prompt(prompt_text(i));
        if (run.status != assent::RunStatus::waiting) throw std::runtime_error("the call did not wait");
    };
    const auto commits = commits_so_far();
    const auto start = seconds();
    in_flight(work.waiting, ask);
    const auto took = seconds() - start;
    report.fact("synchronous", synchronous_level());
    const auto group = static_cast<double>(number_in(path, "SELECT count(*) FROM journal")) /
                       static_cast<double>(commits_so_far() - commits);
    const auto raw = raw_rows_a_second(place.fresh("floor.db"), rows, group, work.floor_seconds);
    report.figure("made, appends a commit", "appends").add(group);
    report.figure("made", "approvals/s")
        .ratio_at_least(made_ratio_min)
        .note("floor: one raw writer, the same rows, bytes and group size")
        .add(work.waiting / took, raw / static_cast<double>(rows.size()));
    report.figure("memory of the process that made them", "MiB").add(resident_mib());
}

std::vector<std::string> some_ids(const std::string& path, const Work& work) {
    assent::SqliteCheckpointer store(path);
    assent::Approvals approvals(store);
    std::vector<std::string> ids;
    for (int i = 0; i < work.answers; ++i) {
        const auto page = approvals.pending({}, std::int64_t{work.waiting} * i / work.answers, 1);
        if (!page || page->size() != 1) throw std::runtime_error("an approval cannot be found");
        ids.push_back(page->front().id);
    }
    return ids;
}

void answer(Report& report, const std::string& program, const std::string& path, const Work& work) {
    const auto ids = some_ids(path, work);
    std::vector<double> ms;
    std::vector<double> mib;
    std::vector<double> list_ms;
    for (const auto& id : ids) {
        const auto listed = run_child({program, "--quiet", "--db", "sqlite:" + path, "pending", "--after", id});
        const auto ended = run_child({program, "--quiet", "--db", "sqlite:" + path, "approve", id});
        ms.push_back(ended.ms);
        mib.push_back(ended.peak_mib);
        list_ms.push_back(listed.ms);
    }
    report.figure("a fresh process answers, start to end", "ms").at_most(first_answer_ms_max).add(median(ms));
    report.figure("memory of the process that answers", "MiB").at_most(resident_mib_max).add(median(mib));
    report.figure("a fresh process lists a page of 100, start to end", "ms").add(median(list_ms));
    report.figure("the program says its version, start to end", "ms").add(run_child({program, "--version"}).ms);
}

void run(const Options& options) {
    const Place place(options.folder);
    const auto work = options.quick ? Work{.waiting = 10'000, .answers = 9, .floor_seconds = 0.3}
                                    : Work{.waiting = 100'000, .answers = 25, .floor_seconds = 1};
    Report report("waiting", options, place);
    watch_sqlite();
    auto rows = cycle_row_bytes(place.fresh("rows.db"));
    rows.resize(2);  // the prompt, and the turn that asks
    report.fact("row_bytes", boost::json::value_from(rows));
    report.fact("waiting", work.waiting);
    for (int i = 1; i <= options.runs; ++i) {
        report.begin_run(i);
        const auto path = place.fresh("waiting.db");
        make(report, place, path, work, rows);
        report.figure("stored", "bytes each")
            .add(static_cast<double>(checkpointed_bytes(path)) / static_cast<double>(work.waiting));
        answer(report, options.program, path, work);
        report.end_run();
    }
    report.write();
}

}  // namespace
}  // namespace bench

int main(int count, char** words) {
    return bench::run_program(count, words, &bench::run);
}
