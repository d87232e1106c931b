#include "place.hpp"

#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <set>
#include <sstream>
#include <thread>
#include <vector>

namespace bench {
namespace {

namespace fs = std::filesystem;

struct Mount {
    std::string point;
    std::string type;
    std::string source;
};

// The mount that holds `folder`: the one with the longest path above it.
Mount mount_of(const fs::path& folder) {
    std::ifstream file("/proc/self/mountinfo");
    std::string line;
    Mount best;
    while (std::getline(file, line)) {
        std::istringstream words(line);
        std::vector<std::string> fields;
        for (std::string word; words >> word;) fields.push_back(word);
        const auto dash = std::find(fields.begin(), fields.end(), "-");
        if (fields.size() < 5 || fields.end() - dash < 3) continue;
        const auto& point = fields[4];
        const auto [at_point, in_folder] =
            std::mismatch(fs::path(point).begin(), fs::path(point).end(), folder.begin(), folder.end());
        const bool above = point == "/" || at_point == fs::path(point).end();
        if (above && point.size() >= best.point.size()) best = {point, dash[1], dash[2]};
    }
    return best;
}

std::string cpu_name() {
    std::ifstream file("/proc/cpuinfo");
    std::string line;
    while (std::getline(file, line)) {
        if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
    }
    return "unknown";
}

double status_mib(std::string_view field) {
    std::ifstream file("/proc/self/status");
    std::string line;
    while (std::getline(file, line)) {
        if (line.starts_with(field)) return std::stod(line.substr(field.size())) / 1024;
    }
    return 0;
}

double seconds_of(const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

double used_by(int who) {
    rusage usage{};
    getrusage(who, &usage);
    return seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime);
}

}  // namespace

Place::Place(const fs::path& folder) {
    fs::create_directories(folder);
    folder_ = fs::canonical(folder) / ("run-" + std::to_string(getpid()));
    fs::create_directories(folder_);
    const auto mount = mount_of(folder_);
    file_system_ = mount.type;
    device_ = mount.source;
    static const std::set<std::string> in_memory{"tmpfs", "ramfs", "devtmpfs"};
    if (in_memory.contains(file_system_)) {
        fs::remove_all(folder_);
        throw NotHere("the folder is on " + file_system_ + ", which is memory; give one on a real disk with --folder");
    }
}

Place::~Place() {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
}

std::string Place::fresh(const std::string& name) const {
    for (const auto* side : {"", "-wal", "-shm", "-runners"}) fs::remove(folder_ / (name + side));
    return path(name);
}

boost::json::object Place::json() const {
    utsname system{};
    uname(&system);
    return {{"file_system", file_system_},
            {"device", device_},
            {"kernel", system.release},
            {"cpu", cpu_name()},
            {"cores", std::thread::hardware_concurrency()},
            {"sqlite", sqlite3_libversion()},
            {"compiler", "GCC " __VERSION__},
            {"flags", BENCH_FLAGS}};
}

CpuTime CpuTime::now() {
    std::ifstream file("/proc/stat");
    std::string cpu;
    // user nice system idle iowait irq softirq steal: all but the idle ones
    std::array<double, 8> ticks{};
    file >> cpu;
    for (auto& tick : ticks) file >> tick;
    const double busy = ticks[0] + ticks[1] + ticks[2] + ticks[5] + ticks[6] + ticks[7];
    return {.machine = busy / static_cast<double>(sysconf(_SC_CLK_TCK)),
            .own = used_by(RUSAGE_SELF) + used_by(RUSAGE_CHILDREN),
            .clock = seconds()};
}

double foreign_cores(const CpuTime& from, const CpuTime& to) {
    return std::max(0.0, (to.machine - from.machine - (to.own - from.own)) / (to.clock - from.clock));
}

double seconds() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double resident_peak_mib() {
    return status_mib("VmHWM:");
}
double resident_mib() {
    return status_mib("VmRSS:");
}

}  // namespace bench
