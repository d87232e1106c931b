// Channels: a prompt that waits for people, and every way in which the waiting ends.
#include "support/faulty_store.hpp"
#include "support/live_host.hpp"

#include <assent/rules.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <latch>

namespace assent {
namespace {

using namespace assent::test;
using namespace std::chrono_literals;
using AnswerStatus = AnswerResult::Status;
using Names = std::vector<std::string>;

class ChannelTest : public LiveHost {};

INSTANTIATE_TEST_SUITE_P(Stores, ChannelTest, testing::ValuesIn(store_kinds()), store_name);

TEST_P(ChannelTest, APromptWaitsUntilSomebodyAnswers) {
    auto agent = this->agent(pay_turn() + "," + end_turn);
    const auto run = prompt(agent, approving());
    EXPECT_EQ(run.status, RunStatus::done);
    EXPECT_EQ(run.text, "all done");
    EXPECT_EQ(pay_->runs().size(), 1U);
    EXPECT_EQ(heard_.names(), (Names{"hitl_request", "hitl_answer", "started", "ended"}));
    const auto answer = heard_.all<HitlAnswerEvent>().at(0);
    EXPECT_EQ(answer.answer, R"({"decision":"approve"})");
    EXPECT_EQ(answer.answered_by, "alice");
    EXPECT_EQ(answer.question_id, "call_1");
    EXPECT_FALSE(answer.cancelled || answer.timed_out);
}

TEST_P(ChannelTest, WhoWaitsForPeopleHoldsNoThread) {
    auto agent = this->agent(pay_turn() + "," + end_turn);
    std::int64_t runner = -1;
    (void)prompt(agent, [&](const HitlRequest& request) {
        runner = (*store_->find_thread("t"))->runner;
        approving()(request);
    });
    EXPECT_EQ(runner, 0);
}

TEST_P(ChannelTest, SeveralAreOpenAtOnceAndAnsweredInAnyOrder) {
    auto agent = this->agent(two_calls());
    std::vector<HitlRequest> requests;
    const auto run = prompt(agent, [&](const HitlRequest& request) {
        requests.push_back(request);
        if (requests.size() < 2) return;
        EXPECT_EQ(channel_->pending()->size(), 2U);
        (void)channel_->answer(requests[1].question_id, ApproveAnswer{.decision = DecisionKind::approve});
        (void)channel_->answer(requests[0].question_id, ApproveAnswer{.reason = "not this one"});
    });
    EXPECT_EQ(run.status, RunStatus::done);
    EXPECT_EQ(pay_->runs(), std::vector<std::string>{R"({"n":2})"});
    EXPECT_EQ(requests.at(0).question_id, "a");
    EXPECT_EQ(requests.at(1).question_id, "b");
    const auto messages = *agent.messages();
    EXPECT_EQ(messages.at(2).text, "not this one");
    EXPECT_EQ(messages.at(3).text, "pay ran");
}

TEST_P(ChannelTest, ASubscriberGetsWhatIsOpenThenEverythingOnceInOrder) {
    options_.channel = nullptr;  // the prompt returns
    ASSERT_EQ(agent(two_calls()).prompt("go").interrupts.size(), 2U);
    const auto late = channel_->subscribe();
    EXPECT_EQ((*late->next())->question_id, "a");
    EXPECT_EQ((*late->poll())->question_id, "b");
    EXPECT_FALSE((*late->poll()).has_value());
    (void)channel_->answer("a", ApproveAnswer{.reason = "no"});
    const auto later = channel_->subscribe();
    EXPECT_EQ((*later->poll())->question_id, "b") << "what is over is not told any more";
    later->close();
    EXPECT_FALSE((*later->next()).has_value());
    EXPECT_EQ(channel_->pending()->size(), 1U) << "who goes away leaves what is open open";
}

TEST_P(ChannelTest, AnAnswerFromAnywhereEndsTheWaiting) {
    auto agent = this->agent(pay_turn() + "," + end_turn);
    // Not through the channel: as another process would, which cannot wake this one.
    const auto run = prompt(agent, [&](const HitlRequest& request) {
        EXPECT_EQ(approvals().answer(request.id, approve(), {.name = "elsewhere"})->status, AnswerStatus::decided);
    });
    EXPECT_EQ(run.status, RunStatus::done);
    EXPECT_EQ(heard_.all<HitlAnswerEvent>().at(0).answered_by, "elsewhere");
}

TEST_P(ChannelTest, AfterTheDeadlineTheRunGoesOnByItself) {
    options_.middleware = {confirm_tools({"pay"}, {.timeout = 180s})};
    auto agent = this->agent(pay_turn() + "," + end_turn);
    std::string id;
    const auto run = prompt(agent, [&](const HitlRequest& request) {
        id = request.id;
        clock_.pass(180s);
    });
    EXPECT_EQ(run.status, RunStatus::done);
    EXPECT_EQ(run.calls.at(0).text, "approval_timeout");
    EXPECT_EQ(run.calls.at(0).outcome, OutcomeKind::timed_out);
    EXPECT_TRUE(heard_.all<HitlAnswerEvent>().at(0).timed_out);
    EXPECT_EQ(heard_.all<HitlAnswerEvent>().at(0).answer, "");
    EXPECT_EQ(channel_->answer(id, ApproveAnswer{.decision = DecisionKind::approve})->status, AnswerStatus::expired);
    EXPECT_TRUE(pay_->runs().empty());
}

TEST_P(ChannelTest, TheChannelsTimeoutCountsWhereThePolicySaysNone) {
    options_.middleware = {confirm_tools({"pay"})};
    options_.channel = std::make_shared<CheckpointedChannel>(
        *store_, "t", ChannelOptions{.default_timeout = 30s, .look_ms = 5, .clock = &clock_});
    channel_ = options_.channel;
    auto agent = this->agent(pay_turn() + "," + end_turn);
    std::optional<double> seconds;
    const auto run = prompt(agent, [&](const HitlRequest& request) {
        seconds = request.timeout_seconds;
        clock_.pass(30s);
    });
    EXPECT_EQ(seconds, 30);
    EXPECT_EQ(run.calls.at(0).text, "approval_timeout");
}

TEST_P(ChannelTest, ACancelledRequestEndsItsCall) {
    auto agent = this->agent(pay_turn() + "," + end_turn);
    const auto run = prompt(agent, [&](const HitlRequest& request) {
        EXPECT_EQ(channel_->cancel(request.question_id, "closed tab", {.name = "alice"})->status,
                  AnswerStatus::decided);
        EXPECT_EQ(channel_->cancel(request.id, "again")->status, AnswerStatus::conflict);
        EXPECT_EQ(channel_->answer(request.id, ApproveAnswer{.decision = DecisionKind::approve})->status,
                  AnswerStatus::conflict);
    });
    EXPECT_EQ(run.status, RunStatus::done);
    EXPECT_EQ(run.calls.at(0).text, "cancelled: closed tab");
    EXPECT_EQ(run.calls.at(0).outcome, OutcomeKind::cancelled);
    EXPECT_TRUE(heard_.all<HitlAnswerEvent>().at(0).cancelled);
}

TEST_P(ChannelTest, ADetachedPromptReturnsAndLeavesWhatIsOpenOpen) {
    auto agent = this->agent(pay_turn() + "," + end_turn);
    const auto run = prompt(agent, [&](const HitlRequest&) { EXPECT_TRUE(agent.detach().ok()); });
    EXPECT_EQ(run.status, RunStatus::waiting);
    ASSERT_EQ(run.interrupts.size(), 1U);
    EXPECT_EQ(heard_.names(), (Names{"hitl_request", "agent_suspended"}));
    EXPECT_EQ(heard_.all<AgentSuspendedEvent>().at(0).pending.at(0).id, run.interrupts[0].id);
    const auto later =
        this->agent(pay_turn() + "," + end_turn).respond("call_1", ApproveAnswer{.decision = DecisionKind::approve});
    EXPECT_EQ(later.status, RunStatus::done);
    EXPECT_EQ(pay_->runs().size(), 1U);
}

TEST_P(ChannelTest, ADetachCountsAsSoonAsTheQuestionIsStored) {
    FaultyStore watched(*store_);
    options_.checkpointer = &watched;
    auto agent = this->agent(pay_turn() + "," + end_turn);
    watched.lives_after = [&](const Append&) {
        const bool asked = !channel_->pending()->empty();
        return !asked || agent.detach().ok();
    };
    EXPECT_EQ(agent.prompt("go").status, RunStatus::waiting);
}

TEST_P(ChannelTest, ADetachCountsWhileAnAnswerMovesTheRunOn) {
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

TEST_P(ChannelTest, AnAgentWithoutAChannelHasNothingToDetach) {
    options_.channel = nullptr;
    EXPECT_EQ(agent(end_turn).detach().failure().message, "the agent has no channel to be detached from");
}

TEST_P(ChannelTest, AStopTokenEndsTheWaiting) {
    auto agent = this->agent(pay_turn() + "," + end_turn);
    std::stop_source stop;
    const auto run = with_host([&](const HitlRequest&) { stop.request_stop(); },
                               [&] { return agent.prompt("go", stop.get_token()); });
    EXPECT_TRUE(run.interrupted);
    EXPECT_EQ(run.interrupts.size(), 1U);
}

TEST_P(ChannelTest, AnAbortClosesTheConversationCleanly) {
    auto agent = this->agent(two_calls());
    int requests = 0;
    const auto run = prompt(agent, [&](const HitlRequest&) {
        if (++requests < 2) return;
        EXPECT_TRUE(agent.abort_pending("user closed tab")->aborted);
    });
    EXPECT_EQ(run.status, RunStatus::aborted);
    const auto messages = *agent.messages();
    ASSERT_EQ(messages.size(), 5U);
    EXPECT_EQ(messages[2].text, "aborted: user closed tab");
    EXPECT_EQ(messages[3].text, "aborted: user closed tab");
    EXPECT_EQ(messages[4].text, "Conversation aborted: user closed tab");
    EXPECT_EQ(messages[4].stop_reason, "aborted");
    EXPECT_EQ(run.calls.at(0).details, R"({"hitl":{"decision":"aborted","reason":"user closed tab"}})");
    EXPECT_EQ(heard_.names(), (Names{"hitl_request", "hitl_request", "agent_aborted"}));
    EXPECT_EQ(heard_.all<AgentAbortedEvent>().at(0).reason, "user closed tab");
    EXPECT_TRUE(channel_->pending()->empty());
    EXPECT_EQ(this->agent(R"({"text":"x"},{"text":"fresh"})").prompt("hello").text, "fresh");
}

TEST_P(ChannelTest, AnAbortFromElsewhereAndWithNothingOpenIsNoError) {
    auto agent = this->agent(pay_turn() + "," + end_turn);
    EXPECT_TRUE(agent.abort_pending().ok()) << "there is no thread yet";
    const auto run = prompt(agent, [&](const HitlRequest&) {
        auto other = this->agent(end_turn);
        EXPECT_TRUE(other.abort_pending()->aborted);
    });
    EXPECT_EQ(run.status, RunStatus::aborted);
    EXPECT_EQ(run.text, "Conversation aborted: aborted by host");
    EXPECT_FALSE(agent.abort_pending("again")->aborted);
    EXPECT_EQ(heard_.all<AgentAbortedEvent>().back().reason, "again");
    EXPECT_EQ((*agent.messages()).back().text, "Conversation aborted: aborted by host");
}

TEST_P(ChannelTest, AnAnswerThatIsNoneIsRefusedAndTheRequestStaysOpen) {
    auto agent = this->agent(pay_turn() + "," + end_turn);
    const auto run = prompt(agent, [&](const HitlRequest& request) {
        for (const auto* json : {"true", "{}", R"({"decision":"maybe"})", R"({"decision":"edit"})", "no json"}) {
            EXPECT_EQ(channel_->answer(request.id, HitlAnswer::json(json))->status, AnswerStatus::refused) << json;
        }
        EXPECT_EQ(channel_->answer("call", ApproveAnswer{})->status, AnswerStatus::not_found);
        approving()(request);
    });
    EXPECT_EQ(run.status, RunStatus::done);
    EXPECT_EQ(pay_->runs().size(), 1U);
}

TEST_P(ChannelTest, ApprovalsOfOtherStylesAreAnsweredInTheSameForm) {
    options_.middleware = {std::make_shared<ToolInterruptMiddleware>(std::vector<InterruptRule>{{"pay"}})};
    auto agent = this->agent(pay_turn(R"({"n":1,"m":2})") + "," + end_turn);
    const auto run = prompt(agent, answering({.decision = DecisionKind::edit, .edited_args = R"({"n":3})"}));
    EXPECT_EQ(run.status, RunStatus::done);
    EXPECT_EQ(pay_->runs(), std::vector<std::string>{R"({"n":3,"m":2})"}) << "in their own way: keys are laid over";
}

TEST_P(ChannelTest, AnotherAgentMayGoOnWhileThePromptWaits) {
    auto agent = this->agent(pay_turn() + "," + end_turn);
    auto other = this->agent(pay_turn() + "," + end_turn);
    RunEnd responded;
    const auto run = prompt(agent, [&](const HitlRequest& request) {
        responded = other.respond(request.question_id, ApproveAnswer{.decision = DecisionKind::approve});
    });
    EXPECT_EQ(responded.status, RunStatus::done);
    EXPECT_EQ(run.status, RunStatus::done);
    EXPECT_EQ(run.text, "all done");
    EXPECT_EQ(pay_->runs().size(), 1U);
}

TEST_P(ChannelTest, OfTwoWhoRespondAtOnceOneIsToldTheConflict) {
    options_.channel = nullptr;
    ASSERT_EQ(agent(pay_turn() + "," + end_turn).prompt("go").status, RunStatus::waiting);
    options_.channel = channel_;
    const ApproveAnswer answers[] = {{.decision = DecisionKind::approve}, {.reason = "no"}};
    std::vector<RunEnd> runs(2);
    {
        std::latch start(2);
        std::vector<std::jthread> people;
        for (std::size_t i = 0; i < 2; ++i) {
            people.emplace_back([&, i] {
                auto own = agent(pay_turn() + "," + end_turn);
                start.arrive_and_wait();
                runs[i] = own.respond("call_1", answers[i]);
            });
        }
    }
    const auto lost = [](const RunEnd& run) { return run.failure && run.failure->kind == FailureKind::conflict; };
    EXPECT_EQ(std::ranges::count_if(runs, lost), 1);
    EXPECT_EQ(std::ranges::count(runs, RunStatus::done, &RunEnd::status), 1);
    const bool approved = !lost(runs[0]);
    EXPECT_EQ(pay_->runs().size(), approved ? 1U : 0U);
}

TEST_P(ChannelTest, ARespondThatDoesNotCountGoesOnWithNothing) {
    options_.channel = nullptr;
    const auto asked = agent(pay_turn() + "," + end_turn).prompt("go");
    auto later = agent(pay_turn() + "," + end_turn);
    EXPECT_EQ(later.respond("no such", ApproveAnswer{}).failure->kind, FailureKind::not_found);
    EXPECT_EQ(later.respond("call_1", true).failure->kind, FailureKind::refused);
    EXPECT_EQ(channel_->pending()->size(), 1U);
    const auto id = asked.interrupts.at(0).id;
    EXPECT_EQ(approvals().answer(id, deny("no"), {.name = "bob"})->status, AnswerStatus::decided);
    const auto run = later.respond(id, ApproveAnswer{.decision = DecisionKind::approve});
    EXPECT_EQ(run.failure->kind, FailureKind::conflict);
    EXPECT_EQ(run.answers.at(0).approval.decided_by, "bob");
    EXPECT_EQ(later.resume().status, RunStatus::done);
}

TEST_P(ChannelTest, AnAgentThatRunsRefusesASecondCaller) {
    auto agent = this->agent(pay_turn() + "," + end_turn);
    RunEnd second;
    (void)prompt(agent, [&](const HitlRequest& request) {
        second = agent.respond(request.id, ApproveAnswer{});
        approving()(request);
    });
    EXPECT_EQ(second.failure->kind, FailureKind::usage);
}

TEST_P(ChannelTest, TwoAgentsMayShareAChannel) {
    const auto shared = std::make_shared<InMemoryChannel>(ChannelOptions{.look_ms = 5, .clock = &clock_});
    channel_ = options_.channel = shared;
    auto first = agent(pay_turn() + "," + end_turn);
    options_.thread_id = "u";
    auto second = agent(pay_turn() + "," + end_turn);
    std::vector<HitlRequest> requests;
    RunEnd of_second;
    std::jthread beside([&] { of_second = second.prompt("go"); });
    const auto run = prompt(first, [&](const HitlRequest& request) {
        requests.push_back(request);
        if (requests.size() < 2) return;
        EXPECT_EQ(channel_->answer("call_1", ApproveAnswer{})->status, AnswerStatus::ambiguous);
        for (const auto& one : requests)
            (void)channel_->answer(one.id, ApproveAnswer{.decision = DecisionKind::approve});
    });
    beside.join();
    EXPECT_EQ(run.status, RunStatus::done);
    EXPECT_EQ(of_second.status, RunStatus::done);
    EXPECT_EQ(pay_->runs().size(), 2U);
}

TEST_P(ChannelTest, AChannelForAnotherThreadIsAnError) {
    options_.thread_id = "other";
    EXPECT_THROW((void)agent(end_turn), ConfigError);
    EXPECT_THROW(CheckpointedChannel(*store_, ""), ConfigError);
}

TEST_P(ChannelTest, ALiveChannelIsEnoughToAsk) {
    options_.checkpointer = nullptr;
    options_.channel = std::make_shared<NoOpChannel>(ChannelOptions{.clock = &clock_});
    auto agent = this->agent(pay_turn() + "," + end_turn);
    EXPECT_EQ(agent.prompt("go").status, RunStatus::done);
    EXPECT_EQ(pay_->runs().size(), 1U);
    EXPECT_EQ(agent.resume().failure->message, "cannot resume without a checkpointer");
}

TEST_P(ChannelTest, AScriptedChannelAnswersInOrderAndSaysWhenItHasNoMore) {
    const auto scripted = std::make_shared<ScriptedChannel>(
        std::vector<HitlAnswer>{ApproveAnswer{.decision = DecisionKind::approve}}, ChannelOptions{.clock = &clock_});
    options_.channel = scripted;
    EXPECT_EQ(agent(pay_turn() + "," + end_turn).prompt("go").status, RunStatus::done);
    EXPECT_EQ(scripted->history().size(), 1U);
    auto again = agent(pay_turn() + "," + end_turn + "," + pay_turn());
    EXPECT_THROW((void)again.prompt("go"), std::logic_error);
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
