// A worker goes on with whatever has something to do, and leaves alone what waits for people.
#include "support/agents.hpp"

#include <assent/testing.hpp>
#include <assent/worker.hpp>

#include <gtest/gtest.h>

#include <map>

namespace assent {
namespace {

using namespace assent::test;
using RunEnd = Run;  // tests have a member of that name

class Workers : public testing::TestWithParam<StoreKind> {
protected:
    Workers() : store_(make_store(GetParam(), folder_)) { guard_->verdicts["pay"] = Verdict::ask; }

    AgentOptions agent_options() {
        return {.model = script(call_turn("pay") + "," + end_turn),
                .tools = {pay_},
                .guards = {guard_},
                .checkpointer = store_.get(),
                .clock = &clock_};
    }
    // A thread that waits for a person; its question.
    Approval asked(const std::string& thread) {
        auto options = agent_options();
        options.thread_id = thread;
        const auto run = Agent(std::move(options)).prompt("pay it");
        EXPECT_EQ(run.status, RunStatus::waiting);
        return run.interrupts.at(0);
    }
    void approve(const Approval& approval) {
        EXPECT_EQ(Approvals(*store_, clock_).answer(approval.id, assent::approve(), {.name = "alice"})->status,
                  AnswerResult::Status::decided);
    }
    WorkerOptions worker_options() {
        return {.store = store_.get(),
                .agent = [this](const std::string&) -> Result<AgentOptions> { return agent_options(); },
                .look_ms = 5,
                .ended =
                    [this](const RunEnd& run) {
                        const std::lock_guard lock(mutex_);
                        ends_[run.thread].push_back(run);
                    },
                .clock = &clock_};
    }
    ThreadStatus status(const std::string& thread) { return (*store_->find_thread(thread))->status; }
    bool held(const std::string& thread) { return (*store_->find_thread(thread))->runner_alive; }

    TemporaryFolder folder_;
    std::unique_ptr<Checkpointer> store_;
    ManualClock clock_;
    std::shared_ptr<FakeGuard> guard_ = std::make_shared<FakeGuard>();
    std::shared_ptr<WatchedTool> pay_ = watched("pay");
    std::mutex mutex_;
    std::map<std::string, std::vector<RunEnd>> ends_;
};

INSTANTIATE_TEST_SUITE_P(Stores, Workers, testing::ValuesIn(all_store_kinds()), store_name);

TEST_P(Workers, GoesOnWithWhatWasAnswered) {
    const auto first = asked("first");
    const auto second = asked("second");
    asked("third");
    approve(first);
    approve(second);
    Worker(worker_options()).run_until_idle();
    EXPECT_EQ(status("first"), ThreadStatus::done);
    EXPECT_EQ(status("second"), ThreadStatus::done);
    EXPECT_EQ(status("third"), ThreadStatus::active);
    EXPECT_FALSE(held("third"));
    EXPECT_EQ(pay_->runs().size(), 2U);
    EXPECT_EQ(ends_["first"].back().text, "all done");
}

TEST_P(Workers, GoesOnWithAnAnswerThatIsGivenWhileItWorks) {
    const auto open = asked("t");
    std::stop_source stop;
    auto options = worker_options();
    options.ended = [&](const RunEnd& run) {
        if (run.status == RunStatus::done) stop.request_stop();
    };
    std::jthread person([&] { approve(open); });
    Worker(options).run(stop.get_token());
    EXPECT_EQ(status("t"), ThreadStatus::done);
}

TEST_P(Workers, EndsWhatNobodyAnsweredInTime) {
    guard_->question.timeout_ms = 60'000;
    asked("t");
    Worker(worker_options()).run_until_idle();
    EXPECT_EQ(status("t"), ThreadStatus::active);
    clock_.pass(std::chrono::seconds(61));
    ends_.clear();
    Worker(worker_options()).run_until_idle();
    ASSERT_FALSE(ends_["t"].empty());
    EXPECT_EQ(ends_["t"].back().status, RunStatus::done);
    EXPECT_EQ(status("t"), ThreadStatus::done);
    EXPECT_TRUE(pay_->runs().empty());
}

TEST_P(Workers, RunsNoMoreAtOnceThanItMay) {
    std::atomic<int> now = 0;
    std::atomic<int> most = 0;
    pay_ = watched("pay", [&](const ApprovedCall&) {
        most = std::max<int>(most, ++now);
        std::this_thread::yield();
        --now;
        return ToolResult{.text = "paid"};
    });
    for (const auto* thread : {"a", "b", "c", "d", "e"}) approve(asked(thread));
    auto options = worker_options();
    options.threads_max = 2;
    Worker(options).run_until_idle();
    for (const auto* thread : {"a", "b", "c", "d", "e"}) EXPECT_EQ(status(thread), ThreadStatus::done);
    EXPECT_LE(most, 2);
}

TEST_P(Workers, ToldToStopItGivesBackWhatRuns) {
    std::stop_source stop;
    pay_ = watched("pay", [&](const ApprovedCall& call) {
        stop.request_stop();
        std::mutex mutex;
        std::condition_variable_any never;
        std::unique_lock lock(mutex);
        never.wait(lock, call.stop_token(), [] { return false; });
        return ToolResult{.text = "stopped half way", .is_error = true};
    });
    approve(asked("t"));
    Worker(worker_options()).run(stop.get_token());
    ASSERT_FALSE(ends_["t"].empty());
    EXPECT_TRUE(ends_["t"][0].interrupted);
    EXPECT_FALSE(held("t"));
    EXPECT_EQ(status("t"), ThreadStatus::active);
    // Its outcome is recorded, and another goes on behind it.
    Worker(worker_options()).run_until_idle();
    EXPECT_EQ(status("t"), ThreadStatus::done);
    EXPECT_EQ(pay_->runs().size(), 1U);
}

TEST_P(Workers, LeavesForLaterWhatCannotBeRunHere) {
    approve(asked("foreign"));
    auto options = worker_options();
    bool foreign = true;
    options.agent = [&](const std::string&) -> Result<AgentOptions> {
        if (foreign) return Failure{FailureKind::tool, "there is no workspace"};
        return agent_options();
    };
    options.retry_ms = 0;
    auto once = options;
    std::stop_source stop;
    once.ended = [&](const RunEnd& run) {
        EXPECT_EQ(run.failure->message, "there is no workspace");
        stop.request_stop();
    };
    Worker(once).run(stop.get_token());
    EXPECT_EQ(status("foreign"), ThreadStatus::active);
    foreign = false;
    Worker(options).run_until_idle();
    EXPECT_EQ(status("foreign"), ThreadStatus::done);
}

TEST_P(Workers, WhatTheHostThrowsConcernsOneThread) {
    approve(asked("good"));
    approve(asked("bad"));
    auto options = worker_options();
    options.retry_ms = 1'000'000;
    options.agent = [&](const std::string& thread) -> Result<AgentOptions> {
        if (thread == "bad") throw std::runtime_error("no such account");
        return agent_options();
    };
    Worker(options).run_until_idle();
    EXPECT_EQ(status("good"), ThreadStatus::done);
    ASSERT_EQ(ends_["bad"].size(), 1U);
    EXPECT_EQ(ends_["bad"][0].failure->message, "the agent cannot be made: no such account");
}

TEST(Worker, NeedsAStoreAndAgents) {
    MemoryCheckpointer store;
    const auto agents = [](const std::string&) -> Result<AgentOptions> { return AgentOptions{}; };
    EXPECT_THROW(Worker({.agent = agents}), ConfigError);
    EXPECT_THROW(Worker({.store = &store}), ConfigError);
    EXPECT_THROW(Worker({.store = &store, .agent = agents, .threads_max = 0}), ConfigError);
}

}  // namespace
}  // namespace assent
