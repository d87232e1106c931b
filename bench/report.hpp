// What a benchmark measured, as a file for machines and lines for people.
//
// Every figure keeps each of its runs. A figure may have a floor: what the machine itself needs for the same
// work, measured in the same run. Bars are set on the median, or on the median of the ratios to the floor.
#pragma once

#include "place.hpp"

#include <boost/json.hpp>

#include <cstddef>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace bench {

/// The median of `values`; 0 if there are none.
[[nodiscard]] double median(std::vector<double> values);

class Figure {
public:
    Figure(std::string name, std::string unit) : name_(std::move(name)), unit_(std::move(unit)) {}

    /// One run. With `floor`, what the machine itself did in that run; the ratio is value / floor.
    void add(double value) { runs_.push_back(value); }
    void add(double value, double floor);

    Figure& at_most(double limit) { return bar(limit, true, false); }
    Figure& at_least(double limit) { return bar(limit, false, false); }
    Figure& ratio_at_most(double limit) { return bar(limit, true, true); }
    Figure& ratio_at_least(double limit) { return bar(limit, false, true); }
    /// Says in one line what stands in the way of the figure, or how it was taken.
    Figure& note(std::string text);

    [[nodiscard]] double median() const { return bench::median(runs_); }
    [[nodiscard]] bool empty() const noexcept { return runs_.empty(); }
    [[nodiscard]] boost::json::object json() const;

private:
    struct Bar {
        double limit = 0;
        bool at_most = true;
        bool on_ratio = false;
    };
    Figure& bar(double limit, bool at_most, bool on_ratio);

    std::string name_;
    std::string unit_;
    std::string note_;
    std::vector<double> runs_;
    std::vector<double> floors_;
    std::vector<double> ratios_;
    std::optional<Bar> bar_;
};

/// How to run, from the command line: the same for every benchmark.
struct Options {
    std::string command;
    int runs = 5;
    bool quick = false;  ///< Less work a run; the figures are rougher.
    std::string folder = "build/bench-data";
    std::string results = "bench/results";
    std::string program = "build/bin/assent";
    std::string commit = "unknown";  ///< The version that is measured.
};

/// Reads --runs N, --quick, --folder DIR, --results DIR, --program FILE, --commit ID. Throws
/// std::invalid_argument for anything else.
[[nodiscard]] Options read_options(int count, char** words);

class Report {
public:
    Report(std::string benchmark, const Options& options, const Place& place);

    /// The figure with this name; made at the first use. The reference stays good.
    Figure& figure(const std::string& name, const std::string& unit);
    /// Something about the run that is no figure, such as "synchronous".
    void fact(const std::string& name, boost::json::value value) { facts_[name] = std::move(value); }

    /// Of the processor time of other programs this much is the benchmark's: what a server did that it started.
    void count_as_own(std::function<double()> cpu_seconds) { also_own_ = std::move(cpu_seconds); }

    /// A run begins or ends: what other programs take of the machine meanwhile is recorded.
    void begin_run(int number);
    void end_run();

    /// Writes RESULTS/BENCHMARK.json. Throws std::runtime_error.
    void write() const;

private:
    [[nodiscard]] CpuTime cpu_time() const;
    std::string benchmark_;
    Options options_;
    boost::json::object place_;
    boost::json::object facts_;
    std::deque<Figure> figures_;
    std::vector<std::string> names_;
    std::function<double()> also_own_;
    CpuTime begun_;
    std::vector<double> foreign_;
};

/// Runs the body of a program: the exit status is 0, 77 where a benchmark cannot be run (no real disk), else 1
/// with one line on the standard error stream.
int run_program(int count, char** words, void (*body)(const Options&));

}  // namespace bench
