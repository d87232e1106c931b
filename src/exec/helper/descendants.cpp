#include "exec/helper/descendants.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace assent {
namespace {

// The parent of a process, or 0 if it is gone. Its name, in brackets, may hold anything.
pid_t parent_of(pid_t pid) {
    std::array<char, 64> path{};
    std::snprintf(path.data(), path.size(), "/proc/%d/stat", pid);
    const int fd = open(path.data(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) return 0;
    std::array<char, 512> text{};
    const auto size = read(fd, text.data(), text.size() - 1);
    close(fd);
    const char* name_end = size > 0 ? std::strrchr(text.data(), ')') : nullptr;
    int parent = 0;
    char state = 0;
    if (name_end == nullptr || std::sscanf(name_end + 1, " %c %d", &state, &parent) != 2) return 0;
    return parent;
}

}  // namespace

std::optional<std::vector<Descendant>> descendants() {
    DIR* folder = opendir("/proc");
    if (folder == nullptr) return std::nullopt;
    std::vector<Descendant> all;
    bool self_seen = false;
    while (const dirent* entry = readdir(folder)) {
        const auto pid = static_cast<pid_t>(std::strtol(entry->d_name, nullptr, 10));
        if (pid <= 0) continue;
        self_seen = self_seen || pid == getpid();
        if (const auto parent = parent_of(pid); parent > 0) all.push_back({pid, parent});
    }
    closedir(folder);
    if (!self_seen) return std::nullopt;  // not the /proc of our processes

    const auto by_parent = [](const Descendant& a, const Descendant& b) { return a.parent < b.parent; };
    std::sort(all.begin(), all.end(), by_parent);
    std::vector<Descendant> found;
    const auto add_children_of = [&](pid_t parent) {
        const auto [first, last] = std::equal_range(all.begin(), all.end(), Descendant{0, parent}, by_parent);
        found.insert(found.end(), first, last);
    };
    add_children_of(getpid());
    // Two readings of /proc that do not fit together could make a circle: no more than there are.
    for (std::size_t i = 0; i < found.size() && found.size() <= all.size(); ++i) add_children_of(found[i].pid);
    return found;
}

void signal_descendant(const Descendant& process, int signal) {
    const int fd = static_cast<int>(syscall(SYS_pidfd_open, process.pid, 0));
    if (fd < 0) {
        // A kernel without pidfd: the number alone has to do.
        if (errno == ENOSYS || errno == EPERM) kill(process.pid, signal);
        return;
    }
    // Open now means that the number cannot change hands any more; the parent tells whose it is. One
    // whose parent has died is our own child.
    const pid_t parent = parent_of(process.pid);
    if (parent == process.parent || parent == getpid()) syscall(SYS_pidfd_send_signal, fd, signal, nullptr, 0);
    close(fd);
}

}  // namespace assent
