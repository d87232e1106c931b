#include "exec/process.hpp"

#include <assent/clock.hpp>

#include "base/real_places.hpp"
#include "base/sha256.hpp"
#include "base/test_point.hpp"
#include "base/test_switch.hpp"
#include "base/unique_fd.hpp"
#include "exec/helper_protocol.hpp"
#include "exec/receipts.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>

namespace assent {
namespace {

using namespace std::chrono_literals;
// On a clock that never goes back.
std::chrono::milliseconds now() {
    return std::chrono::milliseconds(system_clock().monotonic());
}

// Above those that the helper gets as 0 to 6, so that none is overwritten before it is passed on.
constexpr int passed_fd_min = 10;
// The helper keeps all limits itself; this much later we no longer believe that it will.
constexpr auto patience = 10s;
constexpr auto time_limit_max = 7 * 24h;
constexpr std::size_t report_head_max = 4096;

Failure refuse(std::string message) {
    return {FailureKind::tool, std::move(message)};
}

Failure system_failure(const std::string& what, int error) {
    return refuse(what + ": " + std::generic_category().message(error));
}

struct Ends {
    UniqueFd ours;
    UniqueFd theirs;
};

bool move_up(UniqueFd& fd) {
    fd = UniqueFd(fcntl(fd.get(), F_DUPFD_CLOEXEC, passed_fd_min));
    return fd.open();
}

// Sockets, although they are used like pipes: writing to one whose reader died need not raise SIGPIPE
// in the host, and a tool cannot open the helper's end through /proc to forge its report.
bool make_channel(Ends& ends) {
    int fds[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0) return false;
    ends = {UniqueFd(fds[0]), UniqueFd(fds[1])};
    return move_up(ends.theirs) && fcntl(ends.ours.get(), F_SETFL, O_NONBLOCK) == 0;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
    std::vector<char*> all;
    for (auto& text : texts) all.push_back(text.data());
    all.push_back(nullptr);
    return all;
}

class Supervised {
public:
    explicit Supervised(const ShellRun& run) : run_(run) {}

    Result<ShellEnd> run(const std::string& helper, const std::stop_token& stop) {
        UniqueFd null(open("/dev/null", O_RDONLY | O_CLOEXEC));
        UniqueFd stopped(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
        if (!make_channel(status_) || !make_channel(control_) || !null.open() || !move_up(null) || !stopped.open())
            return system_failure("the shell cannot be started", errno);
        if (auto begun = begin_receipt(); !begun) return begun.failure();
        test_point("shell:before");
        const int error = spawn(helper, null.get());
        // The helper holds the lock now.
        receipt_.reset();
        if (error != 0) {
            if (receipts_) receipts_->remove(run_.attempt);
            return system_failure("the shell helper '" + helper + "' cannot be started", error);
        }
        test_point("shell:spawned");
        for (auto* ends : {&status_, &control_}) ends->theirs.reset();
        {
            const std::stop_callback wake(stop, [fd = stopped.get()] { (void)(eventfd_write(fd, 1) == 0); });
            watch(stopped.get());
        }
        // Closed first: a helper that still lives dies of it, and kills what it has below it.
        control_.ours.reset();
        reap();
        return understand();
    }

private:
    Result<void> begin_receipt() {
        if (run_.receipts.empty()) return {};
        auto receipts = Receipts::open(run_.receipts);
        if (!receipts) return receipts.failure();
        auto file = receipts->begin(run_.attempt);
        if (!file) return file.failure();
        receipts_ = std::move(receipts).value();
        receipt_ = std::move(file).value();
        folder_.reset(fcntl(receipts_->folder(), F_DUPFD_CLOEXEC, passed_fd_min));
        if (!move_up(receipt_) || !folder_.open()) return system_failure("the receipt cannot be passed on", errno);
        return {};
    }

    [[nodiscard]] std::vector<std::string> arguments(const std::string& helper) const {
        std::vector<std::string> all{helper};
        for (const auto& path : real_places(run_.closed)) all.push_back(helper_closed_mark + path);
        for (const auto& path : real_places(run_.writable)) all.push_back(helper_writable_mark + path);
        for (const auto time : {run_.time_limit, run_.grace, run_.linger}) all.push_back(std::to_string(time.count()));
        all.insert(all.end(), {std::to_string(run_.output_bytes_max), run_.folder, run_.line});
        if (receipts_) all.insert(all.end(), {run_.attempt, hex(sha256(run_.line))});
        return all;
    }

    int spawn(const std::string& helper, int null) {
        auto arguments = this->arguments(helper);
        auto passed_names = run_.environment_names;
        if constexpr (test_switches_compiled) passed_names.emplace_back(test_switch_name);
        auto environment = tool_environment(passed_names);
        const auto argv = pointers(arguments);
        const auto envp = pointers(environment);

        posix_spawn_file_actions_t actions;
        posix_spawnattr_t attributes;
        posix_spawn_file_actions_init(&actions);
        posix_spawnattr_init(&attributes);
        for (const int stream : {0, 1, 2}) posix_spawn_file_actions_adddup2(&actions, null, stream);
        posix_spawn_file_actions_adddup2(&actions, control_.theirs.get(), helper_control_fd);
        posix_spawn_file_actions_adddup2(&actions, status_.theirs.get(), helper_status_fd);
        if (receipts_) {
            posix_spawn_file_actions_adddup2(&actions, receipt_.get(), helper_receipt_fd);
            posix_spawn_file_actions_adddup2(&actions, folder_.get(), helper_receipts_fd);
        }
        // What the host ignores or blocks must not hold in the helper.
        sigset_t all;
        sigset_t none;
        sigfillset(&all);
        sigemptyset(&none);
        posix_spawnattr_setsigdefault(&attributes, &all);
        posix_spawnattr_setsigmask(&attributes, &none);
        posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
        const int error = posix_spawn(&pid_, helper.c_str(), &actions, &attributes, argv.data(), envp.data());
        posix_spawnattr_destroy(&attributes);
        posix_spawn_file_actions_destroy(&actions);
        return error;
    }

    // Until the helper has closed its end of the status, which it does by ending.
    void watch(int stopped) {
        const auto after_cancel = run_.grace + std::chrono::milliseconds(helper_kill_wait_ms) + patience;
        auto deadline = now() + run_.time_limit + after_cancel;
        bool told = false;
        while (status_.ours.open()) {
            std::array<pollfd, 2> fds{pollfd{status_.ours.get(), POLLIN, 0}, pollfd{told ? -1 : stopped, POLLIN, 0}};
            const auto left = deadline - now();
            if (left <= 0ms) return;
            const auto wait = std::min<std::chrono::milliseconds>(left, 1h);
            if (poll(fds.data(), fds.size(), static_cast<int>(wait.count())) < 0) continue;
            if (fds[1].revents != 0) {
                told = true;
                deadline = std::min(deadline, now() + after_cancel);
                (void)(send(control_.ours.get(), &helper_cancel_byte, 1, MSG_NOSIGNAL) == 1);
            }
            if (fds[0].revents != 0) read_status();
        }
    }

    void read_status() {
        std::array<char, 64 * 1024> buffer{};
        const auto size = read(status_.ours.get(), buffer.data(), buffer.size());
        if (size > 0) {
            report_.append(buffer.data(), static_cast<std::size_t>(size));
            // What is no report is not collected without end.
            if (report_.size() <= 2 * run_.output_bytes_max + report_head_max) return;
            report_.clear();
            status_.ours.reset();
        } else if (size == 0 || (errno != EINTR && errno != EAGAIN)) {
            status_.ours.reset();
        }
    }

    // The host may ignore SIGCHLD or wait for all children itself: then there is nothing to wait for.
    void reap() const {
        siginfo_t info{};
        const int options = WEXITED | (status_.ours.open() ? WNOHANG : 0);
        while (waitid(P_PID, static_cast<id_t>(pid_), &info, options) != 0 && errno == EINTR) {
        }
    }

    Result<ShellEnd> understand() const {
        auto report = read_report(report_);
        if (report) return end_of(std::move(report).value());
        // The helper was killed, or does not end.
        ShellEnd end;
        end.unknown = end.output_lost = true;
        end.time_limit = run_.time_limit;
        return end;
    }

    const ShellRun& run_;
    Ends status_;
    Ends control_;
    std::optional<Receipts> receipts_;
    UniqueFd receipt_;
    UniqueFd folder_;
    pid_t pid_ = -1;
    std::string report_;
};

}  // namespace

Result<ShellEnd> end_of(HelperReport report) {
    if (!report.failed_step.empty())
        return system_failure("the shell cannot be started (" + report.failed_step + ")", report.failed_error);
    ShellEnd end;
    if (report.exit >= 0) end.exit_status = report.exit;
    if (report.signal > 0) end.signal = report.signal;
    end.timed_out = report.timed_out;
    end.cancelled = report.cancelled;
    end.runner_died = report.runner_died;
    end.unknown = report.left > 0;
    end.time_limit = std::chrono::milliseconds(report.limit_ms);
    end.out = std::move(report.out);
    end.err = std::move(report.err);
    return end;
}

Result<ShellEnd> run_shell(const ShellRun& run, const std::stop_token& stop) {
    if (run.line.find('\0') != std::string::npos) return refuse("the command has a NUL byte");
    if (run.line.size() > shell_line_bytes_max)
        return refuse("the command has " + std::to_string(run.line.size()) + " bytes; at most " +
                      std::to_string(shell_line_bytes_max) + " are taken (write a script file instead)");
    if (run.time_limit < 1ms || run.time_limit > time_limit_max || run.grace < 0ms || run.grace > time_limit_max ||
        run.linger < 0ms || run.linger > time_limit_max)
        return refuse("the time limit must be between 1 ms and 7 days");
    if (run.closed.size() > reach_paths_max || run.writable.size() > reach_paths_max)
        return refuse("more than " + std::to_string(reach_paths_max) +
                      " paths are closed or writable to the command; name a folder that holds them");
    for (const auto& folder : real_places({run.folder})) {
        for (const auto& closed : real_places(run.closed)) {
            if (lies_in(folder, closed))
                return refuse("the folder " + folder + " lies in " + closed + ", which is closed; work in another");
        }
    }
    const auto helper = find_helper(run.helper);
    if (!helper.ok()) return helper.failure();
    if (stop.stop_requested()) {
        ShellEnd end;
        end.cancelled = true;
        return end;
    }
    return Supervised(run).run(*helper, stop);
}

}  // namespace assent
