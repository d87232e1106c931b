// Faults that are known of gates like this one: each test is called by the number of a fault (GC1 …) and shows that
// it is not here. What a fault is stands in the test's own words. GC12 is about child threads and their guards; a
// version without them cannot have it.
#include "support/faulty_store.hpp"
#include "support/live_host.hpp"

#include <assent/ask_user.hpp>

#include <gtest/gtest.h>

#include <latch>

namespace assent {
namespace {

using namespace assent::test;
using namespace std::chrono_literals;
using AnswerStatus = AnswerResult::Status;
using Texts = std::vector<std::string>;

const ApproveAnswer yes{.decision = DecisionKind::approve};
const ApproveAnswer no{.decision = DecisionKind::deny, .reason = "no"};

class KnownFaults : public LiveHost {
protected:
    AnswerStatus answer(const std::string& id, const ApproveAnswer& answer) {
        return channel_->answer(id, answer, {.name = "alice"})->status;
    }
    // Lets the prompt return, so that what is open is answered without anybody waiting.
    void without_channel() { options_.channel = nullptr; }
    Texts results(const Agent& agent) {
        Texts texts;
        for (const auto& message : *agent.messages()) {
            if (message.role == Role::tool) texts.push_back(message.text);
        }
        return texts;
    }
    int events(std::string_view kind) {
        int count = 0;
        for (const auto& entry : *approvals().history(options_.thread_id)) count += entry.event == kind ? 1 : 0;
        return count;
    }
};

INSTANTIATE_TEST_SUITE_P(Stores, KnownFaults, testing::ValuesIn(store_kinds()), store_name);

TEST_P(KnownFaults, GC1_AnAnswerGivenTwiceDoesNotAnswerTheNextRequest) {
    auto agent = this->agent(pay_turn(R"({"n":1})") + "," + pay_turn(R"({"n":2})", "call_2") + "," + end_turn);
    (void)prompt(agent, [&](const HitlRequest& request) {
        if (request.question_id == "call_2") {
            EXPECT_EQ(answer("call_2", no), AnswerStatus::decided);
            return;
        }
        EXPECT_EQ(answer(request.id, yes), AnswerStatus::decided);
        EXPECT_EQ(answer(request.id, yes), AnswerStatus::already);
    });
    EXPECT_EQ(pay_->runs(), Texts{R"({"n":1})"});
}

TEST_P(KnownFaults, GC2_ASecondAnswerThatDiffersIsAConflictAndIsNotStored) {
    without_channel();
    const auto id = agent(pay_turn() + "," + end_turn).prompt("go").interrupts.at(0).id;
    EXPECT_EQ(answer(id, yes), AnswerStatus::decided);
    const auto second = *channel_->answer(id, no, {.name = "bob"});
    EXPECT_EQ(second.status, AnswerStatus::conflict);
    EXPECT_EQ(second.approval.decided_by, "alice");
    EXPECT_EQ(second.approval.decision, DecisionKind::approve);
    EXPECT_EQ(events("answered"), 1);
}

TEST_P(KnownFaults, GC3_AnAnswerAfterTheDeadlineIsToldSoAndLeavesNoTrace) {
    without_channel();
    options_.middleware = {confirm_tools({"pay"}, {.timeout = 10s})};
    const auto id = agent(pay_turn() + "," + end_turn).prompt("go").interrupts.at(0).id;
    clock_.pass(11s);
    EXPECT_EQ(answer(id, yes), AnswerStatus::expired);
    EXPECT_EQ(events("answered"), 0);
    EXPECT_EQ(events("timed_out"), 1);
}

TEST_P(KnownFaults, GC4_ACallIdThatIsUsedAgainIsAskedAboutAgain) {
    auto agent = this->agent(pay_turn(R"({"n":1})", "call_0") + "," + pay_turn(R"({"n":2})", "call_0") + "," +
                             end_turn + "," + pay_turn(R"({"n":3})", "call_0") + "," + end_turn);
    std::set<std::string> ids;
    const auto host = [&](const HitlRequest& request) {
        ids.insert(request.id);
        EXPECT_EQ(answer("call_0", yes), AnswerStatus::decided);
    };
    (void)prompt(agent, host);
    (void)prompt(agent, host);
    EXPECT_EQ(ids.size(), 3U);
    EXPECT_EQ(pay_->runs().size(), 3U);
}

TEST_P(KnownFaults, GC4_TheSameCallIdTwiceInOneTurnRunsOnce) {
    auto agent = this->agent(
        R"({"calls":[{"id":"x","name":"pay","arguments":{"n":1}},{"id":"x","name":"pay","arguments":{"n":2}}]},)" +
        end_turn);
    (void)prompt(agent, approving());
    EXPECT_EQ(pay_->runs(), Texts{R"({"n":1})"});
}

TEST_P(KnownFaults, GC5_AnEarlierYesDoesNotAnswerTheSameQuestionLater) {
    NoOpChannel first({.clock = &clock_});
    EXPECT_TRUE(first.confirm({.prompt = "Deploy?"})->answer);
    CheckpointedChannel again(*store_, "t", {.clock = &clock_});
    EXPECT_EQ(again.confirm({.prompt = "Deploy?", .timeout = 0s})->end, HitlEnd::timed_out);
}

TEST_P(KnownFaults, GC6_OfTwoEqualQuestionsEachKeepsItsOwnAnswer) {
    options_.tools = {ask_user_tool()};
    options_.middleware = {};
    const auto question = [](const std::string& id) {
        return call_turn("ask_user", R"({"questions":[{"key":"k","prompt":"p"}]})", id);
    };
    const auto turns = question("q1") + "," + question("q2") + "," + end_turn;
    auto agent = this->agent(turns);
    (void)prompt(agent, [&](const HitlRequest& request) {
        if (request.question_id == "q2") return channel_->detach();
        (void)channel_->answer("q1", HitlAnswer::json(R"({"k":"FIRST"})"));
    });
    auto fresh = this->agent(turns);
    const auto run = fresh.respond("q2", HitlAnswer::json(R"({"k":"SECOND"})"));
    EXPECT_EQ(run.status, RunStatus::done);
    const auto texts = results(fresh);
    ASSERT_EQ(texts.size(), 2U);
    EXPECT_NE(texts[0].find("FIRST"), std::string::npos);
    EXPECT_NE(texts[1].find("SECOND"), std::string::npos);
}

TEST_P(KnownFaults, GC7_TwoWhoRespondTheSameAtOnceRunItOnce) {
    without_channel();
    (void)agent(pay_turn() + "," + end_turn).prompt("go");
    std::latch start(2);
    std::vector<RunEnd> runs(2);
    {
        std::vector<std::jthread> people;
        for (auto& run : runs) {
            people.emplace_back([&] {
                auto own = agent(pay_turn() + "," + end_turn);
                start.arrive_and_wait();
                run = own.respond("call_1", yes);
            });
        }
    }
    EXPECT_EQ(pay_->runs().size(), 1U);
    EXPECT_EQ(events("finished"), 1);
    // Who lost the race for the thread was told that it goes on elsewhere; nothing is left to do.
    EXPECT_EQ(agent(pay_turn() + "," + end_turn).resume().status, RunStatus::done);
    EXPECT_EQ(pay_->runs().size(), 1U);
}

TEST_P(KnownFaults, GC8_AnAnswerBeforeItsProcessEndedIsNotLost) {
    without_channel();
    {
        auto gone = agent(pay_turn() + "," + end_turn);
        EXPECT_EQ(answer(gone.prompt("go").interrupts.at(0).id, yes), AnswerStatus::decided);
    }
    EXPECT_EQ(agent(pay_turn() + "," + end_turn).resume().status, RunStatus::done);
    EXPECT_EQ(pay_->runs().size(), 1U);
}

TEST_P(KnownFaults, GC9_AResultThatCannotBeStoredAtOnceIsStoredLaterAndNothingRunsAgain) {
    without_channel();
    FaultyStore faulty(*store_);
    options_.checkpointer = &faulty;
    auto agent = this->agent(pay_turn() + "," + end_turn);
    const auto id = agent.prompt("go").interrupts.at(0).id;
    using Fault = FaultyStore::Fault;
    faulty.appends = {Fault::none, Fault::fails, Fault::uncertain_lost, Fault::none};
    EXPECT_EQ(agent.resume({{id, yes}}).status, RunStatus::done);
    EXPECT_EQ(pay_->runs().size(), 1U);
    EXPECT_EQ(results(agent), Texts{"pay ran"});
}

TEST_P(KnownFaults, GC10_11_25_AnAnswerThatIsNoneRunsNothingAndStaysUnanswered) {
    without_channel();
    const auto id = agent(pay_turn() + "," + end_turn).prompt("go").interrupts.at(0).id;
    for (const auto* json : {R"({"decision":"edit","edited_args":null})", R"({"decision":"maybe"})", "true", "null",
                             R"("approve")", R"(["approve"])", "{}"}) {
        EXPECT_EQ(channel_->answer(id, HitlAnswer::json(json))->status, AnswerStatus::refused) << json;
    }
    EXPECT_EQ(channel_->pending()->size(), 1U);
    EXPECT_TRUE(pay_->runs().empty());
}

TEST_P(KnownFaults, GC13_ASecondGuardsQuestionIsNotAnsweredWithTheFirst) {
    options_.middleware = {confirm_tools({"pay"}), confirm_tools({"pay"})};
    auto agent = this->agent(pay_turn() + "," + end_turn);
    std::set<std::string> ids;
    const auto run = prompt(agent, [&](const HitlRequest& request) {
        EXPECT_TRUE(pay_->runs().empty());
        ids.insert(request.id);
        EXPECT_EQ(answer(request.id, yes), AnswerStatus::decided);
    });
    EXPECT_EQ(ids.size(), 2U);
    EXPECT_EQ(run.status, RunStatus::done);
}

TEST_P(KnownFaults, GC14_AnyArgumentsCanBeAskedAboutWithTheirExactDigits) {
    const std::string arguments =
        R"({"amount": 0.10000000000000000001, "when": "2026-11-30T01:00:00Z", "n": 9007199254740993})";
    auto agent = this->agent(pay_turn(arguments) + "," + end_turn);
    (void)prompt(agent, [&](const HitlRequest& request) {
        EXPECT_EQ(request.payload.args.text(), arguments);
        approving()(request);
    });
    EXPECT_EQ(pay_->runs(), Texts{arguments});
}

TEST_P(KnownFaults, GC15_ADeadlineHoldsAfterARestartAndItsEndIsTold) {
    without_channel();
    options_.middleware = {confirm_tools({"pay"})};
    options_.timeout = 30s;
    const auto id = agent(pay_turn() + "," + end_turn).prompt("go").interrupts.at(0).id;
    clock_.pass(31s);
    options_.channel = channel_;
    const auto run = agent(pay_turn() + "," + end_turn).resume();
    EXPECT_EQ(run.status, RunStatus::done);
    EXPECT_EQ(answer(id, yes), AnswerStatus::expired);
    EXPECT_EQ(events("timed_out"), 1);
    EXPECT_EQ(run.calls.at(0).details, R"({"hitl":{"decision":"timed_out"}})");
}

TEST_P(KnownFaults, GC16_ANewPromptDoesNotReplaceWhatIsOpen) {
    without_channel();
    const auto id = agent(pay_turn() + "," + end_turn).prompt("go").interrupts.at(0).id;
    const auto second = agent(pay_turn() + "," + end_turn).prompt("something else");
    EXPECT_EQ(second.failure->kind, FailureKind::waiting);
    EXPECT_NE(second.failure->message.find(id), std::string::npos);
    EXPECT_EQ(agent(pay_turn() + "," + end_turn).respond(id, yes).status, RunStatus::done);
}

TEST_P(KnownFaults, GC17_AnAbortAndAnAnswerAtOnceHaveOneEnd) {
    constexpr int rounds = 20;
    for (int round = 0; round < rounds; ++round) {
        use_thread("t" + std::to_string(round));
        auto agent = this->agent(pay_turn() + "," + end_turn);
        const auto before = pay_->runs().size();
        AnswerStatus told{};
        bool aborted = false;
        const auto run = prompt(agent, [&](const HitlRequest& request) {
            std::latch start(2);
            std::jthread other([&] {
                start.arrive_and_wait();
                told = answer(request.id, yes);
            });
            start.arrive_and_wait();
            aborted = agent.abort_pending("tab closed")->aborted;
        });
        const bool ran = pay_->runs().size() > before;
        EXPECT_EQ(run.status, aborted ? RunStatus::aborted : RunStatus::done);
        // An answer that came first counts, although what it let run may have been cut off by the abort.
        EXPECT_TRUE(told == AnswerStatus::decided || !ran);
        std::size_t calls = 0;
        std::size_t with_result = 0;
        for (const auto& message : *agent.messages()) {
            calls += message.calls.size();
            with_result += message.role == Role::tool ? 1U : 0U;
        }
        EXPECT_EQ(calls, with_result) << "no call is left without a result";
    }
}

TEST_P(KnownFaults, GC17_ADetachAndAnAnswerAtOnceLoseNeither) {
    constexpr int rounds = 20;
    for (int round = 0; round < rounds; ++round) {
        use_thread("t" + std::to_string(round));
        auto agent = this->agent(pay_turn() + "," + end_turn);
        const auto before = pay_->runs().size();
        (void)prompt(agent, [&](const HitlRequest& request) {
            std::jthread other([&] { channel_->detach(); });
            EXPECT_EQ(answer(request.id, no), AnswerStatus::decided);
        });
        auto fresh = this->agent(pay_turn() + "," + end_turn);
        const auto approvals_left = *approvals().pending(options_.thread_id);
        EXPECT_TRUE(approvals_left.empty());
        (void)fresh.resume();
        EXPECT_EQ(pay_->runs().size(), before) << "the denial stands";
    }
}

TEST_P(KnownFaults, GC18_19_WhoApprovedWhatIsOnRecord) {
    options_.middleware = {confirm_tools({"pay"}, {.prompt = "Pay this?"})};
    auto agent = this->agent(pay_turn(R"({"n":1})") + "," + end_turn);
    std::optional<CallReport> started;
    options_.listener = nullptr;
    const auto run = prompt(agent, [&](const HitlRequest& request) {
        EXPECT_EQ(request.payload.prompt, "Pay this?");
        (void)channel_->answer(
            request.id, {ApproveAnswer{.decision = DecisionKind::edit, .edited_args = R"({"n":2})", .reason = "less"}},
            {.name = "alice", .signed_in = "web"});
    });
    EXPECT_NE(run.calls.at(0).details.find(R"("reason":"less")"), std::string::npos);
    EXPECT_EQ(run.calls[0].arguments, R"({"n":2})") << "what is told to have run is what ran";
    for (const auto& entry : *approvals().history("t")) {
        if (entry.event != "answered") continue;
        EXPECT_NE(entry.fields.find(R"("by":"alice","signed_in":"web")"), std::string::npos) << entry.fields;
        EXPECT_NE(entry.fields.find(R"("message":"less")"), std::string::npos) << entry.fields;
    }
}

TEST_P(KnownFaults, GC20_26_TheWholeBatchIsAskedAtOnceAndItsProgressIsSeen) {
    options_.tools.push_back(watched("look"));
    auto agent = this->agent(
        R"({"calls":[{"id":"l","name":"look"},{"id":"a","name":"pay"},{"id":"b","name":"pay"}]},)" + end_turn);
    int requests = 0;
    const auto run = prompt(agent, [&](const HitlRequest&) {
        if (++requests < 2) return;
        EXPECT_EQ(channel_->pending()->size(), 2U);
        EXPECT_EQ(answer("a", yes), AnswerStatus::decided);
        EXPECT_EQ(answer("b", no), AnswerStatus::decided);
    });
    EXPECT_EQ(run.status, RunStatus::done);
    EXPECT_EQ(results(agent), (Texts{"look ran", "pay ran", "no"}));
    EXPECT_EQ(std::ranges::count(heard_.names(), "started"), 2) << "each start is told when it is made";
}

TEST_P(KnownFaults, GC21_APolicyIsNotAskedAgainByAResume) {
    without_channel();
    int judged = 0;
    options_.middleware = {policy([&](const ToolCall<>&) -> PolicyDecision {
        if (++judged > 1) return Approve{};
        return AskUser{};
    })};
    const auto id = agent(pay_turn() + "," + end_turn).prompt("go").interrupts.at(0).id;
    EXPECT_EQ(agent(pay_turn() + "," + end_turn).resume().status, RunStatus::waiting);
    EXPECT_EQ(agent(pay_turn() + "," + end_turn).respond(id, no).calls.at(0).text, "no");
    EXPECT_EQ(judged, 1);
}

TEST_P(KnownFaults, GC22_TheWiringThatIsDescribedWorks) {
    const auto channel =
        std::make_shared<CheckpointedChannel>(*store_, "t", ChannelOptions{.look_ms = 5, .clock = &clock_});
    channel_ = options_.channel = channel;
    options_.middleware = {std::make_shared<ApprovalPolicyMiddleware>(
        channel, [](const ToolCall<>&) { return PolicyDecision(AskUser{}); })};
    auto agent = this->agent(pay_turn() + "," + end_turn);
    EXPECT_EQ(prompt(agent, approving()).status, RunStatus::done);
}

TEST_P(KnownFaults, GC23_ALateSubscriberAndAListenerThatThrowsLoseNothing) {
    options_.listener = [](const AgentEvent&) { throw std::runtime_error("the page is gone"); };
    auto agent = this->agent(pay_turn() + "," + end_turn);
    const auto run = prompt(agent, [&](const HitlRequest& request) {
        EXPECT_EQ((*channel_->subscribe()->poll())->id, request.id);
        approving()(request);
    });
    EXPECT_EQ(run.status, RunStatus::done);
    EXPECT_EQ(pay_->runs().size(), 1U);
}

TEST_P(KnownFaults, GC24_IdsThatDifferInCaseOrAreVeryLongAreDifferentIds) {
    const std::string long_id(400, 'x');
    auto agent = this->agent(R"({"calls":[{"id":"call_a","name":"pay","arguments":{"n":1}},
        {"id":"CALL_A","name":"pay","arguments":{"n":2}},{"id":")" +
                             long_id + R"(","name":"pay","arguments":{"n":3}}]},)" + end_turn);
    int requests = 0;
    (void)prompt(agent, [&](const HitlRequest&) {
        if (++requests < 3) return;
        EXPECT_EQ(answer("CALL_A", yes), AnswerStatus::decided);
        EXPECT_EQ(answer("call_a", no), AnswerStatus::decided);
        EXPECT_EQ(answer(long_id, no), AnswerStatus::decided);
    });
    EXPECT_EQ(pay_->runs(), Texts{R"({"n":2})"});
}

// Sees every call before it is judged, like a hook that a host adds.
class Hook final : public Middleware {
public:
    std::optional<Arguments> before_tool(const ToolContext&) override {
        ++called;
        return std::nullopt;
    }
    int called = 0;
};

TEST_P(KnownFaults, GC27_AHookDoesNotTakeThePlaceOfAGuard) {
    const auto hook = std::make_shared<Hook>();
    options_.middleware.push_back(hook);
    auto agent = this->agent(pay_turn() + "," + end_turn);
    int requests = 0;
    (void)prompt(agent, [&](const HitlRequest& request) {
        ++requests;
        approving()(request);
    });
    EXPECT_EQ(hook->called, 1);
    EXPECT_EQ(requests, 1);
}

}  // namespace
}  // namespace assent
