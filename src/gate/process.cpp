#include "gate/process.hpp"

#include <unistd.h>

#include <array>
#include <fstream>
#include <mutex>
#include <sstream>

namespace assent {
namespace {

// Field 22 of /proc/PID/stat, counted after the name, which may hold blanks and brackets itself; 0 for
// a process that is gone or has ended and was not reaped yet.
std::int64_t start_time(std::int64_t pid) {
    std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
    std::string text;
    std::getline(file, text);
    const auto name_end = text.rfind(')');
    if (name_end == std::string::npos) return 0;
    std::istringstream fields(text.substr(name_end + 1));
    std::string field;
    for (int i = 3; i <= 22 && fields >> field; ++i) {
        if (i == 3 && (field == "Z" || field == "X")) return 0;
        if (i == 22) return std::stoll(field);
    }
    return 0;
}

std::string first_line(const char* path) {
    std::ifstream file(path);
    std::string text;
    std::getline(file, text);
    return text;
}

std::string host() {
    std::array<char, 256> text{};
    return gethostname(text.data(), text.size() - 1) == 0 ? text.data() : "unknown";
}

#ifdef ASSENT_TEST_POINTS
const PlayedProcesses* played_processes = nullptr;
#endif

}  // namespace

#ifdef ASSENT_TEST_POINTS
void play_processes(const PlayedProcesses* played) noexcept {
    played_processes = played;
}
#endif

journal::ProcessMark this_process() {
#ifdef ASSENT_TEST_POINTS
    if (played_processes != nullptr) return played_processes->self();
#endif
    static const std::string own_host = host();
    static const std::string own_boot = first_line("/proc/sys/kernel/random/boot_id");
    // Read once a process: after a fork pid and start time are others.
    static std::mutex mutex;
    static journal::ProcessMark mark;
    const std::int64_t pid = getpid();
    const std::lock_guard lock(mutex);
    if (mark.pid != pid) mark = {.host = own_host, .boot = own_boot, .pid = pid, .started = start_time(pid)};
    return mark;
}

ProcessLife life_of(const journal::ProcessMark& mark) {
#ifdef ASSENT_TEST_POINTS
    if (played_processes != nullptr) return played_processes->life_of(mark);
#endif
    const auto self = this_process();
    if (mark.host != self.host) return ProcessLife::unknown;
    if (mark.boot != self.boot) return ProcessLife::dead;
    const auto started = start_time(mark.pid);
    return started != 0 && started == mark.started ? ProcessLife::alive : ProcessLife::dead;
}

}  // namespace assent
