// assent-exec: runs one shell line and lets nothing of it live on.
//
// It stands between the runner and the shell because only a process of its own can be the reaper of
// everything the line starts, notice by a closed pipe that the runner died in whatever way, and keep
// this apart from the host program's own children and signals. It also reads what the line writes, and
// writes the receipt: both outlive the runner. It stays outside the domain that closes folders to tools,
// since it must rename in the folder of receipts: the process that becomes the shell enters it.
#include "base/test_switch.hpp"
#include "exec/helper/confinement.hpp"
#include "exec/helper/descendants.hpp"
#include "exec/helper/helper_point.hpp"
#include "exec/helper/output_pipes.hpp"
#include "exec/helper/receipt_file.hpp"
#include "exec/helper_protocol.hpp"
#include "exec/helper_report.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <set>
#include <string_view>

namespace {

struct Settings {
    long limit_ms = 0;
    long grace_ms = 0;
    long linger_ms = 0;
    std::size_t output_bytes = 0;
    const char* folder = nullptr;
    const char* line = nullptr;
    const char* attempt = "";  // empty: no receipt
    const char* line_sha256 = "";
};

void send_report(std::string_view bytes) {
    while (!bytes.empty()) {
        const auto done = write(assent::helper_status_fd, bytes.data(), bytes.size());
        if (done < 0 && errno == EINTR) continue;
        if (done < 0) return;  // the runner is gone
        bytes.remove_prefix(static_cast<std::size_t>(done));
    }
}

std::int64_t now_ms() {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return std::int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1'000'000;
}

class Supervisor {
public:
    explicit Supervisor(const Settings& settings, assent::Confinement& confinement)
        : settings_(settings), confinement_(confinement), out_(settings.output_bytes), err_(settings.output_bytes) {
        report_.attempt = settings.attempt;
        report_.line_sha256 = settings.line_sha256;
        report_.limit_ms = settings.limit_ms;
    }

    void run() {
        prepare();
        assent::helper_point("prepared");
        if (!called_off()) {
            assent::helper_point("start");
            start();
            assent::helper_point("started");
            arm(settings_.limit_ms);
            while (!over()) wait_for_something();
        }
        tell();
    }

private:
    enum class Phase {
        running,
        stopping,   // asked to end, with some time for it
        lingering,  // the shell has ended, what it started has a moment left
        killing,
        given_up,
    };

    // Nobody waits for the end of the line from here on.
    void tell() {
        // All writers are gone, or cannot be killed: what is in the pipes now is all we wait for.
        out_.drain();
        err_.drain();
        report_.out = out_.take();
        report_.err = err_.take();
        const auto bytes = encode(report_);
        assent::helper_point("ended");
        if (!report_.attempt.empty()) assent::write_receipt(report_.attempt, bytes);
        assent::helper_point("receipt");
        send_report(bytes);
        assent::helper_point("reported");
    }

    [[noreturn]] void fail(const char* step, int error) {
        report_.failed_step = step;
        report_.failed_error = error;
        tell();
        std::exit(1);
    }

    void prepare() {
        for (int signal = 1; signal < NSIG; ++signal) ::signal(signal, SIG_DFL);
        ::signal(SIGPIPE, SIG_IGN);
        sigset_t mask;
        sigemptyset(&mask);
        for (const int signal : {SIGCHLD, SIGTERM, SIGINT, SIGHUP, SIGQUIT}) sigaddset(&mask, signal);
        sigprocmask(SIG_SETMASK, &mask, nullptr);
        signals_ = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
        timer_ = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
        if (signals_ < 0 || timer_ < 0) fail("prepare", errno);
        // Away from the terminal: what runs here must not answer for the person who sits there.
        if (setsid() < 0) fail("session", errno);
        if (prctl(PR_SET_CHILD_SUBREAPER, 1) != 0) fail("reaper", errno);
        if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) fail("privileges", errno);
        if (chdir(settings_.folder) != 0) fail("folder", errno);
        if (!out_.make() || !err_.make()) fail("pipe", errno);
        if (const char* step = confinement_.prepare()) fail(step, errno);
    }

    // Whether the runner cancelled or died before there was anything to kill: then nothing starts.
    bool called_off() {
        pollfd control{assent::helper_control_fd, POLLIN, 0};
        char byte = 0;
        if (poll(&control, 1, 0) != 1) return false;
        const auto size = read(assent::helper_control_fd, &byte, 1);
        (size > 0 ? report_.cancelled : report_.runner_died) = true;
        return true;
    }

    void start() {
        int failed[2];
        if (pipe2(failed, O_CLOEXEC) != 0) fail("pipe", errno);
        const pid_t helper = getpid();
        main_ = fork();
        if (main_ < 0) fail("fork", errno);
        if (main_ == 0) {
            become_shell(helper);
            const int error = errno;
            (void)!write(failed[1], &error, sizeof error);
            _exit(127);
        }
        setpgid(main_, main_);
        close(failed[1]);
        int error = 0;
        if (read(failed[0], &error, sizeof error) == sizeof error) fail("shell", error);
        close(failed[0]);
        out_.close_writing_end();
        err_.close_writing_end();
        report_.started = true;
    }

    // In the child; comes back only if it fails.
    void become_shell(pid_t helper) const {
        setpgid(0, 0);
        // If somebody kills us, at least the shell goes too. We have one thread, so it is really us.
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != helper) _exit(127);
        if (!out_.become(STDOUT_FILENO) || !err_.become(STDERR_FILENO)) return;
        ::signal(SIGPIPE, SIG_DFL);
        sigset_t none;
        sigemptyset(&none);
        sigprocmask(SIG_SETMASK, &none, nullptr);
        if (!confinement_.enter()) return;
        execle("/bin/sh", "sh", "-c", settings_.line, static_cast<char*>(nullptr), confinement_.environment());
    }

    void arm(long ms) const {
        itimerspec time{};
        time.it_value.tv_sec = ms / 1000;
        time.it_value.tv_nsec = std::max(ms % 1000 * 1'000'000, 1L);
        timerfd_settime(timer_, 0, &time, nullptr);
    }

    [[nodiscard]] bool over() const { return phase_ == Phase::given_up || no_children_; }

    void wait_for_something() {
        std::array<pollfd, 5> fds{pollfd{signals_, POLLIN, 0}, pollfd{timer_, POLLIN, 0},
                                  pollfd{control_open_ ? assent::helper_control_fd : -1, POLLIN, 0},
                                  pollfd{out_.fd(), POLLIN, 0}, pollfd{err_.fd(), POLLIN, 0}};
        if (poll(fds.data(), fds.size(), -1) < 0) return;
        if (fds[3].revents != 0) out_.drain();
        if (fds[4].revents != 0) err_.drain();
        // First what has ended: a limit that passes in the same moment was kept.
        if (fds[0].revents != 0) take_signals();
        if (over()) return;
        if (fds[2].revents != 0) take_control();
        std::uint64_t times = 0;
        if (fds[1].revents != 0 && read(timer_, &times, sizeof times) == sizeof times) time_is_up();
    }

    void take_signals() {
        signalfd_siginfo info{};
        while (read(signals_, &info, sizeof info) == sizeof info) {
            if (info.ssi_signo != SIGCHLD) cancel();
        }
        reap();
    }

    void reap() {
        for (;;) {
            siginfo_t info{};
            if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG) != 0) {
                no_children_ = errno == ECHILD;
                break;
            }
            if (info.si_pid == 0) break;
            last_end_ms_ = now_ms();
            if (info.si_pid != main_) continue;
            (info.si_code == CLD_EXITED ? report_.exit : report_.signal) = info.si_status;
            main_ended_ = true;
        }
        if (no_children_) return;
        if (main_ended_ && phase_ == Phase::running) {
            phase_ = Phase::lingering;
            arm(settings_.linger_ms);
        }
    }

    void take_control() {
        char byte = 0;
        const auto size = read(assent::helper_control_fd, &byte, 1);
        if (size > 0) {
            cancel();
        } else if (size == 0 || errno != EINTR) {
            control_open_ = false;
            // What is being killed already is not killed because of that.
            report_.runner_died = report_.runner_died || phase_ != Phase::killing;
            begin_killing();
        }
    }

    void cancel() {
        if (phase_ == Phase::running) {
            report_.cancelled = true;
            begin_stopping();
        } else if (phase_ == Phase::lingering) {
            begin_killing();
        }
    }

    void time_is_up() {
        switch (phase_) {
            case Phase::running:
                report_.timed_out = true;
                begin_stopping();
                break;
            case Phase::stopping:
            case Phase::lingering:
                begin_killing();
                break;
            case Phase::killing:
                // Again, for those that came in between. As long as some end, it is only slow.
                if (now_ms() - last_end_ms_ >= assent::helper_kill_wait_ms) return give_up();
                kill_all();
                arm(kill_step_ms);
                break;
            case Phase::given_up:
                break;
        }
    }

    void begin_stopping() {
        phase_ = Phase::stopping;
        signal_all(SIGTERM);
        signal_all(SIGCONT);  // one that is stopped would not notice
        arm(settings_.grace_ms);
    }

    void begin_killing() {
        if (phase_ == Phase::killing) return;
        phase_ = Phase::killing;
        last_end_ms_ = now_ms();
        kill_all();
        arm(kill_step_ms);
    }

    void signal_all(int signal) const {
        if (const auto found = assent::descendants()) {
            for (const auto& process : *found) assent::signal_descendant(process, signal);
        } else if (!main_ended_) {
            kill(-main_, signal);
        }
    }

    // Stops everybody first: who runs could start new ones faster than we find them.
    void kill_all() const {
        std::set<pid_t> stopped;
        for (int round = 0; round < stop_rounds_max; ++round) {
            const auto found = assent::descendants();
            if (!found) break;
            bool more = false;
            for (const auto& process : *found) {
                if (!stopped.insert(process.pid).second) continue;
                assent::signal_descendant(process, SIGSTOP);
                more = true;
            }
            if (!more) break;
        }
        signal_all(SIGKILL);
    }

    void give_up() {
        const auto found = assent::descendants();
        report_.left = found ? std::max(static_cast<int>(found->size()), 1) : 1;
        phase_ = Phase::given_up;
    }

    static constexpr int kill_step_ms = 20;
    static constexpr int stop_rounds_max = 32;

    Settings settings_;
    assent::Confinement& confinement_;
    assent::HelperReport report_;
    assent::OutputPipe out_;
    assent::OutputPipe err_;
    Phase phase_ = Phase::running;
    pid_t main_ = -1;
    int signals_ = -1;
    int timer_ = -1;
    bool control_open_ = true;
    bool main_ended_ = false;
    bool no_children_ = false;
    std::int64_t last_end_ms_ = 0;
};

// What the host left open is not for tools.
void close_all_from(int first) {
    if (close_range(static_cast<unsigned>(first), ~0U, 0) == 0) return;
    const long max = sysconf(_SC_OPEN_MAX);
    for (int fd = first; fd < std::min(max, 65536L); ++fd) close(fd);
}

}  // namespace

int main(int argc, char** argv) {
    // Nobody of the same user may trace us or look into our memory.
    if (!assent::switched_off("memory")) prctl(PR_SET_DUMPABLE, 0);
    if (argc == 2 && std::strcmp(argv[1], "--version") == 0) {
        std::puts("assent-exec " ASSENT_VERSION);
        return 0;
    }
    // Static, so that it ends with the program, wherever that ends.
    static assent::Confinement confinement(assent::take_reach(argc, argv));
    const bool with_receipt = argc == 9;
    if ((argc != 7 && !with_receipt) || fcntl(assent::helper_control_fd, F_GETFD) < 0 ||
        fcntl(assent::helper_status_fd, F_GETFD) < 0) {
        std::fputs("assent-exec is started by assent, not by hand\n", stderr);
        return 2;
    }
    close_all_from((with_receipt ? assent::helper_receipts_fd : assent::helper_status_fd) + 1);
    fcntl(assent::helper_control_fd, F_SETFD, FD_CLOEXEC);
    fcntl(assent::helper_status_fd, F_SETFD, FD_CLOEXEC);
    Settings settings{.limit_ms = std::strtol(argv[1], nullptr, 10),
                      .grace_ms = std::strtol(argv[2], nullptr, 10),
                      .linger_ms = std::strtol(argv[3], nullptr, 10),
                      .output_bytes = std::strtoull(argv[4], nullptr, 10),
                      .folder = argv[5],
                      .line = argv[6]};
    if (with_receipt) {
        settings.attempt = argv[7];
        settings.line_sha256 = argv[8];
        assent::keep_receipt_from_tools();
    }
    Supervisor(settings, confinement).run();
    return 0;
}
