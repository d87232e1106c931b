// Resuming an agent with answers: what it costs, what is told, and what an ill moment does.
#include "support/agents.hpp"
#include "support/faulty_store.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace assent {
namespace {

using namespace assent::test;
using AnswerStatus = AnswerResult::Status;
using Fault = FaultyStore::Fault;

class AgentResume : public AgentOverStore {
protected:
    AgentResume() : faulty_(*store_) {
        guard_->verdicts["pay"] = Verdict::ask;
        options_.tools = {pay_};
        options_.guards = {guard_};
        options_.listener = [this](const AgentEvent& event) { told_.push_back(event.kind); };
    }
    Agent agent(std::shared_ptr<Model> model) {
        auto options = options_;
        options.model = std::move(model);
        options.checkpointer = &faulty_;
        options.thread_id = "t";
        options.clock = &clock_;
        options.random = &random_;
        return Agent(std::move(options));
    }
    Agent agent() { return agent(script(call_turn("pay") + "," + end_turn)); }

    FaultyStore faulty_;
    std::shared_ptr<WatchedTool> pay_ = watched("pay");
    std::vector<AgentEvent::Kind> told_;
};

INSTANTIATE_TEST_SUITE_P(Stores, AgentResume, testing::ValuesIn(store_kinds()), store_name);

TEST_P(AgentResume, AGatedCycleIsFiveAppendsAndFiveRows) {
    auto agent = this->agent();
    const auto asked = agent.prompt("pay it");
    ASSERT_EQ(asked.status, RunStatus::waiting);
    EXPECT_EQ(faulty_.appended, 2);
    told_.clear();
    const auto run = agent.resume({{asked.interrupts.at(0).id, true}});
    EXPECT_EQ(run.status, RunStatus::done);
    EXPECT_EQ(run.text, "all done");
    EXPECT_EQ(run.answers.at(0).status, AnswerStatus::decided);
    EXPECT_EQ(faulty_.appended, 5);
    EXPECT_EQ(store_->load("t", 0)->size(), 5U);
    EXPECT_EQ(pay_->runs().size(), 1U);
    EXPECT_EQ(std::count(told_.begin(), told_.end(), AgentEvent::Kind::started), 1);
    EXPECT_EQ(std::count(told_.begin(), told_.end(), AgentEvent::Kind::ended), 1);
}

TEST_P(AgentResume, StoppedBeforeTheStartItIsReleasedAndStartsLater) {
    auto agent = this->agent();
    const auto asked = agent.prompt("pay it");
    std::stop_source stop;
    stop.request_stop();
    auto run = agent.resume({{asked.interrupts.at(0).id, true}}, stop.get_token());
    EXPECT_TRUE(run.interrupted);
    EXPECT_EQ(run.answers.at(0).status, AnswerStatus::decided);
    EXPECT_TRUE(pay_->runs().empty());
    EXPECT_FALSE((*store_->find_thread("t"))->runner_alive);
    run = this->agent().resume();
    EXPECT_EQ(run.status, RunStatus::done) << "nobody is asked whether it ran";
    EXPECT_EQ(pay_->runs().size(), 1U);
}

TEST_P(AgentResume, WhatCouldNotBeRecordedIsNotToldAndTheThreadIsNotHeld) {
    auto agent = this->agent();
    const auto asked = agent.prompt("pay it");
    const auto id = asked.interrupts.at(0).id;
    faulty_.appends = {Fault::fails, Fault::fails};
    auto run = agent.resume({{"none", true}, {id, true}});
    EXPECT_EQ(run.status, RunStatus::failed);
    EXPECT_EQ(run.failure->message, "the store is broken");
    ASSERT_EQ(run.answers.size(), 1U);
    EXPECT_EQ(run.answers[0].status, AnswerStatus::not_found);
    EXPECT_FALSE((*store_->find_thread("t"))->runner_alive);
    run = agent.resume({{"none", true}, {id, true}, {"neither", true}});
    EXPECT_EQ(run.status, RunStatus::done);
    ASSERT_EQ(run.answers.size(), 3U);
    EXPECT_EQ(run.answers[0].status, AnswerStatus::not_found);
    EXPECT_EQ(run.answers[1].status, AnswerStatus::decided);
    EXPECT_EQ(run.answers[2].status, AnswerStatus::not_found);
    EXPECT_EQ(pay_->runs().size(), 1U);
}

TEST_P(AgentResume, AFailureAfterTheClaimGivesTheThreadBackUnstarted) {
    auto agent = this->agent(script(R"({"calls":[{"id":"a","name":"pay"},{"id":"b","name":"pay"}]},)" + end_turn));
    const auto asked = agent.prompt("pay it");
    ASSERT_EQ(asked.interrupts.size(), 2U);
    const auto lost = asked.interrupts[0].id;
    EXPECT_EQ(approvals().answer(lost, deny("no"), {.name = "bob"})->status, AnswerStatus::decided);
    faulty_.before_append = [this] { faulty_.loads_fail = 1; };
    auto run = agent.resume({{lost, true}, {asked.interrupts[1].id, true}});
    EXPECT_EQ(run.status, RunStatus::failed);
    EXPECT_FALSE((*store_->find_thread("t"))->runner_alive);
    EXPECT_TRUE(pay_->runs().empty());
    run = this->agent(script(R"({"calls":[]},)" + end_turn)).resume();
    EXPECT_EQ(run.status, RunStatus::done);
    EXPECT_EQ(pay_->runs().size(), 1U);
}

// Remembers how long the conversation is that it is asked about.
class ReadingModel final : public Model {
public:
    std::string name() const override { return "reading"; }
    Result<ModelTurn> turn(const ModelRequest& request, const std::function<void(std::string_view)>&,
                           const std::stop_token&) override {
        const auto messages = request.messages();
        if (!messages) return messages.failure();
        sizes.push_back(messages->size());
        return ModelTurn{.text = "done"};
    }
    std::vector<std::size_t> sizes;
};

TEST_P(AgentResume, TheModelOfAFreshAgentReadsTheWholeConversation) {
    const auto model = std::make_shared<ReadingModel>();
    constexpr std::size_t prompts = 50;
    for (std::size_t i = 0; i < prompts; ++i) ASSERT_EQ(agent(model).prompt("go on").status, RunStatus::done);
    ASSERT_TRUE(store_->snapshot("t")->has_value());
    for (std::size_t i = 0; i < prompts; ++i) EXPECT_EQ(model->sizes.at(i), 2 * i + 1);
    EXPECT_EQ(agent(model).messages()->size(), 0U) << "nothing was loaded yet";
    faulty_.before_append = [this] { faulty_.loads_fail = 1; };
    const auto failed = agent(model).prompt("go on");
    EXPECT_EQ(failed.status, RunStatus::failed);
    EXPECT_EQ(failed.failure->kind, FailureKind::database);
    EXPECT_EQ(agent(model).resume().status, RunStatus::done);
    EXPECT_EQ(model->sizes.back(), 2 * prompts + 1);
}

}  // namespace
}  // namespace assent
