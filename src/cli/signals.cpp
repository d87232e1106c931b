#include "cli/signals.hpp"

#include "cli/terminal.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <array>
#include <cstdint>

namespace assent::cli {
namespace {

void raise_flag(int fd) {
    const std::uint64_t one = 1;
    if (::write(fd, &one, sizeof one) < 0) return;  // it is raised already
}

}  // namespace

Signals::Signals() {
    sigset_t set;
    sigemptyset(&set);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&set, signal);
    pthread_sigmask(SIG_BLOCK, &set, nullptr);
    signal(SIGPIPE, SIG_IGN);
    signal_fd_ = signalfd(-1, &set, SFD_CLOEXEC);
    wake_fd_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    end_fd_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    thread_ = std::jthread([this] { wait_for_signals(); });
}

Signals::~Signals() {
    raise_flag(end_fd_);
    thread_.join();
    for (const int fd : {signal_fd_, wake_fd_, end_fd_}) ::close(fd);
}

void Signals::wait_for_signals() {
    while (true) {
        std::array<pollfd, 2> fds{pollfd{signal_fd_, POLLIN, 0}, pollfd{end_fd_, POLLIN, 0}};
        if (poll(fds.data(), fds.size(), -1) < 0) continue;
        if (fds[1].revents != 0) return;
        signalfd_siginfo info{};
        if (::read(signal_fd_, &info, sizeof info) != sizeof info) continue;
        if (stop_.stop_requested()) _exit(exit_interrupted);
        stop_.request_stop();
        raise_flag(wake_fd_);
    }
}

}  // namespace assent::cli
