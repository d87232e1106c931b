// A process whose lease ends while it stalls, on stores that other machines share.
#include "support/fakes.hpp"
#include "support/faulty_store.hpp"
#include "support/stores.hpp"

#include <assent/gate.hpp>

#include <gtest/gtest.h>

#include <algorithm>

namespace assent {
namespace {

using namespace assent::test;

class GateLease : public testing::TestWithParam<StoreKind> {
protected:
    GateLease() : kept_(make_store(GetParam(), folder_)), store_(*kept_) {
        gate_ = std::make_unique<Gate>(GateOptions{
            .checkpointer = &store_, .thread_id = "t", .tools = {pay_}, .clock = &clock_, .random = &random_});
    }
    void propose() {
        ASSERT_TRUE(gate_->prompt("pay it", "user").ok());
        ASSERT_TRUE(gate_->propose({.calls = {{.tool = "pay", .id = "call_1", .arguments = R"({"n":1})"}}}).ok());
    }

    TemporaryFolder folder_;
    std::unique_ptr<Checkpointer> kept_;
    FaultyStore store_;
    FakeClock clock_;
    FakeRandom random_;
    std::shared_ptr<FakeTool> pay_ = fake_tool("pay");
    std::unique_ptr<Gate> gate_;
};

INSTANTIATE_TEST_SUITE_P(On, GateLease, testing::ValuesIn(store_kinds()), store_name);

TEST_P(GateLease, NoToolStartsWhenItsProcessStalledWhileItsClaimWasStored) {
    store_.keeps = 4000;
    propose();
    // Awake again, the process renews its lease; the thread may be gone all the same.
    store_.lives_after = [this](const Append&) {
        clock_.pass(4001);
        return true;
    };
    auto permits = gate_->claim();
    ASSERT_TRUE(permits.ok());
    ASSERT_EQ(permits->size(), 1U);
    EXPECT_FALSE(pay_->start(std::move(permits->front())).started);
}

TEST_P(GateLease, WhoeverLostTheThreadWhileItStalledTakesItAgainToGoOn) {
    propose();
    Gate other({.checkpointer = kept_.get(), .thread_id = "t", .tools = {pay_}, .clock = &clock_, .random = &random_});
    ASSERT_TRUE(kept_->give_back("t", 1).ok());  // as if its lease had run out
    ASSERT_TRUE(other.resume().ok());
    const auto refused = gate_->resume();
    ASSERT_FALSE(refused.ok()) << "another runs it";
    EXPECT_EQ(refused.failure().kind, FailureKind::leased);
    auto permits = other.claim();
    ASSERT_EQ(permits->size(), 1U);
    ASSERT_TRUE(kept_->give_back("t", 2).ok());
    ASSERT_TRUE(gate_->resume().ok());
    EXPECT_EQ(gate_->open().size(), 1U) << "what the other had started is in doubt";
}

TEST_P(GateLease, WhoHasOnlyReadTheThreadDoesNothingInIt) {
    ASSERT_TRUE(gate_->prompt("pay it", "user").ok());
    Gate other({.checkpointer = kept_.get(), .thread_id = "t", .tools = {pay_}, .clock = &clock_, .random = &random_});
    ASSERT_TRUE(*other.load());
    const auto refused = other.propose({.calls = {{.tool = "pay", .id = "call_1", .arguments = R"({"n":1})"}}});
    ASSERT_FALSE(refused.ok()) << "another runs it, under a fence that it may know";
    EXPECT_EQ(refused.failure().kind, FailureKind::leased);
    EXPECT_EQ(kept_->load("t", 0)->size(), 1U);
}

TEST_P(GateLease, WhatARunnerBeginsBeforeTheThreadIsTakenFromItIsInDoubt) {
    const auto look = fake_tool("look");
    const auto guard = std::make_shared<FakeGuard>("first");
    guard->verdicts["pay"] = Verdict::ask;
    for (const bool answers : {false, true}) {
        SCOPED_TRACE(answers);
        const std::string thread = answers ? "answers" : "goes on";
        GateOptions options{.checkpointer = &store_,
                            .thread_id = thread,
                            .tools = {pay_, look},
                            .guards = {guard},
                            .clock = &clock_,
                            .random = &random_};
        Gate gate(options);
        options.checkpointer = kept_.get();
        Gate other(options);
        ASSERT_TRUE(gate.prompt("pay it", "user").ok());
        ASSERT_TRUE(gate.propose({.calls = {{.tool = "pay", .id = "call_1", .arguments = R"({"n":1})"},
                                            {.tool = "look", .id = "call_2", .arguments = R"({"n":2})"}}})
                        .ok());
        ASSERT_TRUE(gate.give_back().ok());
        const auto open = gate.open().at(0);
        std::vector<Permit> permits;
        // It has read the thread and not taken it yet.
        store_.before_append = [&] {
            ASSERT_TRUE(other.resume().ok());
            permits = std::move(other.claim()).value();
            ASSERT_TRUE(kept_->give_back(thread, 2).ok());  // as if its lease had run out
        };
        std::vector<AnswerResult> told;
        if (answers) {
            ASSERT_TRUE(gate.resume({{open, approve()}}, {.name = "alice"}, told).ok());
        } else {
            ASSERT_TRUE(gate.resume().ok());
        }
        EXPECT_EQ(permits.size(), 1U);
        const auto left = gate.open();
        EXPECT_EQ(std::count_if(left.begin(), left.end(),
                                [](const Approval& approval) { return approval.kind == ApprovalKind::unknown; }),
                  1);
        EXPECT_EQ(told.size(), answers ? 1U : 0U);
    }
}

TEST_P(GateLease, AClaimThatWasKeptThoughNobodyCouldTellIsStartedOrReleased) {
    for (const bool starts : {true, false}) {
        SCOPED_TRACE(starts);
        propose();
        store_.appends = {FaultyStore::Fault::uncertain_kept};
        store_.loads_fail = 1;
        EXPECT_FALSE(gate_->claim().ok());
        EXPECT_EQ(gate_->next(), GateStep::start);
        if (starts) {
            auto permits = gate_->claim();
            ASSERT_TRUE(permits.ok());
            ASSERT_EQ(permits->size(), 1U);
            ASSERT_TRUE(gate_->finish(pay_->start(std::move(permits->front()))).ok());
            EXPECT_EQ(pay_->runs.size(), 1U);
            ASSERT_TRUE(gate_->propose({.text = "done"}).ok());
        } else {
            ASSERT_TRUE(gate_->give_back().ok());
            Gate other(
                {.checkpointer = kept_.get(), .thread_id = "t", .tools = {pay_}, .clock = &clock_, .random = &random_});
            ASSERT_TRUE(other.resume().ok());
            EXPECT_EQ(other.running(), 0);
            EXPECT_EQ(other.open().size(), 0U) << "released, not in doubt";
            EXPECT_EQ(other.next(), GateStep::start);
        }
    }
}

}  // namespace
}  // namespace assent
