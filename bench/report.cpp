#include "report.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <stdexcept>

namespace bench {
namespace {

constexpr int status_not_here = 77;

std::string date_now() {
    const auto now = std::time(nullptr);
    std::tm parts{};
    gmtime_r(&now, &parts);
    char text[32];
    const auto size = std::strftime(text, sizeof text, "%FT%TZ", &parts);
    return {text, size};
}

// Four digits say all that such a measurement knows.
double rounded(double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.4g", value);
    return std::stod(text);
}

boost::json::array rounded(const std::vector<double>& values) {
    boost::json::array all;
    for (const auto value : values) all.push_back(rounded(value));
    return all;
}

std::string load_averages() {
    std::ifstream file("/proc/loadavg");
    std::string one;
    std::string five;
    std::string fifteen;
    file >> one >> five >> fifteen;
    return one + " " + five + " " + fifteen;
}

}  // namespace

double median(std::vector<double> values) {
    if (values.empty()) return 0;
    std::sort(values.begin(), values.end());
    const auto middle = values.size() / 2;
    return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

void Figure::add(double value, double floor) {
    runs_.push_back(value);
    floors_.push_back(floor);
    ratios_.push_back(floor == 0 ? 0 : value / floor);
}

Figure& Figure::bar(double limit, bool at_most, bool on_ratio) {
    bar_ = Bar{.limit = limit, .at_most = at_most, .on_ratio = on_ratio};
    return *this;
}

Figure& Figure::note(std::string text) {
    note_ = std::move(text);
    return *this;
}

boost::json::object Figure::json() const {
    boost::json::object out{{"name", name_}, {"unit", unit_}, {"median", rounded(median())}, {"runs", rounded(runs_)}};
    if (!ratios_.empty()) {
        out["floor"] = rounded(bench::median(floors_));
        out["floor_runs"] = rounded(floors_);
        out["ratio"] = rounded(bench::median(ratios_));
        out["ratio_runs"] = rounded(ratios_);
    }
    if (bar_) {
        const auto measured = bar_->on_ratio ? bench::median(ratios_) : median();
        out["bar"] = {{bar_->at_most ? "at_most" : "at_least", bar_->limit},
                      {"on", bar_->on_ratio ? "ratio" : "median"},
                      {"met", bar_->at_most ? measured <= bar_->limit : measured >= bar_->limit}};
    }
    if (!note_.empty()) out["note"] = note_;
    return out;
}

Options read_options(int count, char** words) {
    Options options;
    const std::vector<std::string> all(words, words + count);
    for (const auto& word : all) options.command += (options.command.empty() ? "" : " ") + word;
    options.command = options.command.substr(options.command.rfind('/', options.command.find(' ')) + 1);
    for (std::size_t i = 1; i < all.size(); ++i) {
        const auto value = [&] {
            if (i + 1 == all.size()) throw std::invalid_argument(all[i] + " needs a value");
            return all[++i];
        };
        if (all[i] == "--quick") {
            options.quick = true;
        } else if (all[i] == "--runs") {
            options.runs = std::stoi(value());
        } else if (all[i] == "--folder") {
            options.folder = value();
        } else if (all[i] == "--results") {
            options.results = value();
        } else if (all[i] == "--program") {
            options.program = value();
        } else if (all[i] == "--commit") {
            options.commit = value();
        } else {
            throw std::invalid_argument("unknown option '" + all[i] + "'; see the head of bench/report.hpp");
        }
    }
    if (options.runs < 1) throw std::invalid_argument("--runs needs a number of at least 1");
    return options;
}

Report::Report(std::string benchmark, const Options& options, const Place& place)
    : benchmark_(std::move(benchmark)), options_(options), place_(place.json()) {}

Figure& Report::figure(const std::string& name, const std::string& unit) {
    const auto known = std::find(names_.begin(), names_.end(), name);
    if (known != names_.end()) return figures_[static_cast<std::size_t>(known - names_.begin())];
    names_.push_back(name);
    return figures_.emplace_back(name, unit);
}

void Report::begin_run(int number) {
    std::cerr << benchmark_ << ": run " << number << " of " << options_.runs << "\n";
    begun_ = cpu_time();
}

void Report::end_run() {
    foreign_.push_back(foreign_cores(begun_, cpu_time()));
}

CpuTime Report::cpu_time() const {
    auto time = CpuTime::now();
    if (also_own_) time.own += also_own_();
    return time;
}

void Report::write() const {
    boost::json::array figures;
    for (const auto& figure : figures_) {
        if (!figure.empty()) figures.push_back(figure.json());
    }
    boost::json::object out{{"benchmark", benchmark_},
                            {"command", options_.command},
                            {"commit", options_.commit},
                            {"date", date_now()},
                            {"quick", options_.quick},
                            {"machine", place_},
                            {"facts", facts_},
                            {"load", {{"averages", load_averages()}, {"foreign_cores", rounded(foreign_)}}},
                            {"figures", std::move(figures)}};
    std::filesystem::create_directories(options_.results);
    const auto path = options_.results + "/" + benchmark_ + ".json";
    std::ofstream file(path);
    file << boost::json::serialize(out) << "\n";
    file.close();
    if (!file) throw std::runtime_error("the result " + path + " cannot be written; check the folder");
}

int run_program(int count, char** words, void (*body)(const Options&)) {
    try {
        body(read_options(count, words));
        return 0;
    } catch (const NotHere& problem) {
        std::cerr << "bench: " << problem.what() << "\n";
        return status_not_here;
    } catch (const std::exception& problem) {
        std::cerr << "bench: " << problem.what() << "\n";
        return 1;
    }
}

}  // namespace bench
