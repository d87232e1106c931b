// A live channel and sub-agents: whoever answers for an agent hears and answers for all that work for it.
#include "support/live_host.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <latch>

namespace assent {
namespace {

using namespace assent::test;
using namespace std::chrono_literals;
using AnswerStatus = AnswerResult::Status;
using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;

std::string task(const std::string& type, const std::string& id) {
    return R"({"id":")" + id + R"(","name":"task","arguments":{"description":"pay it","subagent_type":")" + type +
           R"("}})";
}

class ChannelOverChildren : public LiveHost {
protected:
    // A worker that makes this one call with the tools of the agent above.
    static SubAgent worker(const std::string& name, const std::string& arguments, const std::string& id) {
        return {.name = name, .model = script(pay_turn(arguments, id) + R"(,{"text":"worked"})")};
    }
    static std::string one_task() { return R"({"calls":[)" + task("one", "task_1") + "]}," + end_turn; }
    static std::string two_tasks() {
        return R"({"calls":[)" + task("one", "task_1") + "," + task("two", "task_2") + "]}," + end_turn;
    }
    void have_one() { options_.sub_agents = {worker("one", R"({"n":1})", "pay_1")}; }
    void have_two() {
        options_.sub_agents = {worker("one", R"({"n":1})", "pay_1"), worker("two", R"({"n":2})", "pay_2")};
    }
    static std::vector<std::string> results(const Agent& agent) {
        std::vector<std::string> texts;
        for (const auto& message : *agent.messages()) {
            if (message.role == Role::tool) texts.push_back(message.text);
        }
        return texts;
    }
};

INSTANTIATE_TEST_SUITE_P(Stores, ChannelOverChildren, testing::ValuesIn(store_kinds()), store_name);

TEST_P(ChannelOverChildren, GC12_AToolThatIsGatedAboveIsAskedAboutInAChild) {
    have_one();
    for (const bool approved : {false, true}) {
        use_thread(approved ? "yes" : "no");
        auto agent = this->agent(one_task());
        std::vector<HitlRequest> requests;
        const auto run = prompt(agent, [&](const HitlRequest& request) {
            requests.push_back(request);
            EXPECT_THAT(pay_->runs(), IsEmpty());
            answering({.decision = approved ? DecisionKind::approve : DecisionKind::deny, .reason = "no"})(request);
        });
        EXPECT_EQ(run.status, RunStatus::done);
        ASSERT_EQ(requests.size(), 1U);
        EXPECT_EQ(requests[0].thread_id, options_.thread_id + "/1.0");
        EXPECT_EQ(requests[0].payload.tool_name, "pay");
        EXPECT_THAT(results(agent), ElementsAre("worked"));
        EXPECT_EQ(pay_->runs().size(), approved ? 1U : 0U);
    }
}

TEST_P(ChannelOverChildren, TwoThatWorkAtOnceAreAnsweredInAnyOrder) {
    have_two();
    auto agent = this->agent(two_tasks());
    std::vector<HitlRequest> requests;
    const auto run = prompt(agent, [&](const HitlRequest& request) {
        requests.push_back(request);
        if (requests.size() < 2) return;
        EXPECT_EQ(channel_->pending()->size(), 2U);
        EXPECT_NE(requests[0].thread_id, requests[1].thread_id);
        for (const auto& open : {requests[1], requests[0]}) {
            const auto decision = open.question_id == "pay_1" ? DecisionKind::approve : DecisionKind::deny;
            EXPECT_EQ(channel_->answer(open.id, ApproveAnswer{.decision = decision})->status, AnswerStatus::decided);
        }
    });
    EXPECT_EQ(run.status, RunStatus::done);
    EXPECT_THAT(pay_->runs(), ElementsAre(R"({"n":1})"));
    EXPECT_THAT(results(agent), ElementsAre("worked", "worked"));
}

TEST_P(ChannelOverChildren, TheListenerHearsOfBothAnswers) {
    have_one();
    auto agent = this->agent(one_task());
    (void)prompt(agent, approving());
    const auto asked = heard_.all<HitlRequestEvent>();
    ASSERT_EQ(asked.size(), 1U);
    const auto answers = heard_.all<HitlAnswerEvent>();
    ASSERT_EQ(answers.size(), 1U);
    EXPECT_EQ(answers[0].question_id, "pay_1");
    EXPECT_EQ(answers[0].answered_by, "alice");
    EXPECT_EQ(heard_.names(), (std::vector<std::string>{"hitl_request", "hitl_answer", "started", "ended", "ended"}));
}

TEST_P(ChannelOverChildren, ADetachedPromptLeavesTheChildsQuestionOpenForAnybody) {
    have_one();
    auto agent = this->agent(one_task());
    auto run = prompt(agent, [&](const HitlRequest&) { channel_->detach(); });
    ASSERT_EQ(run.status, RunStatus::waiting);
    ASSERT_EQ(run.interrupts.size(), 1U);
    const auto suspended = heard_.all<AgentSuspendedEvent>();
    ASSERT_EQ(suspended.size(), 1U);
    ASSERT_EQ(suspended[0].pending.size(), 1U);
    EXPECT_EQ(suspended[0].pending[0].thread_id, "t/1.0");
    // Somebody else, with a channel and an agent of their own.
    use_thread("t");
    ASSERT_EQ(channel_->pending()->size(), 1U);
    auto other = this->agent(one_task());
    run = other.respond("pay_1", ApproveAnswer{.decision = DecisionKind::approve});
    EXPECT_EQ(run.status, RunStatus::done) << (run.failure ? run.failure->message : "");
    EXPECT_EQ(pay_->runs().size(), 1U);
}

TEST_P(ChannelOverChildren, ADeadlineInAChildEndsItsCallAndTheRunGoesOnByItself) {
    options_.middleware = {confirm_tools({"pay"}, {.timeout = 10s})};
    have_one();
    auto agent = this->agent(one_task());
    const auto run = prompt(agent, [&](const HitlRequest&) { clock_.pass(11s); });
    EXPECT_EQ(run.status, RunStatus::done);
    EXPECT_THAT(pay_->runs(), IsEmpty());
    EXPECT_TRUE(heard_.all<HitlAnswerEvent>().at(0).timed_out);
    const auto messages = *approvals().transcript("t/1.0");
    EXPECT_THAT(messages, Contains(testing::Field(&Message::text, "approval_timeout")));
}

TEST_P(ChannelOverChildren, TheChannelsTimeOutIsTheChildrensToo) {
    options_.middleware = {confirm_tools({"pay"})};
    channel_ = std::make_shared<CheckpointedChannel>(
        *store_, "t", ChannelOptions{.default_timeout = 20s, .look_ms = 5, .clock = &clock_});
    options_.channel = channel_;
    have_one();
    auto agent = this->agent(one_task());
    (void)prompt(agent, [&](const HitlRequest& request) {
        EXPECT_EQ(request.timeout_seconds, 20.0);
        approving()(request);
    });
    EXPECT_EQ(pay_->runs().size(), 1U);
}

TEST_P(ChannelOverChildren, AnAbortEndsWhatChildrenWaitFor) {
    have_two();
    auto agent = this->agent(two_tasks());
    int open = 0;
    const auto run = prompt(agent, [&](const HitlRequest&) {
        if (++open == 2) (void)agent.abort_pending("user closed tab");
    });
    EXPECT_EQ(run.status, RunStatus::aborted);
    EXPECT_THAT(pay_->runs(), IsEmpty());
    EXPECT_THAT(*channel_->pending(), IsEmpty());
    EXPECT_THAT(results(agent), ElementsAre("aborted: user closed tab", "aborted: user closed tab"));
}

// Says when somebody begins to wait on it.
class WatchedChannel final : public CheckpointedChannel {
public:
    WatchedChannel(Checkpointer& store, const Clock& clock)
        : CheckpointedChannel(store, "t", ChannelOptions{.look_ms = 5, .clock = &clock}) {}
    bool wait(const Mark& mark, std::int64_t milliseconds, const std::stop_token& stop) override {
        if (!waited_.exchange(true)) waits.count_down();
        return CheckpointedChannel::wait(mark, milliseconds, stop);
    }
    std::latch waits{1};

private:
    std::atomic<bool> waited_ = false;
};

TEST_P(ChannelOverChildren, WhoFollowsAnotherRunnerGoesOnWithItsChildrenAfterwards) {
    std::latch may_end(1);
    const auto slow = watched("slow", [&](const ApprovedCall&) {
        may_end.wait();
        return ToolResult{.text = "slow"};
    });
    options_.tools = {pay_, slow};
    options_.middleware = {confirm_tools({"pay"}, {.timeout = 2s})};
    have_one();
    const auto turns =
        R"({"calls":[)" + task("one", "task_1") + R"(,{"id":"s","name":"slow","arguments":{}}]},)" + end_turn;
    const auto channel = std::make_shared<WatchedChannel>(*store_, clock_);
    options_.channel = nullptr;
    auto first = agent(turns);
    options_.channel = channel;
    have_one();
    auto second = agent(turns);
    auto began = std::async(std::launch::async, [&] { return first.prompt("go").status; });
    while (approvals().pending("t")->empty()) std::this_thread::yield();
    auto followed = std::async(std::launch::async, [&] { return second.resume(); });
    channel->waits.wait();
    may_end.count_down();
    EXPECT_EQ(began.get(), RunStatus::waiting);
    clock_.pass(2s);
    const auto run = followed.get();
    EXPECT_EQ(run.status, RunStatus::done) << (run.failure ? run.failure->message : "");
    EXPECT_TRUE(approvals().pending("t")->empty());
    EXPECT_TRUE(pay_->runs().empty());
}

}  // namespace
}  // namespace assent
