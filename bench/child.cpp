#include "child.hpp"

#include "place.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <stdexcept>

namespace bench {
namespace {

std::array<int, 2> made_pipe() {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("no pipe can be made");
    return ends;
}

}  // namespace

Running::Running(const std::vector<std::string>& words) {
    std::vector<char*> arguments;
    for (const auto& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    const auto input = made_pipe();
    const auto output = made_pipe();
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, input[0], STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, output[1], STDOUT_FILENO);
    const int error = posix_spawn(&child_, arguments[0], &actions, nullptr, arguments.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    close(input[0]);
    close(output[1]);
    input_ = input[1];
    output_ = output[0];
    if (error == 0) return;
    close(input_);
    close(output_);
    throw std::runtime_error(words[0] + " cannot be started; build it first");
}

Running::~Running() {
    close_input();
    if (child_ != 0) {
        kill(child_, SIGKILL);
        waitpid(child_, nullptr, 0);
    }
    close(output_);
}

void Running::close_input() {
    if (input_ >= 0) close(input_);
    input_ = -1;
}

void Running::say(const std::string& line) {
    const auto text = line + "\n";
    if (write(input_, text.data(), text.size()) != static_cast<ssize_t>(text.size()))
        throw std::runtime_error("a process of the benchmark does not listen any more");
}

std::string Running::line() {
    std::array<char, 4096> buffer{};
    while (!rest_.contains('\n')) {
        const auto got = read(output_, buffer.data(), buffer.size());
        if (got <= 0) throw std::runtime_error("a process of the benchmark ended too early");
        rest_.append(buffer.data(), static_cast<std::size_t>(got));
    }
    const auto end = rest_.find('\n');
    auto line = rest_.substr(0, end);
    rest_.erase(0, end + 1);
    return line;
}

void Running::end() {
    close_input();
    int status = 0;
    waitpid(child_, &status, 0);
    child_ = 0;
    if (status != 0) throw std::runtime_error("a process of the benchmark did not end well");
}

Ended run_child(const std::vector<std::string>& words) {
    std::vector<char*> arguments;
    for (const auto& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    const auto pipe_ends = made_pipe();
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, pipe_ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    Ended ended;
    pid_t child = 0;
    const auto start = seconds();
    const int error = posix_spawn(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    close(pipe_ends[1]);
    if (error != 0) {
        close(pipe_ends[0]);
        throw std::runtime_error(words[0] + " cannot be started; build it first");
    }
    std::array<char, 65536> buffer{};
    for (ssize_t got = 0; (got = read(pipe_ends[0], buffer.data(), buffer.size())) > 0;) {
        ended.output.append(buffer.data(), static_cast<std::size_t>(got));
    }
    close(pipe_ends[0]);
    int status = 0;
    rusage usage{};
    wait4(child, &status, 0, &usage);
    ended.ms = (seconds() - start) * 1e3;
    ended.peak_mib = static_cast<double>(usage.ru_maxrss) / 1024;
    if (status != 0) throw std::runtime_error(words[0] + " failed: " + ended.output);
    return ended;
}

}  // namespace bench
