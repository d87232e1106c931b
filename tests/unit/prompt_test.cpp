// Prompts that come while another is worked on, and prompts that are given again.
#include "support/fakes.hpp"
#include "support/stores.hpp"

#include <assent/gate.hpp>

#include <gtest/gtest.h>

#include <algorithm>

namespace assent {
namespace {

using namespace assent::test;

class Prompts : public testing::TestWithParam<StoreKind> {
protected:
    Prompts() : store_(make_store(GetParam(), folder_)) { guard_->verdicts["pay"] = Verdict::ask; }

    std::unique_ptr<Gate> gate() {
        return std::make_unique<Gate>(GateOptions{.checkpointer = store_.get(),
                                                  .thread_id = "t",
                                                  .tools = {pay_, look_},
                                                  .guards = {guard_},
                                                  .clock = &clock_,
                                                  .random = &random_});
    }
    Approvals approvals() { return Approvals(*store_, clock_, random_); }
    static ModelTurn calls(const std::string& tool) {
        return {.text = "I will", .calls = {{.tool = tool, .id = "call_1", .arguments = "{}"}}};
    }
    // What the model would read, without results and its own turns.
    static std::vector<std::string> said_by_user(const Gate& gate) {
        std::vector<std::string> texts;
        for (const auto& message : *gate.messages()) {
            if (message.role == Role::user) texts.push_back(message.text);
        }
        return texts;
    }
    static void run_ready(Gate& gate) {
        auto permits = gate.claim();
        ASSERT_TRUE(permits.ok());
        for (auto& permit : *permits) {
            const auto tool = gate.tool(permit.tool());
            ASSERT_TRUE(gate.finish(tool->start(std::move(permit))).ok());
        }
    }
    ThreadStatus status() { return (*store_->find_thread("t"))->status; }

    TemporaryFolder folder_;
    std::unique_ptr<Checkpointer> store_;
    FakeClock clock_;
    FakeRandom random_;
    std::shared_ptr<FakeTool> pay_ = fake_tool("pay");
    std::shared_ptr<FakeTool> look_ = fake_tool("look");
    std::shared_ptr<FakeGuard> guard_ = std::make_shared<FakeGuard>();
    Reviewer alice_{.name = "alice"};
};

INSTANTIATE_TEST_SUITE_P(Stores, Prompts, testing::ValuesIn(store_kinds()), store_name);

TEST_P(Prompts, WithoutQueueAPromptOnAWaitingThreadIsRefusedAndNothingIsStored) {
    const auto gate = this->gate();
    ASSERT_TRUE(gate->prompt("pay it", "user").ok());
    ASSERT_TRUE(gate->propose(calls("pay")).ok());
    const auto before = store_->load("t", 0)->size();
    const auto refused = gate->prompt(Prompt{.text = "and then?"}, "user");
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.failure().kind, FailureKind::waiting);
    EXPECT_EQ(store_->load("t", 0)->size(), before);
}

TEST_P(Prompts, AQueuedPromptJoinsAfterTheResultsOfTheTurnThatWaited) {
    const auto gate = this->gate();
    ASSERT_TRUE(gate->prompt("pay it", "user").ok());
    ASSERT_TRUE(gate->propose(calls("pay")).ok());
    // Another process prompts meanwhile, twice.
    const auto other = this->gate();
    EXPECT_EQ(*other->prompt(Prompt{.text = "and then?", .queue = true}, "bob"), PromptTaken::queued);
    EXPECT_EQ(*other->prompt(Prompt{.text = "hurry", .queue = true}, "bob"), PromptTaken::queued);
    EXPECT_EQ(other->open().size(), 1U);
    EXPECT_EQ(said_by_user(*other), std::vector<std::string>{"pay it"});

    std::vector<AnswerResult> told;
    ASSERT_TRUE(gate->resume({{gate->open().front(), approve()}}, alice_, told).ok());
    run_ready(*gate);
    EXPECT_EQ(gate->next(), GateStep::call_model);
    const auto messages = *gate->messages();
    ASSERT_EQ(messages.size(), 5U);
    EXPECT_EQ(messages[2].role, Role::tool);
    EXPECT_EQ(said_by_user(*gate), (std::vector<std::string>{"pay it", "and then?", "hurry"}));
    ASSERT_TRUE(gate->propose({.text = "paid"}).ok());
    EXPECT_EQ(gate->next(), GateStep::done);
    EXPECT_EQ(status(), ThreadStatus::done);
}

TEST_P(Prompts, APromptQueuedWhileTheModelSpeaksIsAnsweredAfterItsText) {
    const auto gate = this->gate();
    ASSERT_TRUE(gate->prompt("hello", "user").ok());
    // The thread is held by the first gate.
    const auto other = this->gate();
    EXPECT_EQ(other->prompt(Prompt{.text = "more"}, "bob").failure().kind, FailureKind::leased);
    EXPECT_EQ(*other->prompt(Prompt{.text = "more", .queue = true}, "bob"), PromptTaken::queued);
    ASSERT_TRUE(gate->propose({.text = "hi"}).ok());
    EXPECT_EQ(gate->next(), GateStep::call_model) << "the run goes on with what was queued";
    EXPECT_EQ(status(), ThreadStatus::active);
    const auto messages = *gate->messages();
    ASSERT_EQ(messages.size(), 3U);
    EXPECT_EQ(messages[1].text, "hi");
    EXPECT_EQ(messages[2].text, "more");
    ASSERT_TRUE(gate->propose({.text = "that is all"}).ok());
    EXPECT_EQ(gate->next(), GateStep::done);
}

TEST_P(Prompts, QueueOnAnIdleThreadBeginsAtOnce) {
    const auto gate = this->gate();
    EXPECT_EQ(*gate->prompt(Prompt{.text = "hello", .queue = true}, "user"), PromptTaken::begun);
    ASSERT_TRUE(gate->propose({.text = "hi"}).ok());
    EXPECT_EQ(*gate->prompt(Prompt{.text = "more", .queue = true}, "user"), PromptTaken::begun);
    EXPECT_EQ(gate->next(), GateStep::call_model);
}

TEST_P(Prompts, AQueueSurvivesDenialsTimeOutsAndFreshProcesses) {
    const auto gate = this->gate();
    ASSERT_TRUE(gate->prompt("pay it", "user").ok());
    ASSERT_TRUE(gate->propose(calls("pay")).ok());
    ASSERT_TRUE(gate->prompt(Prompt{.text = "and then?", .queue = true}, "user").ok());
    ASSERT_TRUE(approvals().answer(gate->open().front().id, deny("no"), alice_).ok());
    const auto fresh = this->gate();
    ASSERT_TRUE(fresh->resume().ok());
    EXPECT_EQ(fresh->next(), GateStep::call_model);
    EXPECT_EQ(said_by_user(*fresh), (std::vector<std::string>{"pay it", "and then?"}));
}

TEST_P(Prompts, AnAbortDropsTheQueue) {
    const auto gate = this->gate();
    ASSERT_TRUE(gate->prompt("pay it", "user").ok());
    ASSERT_TRUE(gate->propose(calls("pay")).ok());
    ASSERT_TRUE(gate->prompt(Prompt{.text = "and then?", .queue = true}, "user").ok());
    ASSERT_TRUE(approvals().abort("t", "enough", "alice").ok());
    const auto fresh = this->gate();
    ASSERT_TRUE(fresh->resume().ok());
    EXPECT_EQ(fresh->next(), GateStep::done);
    EXPECT_EQ(said_by_user(*fresh), std::vector<std::string>{"pay it"});
}

TEST_P(Prompts, AbortOpenCancelsWhatWaitsAndBegins) {
    const auto gate = this->gate();
    ASSERT_TRUE(gate->prompt("pay it", "user").ok());
    ASSERT_TRUE(gate->propose(calls("pay")).ok());
    EXPECT_EQ(*gate->prompt(Prompt{.text = "look", .abort_open = true}, "user"), PromptTaken::begun);
    EXPECT_TRUE(gate->open().empty());
    ASSERT_TRUE(gate->propose(calls("look")).ok());
    run_ready(*gate);
    EXPECT_TRUE(pay_->runs.empty());
    EXPECT_EQ(look_->runs.size(), 1U);
}

TEST_P(Prompts, WhileAToolOfAnAbortedRunStillRunsNothingIsQueued) {
    const auto running = this->gate();
    ASSERT_TRUE(running->prompt("look", "user").ok());
    ASSERT_TRUE(running->propose(calls("look")).ok());
    auto permits = running->claim();
    const Prompt prompt{.text = "pay it", .idempotency_key = "k", .queue = true, .abort_open = true};
    const auto refused = this->gate()->prompt(prompt, "user");
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.failure().kind, FailureKind::waiting);
    EXPECT_EQ(refused.failure().message,
              "thread t was aborted and a tool of it still runs; give the prompt again when it has ended");
    ASSERT_TRUE(running->finish(look_->start(std::move(permits->at(0)))).ok());
    ASSERT_TRUE(running->give_back().ok());
    const auto again = this->gate();
    EXPECT_EQ(*again->prompt(prompt, "user"), PromptTaken::begun);
    EXPECT_EQ(said_by_user(*again), (std::vector<std::string>{"look", "pay it"}));
}

TEST_P(Prompts, AKeyBeginsItsPromptOnce) {
    const auto gate = this->gate();
    const Prompt prompt{.text = "pay it", .idempotency_key = "k"};
    EXPECT_EQ(*gate->prompt(prompt, "user"), PromptTaken::begun);
    ASSERT_TRUE(gate->propose({.text = "paid"}).ok());
    ASSERT_TRUE(gate->give_back().ok());
    const auto rows = store_->load("t", 0)->size();
    const auto fresh = this->gate();
    EXPECT_EQ(*fresh->prompt(prompt, "user"), PromptTaken::repeated);
    EXPECT_EQ(store_->load("t", 0)->size(), rows);
    EXPECT_EQ(fresh->prompt(Prompt{.text = "pay twice", .idempotency_key = "k"}, "user").failure().kind,
              FailureKind::conflict);
    EXPECT_EQ(store_->load("t", 0)->size(), rows);
    EXPECT_EQ(*fresh->prompt(Prompt{.text = "pay twice", .idempotency_key = "l"}, "user"), PromptTaken::begun);
}

TEST_P(Prompts, AKeyOfAQueuedPromptCountsToo) {
    const auto gate = this->gate();
    ASSERT_TRUE(gate->prompt("pay it", "user").ok());
    ASSERT_TRUE(gate->propose(calls("pay")).ok());
    const Prompt prompt{.text = "and then?", .idempotency_key = "k", .queue = true};
    EXPECT_EQ(*gate->prompt(prompt, "user"), PromptTaken::queued);
    EXPECT_EQ(*gate->prompt(prompt, "user"), PromptTaken::repeated);
    EXPECT_EQ(*this->gate()->prompt(prompt, "user"), PromptTaken::repeated);
}

TEST_P(Prompts, AThreadRemembersItsLatestKeys) {
    const auto gate = this->gate();
    for (int i = 0; i <= 100; ++i) {
        const auto number = std::to_string(i);
        ASSERT_EQ(*gate->prompt(Prompt{.text = number, .idempotency_key = number}, "user"), PromptTaken::begun);
        ASSERT_TRUE(gate->propose({.text = "ok"}).ok());
    }
    ASSERT_TRUE(gate->give_back().ok());
    // Also from a snapshot.
    const auto fresh = this->gate();
    EXPECT_EQ(*fresh->prompt(Prompt{.text = "1", .idempotency_key = "1"}, "user"), PromptTaken::repeated);
    EXPECT_EQ(*fresh->prompt(Prompt{.text = "0", .idempotency_key = "0"}, "user"), PromptTaken::begun);
}

}  // namespace
}  // namespace assent
