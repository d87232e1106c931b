// What the machine itself can do with the rows of a gated cycle: SQLite commits of one row and of 64, and
// appends to a file that are each followed by fdatasync.
#include "floor.hpp"
#include "report.hpp"
#include "stored.hpp"

#include <numeric>

namespace bench {
namespace {

constexpr int group = 64;

void run(const Options& options) {
    const Place place(options.folder);
    Report report("floors", options, place);
    const auto rows = cycle_row_bytes(place.fresh("rows.db"));
    const auto bytes = std::accumulate(rows.begin(), rows.end(), std::size_t{0}) / rows.size();
    report.fact("row_bytes", boost::json::value_from(rows));
    const double for_seconds = options.quick ? 0.3 : 1;
    for (int i = 1; i <= options.runs; ++i) {
        report.begin_run(i);
        report.figure("SQLite, one row a commit", "rows/s")
            .add(raw_rows_a_second(place.fresh("floor.db"), rows, 1, for_seconds));
        report.figure("SQLite, 64 rows a commit", "rows/s")
            .add(raw_rows_a_second(place.fresh("floor.db"), rows, group, for_seconds));
        report.figure("appends with fdatasync", "appends/s")
            .add(synced_appends_a_second(place.fresh("floor.bin"), bytes, for_seconds));
        report.end_run();
    }
    report.write();
}

}  // namespace
}  // namespace bench

int main(int count, char** words) {
    return bench::run_program(count, words, &bench::run);
}
