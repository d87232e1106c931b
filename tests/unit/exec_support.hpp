// What tests of processes share: knowing that something is dead, and host programs that can be killed.
#pragma once

#include "base/unique_fd.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <string>
#include <vector>

namespace assent::test {

// The reading end of a named pipe that test commands hold open: as long as one of them lives there is
// no end of file. No sleeping, no process numbers that may be used again.
class Lifeline {
public:
    explicit Lifeline(const std::string& path) {
        EXPECT_EQ(mkfifo(path.c_str(), 0600), 0);
        fd_.reset(open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
    }

    /// What is written next; empty at end of file or after a minute.
    std::string next() {
        pollfd wait{fd_.get(), POLLIN, 0};
        if (poll(&wait, 1, 60'000) != 1) return "timeout";
        std::array<char, 256> buffer{};
        const auto size = read(fd_.get(), buffer.data(), buffer.size());
        return size > 0 ? std::string(buffer.data(), static_cast<std::size_t>(size)) : "";
    }
    /// True once nobody holds the other end any more.
    bool all_dead() {
        for (;;) {
            const auto text = next();
            if (text.empty()) return true;
            if (text == "timeout") return false;
        }
    }

private:
    UniqueFd fd_;
};

// A program in a session of its own, its input a new terminal if wanted; what it says.
struct Started {
    pid_t pid = 0;
    UniqueFd out;
    UniqueFd terminal;

    Started(std::vector<std::string> arguments, bool with_terminal) {
        std::vector<char*> argv;
        for (auto& argument : arguments) argv.push_back(argument.data());
        argv.push_back(nullptr);
        int ends[2] = {-1, -1};
        EXPECT_EQ(pipe2(ends, O_CLOEXEC), 0);
        out.reset(ends[0]);
        const UniqueFd write_end(ends[1]);
        posix_spawn_file_actions_t actions;
        posix_spawnattr_t attributes;
        posix_spawn_file_actions_init(&actions);
        posix_spawnattr_init(&attributes);
        posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
        if (with_terminal) {
            terminal.reset(posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
            EXPECT_EQ(grantpt(terminal.get()) | unlockpt(terminal.get()), 0);
            // The first terminal that the leader of a session opens becomes its controlling one.
            posix_spawn_file_actions_addopen(&actions, 0, ptsname(terminal.get()), O_RDWR, 0);
        }
        posix_spawn_file_actions_adddup2(&actions, write_end.get(), 1);
        EXPECT_EQ(posix_spawn(&pid, argv[0], &actions, &attributes, argv.data(), environ), 0);
        posix_spawnattr_destroy(&attributes);
        posix_spawn_file_actions_destroy(&actions);
    }

    std::string finish() {
        std::string text;
        std::array<char, 256> buffer{};
        for (ssize_t size = 0; (size = read(out.get(), buffer.data(), buffer.size())) > 0;)
            text.append(buffer.data(), static_cast<std::size_t>(size));
        EXPECT_EQ(waitpid(pid, &status, 0), pid);
        return text;
    }
    int status = 0;
};

}  // namespace assent::test
