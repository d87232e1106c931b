#include "runner.hpp"

#include "any_store.hpp"
#include "place.hpp"
#include "workload.hpp"

#include <assent/worker.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <iostream>
#include <latch>
#include <map>
#include <memory>
#include <mutex>
#include <sstream>
#include <stdexcept>
#include <thread>

namespace bench {
namespace {

constexpr int connections_max = 16;

// Lines to the process that measures; from any thread.
class Voice {
public:
    void say(const std::string& line) {
        const std::lock_guard lock(mutex_);
        std::cout << line << std::endl;
    }

private:
    std::mutex mutex_;
};

// Tools that wait in their body for each other, and then for `open`.
class Hold {
public:
    Hold(int count, Voice& voice) : count_(count), voice_(voice) {}
    void enter() {
        if (++entered_ == count_) voice_.say("held");
        open_.wait();
    }
    void open() { open_.count_down(); }

private:
    int count_;
    Voice& voice_;
    std::atomic<int> entered_ = 0;
    std::latch open_{1};
};

}  // namespace

std::int64_t nanoseconds() {
    return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
}

void Runner::be(const std::vector<std::string>& words) {
    const auto store = open_store(words.at(0), connections_max);
    const int held = std::stoi(words.at(2));
    Voice voice;
    Hold hold(held, voice);
    const auto workload = make_workload(false, 100, [&] {
        if (held > 0) return hold.enter();
        const auto now = nanoseconds();
        voice.say("started " + std::to_string(now));
    });
    assent::Worker worker(
        {.store = store.get(),
         .agent = [&](const std::string&) -> assent::Result<assent::AgentOptions> {
             return assent::AgentOptions{
                 .model = workload.model, .tools = {workload.tool}, .middleware = {workload.rules}};
         },
         .threads_max = static_cast<std::size_t>(std::stoi(words.at(1))),
         .ended =
             [&](const assent::Run& run) {
                 const bool lost = run.failure && run.failure->kind == assent::FailureKind::leased;
                 if (lost) return;
                 voice.say("ended " + std::string(to_string(run.status)) +
                           (run.failure ? ": " + run.failure->message : ""));
             },
         .store_failed = [&](const assent::Failure& failure) { std::cerr << failure.message << "\n"; }});
    const std::jthread working([&](const std::stop_token& stop) { worker.run(stop); });
    voice.say("ready");
    for (std::string line; std::getline(std::cin, line);) {
        if (line == "go") hold.open();
        if (line == "memory")
            voice.say("memory " + std::to_string(resident_mib()) + " " + std::to_string(resident_peak_mib()));
    }
}

Runner::Runner(const std::string& self, const std::string& address, int at_once, int held)
    : process_({self, std::string(word), address, std::to_string(at_once), std::to_string(held)}) {
    (void)next("ready");
}

std::string Runner::next(const std::string& kind) {
    const auto known = std::ranges::find_if(early_, [&](const auto& line) { return line.starts_with(kind); });
    auto line = known == early_.end() ? std::string() : *known;
    if (known != early_.end()) early_.erase(known);
    while (line.empty()) {
        line = process_.line();
        if (line.starts_with(kind)) break;
        early_.push_back(std::exchange(line, {}));
    }
    return line.substr(std::min(kind.size() + 1, line.size()));
}

std::int64_t Runner::started() {
    return std::stoll(next("started"));
}

void Runner::wait_for_ends(int count) {
    for (int i = 0; i < count; ++i) {
        const auto how = next("ended");
        if (how != "done") throw std::runtime_error("a run ended otherwise than done: " + how);
    }
}

void Runner::wait_for_held() {
    (void)next("held");
}

Runner::Memory Runner::memory() {
    process_.say("memory");
    std::istringstream words(next("memory"));
    Memory memory;
    words >> memory.now_mib >> memory.peak_mib;
    return memory;
}

}  // namespace bench
