// What `doctor` reads off this machine and this process, one function a line.
#include "base/unique_fd.hpp"
#include "cli/doctor_command.hpp"
#include "cli/version.hpp"
#include "exec/landlock_abi.hpp"
#include "exec/process.hpp"

#include <assent/sqlite.hpp>

#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>

namespace assent::cli {
namespace {

namespace fs = std::filesystem;

std::string first_word_of(const char* path) {
    std::ifstream file(path);
    std::string word;
    file >> word;
    return word;
}

std::string mode_text(mode_t mode) {
    constexpr mode_t bits = 07777;
    std::array<char, 8> text{};
    std::snprintf(text.data(), text.size(), "%04o", mode & bits);
    return text.data();
}

Check check_landlock() {
    const int abi = landlock::abi();
    const auto says = "Landlock ABI " + std::to_string(abi) + ": ";
    if (abi == 0)
        return {"landlock", Standing::missing,
                "this kernel has no Landlock: a command can open the database and write anywhere",
                "boot a kernel from 5.13 on with landlock in its list of security modules (lsm=)"};
    if (abi < 3)
        return {"landlock", Standing::weak, says + "opening, writing and removing, but not truncate(2) and signals",
                "a kernel from 6.2 on stops truncating, from 6.12 on signals too"};
    if (abi < 6)
        return {"landlock", Standing::weak,
                says + "opening, writing, removing, truncating" + (abi >= 5 ? ", devices" : "") + ", but not signals",
                "a kernel from 6.12 on stops signals to other processes"};
    return {"landlock", Standing::ok,
            says + "opening, writing, removing, truncating, devices, signals, abstract sockets", ""};
}

Check check_helper() {
    const auto helper = find_helper({});
    if (!helper.ok()) return {"helper", Standing::missing, helper.failure().message, ""};
    const auto end = run_shell({.line = "exec " + shell_word(*helper) + " --version", .folder = "/"}, {});
    const auto said = end.ok() ? end->out.text() : end.failure().message;
    const auto wanted = "assent-exec " + program_version() + "\n";
    if (said == wanted) return {"helper", Standing::ok, *helper + ", version " + program_version(), ""};
    return {"helper", Standing::missing, *helper + " is not of this version (" + program_version() + ")",
            "install program and helper together"};
}

Check check_dumpable() {
    if (prctl(PR_GET_DUMPABLE) == 0)
        return {"memory", Standing::ok, "of this program and its helper is closed to other processes", ""};
    return {"memory", Standing::missing, "of this program can be read by the same user", ""};
}

Check check_user() {
    if (geteuid() != 0) return {"user", Standing::ok, "no root", ""};
    return {"user", Standing::weak, "root: modes of files do not bind it, and what it runs can do more to the system",
            "run as a user who may do no more than the agent should"};
}

Check check_state_folder() {
    const auto folder = state_folder();
    struct stat facts{};
    if (stat(folder.c_str(), &facts) != 0)
        return {"state folder", Standing::ok, folder.string() + " is not there yet; it is made with mode 0700", ""};
    const auto says = folder.string() + ", mode " + mode_text(facts.st_mode);
    if (facts.st_uid != geteuid())
        return {"state folder", Standing::missing, says + ", belongs to another user",
                "make it your own, or set XDG_STATE_HOME"};
    if ((facts.st_mode & (S_IRWXG | S_IRWXO)) != 0)
        return {"state folder", Standing::missing, says + ", others may enter", "chmod 700 " + shell_word(folder)};
    return {"state folder", Standing::ok, says, ""};
}

Check check_database_files(const Context& context) {
    const auto& path = context.db_path();
    if (path.empty()) return {"database", Standing::weak, "in memory: nothing waits when the program ends", ""};
    struct stat facts{};
    if (stat(path.c_str(), &facts) != 0)
        return {"database", Standing::ok, path.string() + " is not there yet; it is made with mode 0600", ""};
    for (const auto& file : SqliteCheckpointer::files(path.string())) {
        struct stat side{};
        if (lstat(file.c_str(), &side) != 0 || S_ISLNK(side.st_mode)) continue;
        if ((side.st_mode & (S_IRWXG | S_IRWXO)) != 0)
            return {"database", Standing::missing, file + ", mode " + mode_text(side.st_mode) + ", open to others",
                    "chmod 600 " + shell_word(file)};
        if (side.st_nlink > 1)
            return {"database", Standing::missing, file + " has another name, which is not closed to tools",
                    "remove the other hard link"};
    }
    return {"database", Standing::ok, path.string() + ", mode " + mode_text(facts.st_mode), ""};
}

struct FileSystem {
    long type;
    const char* name;
    Standing standing;
};
constexpr std::array file_systems{
    FileSystem{0xef53, "ext", Standing::ok},
    FileSystem{0x9123683e, "btrfs", Standing::ok},
    FileSystem{0x58465342, "xfs", Standing::ok},
    FileSystem{0x2fc12fc1, "zfs", Standing::ok},
    FileSystem{0xf2f52010, "f2fs", Standing::ok},
    FileSystem{0x794c7630, "overlay", Standing::ok},
    FileSystem{0x01021994, "tmpfs, gone after a restart", Standing::weak},
    FileSystem{0x65735546, "fuse, locks depend on what is behind it", Standing::weak},
    FileSystem{0x6969, "nfs", Standing::missing},
    FileSystem{0xff534d42, "cifs", Standing::missing},
    FileSystem{0xfe534d42, "smb2", Standing::missing},
    FileSystem{0x00c36400, "ceph", Standing::missing},
    FileSystem{0x01021997, "9p", Standing::missing},
    FileSystem{0x5346414f, "afs", Standing::missing},
};

Check check_disk(const Context& context) {
    if (context.db_path().empty()) return {"disk", Standing::weak, "not used", ""};
    auto folder = context.db_path().parent_path();
    std::error_code error;
    while (!fs::exists(folder, error) && folder.has_relative_path()) folder = folder.parent_path();
    struct statfs facts{};
    if (statfs(folder.c_str(), &facts) != 0)
        return {"disk", Standing::missing, "the file system of " + folder.string() + " cannot be asked for", ""};
    const auto* known = std::find_if(file_systems.begin(), file_systems.end(),
                                     [&](const auto& one) { return one.type == facts.f_type; });
    const bool listed = known != file_systems.end();
    std::string says = listed ? known->name : "a file system that is not known here";
    if (listed && known->standing == Standing::missing)
        return {"disk", Standing::missing, says + ": over a network locks do not prove that a process died",
                "keep the database on a local disk"};
    if (fs::exists(context.db_path(), error)) {
        auto store = SqliteCheckpointer::open(context.db_path().string(), {.read_only = true});
        if (!store.ok()) return {"disk", Standing::missing, store.failure().message, ""};
        const auto synced = (*store)->syncs_commits();
        if (!synced.ok() || !*synced) return {"disk", Standing::missing, says + ": commits are not synced", ""};
    }
    return {"disk", listed ? known->standing : Standing::weak, says + ", every commit is synced (synchronous full)",
            ""};
}

Check check_terminal() {
    const auto legacy = first_word_of("/proc/sys/dev/tty/legacy_tiocsti");
    if (legacy == "0")
        return {"terminal", Standing::ok, "tools have none, and nobody can push keystrokes into one", ""};
    return {"terminal", Standing::weak,
            "tools have none; another program of yours that has could push keystrokes into it (TIOCSTI)",
            legacy.empty() ? "a kernel from 6.2 on can switch this off" : "sysctl dev.tty.legacy_tiocsti=0"};
}

Check check_ptrace() {
    const auto scope = first_word_of("/proc/sys/kernel/yama/ptrace_scope");
    if (!scope.empty() && scope != "0") return {"ptrace", Standing::ok, "kernel.yama.ptrace_scope is " + scope, ""};
    return {"ptrace", Standing::weak,
            scope.empty() ? "the kernel has no Yama; this program protects only itself"
                          : "kernel.yama.ptrace_scope is 0; this program protects only itself",
            scope.empty() ? "" : "sysctl kernel.yama.ptrace_scope=1"};
}

bool reachable(const std::string& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.size() >= sizeof address.sun_path) return false;
    path.copy(address.sun_path, path.size());
    const UniqueFd fd(socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    // The kernel's interface takes every kind of address by this one type.
    const auto* any =
        reinterpret_cast<const sockaddr*>(&address);  // NOLINT(cppcoreguidelines-pro-type-reinterpret-cast)
    return fd.open() && connect(fd.get(), any, sizeof address) == 0;
}

// Who listens there starts programs that are no descendants of a tool.
Check check_sockets() {
    const char* set = std::getenv("XDG_RUNTIME_DIR");
    const std::string runtime = set != nullptr && *set == '/' ? set : "/run/user/" + std::to_string(geteuid());
    std::string found;
    for (const auto& path :
         {runtime + "/systemd/private", runtime + "/bus", runtime + "/docker.sock", runtime + "/podman/podman.sock",
          std::string("/run/systemd/private"), std::string("/run/docker.sock"), std::string("/var/run/docker.sock"),
          std::string("/run/podman/podman.sock"), std::string("/run/containerd/containerd.sock")}) {
        if (reachable(path)) found += (found.empty() ? "" : ", ") + path;
    }
    if (found.empty()) return {"services", Standing::ok, "none that would start a program outside is reachable", ""};
    return {"services", Standing::weak, "a command can have a program started outside through " + found,
            "run agents as a user who may not use them"};
}

Check check_keys() {
    constexpr std::array endings{"_KEY", "_TOKEN", "_SECRET", "_PASSWORD", "_CREDENTIALS"};
    std::string names;
    for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
        const std::string_view text = *entry;
        const auto name = text.substr(0, text.find('='));
        const auto ends = [&](const char* ending) { return name.ends_with(ending); };
        if (std::none_of(endings.begin(), endings.end(), ends)) continue;
        names += (names.empty() ? "" : ", ") + std::string(name);
    }
    if (names.empty()) return {"keys", Standing::ok, "none in the environment", ""};
    return {"keys", Standing::ok, "kept from tools: " + names, ""};
}

}  // namespace

std::vector<Check> standing_checks(const Context& context) {
    std::vector<Check> checks{check_landlock(), check_helper(), check_dumpable(), check_user(), check_state_folder()};
    if (context.postgres_url().empty()) {
        checks.push_back(check_database_files(context));
        checks.push_back(check_disk(context));
    } else {
        for (auto& check : server_checks(context)) checks.push_back(std::move(check));
    }
    for (auto& check : {check_terminal(), check_ptrace(), check_sockets(), check_keys()}) checks.push_back(check);
    return checks;
}

}  // namespace assent::cli
