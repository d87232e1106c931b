// A channel of an agent with sub-agents: what is asked below is told, answered and waited for at the root.
#include "support/families.hpp"
#include "support/live_host.hpp"

#include <gtest/gtest.h>

#include <future>
#include <latch>

namespace assent {
namespace {

using namespace assent::test;
using namespace std::chrono_literals;
using Names = std::vector<std::string>;

class ChannelBelow : public LiveHost {
protected:
    // The worker pays once for each of `n`, one turn each.
    SubAgent worker(int n = 1) {
        std::string turns;
        for (int i = 0; i < n; ++i) turns += pay_turn("{}", "pay_" + std::to_string(i)) + ",";
        return {.name = "worker", .tools = {pay_}, .model = script(turns + R"({"text":"worked"})")};
    }
    static std::string task_then_end() { return task_turn("worker") + "," + end_turn; }
};

INSTANTIATE_TEST_SUITE_P(Stores, ChannelBelow, testing::Values(StoreKind::memory, StoreKind::sqlite), store_name);

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

TEST_P(ChannelBelow, ADetachNamesWhatIsOpenBelow) {
    options_.sub_agents = {worker()};
    auto agent = this->agent(task_then_end());
    std::string asked;
    const auto run = prompt(agent, [&](const HitlRequest& request) {
        asked = request.id;
        EXPECT_TRUE(agent.detach().ok());
    });
    EXPECT_EQ(run.status, RunStatus::waiting);
    const auto suspended = heard_.all<AgentSuspendedEvent>();
    ASSERT_EQ(suspended.size(), 1U);
    ASSERT_EQ(suspended[0].pending.size(), 1U);
    EXPECT_EQ(suspended[0].pending[0].id, asked);
}

TEST_P(ChannelBelow, ADetachCountsWhileAnAnswerMovesTheRunOn) {
    options_.listener = [&](const AgentEvent& event) {
        if (event.kind == AgentEvent::Kind::started) channel_->detach();
    };
    auto agent = this->agent(two_calls());
    std::vector<HitlRequest> requests;
    const auto run = prompt(agent, [&](const HitlRequest& request) {
        requests.push_back(request);
        if (requests.size() == 2) approving()(requests[0]);
    });
    EXPECT_EQ(run.status, RunStatus::waiting);
    ASSERT_EQ(run.interrupts.size(), 1U);
    EXPECT_EQ(run.interrupts[0].id, requests.at(1).id);
}

TEST_P(ChannelBelow, WhoFollowsAnotherRunnerGoesOnWithItsChildrenAfterwards) {
    std::latch may_end(1);
    const auto slow = watched("slow", [&](const ApprovedCall&) {
        may_end.wait();
        return ToolResult{.text = "slow"};
    });
    options_.tools = {pay_, slow};
    options_.middleware = {confirm_tools({"pay"}, {.timeout = 2s})};
    options_.sub_agents = {worker()};
    const auto turns =
        R"({"calls":[)" + task_call("worker") + R"(,{"id":"s","name":"slow","arguments":{}}]},)" + end_turn;
    const auto channel = std::make_shared<WatchedChannel>(*store_, clock_);
    options_.channel = nullptr;
    auto first = agent(turns);
    options_.channel = channel;
    options_.sub_agents = {worker()};
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

// Whoever looks at the channel meanwhile never meets a store that is gone.
TEST(ChannelStores, AnAgentLeavesBeforeItsStoreGoes) {
    const auto channel = std::make_shared<InMemoryChannel>();
    std::atomic<bool> over = false;
    std::jthread host([&] {
        const auto requests = channel->subscribe();
        while (!over) {
            EXPECT_TRUE(requests->poll().ok());
            EXPECT_TRUE(channel->pending().ok());
        }
    });
    for (int i = 0; i < 50; ++i) {
        Agent agent({.model = script(end_turn), .channel = channel, .thread_id = "t"});
        EXPECT_EQ(agent.prompt("go").status, RunStatus::done);
    }
    over = true;
}

}  // namespace
}  // namespace assent
