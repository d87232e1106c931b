#include "agent/workload.hpp"

#include "base/display.hpp"

#include <cxxabi.h>

#include <algorithm>
#include <system_error>
#include <utility>

namespace assent {
namespace {

// How many threads that wait for people are remembered for stores that do not say what is ready.
constexpr std::size_t looked_max = 100'000;

}  // namespace

void Workload::run(const std::stop_token& stop, Until until) {
    const auto watching = options_.store->watch([this](std::string_view) { wake(); });
    const std::stop_callback told_to_stop(stop, [this] { wake(); });
    while (!stop.stop_requested()) {
        const auto running = collect();
        // Runs hear by themselves when others may take their threads.
        const auto keeps = options_.store->keeps_for_ms();
        const bool lost = keeps && *keeps <= 0 && running > 0;
        if (!lost && running < options_.threads_max) {
            const bool some = take_some();
            if (until == Until::idle && !some && collect() == 0) return;
        }
        wait();
    }
    stop_all();
    while (collect() > 0) wait();
}

// False: there is nothing to do but what is done already.
bool Workload::take_some() {
    std::size_t free = 0;
    {
        const std::lock_guard lock(mutex_);
        free = options_.threads_max - running_.size();
    }
    auto ready = options_.store->take_ready(free, options_.clock->now());
    if (!ready) {
        if (options_.store_failed) options_.store_failed(ready.failure());
        return true;
    }
    std::erase_if(*ready, [this](const ReadyThread& one) { return runs_already(one) || !worth(one); });
    if (ready->size() > free) ready->resize(free);
    for (const auto& one : *ready) begin(one);
    return !ready->empty();
}

// What was given back and is ready again before its run has ended here.
bool Workload::runs_already(const ReadyThread& ready) {
    const std::lock_guard lock(mutex_);
    const auto work = running_.find(ready.id);
    if (work == running_.end()) return false;
    if (work->second.ended) {
        work->second.thread.join();
        running_.erase(work);
        return false;
    }
    // A store that does not mark what is ready tells of it again.
    if (ready.version == 0) work->second.again = true;
    return true;
}

bool Workload::worth(const ReadyThread& ready) {
    if (ready.version == 0) return true;
    const std::lock_guard lock(mutex_);
    const auto known = looked_.find(ready.id);
    if (known == looked_.end()) return true;
    return ready.version != known->second.version && known->second.not_before <= options_.clock->monotonic();
}

void Workload::begin(const ReadyThread& ready) {
    const std::lock_guard lock(mutex_);
    auto& work = running_[ready.id];
    try {
        work.thread = std::jthread([this, ready](const std::stop_token& stop) { this->work(ready, stop); });
    } catch (const std::system_error&) {
        // Somebody else has threads left, or this process later.
        running_.erase(ready.id);
        (void)options_.store->put_back(ready.id, options_.look_ms);
    }
}

void Workload::work(const ReadyThread& ready, const std::stop_token& stop) {
    while (true) {
        const auto run = run_thread(ready.id, stop);
        settle(ready, run);
        if (options_.ended) options_.ended(run);
        const std::lock_guard lock(mutex_);
        auto& work = running_[ready.id];
        // What failed is for later.
        const bool again = std::exchange(work.again, false) && (run.status != RunStatus::failed || run.interrupted);
        if (again && !stop.stop_requested()) continue;
        if (again) (void)options_.store->put_back(ready.id, 0);
        work.ended = true;
        woken_ = true;
        changed_.notify_all();
        return;
    }
}

Run Workload::run_thread(const std::string& id, const std::stop_token& stop) const {
    const auto failed = [&](Failure failure) {
        return Run{.status = RunStatus::failed, .thread = id, .failure = std::move(failure)};
    };
    // What the host's code throws concerns one thread.
    try {
        auto agent_options = options_.agent(id);
        if (!agent_options) return failed(agent_options.failure());
        agent_options->thread_id = id;
        agent_options->checkpointer = options_.store;
        Agent agent(std::move(agent_options).value());
        agent.set_reviewer({.name = "worker"});
        return agent.resume(Answers{}, stop);
    } catch (const ConfigError& error) {
        return failed({FailureKind::usage, error.what()});
    } catch (const std::exception& error) {
        return failed({FailureKind::internal, "the agent cannot be made: " + safe_to_show(error.what()).text});
    } catch (const abi::__forced_unwind&) {
        throw;
    } catch (...) {
        return failed({FailureKind::internal, "the agent cannot be made"});
    }
}

// What did not come to its rest is for somebody else, or for later.
void Workload::settle(const ReadyThread& ready, const Run& run) {
    const bool rests = run.status != RunStatus::failed;
    const bool elsewhere = run.failure && run.failure->kind == FailureKind::leased;
    // Who has it elsewhere may give it back without knowing that it was to be run here.
    const auto delay = elsewhere ? options_.look_ms : run.interrupted || rests ? 0 : options_.retry_ms;
    if (!rests) (void)options_.store->put_back(ready.id, delay);
    const std::lock_guard lock(mutex_);
    if (looked_.size() >= looked_max) looked_.clear();
    auto& looked = looked_[ready.id];
    looked = {.version = rests ? ready.version : 0, .not_before = options_.clock->monotonic() + delay};
    if (looked.version == 0 && delay == 0) looked_.erase(ready.id);
}

// Ends the threads of what has ended; how many run.
std::size_t Workload::collect() {
    const std::lock_guard lock(mutex_);
    for (auto work = running_.begin(); work != running_.end();) {
        if (work->second.ended) {
            // It waits for nothing any more.
            work->second.thread.join();
            work = running_.erase(work);
        } else {
            ++work;
        }
    }
    return running_.size();
}

void Workload::stop_all() {
    std::vector<std::stop_source> sources;
    {
        const std::lock_guard lock(mutex_);
        for (auto& [id, work] : running_) sources.push_back(work.thread.get_stop_source());
    }
    // Whatever is called now may want to wake.
    for (auto& source : sources) source.request_stop();
}

// With a short lease others are to be found dead in a short time, too.
void Workload::wait() {
    const auto keeps = options_.store->keeps_for_ms();
    auto milliseconds = options_.look_ms;
    if (keeps && *keeps > 0) milliseconds = std::min(milliseconds, *keeps);
    std::unique_lock lock(mutex_);
    if (!woken_) options_.clock->wait(changed_, lock, milliseconds);
    woken_ = false;
}

void Workload::wake() {
    const std::lock_guard lock(mutex_);
    woken_ = true;
    changed_.notify_all();
}

}  // namespace assent
