// A second process of the test, forked, that is told what to do line by line.
//
// Fork it before the test opens databases or starts threads: SQLite's connections do not survive a fork.
#pragma once

#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <functional>
#include <stdexcept>
#include <string>

namespace assent::test {

/// The two ends of a conversation in lines.
class Talk {
public:
    Talk(int in, int out) : in_(in), out_(out) {}
    void say(std::string line) const {
        line += '\n';
        if (write(out_, line.data(), line.size()) != static_cast<ssize_t>(line.size())) {
            throw std::runtime_error("the other process does not listen");
        }
    }
    /// The next line; empty when the other side has ended.
    std::string hear() const {
        std::string line;
        char byte = 0;
        while (read(in_, &byte, 1) == 1 && byte != '\n') line += byte;
        return line;
    }
    void close() const {
        ::close(in_);
        ::close(out_);
    }

private:
    int in_;
    int out_;
};

class OtherProcess {
public:
    /// Runs `body` in a new process, which ends with it.
    explicit OtherProcess(const std::function<void(const Talk&)>& body) : talk_(-1, -1) {
        int to[2];
        int from[2];
        if (pipe(to) != 0 || pipe(from) != 0) throw std::runtime_error("no pipe");
        pid_ = fork();
        if (pid_ < 0) throw std::runtime_error("no second process");
        if (pid_ == 0) {
            ::close(to[1]);
            ::close(from[0]);
            const Talk talk(to[0], from[1]);
            try {
                body(talk);
            } catch (const std::exception& error) {
                talk.say(std::string("failed: ") + error.what());
            }
            _exit(0);
        }
        ::close(to[0]);
        ::close(from[1]);
        talk_ = Talk(from[0], to[1]);
    }
    OtherProcess(const OtherProcess&) = delete;
    OtherProcess& operator=(const OtherProcess&) = delete;
    ~OtherProcess() {
        talk_.close();
        kill_now();
        reap();
    }

    pid_t pid() const { return pid_; }
    void say(const std::string& line) const { talk_.say(line); }
    std::string hear() const { return talk_.hear(); }
    std::string ask(const std::string& line) const {
        say(line);
        return hear();
    }
    /// SIGKILL. When this returns the process is dead, but nobody has reaped it yet.
    void kill_now() const {
        if (pid_ <= 0) return;
        ::kill(pid_, SIGKILL);
        siginfo_t info{};
        waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOWAIT);
    }
    void reap() {
        if (pid_ > 0) waitpid(pid_, nullptr, 0);
        pid_ = -1;
    }

private:
    pid_t pid_ = -1;
    Talk talk_;
};

}  // namespace assent::test
