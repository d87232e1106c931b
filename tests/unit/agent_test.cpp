// A run from prompt to final text: waiting, going on elsewhere, running side by side, ending early.
#include "support/agents.hpp"
#include "support/faulty_store.hpp"
#include "support/other_process.hpp"

#include <gtest/gtest.h>

#include <future>

namespace assent {
namespace {

using namespace assent::test;
using AnswerStatus = AnswerResult::Status;

using AgentRun = AgentOverStore;
INSTANTIATE_TEST_SUITE_P(Stores, AgentRun, testing::ValuesIn(store_kinds()), store_name);

TEST_P(AgentRun, AnUngatedToolRunsAtOnce) {
    const auto look = watched("look");
    options_.tools = {look};
    options_.guards = {guard_};
    auto agent = this->agent(call_turn("look", R"({"n": 1.50})") + "," + end_turn);
    const auto run = agent.prompt("look");
    EXPECT_EQ(run.status, RunStatus::done);
    EXPECT_EQ(run.thread, "t");
    EXPECT_EQ(run.text, "all done");
    EXPECT_TRUE(run.interrupts.empty());
    EXPECT_FALSE(run.failure.has_value());
    ASSERT_EQ(run.calls.size(), 1U);
    EXPECT_EQ(run.calls[0].outcome, OutcomeKind::done);
    EXPECT_TRUE(run.calls[0].ran);
    EXPECT_EQ(run.calls[0].text, "look ran");
    EXPECT_EQ(look->runs(), std::vector<std::string>{R"({"n": 1.50})"});
    EXPECT_EQ((*store_->find_thread("t"))->status, ThreadStatus::done);
    EXPECT_FALSE((*store_->find_thread("t"))->runner_alive);
}

TEST_P(AgentRun, AGatedCallWaitsAndAFreshAgentGoesOn) {
    const auto pay = watched("pay");
    options_.tools = {pay};
    options_.guards = {guard_};
    guard_->verdicts["pay"] = Verdict::ask;
    const auto turns = call_turn("pay", R"({"n": 1.50})") + "," + end_turn;
    std::string id;
    {
        auto agent = this->agent(turns);
        const auto run = agent.prompt("pay it");
        EXPECT_EQ(run.status, RunStatus::waiting);
        EXPECT_TRUE(run.text.empty());
        ASSERT_EQ(run.interrupts.size(), 1U);
        EXPECT_EQ(run.interrupts[0].arguments, R"({"n": 1.50})");
        ASSERT_EQ(run.calls.size(), 1U);
        EXPECT_TRUE(run.calls[0].waiting);
        id = run.interrupts[0].id;
        EXPECT_FALSE((*store_->find_thread("t"))->runner_alive);
        EXPECT_EQ(agent.resume().status, RunStatus::waiting);
    }
    EXPECT_TRUE(pay->runs().empty());
    guard_->judged = 0;
    auto agent = this->agent(turns);
    agent.set_reviewer({.name = "alice", .signed_in = "test"});
    const auto run = agent.resume({{id, approve()}});
    EXPECT_EQ(run.status, RunStatus::done);
    EXPECT_EQ(run.text, "all done");
    ASSERT_EQ(run.answers.size(), 1U);
    EXPECT_EQ(run.answers[0].status, AnswerStatus::decided);
    EXPECT_EQ(pay->runs(), std::vector<std::string>{R"({"n": 1.50})"});
    EXPECT_EQ(guard_->judged, 0) << "the stored verdict stands";
    EXPECT_EQ(approvals().find(id)->decided_by, "alice");
    EXPECT_EQ(events(),
              (std::vector<std::string>{"configured", "user_message", "model_turn", "prepared", "judged", "asked",
                                        "answered", "claimed", "finished", "model_turn", "run_finished"}));
}

TEST_P(AgentRun, AnAnswerThatDoesNotCountIsToldAndTheRestGoesOn) {
    const auto pay = watched("pay");
    options_.tools = {pay};
    options_.guards = {guard_};
    guard_->verdicts["pay"] = Verdict::ask;
    auto agent = this->agent(call_turn("pay") + "," + end_turn);
    const auto id = agent.prompt("pay it").interrupts.at(0).id;
    const auto run = agent.resume({{"9zzzz", approve()}, {id, approve()}, {id, deny()}});
    EXPECT_EQ(run.status, RunStatus::done);
    ASSERT_EQ(run.answers.size(), 3U);
    EXPECT_EQ(run.answers[0].status, AnswerStatus::not_found);
    EXPECT_EQ(run.answers[1].status, AnswerStatus::decided);
    EXPECT_EQ(run.answers[2].status, AnswerStatus::conflict);
    EXPECT_EQ(pay->runs().size(), 1U);
}

TEST_P(AgentRun, AllowedCallsRunSideBySideWhileAnAskedOneWaits) {
    // Each of the two waits for the other to have started: one after the other would never end.
    std::latch both(2);
    const auto meet = [&](const ApprovedCall&) {
        both.arrive_and_wait();
        return ToolResult{.text = "met"};
    };
    const auto left = watched("left", meet);
    const auto right = watched("right", meet);
    const auto pay = watched("pay");
    options_.tools = {left, right, pay};
    options_.guards = {guard_};
    guard_->verdicts["pay"] = Verdict::ask;
    auto agent = this->agent(
        R"({"calls":[{"id":"a","name":"left"},{"id":"b","name":"pay"},{"id":"c","name":"right"}]},)" + end_turn);
    const auto run = agent.prompt("go");
    EXPECT_EQ(run.status, RunStatus::waiting);
    ASSERT_EQ(run.calls.size(), 3U);
    EXPECT_TRUE(pay->runs().empty());
    // What the siblings came to is recorded though the turn is open.
    auto kinds = events();
    EXPECT_EQ(std::count(kinds.begin(), kinds.end(), "finished"), 2);
    EXPECT_EQ(std::count(kinds.begin(), kinds.end(), "claimed"), 1);
    EXPECT_TRUE(results(agent).empty());

    EXPECT_EQ(agent.resume({{run.interrupts.at(0).id, approve()}}).status, RunStatus::done);
    EXPECT_EQ(results(agent), (std::vector<std::string>{"met", "pay ran", "met"}));
    EXPECT_EQ(left->runs().size(), 1U);
    EXPECT_EQ(right->runs().size(), 1U);
}

TEST_P(AgentRun, ResultsStandInTheModelsOrder) {
    std::latch second_ended(1);
    options_.tools = {watched("first",
                              [&](const ApprovedCall&) {
                                  second_ended.wait();
                                  return ToolResult{.text = "one"};
                              }),
                      watched("second", [&](const ApprovedCall&) { return ToolResult{.text = "two"}; })};
    options_.listener = [&](const AgentEvent& event) {
        if (event.kind == AgentEvent::Kind::ended && event.call->tool == "second") second_ended.count_down();
    };
    auto agent = this->agent(R"({"calls":[{"id":"a","name":"first"},{"id":"b","name":"second"}]},)" + end_turn);
    EXPECT_EQ(agent.prompt("go").status, RunStatus::done);
    EXPECT_EQ(results(agent), (std::vector<std::string>{"one", "two"}));
}

TEST_P(AgentRun, OneDenialStopsOneCall) {
    const auto pay = watched("pay");
    options_.tools = {pay};
    options_.guards = {guard_};
    guard_->verdicts["pay"] = Verdict::ask;
    auto agent = this->agent(
        R"({"calls":[{"id":"a","name":"pay","arguments":{"n":1}},{"id":"b","name":"pay","arguments":{"n":2}}]},)" +
        end_turn);
    const auto open = agent.prompt("go").interrupts;
    ASSERT_EQ(open.size(), 2U);
    const auto run = agent.resume({{open[0].id, deny("too much")}, {open[1].id, approve()}});
    EXPECT_EQ(run.status, RunStatus::done);
    EXPECT_EQ(pay->runs(), std::vector<std::string>{R"({"n":2})"});
    EXPECT_EQ(results(agent)[0],
              "The call of `pay` was denied: too much. It did not run. Do not call it again unless the user asks.");
    EXPECT_EQ(results(agent)[1], "pay ran");
}

TEST_P(AgentRun, TheLimitOfTurnsEndsTheRunAndAHigherOneGoesOn) {
    options_.tools = {watched("look")};
    options_.turns_max = 2;
    const auto turns = call_turn("look") + "," + call_turn("look") + "," + end_turn;
    auto agent = this->agent(turns);
    auto run = agent.prompt("go");
    EXPECT_EQ(run.status, RunStatus::failed);
    EXPECT_EQ(run.failure->message, "the run reached its limit of 2 model turns; raise the limit and resume to go on");
    EXPECT_EQ((*store_->find_thread("t"))->status, ThreadStatus::failed);
    EXPECT_FALSE((*store_->find_thread("t"))->runner_alive);
    EXPECT_EQ(agent.resume().status, RunStatus::failed);
    options_.turns_max = 3;
    auto more = this->agent(turns);
    run = more.resume();
    EXPECT_EQ(run.status, RunStatus::done);
    EXPECT_EQ(run.text, "all done");
    EXPECT_EQ((*store_->find_thread("t"))->status, ThreadStatus::done);
}

TEST_P(AgentRun, TheLimitOfCallsRunsNoneOfThemAndAHigherOneGoesOn) {
    const auto look = watched("look");
    options_.tools = {look};
    options_.calls_max = 1;
    const auto turns =
        R"({"calls":[{"id":"a","name":"look"},{"id":"b","name":"look"}]},)" + call_turn("look") + "," + end_turn;
    auto agent = this->agent(turns);
    const auto run = agent.prompt("go");
    EXPECT_EQ(run.status, RunStatus::failed);
    EXPECT_EQ(run.failure->message,
              "the limit of 1 tool calls per run is reached; raise the limit and resume to go on");
    EXPECT_TRUE(look->runs().empty());
    EXPECT_EQ(results(agent), std::vector<std::string>(
                                  2, "Error: this call did not run: the limit of 1 tool calls per run is reached"));
    options_.calls_max = 3;
    auto more = this->agent(turns);
    EXPECT_EQ(more.resume().status, RunStatus::done);
    EXPECT_EQ(look->runs().size(), 1U);
    // The next prompt counts anew.
    EXPECT_EQ(this->agent(turns + "," + call_turn("look") + "," + end_turn).prompt("again").status, RunStatus::done);
}

TEST_P(AgentRun, AScriptPastItsEndFailsAndALongerOneGoesOn) {
    const auto look = watched("look");
    options_.tools = {look};
    const auto run = agent(call_turn("look")).prompt("go");
    EXPECT_EQ(run.status, RunStatus::failed);
    EXPECT_EQ(run.failure->kind, FailureKind::model);
    EXPECT_EQ(run.failure->message, "the script test has 1 turns and none is left; add a turn to it");
    EXPECT_EQ(agent(call_turn("look") + "," + end_turn).resume().status, RunStatus::done);
    EXPECT_EQ(look->runs().size(), 1U);
}

TEST_P(AgentRun, AModelThatThrowsFailsTheRun) {
    class Throws final : public Model {
    public:
        explicit Throws(bool plain) : plain_(plain) {}
        std::string name() const override { return "throws"; }
        Result<ModelTurn> turn(const ModelRequest&, const std::function<void(std::string_view)>&,
                               const std::stop_token&) override {
            if (plain_) throw std::runtime_error("no\nservice");
            throw 1;
        }

    private:
        bool plain_;
    };
    for (const bool plain : {true, false}) {
        Agent agent({.model = std::make_shared<Throws>(plain), .checkpointer = store_.get(), .thread_id = "t"});
        const auto run = agent.prompt("go");
        EXPECT_EQ(run.status, RunStatus::failed);
        EXPECT_EQ(run.failure->kind, FailureKind::model);
        EXPECT_EQ(run.failure->message, plain ? "the model failed: no\\nservice" : "the model failed");
        EXPECT_FALSE((*store_->find_thread("t"))->runner_alive);
    }
    EXPECT_EQ(agent(end_turn).resume().status, RunStatus::done);
}

TEST_P(AgentRun, StoppingCancelsARunningToolAndTheRunGoesOnLater) {
    std::latch started(1);
    const auto slow = watched("slow", [&](const ApprovedCall& call) {
        std::latch stopped(1);
        const std::stop_callback stop(call.stop_token(), [&] { stopped.count_down(); });
        started.count_down();
        stopped.wait();
        return ToolResult{.text = "cancelled half way", .is_error = true};
    });
    options_.tools = {slow};
    std::stop_source source;
    const std::jthread stopper([&] {
        started.wait();
        source.request_stop();
    });
    auto agent = this->agent(call_turn("slow") + "," + end_turn);
    const auto run = agent.prompt("go", source.get_token());
    EXPECT_EQ(run.status, RunStatus::failed);
    EXPECT_TRUE(run.interrupted);
    EXPECT_EQ(run.failure->message, "the run was interrupted; resume it to go on");
    EXPECT_EQ(results(agent), std::vector<std::string>{"cancelled half way"});
    EXPECT_FALSE((*store_->find_thread("t"))->runner_alive);
    EXPECT_EQ(agent.resume().status, RunStatus::done);
    EXPECT_EQ(slow->runs().size(), 1U);
}

TEST_P(AgentRun, WhatWasStoppedBeforeItStartedStartsLater) {
    const auto look = watched("look");
    options_.tools = {look};
    std::stop_source source;
    options_.listener = [&](const AgentEvent& event) {
        if (event.kind == AgentEvent::Kind::started) source.request_stop();
    };
    auto agent = this->agent(call_turn("look") + "," + end_turn);
    const auto run = agent.prompt("go", source.get_token());
    EXPECT_TRUE(run.interrupted);
    EXPECT_TRUE(look->runs().empty());
    EXPECT_EQ(events().back(), "released");
    EXPECT_EQ(agent.resume().status, RunStatus::done);
    EXPECT_EQ(look->runs().size(), 1U);
}

TEST_P(AgentRun, AnAbortFromElsewhereStopsWhatRunsAndCancelsTheRest) {
    std::latch started(1);
    const auto slow = watched("slow", [&](const ApprovedCall& call) {
        std::latch stopped(1);
        const std::stop_callback stop(call.stop_token(), [&] { stopped.count_down(); });
        started.count_down();
        stopped.wait();
        return ToolResult{.text = "stopped"};
    });
    const auto pay = watched("pay");
    options_.tools = {slow, pay};
    options_.guards = {guard_};
    guard_->verdicts["pay"] = Verdict::ask;
    auto aborting = std::async(std::launch::async, [&] {
        started.wait();
        return *approvals().abort("t", "user closed tab", "bob");
    });
    auto agent = this->agent(R"({"calls":[{"id":"a","name":"slow"},{"id":"b","name":"pay"}]},)" + end_turn);
    const auto run = agent.prompt("go");
    EXPECT_EQ(run.status, RunStatus::aborted);
    EXPECT_EQ(run.text, "Conversation aborted: user closed tab");
    EXPECT_EQ(results(agent), (std::vector<std::string>{"stopped", "aborted: user closed tab"}));
    EXPECT_TRUE(run.interrupts.empty());
    EXPECT_EQ(aborting.get().running, 1);
    EXPECT_TRUE(pay->runs().empty());
    EXPECT_FALSE((*store_->find_thread("t"))->runner_alive);
    EXPECT_FALSE(agent.abort()->aborted);
    EXPECT_EQ(agent.resume().status, RunStatus::aborted);
}

TEST_P(AgentRun, AFinishedThreadThatIsResumedIsNotHeld) {
    auto agent = this->agent(end_turn + "," + end_turn);
    EXPECT_EQ(agent.prompt("go").status, RunStatus::done);
    EXPECT_EQ(agent.resume().status, RunStatus::done);
    EXPECT_FALSE((*store_->find_thread("t"))->runner_alive);
    EXPECT_EQ(this->agent(end_turn + "," + end_turn).prompt("more").status, RunStatus::done);
}

TEST_P(AgentRun, AThreadThatSomebodyRunsIsLeased) {
    std::latch started(1);
    std::latch tried(1);
    options_.tools = {watched("slow", [&](const ApprovedCall&) {
        started.count_down();
        tried.wait();
        return ToolResult{.text = "ok"};
    })};
    auto running = std::async(
        std::launch::async,
        [&, agent = this->agent(call_turn("slow") + "," + end_turn)]() mutable { return agent.prompt("go"); });
    started.wait();
    const auto refused = this->agent(end_turn).resume();
    tried.count_down();
    EXPECT_EQ(refused.status, RunStatus::failed);
    EXPECT_EQ(refused.failure->kind, FailureKind::leased);
    EXPECT_EQ(running.get().status, RunStatus::done);
}

TEST_P(AgentRun, AStoreThatFailsEndsTheRunAndItGoesOnLater) {
    FaultyStore faulty(*store_);
    const auto look = watched("look");
    AgentOptions options{.model = script(call_turn("look") + "," + end_turn),
                         .tools = {look},
                         .checkpointer = &faulty,
                         .thread_id = "t"};
    Agent agent(options);
    faulty.appends = {FaultyStore::Fault::none, FaultyStore::Fault::none, FaultyStore::Fault::fails};
    auto run = agent.prompt("go");
    EXPECT_EQ(run.status, RunStatus::failed);
    EXPECT_EQ(run.failure->message, "the store is broken");
    EXPECT_TRUE(look->runs().empty()) << "nothing starts without a stored claim";
    run = agent.resume();
    EXPECT_EQ(run.status, RunStatus::done);
    EXPECT_EQ(look->runs().size(), 1U);
}

TEST_P(AgentRun, AnOutcomeThatCannotBeStoredAtFirstIsStoredLater) {
    FaultyStore faulty(*store_);
    const auto look = watched("look");
    Agent agent({.model = script(call_turn("look") + "," + end_turn),
                 .tools = {look},
                 .checkpointer = &faulty,
                 .thread_id = "t"});
    using enum FaultyStore::Fault;
    faulty.appends = {none, none, none, fails, uncertain_lost, uncertain_kept};
    EXPECT_EQ(agent.prompt("go").status, RunStatus::done);
    EXPECT_EQ(look->runs().size(), 1U);
    EXPECT_EQ(results(agent), std::vector<std::string>{"look ran"});
}

TEST_P(AgentRun, AnOutcomeThatCannotBeStoredForAWhileIsToldOfOnce) {
    FaultyStore faulty(*store_);
    std::vector<std::string> told;
    Agent agent({.model = script(call_turn("look") + "," + end_turn),
                 .tools = {watched("look")},
                 .checkpointer = &faulty,
                 .thread_id = "t",
                 .listener = [&](const AgentEvent& event) {
                     if (event.kind == AgentEvent::Kind::not_stored) told.push_back(event.text);
                 }});
    using enum FaultyStore::Fault;
    faulty.appends = {none, none, none, fails, fails, fails, fails};
    EXPECT_EQ(agent.prompt("go").status, RunStatus::done);
    EXPECT_EQ(told, std::vector<std::string>{"the store is broken"});
}

TEST_P(AgentRun, AToolThatCannotSayHowItEndedAsksAPerson) {
    for (const auto how : {Resolution::done, Resolution::fail, Resolution::retry}) {
        const std::string thread(to_string(how));
        bool again = false;
        const auto flaky = watched("flaky", [&](const ApprovedCall&) {
            if (std::exchange(again, true)) return ToolResult{.text = "I looked"};
            return ToolResult{.text = "perhaps", .is_error = true, .details = R"({"left":1})", .unknown = true};
        });
        options_.tools = {flaky};
        options_.thread_id = thread;
        auto agent = this->agent(call_turn("flaky") + "," + end_turn);
        const auto run = agent.prompt("go");
        EXPECT_EQ(run.status, RunStatus::waiting);
        ASSERT_EQ(run.interrupts.size(), 1U);
        const auto open = run.interrupts[0];
        EXPECT_EQ(open.kind, ApprovalKind::unknown);
        EXPECT_EQ(open.reason, "the tool could not say how it ended");
        EXPECT_EQ(open.question.description, "perhaps");
        EXPECT_EQ(open.question.details, R"({"left":1})");
        const Reviewer alice{.name = "alice"};
        EXPECT_EQ(approvals().answer(open.id, approve(), alice)->status, AnswerStatus::refused);
        // This process lives, but it said itself that the start came back: a retry is no danger.
        EXPECT_EQ(approvals().resolve(open.id, how, "I looked", alice)->status, AnswerStatus::decided);
        EXPECT_EQ(approvals().resolve(open.id, how, "I looked", alice)->status, AnswerStatus::already);
        EXPECT_EQ(agent.resume().status, RunStatus::done);
        EXPECT_EQ(results(agent), std::vector<std::string>{"I looked"});
        EXPECT_EQ(flaky->runs().size(), how == Resolution::retry ? 2U : 1U);
    }
}

TEST(AgentOverFile, ACallOfADeadProcessRunsAgainOnlyWhenAPersonSaysSo) {
    const TemporaryFolder folder;
    const auto path = folder.file("agent.db");
    const auto options = [&](Checkpointer& store, std::shared_ptr<Tool> tool) {
        return AgentOptions{.model = script(call_turn("pay") + "," + end_turn),
                            .tools = {std::move(tool)},
                            .checkpointer = &store,
                            .thread_id = "t"};
    };
    const OtherProcess other([&](const Talk& talk) {
        SqliteCheckpointer store(path);
        Agent agent(options(store, watched("pay", [&](const ApprovedCall&) -> ToolResult {
                                talk.say("started");
                                talk.hear();  // for ever
                                return {};
                            })));
        (void)agent.prompt("pay it");
    });
    ASSERT_EQ(other.hear(), "started");
    SqliteCheckpointer store(path);
    const auto pay = watched("pay");
    Agent agent(options(store, pay));
    auto run = agent.resume();
    EXPECT_EQ(run.status, RunStatus::failed);
    EXPECT_EQ(run.failure->kind, FailureKind::leased);
    EXPECT_NE(run.failure->message.find("process " + std::to_string(other.pid()) + " on "), std::string::npos);
    other.kill_now();
    run = agent.resume();
    EXPECT_EQ(run.status, RunStatus::waiting);
    ASSERT_EQ(run.interrupts.size(), 1U);
    EXPECT_EQ(run.interrupts[0].kind, ApprovalKind::unknown);
    EXPECT_TRUE(run.interrupts[0].process.starts_with("process " + std::to_string(other.pid())));
    EXPECT_TRUE(pay->runs().empty());
    Approvals approvals(store);
    EXPECT_EQ(approvals.resolve(run.interrupts[0].id, Resolution::retry, "", {.name = "alice"})->status,
              AnswerStatus::decided);
    EXPECT_EQ(agent.resume().status, RunStatus::done);
    EXPECT_EQ(pay->runs().size(), 1U);
}

}  // namespace
}  // namespace assent
