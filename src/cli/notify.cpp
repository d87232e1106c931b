#include "cli/notify.hpp"

#include "cli/approval_json.hpp"

#include <assent/clock.hpp>

#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>

namespace assent::cli {
namespace {

constexpr std::string_view event_variable = "ASSENT_EVENT=";
constexpr std::int64_t wait_max_ms = 5000;

// Waits until the child process has ended, and leaves it to be collected.
void wait_for_end(int process, std::int64_t at_most_ms) {
    // The header of glibc 2.36 for this call cannot be used from C++.
    const int fd = static_cast<int>(syscall(SYS_pidfd_open, process, 0));
    if (fd < 0) return;
    pollfd end{.fd = fd, .events = POLLIN, .revents = 0};
    poll(&end, 1, static_cast<int>(std::max<std::int64_t>(at_most_ms, 0)));
    close(fd);
}

// The text as an open file at its beginning: a command that reads nothing blocks nobody.
int as_input(const std::string& text) {
    const int fd = memfd_create("approval", MFD_CLOEXEC);
    if (fd < 0) return -1;
    const auto written = write(fd, text.data(), text.size());
    if (written == static_cast<ssize_t>(text.size()) && lseek(fd, 0, SEEK_SET) == 0) return fd;
    close(fd);
    return -1;
}

// Keys of models are out of the environment already.
std::vector<std::string> environment_with(std::string_view event) {
    std::vector<std::string> variables;
    for (char** variable = environ; *variable != nullptr; ++variable) {
        const std::string_view text(*variable);
        if (!text.starts_with(event_variable)) variables.emplace_back(text);
    }
    variables.push_back(std::string(event_variable) + std::string(event));
    return variables;
}

// In a process group of its own: an interrupt at the terminal is meant for the run. Signals that this program
// blocks are free again.
struct SpawnAttributes {
    SpawnAttributes() {
        posix_spawnattr_init(&value);
        sigset_t none;
        sigemptyset(&none);
        posix_spawnattr_setsigmask(&value, &none);
        posix_spawnattr_setpgroup(&value, 0);
        posix_spawnattr_setflags(&value, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
    }
    SpawnAttributes(const SpawnAttributes&) = delete;
    SpawnAttributes& operator=(const SpawnAttributes&) = delete;
    ~SpawnAttributes() { posix_spawnattr_destroy(&value); }
    posix_spawnattr_t value{};
};

struct SpawnFiles {
    explicit SpawnFiles(int input) {
        posix_spawn_file_actions_init(&value);
        posix_spawn_file_actions_adddup2(&value, input, STDIN_FILENO);
        posix_spawn_file_actions_adddup2(&value, STDERR_FILENO, STDOUT_FILENO);
    }
    SpawnFiles(const SpawnFiles&) = delete;
    SpawnFiles& operator=(const SpawnFiles&) = delete;
    ~SpawnFiles() { posix_spawn_file_actions_destroy(&value); }
    posix_spawn_file_actions_t value{};
};

}  // namespace

Notifier::~Notifier() {
    const auto end = system_clock().monotonic() + wait_max_ms;
    for (const int process : running_) wait_for_end(process, end - system_clock().monotonic());
    collect();
    if (!running_.empty()) terminal_.note("the notify command still runs; it is left to itself");
}

void Notifier::tell(std::string_view event, const Approval& approval) {
    if (command_.empty()) return;
    collect();
    const int input = as_input(approval_json(approval).str() + "\n");
    auto variables = environment_with(event);
    std::vector<char*> environment;
    for (auto& variable : variables) environment.push_back(variable.data());
    environment.push_back(nullptr);
    std::string shell = "sh";
    std::string option = "-c";
    const std::array<char*, 4> words{shell.data(), option.data(), command_.data(), nullptr};
    pid_t process = 0;
    int error = input < 0 ? errno : 0;
    if (error == 0) {
        const SpawnAttributes attributes;
        const SpawnFiles files(input);
        error = posix_spawn(&process, "/bin/sh", &files.value, &attributes.value, words.data(), environment.data());
        close(input);
    }
    if (error != 0) {
        terminal_.note("the notify command could not be started; nobody was told of " + approval.id);
        return;
    }
    running_.push_back(process);
}

void Notifier::collect() {
    std::erase_if(running_, [this](int process) {
        int status = 0;
        const auto ended = waitpid(process, &status, WNOHANG);
        if (ended == 0) return false;
        if (ended == process && status != 0) {
            const auto how = WIFEXITED(status) ? "exit status " + std::to_string(WEXITSTATUS(status))
                                               : "signal " + std::to_string(WTERMSIG(status));
            terminal_.note("the notify command failed with " + how);
        }
        return true;
    });
}

}  // namespace assent::cli
