// Sub-agents: what a delegated call does, who judges and answers what happens below, at whatever depth.
#include "support/families.hpp"

#include <assent/interrupt_on.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <latch>

namespace assent {
namespace {

using namespace assent::test;
using AnswerStatus = AnswerResult::Status;
using Texts = std::vector<std::string>;

class SubAgents : public FamilyOverStore {
protected:
    // A worker that calls `tool` once and says that it is done.
    SubAgent worker(const std::string& tool = "pay", std::string name = "worker") {
        return {.name = std::move(name),
                .description = "works",
                .tools = {pay_, look_},
                .model = script(call_turn(tool, R"({"n":1})") + R"(,{"text":"worked"})")};
    }
    // A chain of sub-agents; the last one calls `pay`.
    std::vector<SubAgent> chain(int depth) {
        if (depth == 1) return {worker()};
        return {{.name = "level-" + std::to_string(depth),
                 .tools = {look_},
                 .model = script(task_turn(depth == 2 ? "worker" : "level-" + std::to_string(depth - 1)) +
                                 R"(,{"text":"worked"})"),
                 .sub_agents = chain(depth - 1)}};
    }
    static std::string first_of_chain(int depth) { return depth == 1 ? "worker" : "level-" + std::to_string(depth); }

    std::shared_ptr<WatchedTool> pay_ = watched("pay");
    std::shared_ptr<WatchedTool> look_ = watched("look");
    const std::string turns_ = task_turn("worker") + "," + end_turn;
};

INSTANTIATE_TEST_SUITE_P(Stores, SubAgents, testing::ValuesIn(store_kinds()), store_name);

TEST_P(SubAgents, TheLastTextOfTheChildIsTheResultOfTheCall) {
    options_.sub_agents = {worker("look")};
    auto agent = root(turns_);
    const auto run = agent.prompt("go");
    ASSERT_EQ(run.status, RunStatus::done) << run.failure->message;
    EXPECT_EQ(run.text, "all done");
    EXPECT_EQ(results(agent), Texts{"worked"});
    EXPECT_EQ(look_->runs(), Texts{R"({"n":1})"});
    ASSERT_EQ(run.calls.size(), 1U);
    EXPECT_EQ(run.calls[0].outcome, OutcomeKind::done);
    EXPECT_EQ(run.calls[0].child, "t/1.0");
    EXPECT_TRUE(run.calls[0].ran);
    EXPECT_EQ(count("t", "claimed"), 0) << "nothing of the call needs a permit";
    EXPECT_EQ(count("t", "delegated"), 1);
    EXPECT_EQ(count("t", "child_finished"), 1);
    const auto said = *approvals().transcript("t/1.0");
    ASSERT_EQ(said.size(), 4U);
    EXPECT_EQ(said[0].text, "look into it");
    EXPECT_EQ(said[3].text, "worked");
    EXPECT_TRUE(nobody_runs());
}

TEST_P(SubAgents, TheModelIsToldWhoThereIs) {
    options_.sub_agents = {worker("look", "first"), worker("look", "second")};
    auto agent = root(
        task_turn("third") + "," + R"({"calls":[{"id":"a","name":"task","arguments":{"subagent_type":"first"}},)" +
        R"({"id":"b","name":"task","arguments":{"description":"","subagent_type":"first"}},)" +
        R"({"id":"c","name":"task","arguments":{"description":"x","subagent_type":"first","more":1}}]},)" + end_turn);
    const auto run = agent.prompt("go");
    EXPECT_EQ(run.status, RunStatus::done);
    for (const auto& text : results(agent))
        EXPECT_TRUE(text.starts_with("Error: invalid arguments for task: ")) << text;
    EXPECT_EQ(results(agent).size(), 4U);
    EXPECT_TRUE(store_->descendants("t")->empty());
}

// Who says what about `pay` above and below, and what becomes of a call of it below.
struct Judging {
    Verdict above;
    Verdict below;
    std::size_t approvals;  // that are asked for; it runs once they are given
    bool runs;
};

TEST_P(SubAgents, TheStrictestOfAllGuardsAboveAndBelowWins) {
    constexpr auto allow = Verdict::allow;
    constexpr auto ask = Verdict::ask;
    constexpr auto deny = Verdict::deny;
    const Judging table[] = {{allow, allow, 0, true}, {allow, ask, 1, true}, {allow, deny, 0, false},
                             {ask, allow, 1, true},   {ask, ask, 2, true},   {ask, deny, 0, false},
                             {deny, allow, 0, false}, {deny, ask, 0, false}, {deny, deny, 0, false}};
    int number = 0;
    for (const auto& row : table) {
        SCOPED_TRACE(std::string(to_string(row.above)) + " above, " + std::string(to_string(row.below)) + " below");
        auto sub = worker();
        const auto pay = watched("pay");
        sub.tools = {pay};
        sub.guards = {std::make_shared<FixedGuard>("own", row.below, std::set<std::string, std::less<>>{"pay"})};
        AgentOptions options{
            .model = script(turns_),
            .guards = {std::make_shared<FixedGuard>("above", row.above, std::set<std::string, std::less<>>{"pay"})},
            .sub_agents = {sub},
            .checkpointer = store_.get(),
            .thread_id = "case-" + std::to_string(++number),
            .clock = &clock_,
            .random = &shared_random_};
        Agent agent(std::move(options));
        auto run = agent.prompt("go");
        EXPECT_EQ(run.interrupts.size(), row.approvals);
        EXPECT_EQ(run.status, row.approvals == 0 ? RunStatus::done : RunStatus::waiting);
        EXPECT_EQ(pay->runs().size(), row.approvals == 0 && row.runs ? 1U : 0U);
        while (!run.interrupts.empty()) run = agent.resume({{run.interrupts.front().id, true}});
        EXPECT_EQ(run.status, RunStatus::done);
        EXPECT_EQ(pay->runs().size(), row.runs ? 1U : 0U);
    }
}

// All decisions are alike at any depth.
TEST_P(SubAgents, EveryDecisionReachesEveryDepth) {
    const struct {
        const char* name;
        Decision decision;
        Texts runs;
        const char* result;
    } table[] = {
        {"approve", approve(), {R"({"n":1})"}, "pay ran"},
        {"deny",
         deny("too much"),
         {},
         "The call of `pay` was denied: too much. It did not run. Do not call it again unless the user asks."},
        {"edit", edit(R"({"n":2})"), {R"({"n":2})"}, "pay ran"},
        {"respond", respond("paid by hand"), {}, "paid by hand"},
    };
    int number = 0;
    for (const int depth : {1, 2, 3}) {
        for (const auto& row : table) {
            SCOPED_TRACE(std::string(row.name) + " at depth " + std::to_string(depth));
            pay_ = watched("pay");
            const auto thread = "case-" + std::to_string(++number);
            const auto make = [&] {
                return Agent({.model = script(task_turn(first_of_chain(depth)) + "," + end_turn),
                              .guards = {asks("pay")},
                              .sub_agents = chain(depth),
                              .checkpointer = store_.get(),
                              .thread_id = thread,
                              .clock = &clock_,
                              .random = &shared_random_});
            };
            auto run = make().prompt("go");
            ASSERT_EQ(run.status, RunStatus::waiting);
            ASSERT_EQ(run.interrupts.size(), 1U);
            EXPECT_TRUE(nobody_runs()) << "what waits holds nothing";
            const auto asked = run.interrupts.front();
            Texts lineage{thread};
            for (int above = 1; above < depth; ++above) lineage.push_back(lineage.back() + "/1.0");
            EXPECT_EQ(asked.parent, lineage);
            EXPECT_EQ(asked.thread, lineage.back() + "/1.0");
            EXPECT_EQ(*approvals().pending(thread), std::vector{asked});
            EXPECT_EQ(*approvals().find(asked.id, thread), asked);
            run = make().resume({{asked.id, row.decision}});
            ASSERT_EQ(run.status, RunStatus::done);
            EXPECT_EQ(run.answers.at(0).status, AnswerStatus::decided);
            EXPECT_EQ(pay_->runs(), row.runs);
            const auto said = *approvals().transcript(asked.thread);
            EXPECT_EQ(said.at(2).text, row.result);
            EXPECT_TRUE(nobody_runs());
        }
    }
}

TEST_P(SubAgents, ChildrenRunAtOnceAndAreAnsweredOneByOneOrTogether) {
    for (const bool together : {false, true}) {
        const auto thread = std::string(together ? "together" : "one-by-one");
        const auto look = watched("look");
        const auto pay = watched("pay");
        std::latch both(2);
        const auto meet = watched("meet", [&](const ApprovedCall&) {
            both.arrive_and_wait();
            return ToolResult{.text = "met"};
        });
        const SubAgent sub{
            .name = "worker",
            .tools = {look, pay, meet},
            .model = script(R"({"calls":[{"id":"a","name":"meet"},{"id":"b","name":"look"},{"id":"c","name":"pay"}]},)"
                            R"({"text":"worked"})")};
        const auto make = [&] {
            return Agent({.model = script(R"({"calls":[)" + task_call("worker", "one", "1") + "," +
                                          task_call("worker", "two", "2") + "]}," + end_turn),
                          .guards = {asks("pay")},
                          .sub_agents = {sub},
                          .checkpointer = store_.get(),
                          .thread_id = thread,
                          .clock = &clock_,
                          .random = &shared_random_});
        };
        auto run = make().prompt("go");
        ASSERT_EQ(run.status, RunStatus::waiting);
        ASSERT_EQ(run.interrupts.size(), 2U);
        EXPECT_EQ(look->runs().size(), 2U);
        if (together) {
            run = make().resume({{run.interrupts[0].id, true}, {run.interrupts[1].id, deny("no")}});
            EXPECT_EQ(run.answers.size(), 2U);
        } else {
            const auto second = run.interrupts[1];
            run = make().resume({{run.interrupts[0].id, true}});
            EXPECT_EQ(run.status, RunStatus::waiting);
            EXPECT_EQ(run.interrupts, std::vector{second});
            EXPECT_EQ(pay->runs().size(), 1U);
            run = make().resume({{second.id, deny("no")}});
        }
        EXPECT_EQ(run.status, RunStatus::done);
        EXPECT_EQ(pay->runs().size(), 1U);
        EXPECT_EQ(look->runs().size(), 2U) << "what ran before is not run again";
    }
}

TEST_P(SubAgents, MoreThanMayRunAtOnceWaitForTheirTurn) {
    constexpr int tasks = 20;
    constexpr int at_once_max = 8;
    std::atomic<int> running = 0;
    std::atomic<int> most = 0;
    const auto work = watched("work", [&](const ApprovedCall&) {
        const int now = ++running;
        for (int known = most; known < now && !most.compare_exchange_weak(known, now);) continue;
        --running;
        return ToolResult{.text = "worked"};
    });
    auto sub = worker("work");
    sub.tools = {work};
    options_.sub_agents = {sub};
    std::string calls;
    for (int i = 0; i < tasks; ++i) calls += (i == 0 ? "" : ",") + task_call("worker", "part", std::to_string(i));
    auto agent = root(R"({"calls":[)" + calls + "]}," + end_turn);
    EXPECT_EQ(agent.prompt("go").status, RunStatus::done);
    EXPECT_EQ(results(agent), Texts(tasks, "worked"));
    EXPECT_EQ(work->runs().size(), static_cast<std::size_t>(tasks));
    EXPECT_LE(most, at_once_max);
}

TEST_P(SubAgents, AListOfDecisionsIsAmbiguousWhileAChildIsAsked) {
    options_.tools = {look_};
    options_.middleware = {interrupt_on({{"pay", true}, {"look", true}})};
    options_.sub_agents = {worker()};
    auto agent = root(R"({"calls":[)" + task_call("worker") + R"(,{"id":"l","name":"look"}]},)" + end_turn);
    auto run = agent.prompt("go");
    ASSERT_EQ(run.interrupts.size(), 2U);
    EXPECT_EQ(run.interrupts[0].tool, "look") << "the agent's own come first";
    const auto child = run.interrupts[1].id;
    for (const auto* list : {R"({"decisions":[{"type":"approve"}]})",
                             R"({"decisions":[{"type":"approve"},{"type":"approve"}]})", R"({"decisions":[]})"}) {
        const auto before = events().size();
        run = agent.resume(list);
        EXPECT_EQ(run.status, RunStatus::failed);
        EXPECT_EQ(run.failure->kind, FailureKind::ambiguous);
        EXPECT_EQ(run.failure->message,
                  "a list of decisions does not say which thread each is for while approvals of sub-agents are open; "
                  "answer by id: " +
                      child + " pay in t/1.0");
        EXPECT_EQ(run.answers.at(0).status, AnswerStatus::ambiguous);
        EXPECT_EQ(run.interrupts.size(), 2U);
        EXPECT_EQ(events().size(), before) << "nothing is stored";
    }
    // By id it is clear, at any depth; then the list takes what is left.
    run = agent.resume(R"({")" + child + R"(":{"type":"approve"}})");
    EXPECT_EQ(run.interrupts.size(), 1U);
    EXPECT_EQ(pay_->runs().size(), 1U);
    run = agent.resume(R"({"decisions":[{"type":"approve"}]})");
    EXPECT_EQ(run.status, RunStatus::done);
}

TEST_P(SubAgents, TheTaskItselfIsJudgedLikeAnyCall) {
    options_.guards = {asks("task")};
    options_.sub_agents = {worker("look"), worker("pay", "other")};
    const struct {
        const char* name;
        Decision decision;
        std::size_t children;
        const char* result;
    } table[] = {
        {"approve", approve(), 1, "worked"},
        {"deny", deny("not now"), 0,
         "The call of `task` was denied: not now. It did not run. Do not call it again unless the user asks."},
        {"respond", respond("known already"), 0, "known already"},
        {"edit", edit(R"({"description":"pay it","subagent_type":"other"})"), 1, "worked"},
        {"edit to another tool", {.kind = DecisionKind::edit, .arguments = "{}", .tool = "look"}, 0, "look ran"},
    };
    options_.tools = {look_};
    int number = 0;
    for (const auto& row : table) {
        SCOPED_TRACE(row.name);
        auto options = options_;
        options.model = script(turns_);
        options.checkpointer = store_.get();
        options.thread_id = "case-" + std::to_string(++number);
        options.clock = &clock_;
        options.random = &shared_random_;
        Agent agent(options);
        auto run = agent.prompt("go");
        ASSERT_EQ(run.interrupts.size(), 1U);
        EXPECT_TRUE(store_->descendants(options.thread_id)->empty()) << "nothing is begun before the answer";
        run = agent.resume({{run.interrupts[0].id, row.decision}});
        EXPECT_EQ(run.status, RunStatus::done);
        EXPECT_EQ(results(agent), Texts{row.result});
        EXPECT_EQ(store_->descendants(options.thread_id)->size(), row.children);
    }
    EXPECT_EQ(pay_->runs().size(), 1U) << "the edited task went to the other sub-agent";
}

TEST_P(SubAgents, AChildWhoseModelFailsIsAFailedCall) {
    auto sub = worker("look");
    sub.model = script(call_turn("look"));
    options_.sub_agents = {sub};
    auto agent = root(turns_);
    const auto run = agent.prompt("go");
    EXPECT_EQ(run.status, RunStatus::done);
    ASSERT_EQ(results(agent).size(), 1U);
    EXPECT_TRUE(results(agent)[0].starts_with("The sub-agent failed: ")) << results(agent)[0];
    EXPECT_TRUE(results(agent)[0].ends_with(". What it had done before stays done.")) << results(agent)[0];
    EXPECT_EQ(run.calls.at(0).outcome, OutcomeKind::failed);
    EXPECT_EQ(look_->runs().size(), 1U);
}

TEST_P(SubAgents, LimitsCountOverAllAndAreTheRoots) {
    const struct {
        const char* name;
        int turns;
        int calls;
        const char* message;
    } table[] = {
        // The root takes two turns and one call; each of two children takes two turns and one call.
        {"turns", 5, 200, "the run reached its limit of 5 model turns; raise the limit and resume to go on"},
        {"turns in a child", 3, 200, "the run reached its limit of 3 model turns; raise the limit and resume to go on"},
        {"calls in a child", 50, 3,
         "the limit of 3 tool calls per run is reached; raise the limit and resume to go on"},
        {"exactly enough", 6, 4, nullptr},
    };
    int number = 0;
    for (const auto& row : table) {
        SCOPED_TRACE(row.name);
        const auto thread = "case-" + std::to_string(++number);
        const auto make = [&](int turns, int calls) {
            return Agent({.model = script(R"({"calls":[)" + task_call("worker", "one", "1") + "," +
                                          task_call("worker", "two", "2") + "]}," + end_turn),
                          .sub_agents = {worker("look")},
                          .checkpointer = store_.get(),
                          .thread_id = thread,
                          .turns_max = turns,
                          .calls_max = calls,
                          .clock = &clock_,
                          .random = &shared_random_});
        };
        auto run = make(row.turns, row.calls).prompt("go");
        if (row.message == nullptr) {
            EXPECT_EQ(run.status, RunStatus::done) << run.failure->message;
            continue;
        }
        ASSERT_EQ(run.status, RunStatus::failed);
        EXPECT_EQ(run.failure->message, row.message);
        EXPECT_TRUE(nobody_runs());
        // The same limit is found to be reached by an agent that was not there.
        run = make(row.turns, row.calls).resume();
        EXPECT_EQ(run.status, RunStatus::failed);
        EXPECT_EQ(run.failure->message, row.message);
        run = make(20, 20).resume();
        EXPECT_EQ(run.status, RunStatus::done) << run.failure->message;
        EXPECT_EQ(run.text, "all done");
    }
}

TEST_P(SubAgents, ADeadlineBelowHoldsWithoutAnybodyWatching) {
    auto sub = worker();
    sub.guards = {std::make_shared<FixedGuard>("own", Verdict::ask, std::set<std::string, std::less<>>{"pay"},
                                               Question{.timeout_ms = 60'000})};
    options_.sub_agents = {sub};
    auto run = root(turns_).prompt("go");
    ASSERT_EQ(run.interrupts.size(), 1U);
    run = root(turns_).resume();
    EXPECT_EQ(run.status, RunStatus::waiting);
    clock_.pass(60'000);
    run = root(turns_).resume();
    EXPECT_EQ(run.status, RunStatus::done);
    EXPECT_EQ(count("t/1.0", "timed_out"), 1);
    EXPECT_TRUE(pay_->runs().empty());
}

TEST_P(SubAgents, AResumeLeavesAloneWhatOnlyWaits) {
    options_.guards = {asks("pay")};
    options_.sub_agents = {worker()};
    const auto run = root(turns_).prompt("go");
    const auto fence = (*store_->find_thread("t/1.0"))->fence;
    const auto events = events_of("t/1.0").size();
    EXPECT_EQ(root(turns_).resume().interrupts, run.interrupts);
    EXPECT_EQ((*store_->find_thread("t/1.0"))->fence, fence) << "nobody took it";
    EXPECT_EQ(events_of("t/1.0").size(), events);
}

TEST_P(SubAgents, AnAnswerFromElsewhereIsTakenUpWhileASiblingRuns) {
    // The second child answers for the first, as another process would.
    const auto answer = watched("answer", [this](const ApprovedCall&) {
        std::vector<Approval> open;
        while (open.empty()) open = *approvals().pending("t/1.0");
        EXPECT_EQ(approvals().answer(open[0].id, approve(), {.name = "bob"})->status, AnswerStatus::decided);
        return ToolResult{.text = "answered"};
    });
    auto second = worker("answer", "second");
    second.tools = {answer};
    options_.guards = {asks("pay")};
    options_.sub_agents = {worker(), second};
    auto agent = root(R"({"calls":[)" + task_call("worker", "one", "1") + "," + task_call("second", "two", "2") +
                      "]}," + end_turn);
    const auto run = agent.prompt("go");
    EXPECT_EQ(run.status, RunStatus::done);
    EXPECT_EQ(pay_->runs().size(), 1U);
}

TEST_P(SubAgents, TheListenerIsToldWhereAndOneAtATime) {
    std::atomic<int> inside = 0;
    std::set<std::pair<std::string, AgentEvent::Kind>> told;
    options_.listener = [&](const AgentEvent& event) {
        EXPECT_EQ(++inside, 1);
        told.emplace(event.thread, event.kind);
        --inside;
    };
    options_.guards = {asks("pay")};
    options_.sub_agents = {worker()};
    auto agent = root(turns_);
    auto run = agent.prompt("go");
    using Kind = AgentEvent::Kind;
    for (const auto& [thread, kind] : std::vector<std::pair<std::string, Kind>>{
             {"t", Kind::turn}, {"t/1.0", Kind::turn}, {"t/1.0", Kind::asked}, {"t", Kind::waiting}})
        EXPECT_TRUE(told.contains({thread, kind})) << thread << " " << static_cast<int>(kind);
    told.clear();
    run = agent.resume({{run.interrupts.at(0).id, true}});
    EXPECT_EQ(run.status, RunStatus::done);
    EXPECT_FALSE(told.contains({"t/1.0", Kind::asked})) << "it was told of that before";
    EXPECT_TRUE(told.contains({"t/1.0", Kind::started}));
    EXPECT_TRUE(told.contains({"t", Kind::ended}));
}

TEST_P(SubAgents, AStopReachesTheToolsOfChildrenAndAResumeGoesOn) {
    std::stop_source stop;
    bool first = true;
    const auto work = watched("work", [&](const ApprovedCall& call) {
        if (std::exchange(first, false)) stop.request_stop();
        const bool stopped = call.stop_token().stop_requested();
        return ToolResult{.text = stopped ? "stopped" : "ran", .cancelled = stopped};
    });
    auto sub = worker("work");
    sub.tools = {work};
    options_.sub_agents = {sub};
    auto run = root(turns_).prompt("go", stop.get_token());
    EXPECT_TRUE(run.interrupted);
    EXPECT_TRUE(nobody_runs());
    run = root(turns_).resume();
    EXPECT_EQ(run.status, RunStatus::done);
    EXPECT_EQ(work->runs().size(), 1U);
    EXPECT_EQ(count("t", "delegated"), 1);
}

TEST_P(SubAgents, AGuardOfOneNameBelowIsNumberedAndAnEditIsMarkedOnce) {
    auto sub = worker();
    sub.middleware = {interrupt_on({{"pay", true}})};
    options_.middleware = {interrupt_on({{"look", true}})};
    sub.model = script(R"({"calls":[{"id":"a","name":"pay"},{"id":"b","name":"look"}]},{"text":"worked"})");
    options_.sub_agents = {sub};
    auto run = root(turns_).prompt("go");
    ASSERT_EQ(run.interrupts.size(), 2U);
    EXPECT_EQ(run.interrupts[0].guard, "interrupt_on-2");
    EXPECT_EQ(run.interrupts[1].guard, "interrupt_on");
    run = root(turns_).resume({{run.interrupts[0].id, edit(R"({"n":7})")}, {run.interrupts[1].id, edit(R"({"n":8})")}});
    ASSERT_EQ(run.status, RunStatus::done);
    const auto said = *approvals().transcript("t/1.0");
    for (const auto& message : said) {
        if (message.role != Role::tool) continue;
        const auto notice = message.text.find(default_edit_notice);
        EXPECT_NE(notice, std::string::npos) << message.text;
        EXPECT_EQ(message.text.find(default_edit_notice, notice + 1), std::string::npos) << message.text;
    }
}

TEST_P(SubAgents, AGuardThatIsGivenAtSeveralLevelsAsksOnce) {
    const auto guard = asks("pay");
    options_.guards = {guard};
    options_.sub_agents = chain(2);
    options_.sub_agents[0].guards = {guard};
    options_.sub_agents[0].sub_agents[0].guards = {guard};
    const auto run = root(task_turn(first_of_chain(2)) + "," + end_turn).prompt("go");
    ASSERT_EQ(run.interrupts.size(), 1U);
    EXPECT_EQ(run.interrupts[0].guard, "asks");
}

TEST_P(SubAgents, AToolAboveIsTheirsUnlessTheyHaveTheirOwn) {
    options_.tools = {look_};
    options_.sub_agents = {{.name = "worker", .model = script(call_turn("look") + R"(,{"text":"looked"})")}};
    EXPECT_EQ(root(turns_).prompt("go").status, RunStatus::done);
    EXPECT_EQ(look_->runs().size(), 1U);
}

TEST_P(SubAgents, AThreadOfASubAgentIsNotPromptedByAHost) {
    constexpr const char* message =
        "a thread id that ends in /TURN.POSITION belongs to a sub-agent; go on with the thread that it works for, or "
        "choose another id";
    for (const auto* id : {"t/1.0", "a/b/2.1", "t/1.0/1.0"}) {
        try {
            Agent agent({.model = script(end_turn), .checkpointer = store_.get(), .thread_id = id});
            ADD_FAILURE() << id;
        } catch (const ConfigError& error) {
            EXPECT_STREQ(error.what(), message);
        }
    }
    EXPECT_NO_THROW(Agent({.model = script(end_turn), .checkpointer = store_.get(), .thread_id = "t/1.0/mine"}));
}

TEST_P(SubAgents, ATaskOfASubAgentThatIsGoneWaitsForAnAgentThatHasIt) {
    options_.guards = {asks("pay")};
    options_.sub_agents = {worker()};
    auto run = root(turns_).prompt("go");
    const auto id = run.interrupts.at(0).id;
    options_.sub_agents = {worker("pay", "another")};
    run = root(turns_).resume({{id, true}});
    EXPECT_EQ(run.status, RunStatus::failed);
    EXPECT_EQ(run.failure->message,
              "thread t/1.0 works for a sub-agent that this agent does not have; resume with an agent that has it, or "
              "abort the thread");
    EXPECT_TRUE(pay_->runs().empty());
    options_.sub_agents = {worker()};
    EXPECT_EQ(root(turns_).resume().status, RunStatus::done);
    EXPECT_EQ(pay_->runs().size(), 1U);
}

}  // namespace
}  // namespace assent
