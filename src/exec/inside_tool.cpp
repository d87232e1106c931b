#include "exec/tool_mark.hpp"

#include <assent/tools.hpp>

#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <string>

namespace assent {
namespace {

struct Ancestor {
    std::string name;
    int parent = 0;
};

// From /proc/PID/stat, which anybody may read: number (name) state parent …
Ancestor ancestor(int pid) {
    std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
    std::string text;
    std::getline(file, text);
    const auto begin = text.find('(');
    const auto end = text.rfind(')');
    if (begin == std::string::npos || end == std::string::npos) return {};
    Ancestor found{.name = text.substr(begin + 1, end - begin - 1)};
    char state = 0;
    if (std::sscanf(text.c_str() + end + 1, " %c %d", &state, &found.parent) != 2) found.parent = 0;
    return found;
}

bool below_helper() {
    // Parents that die while we look could make a circle.
    constexpr int ancestors_max = 10'000;
    int pid = getppid();
    for (int i = 0; pid > 0 && i < ancestors_max; ++i) {
        const auto found = ancestor(pid);
        if (found.name == helper_process_name) return true;
        pid = found.parent;
    }
    return false;
}

bool marked() {
    rlimit limit{};
    return getrlimit(RLIMIT_MSGQUEUE, &limit) == 0 && limit.rlim_max == 0;
}

}  // namespace

bool inside_shell_tool() {
    return marked() || below_helper();
}

}  // namespace assent
