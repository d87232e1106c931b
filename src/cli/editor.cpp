#include "cli/editor.hpp"

#include "base/unique_fd.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <optional>
#include <system_error>

namespace assent::cli {
namespace {

namespace fs = std::filesystem;

// How long an editor that was told to end may take before it is killed.
constexpr int end_within_ms = 2000;

std::string error_words(const std::string& what, int error) {
    return what + ": " + std::generic_category().message(error);
}

// A folder that only its owner may enter, so that copies and swap files of the editor are private too.
class PrivateFolder {
public:
    explicit PrivateFolder(const fs::path& parent) {
        std::string name = (parent / "assent-edit-XXXXXX").string();
        if (mkdtemp(name.data()) != nullptr) path_ = name;
    }
    PrivateFolder(const PrivateFolder&) = delete;
    PrivateFolder& operator=(const PrivateFolder&) = delete;
    ~PrivateFolder() {
        std::error_code ignored;
        if (!path_.empty()) fs::remove_all(path_, ignored);
    }
    [[nodiscard]] const fs::path& path() const noexcept { return path_; }

private:
    fs::path path_;
};

// The terminal's modes as they were, whatever an editor that died left behind.
class TerminalModes {
public:
    explicit TerminalModes(int fd) : fd_(fd), known_(tcgetattr(fd, &modes_) == 0) {}
    TerminalModes(const TerminalModes&) = delete;
    TerminalModes& operator=(const TerminalModes&) = delete;
    ~TerminalModes() {
        if (known_) tcsetattr(fd_, TCSANOW, &modes_);
    }

private:
    int fd_;
    termios modes_{};
    bool known_;
};

bool write_new_file(const fs::path& path, std::string_view text) {
    const UniqueFd file(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!file.open()) return false;
    while (!text.empty()) {
        const auto wrote = write(file.get(), text.data(), text.size());
        if (wrote < 0 && errno == EINTR) continue;
        if (wrote < 0) return false;
        text.remove_prefix(static_cast<std::size_t>(wrote));
    }
    return true;
}

// Editors save in place or put a new file in the old one's place: it is opened by its path again.
std::optional<std::string> read_file(const fs::path& path) {
    const UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    if (!file.open()) return std::nullopt;
    std::string text;
    std::array<char, 16384> buffer{};
    while (true) {
        const auto got = read(file.get(), buffer.data(), buffer.size());
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return std::nullopt;
        if (got == 0) return text;
        text.append(buffer.data(), static_cast<std::size_t>(got));
        if (text.size() > edited_bytes_max) {
            errno = EFBIG;
            return std::nullopt;
        }
    }
}

// Signals as a shell would hand them on: none blocked, none handled or ignored by us.
int spawn_editor(const EditorJob& job, const std::string& path, const Streams& streams, pid_t& pid) {
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_t actions;
    posix_spawnattr_init(&attributes);
    posix_spawn_file_actions_init(&actions);
    sigset_t none;
    sigset_t ours;
    sigemptyset(&none);
    sigemptyset(&ours);
    for (const int number : {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGPIPE, SIGTSTP, SIGTTIN, SIGTTOU, SIGCHLD})
        sigaddset(&ours, number);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &ours);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    // What it draws goes where the question stands, even if results go into a file.
    posix_spawn_file_actions_adddup2(&actions, streams.in, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, streams.err, STDERR_FILENO);
    posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
    std::string shell = "sh";
    std::string option = "-c";
    std::string script = job.command + " \"$1\"";
    std::string file = path;
    const std::array<char*, 6> arguments{shell.data(), option.data(), script.data(),
                                         shell.data(), file.data(),   nullptr};
    const int error = posix_spawn(&pid, "/bin/sh", &actions, &attributes, arguments.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    return error;
}

bool readable_within(int fd, int milliseconds) {
    pollfd wait{.fd = fd, .events = POLLIN, .revents = 0};
    int ready = 0;
    do {
        ready = poll(&wait, 1, milliseconds);
    } while (ready < 0 && errno == EINTR);
    return ready > 0;
}

struct EditorEnd {
    bool interrupted = false;
    int status = 0;
};

EditorEnd wait_for(pid_t pid, int wake_fd) {
    EditorEnd end;
    // By its number: the wrapper of glibc 2.36 is not declared for C++.
    const UniqueFd ended(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
    while (ended.open()) {
        std::array<pollfd, 2> waits{pollfd{.fd = ended.get(), .events = POLLIN, .revents = 0},
                                    pollfd{.fd = wake_fd, .events = POLLIN, .revents = 0}};
        if (poll(waits.data(), waits.size(), -1) < 0 && errno != EINTR) break;
        if (waits[0].revents != 0) break;
        if (waits[1].revents == 0) continue;
        end.interrupted = true;
        kill(pid, SIGTERM);
        if (!readable_within(ended.get(), end_within_ms)) kill(pid, SIGKILL);
        break;
    }
    while (waitpid(pid, &end.status, 0) < 0 && errno == EINTR) {
    }
    return end;
}

}  // namespace

std::string editor_command() {
    for (const char* variable : {"VISUAL", "EDITOR"}) {
        if (const char* set = std::getenv(variable); set != nullptr && *set != '\0') return set;
    }
    return {};
}

Edited edit_text(const EditorJob& job, const Terminal& terminal) {
    const PrivateFolder folder(job.folder);
    const auto path = folder.path() / job.file_name;
    if (folder.path().empty() || !write_new_file(path, job.text)) {
        return {.message = error_words("no file for the editor can be made in " + job.folder.string(), errno)};
    }
    const TerminalModes modes(terminal.streams().in);
    pid_t pid = -1;
    if (const int error = spawn_editor(job, path.string(), terminal.streams(), pid); error != 0) {
        return {.message = error_words("the editor cannot be started", error)};
    }
    const auto end = wait_for(pid, job.wake_fd);
    if (end.interrupted) return {.status = Edited::Status::interrupted};
    if (!WIFEXITED(end.status) || WEXITSTATUS(end.status) != 0) {
        return {.message = "the editor (" + job.command + ") ended with a failure; what it saved is not used"};
    }
    auto text = read_file(path);
    if (!text) return {.message = error_words("the edited file cannot be read", errno)};
    return {.status = Edited::Status::saved, .text = std::move(*text)};
}

}  // namespace assent::cli
