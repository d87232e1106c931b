// What was pruned is gone, and that it happened is not.
#include "support/agents.hpp"

#include "base/sha256.hpp"

#include <gtest/gtest.h>

namespace assent {
namespace {

using namespace assent::test;

class Pruning : public AgentOverStore {
protected:
    Pruning() {
        guard_->verdicts["pay"] = Verdict::ask;
        options_.tools = {watched("look"), watched("pay")};
        options_.guards = {guard_};
    }
    void finish(const std::string& thread) {
        options_.thread_id = thread;
        ASSERT_EQ(agent(call_turn("look") + "," + end_turn).prompt("a secret").status, RunStatus::done);
    }
    using Ids = std::vector<std::string>;
};

INSTANTIATE_TEST_SUITE_P(Stores, Pruning, testing::ValuesIn(store_kinds()), store_name);

TEST_P(Pruning, RemovesWhatHappenedInThreadsThatEndedLongAgo) {
    finish("t");
    options_.thread_id = "waits";
    ASSERT_EQ(agent(call_turn("pay") + "," + end_turn).prompt("pay").status, RunStatus::waiting);
    clock_.pass(1000);
    const auto then = clock_.now();
    finish("later");
    clock_.pass(1000);

    EXPECT_EQ(*approvals().prune(then, "alice", true), Ids{"t"});
    EXPECT_GT(approvals().history("t")->size(), 5U);
    const auto seq = (*store_->find_thread("t"))->seq;
    EXPECT_EQ(*approvals().prune(then, "alice"), Ids{"t"});
    EXPECT_EQ(*approvals().prune(then, "alice"), Ids{});
    EXPECT_EQ(*approvals().prune(clock_.now() + 1, "alice"), Ids{"later"}) << "not what was pruned before";

    const auto history = *approvals().history("t");
    ASSERT_EQ(history.size(), 1U);
    EXPECT_EQ(history[0].event, "pruned");
    EXPECT_EQ(history[0].seq, seq + 1);
    EXPECT_EQ(history[0].hash, hex((*store_->find_thread("t"))->hash));
    for (const auto& row : *store_->load("t", 0)) EXPECT_FALSE(row.body.contains("a secret"));
    EXPECT_EQ((*store_->find_thread("t"))->task, "");
    EXPECT_EQ(approvals().pending()->size(), 1U);
}

TEST_P(Pruning, AThreadDoesNotGoOnBehindIt) {
    finish("t");
    clock_.pass(1);
    ASSERT_EQ(*approvals().prune(clock_.now(), "alice"), Ids{"t"});
    const auto run = agent(end_turn).prompt("more");
    EXPECT_EQ(run.status, RunStatus::failed);
    EXPECT_EQ(run.failure->kind, FailureKind::refused);
    EXPECT_EQ(run.failure->message, "what happened in this thread was pruned; begin another one");
}

TEST_P(Pruning, WhatHappenedBehindAnEarlierOneStopsNoOther) {
    finish("t");
    finish("u");
    clock_.pass(1);
    ASSERT_EQ(approvals().prune(clock_.now(), "alice")->size(), 2U);
    Append late{.thread_id = "t", .kinds = {"queued"}, .salt = "s", .body = "{}"};
    random_.fill(late.command);
    ASSERT_EQ(store_->append(late)->status, AppendStatus::done);
    finish("v");
    clock_.pass(1);
    EXPECT_EQ(*approvals().prune(clock_.now(), "alice"), Ids{"v"});
    EXPECT_FALSE((*store_->find_thread("v"))->runner_alive);
}

TEST_P(Pruning, WhatIsRemovedWithoutAWordIsFound) {
    finish("t");
    Append removal{.thread_id = "t", .kinds = {"queued"}, .salt = "s", .body = "{}", .prunes = 3};
    random_.fill(removal.command);
    ASSERT_EQ(store_->append(removal)->status, AppendStatus::done);
    const auto history = approvals().history("t");
    ASSERT_FALSE(history.ok());
    EXPECT_EQ(history.failure().message,
              "what happened in thread t was removed, and nothing says by whom; restore the database from a copy");
}

}  // namespace
}  // namespace assent
