// Whole conversations: what is asked and in which order, what the model reads, and what is left when a part of
// it failed. Each step may be another process: a fresh agent takes it.
#include "support/agents.hpp"

#include <assent/interrupt_on.hpp>
#include <assent/rules.hpp>

#include <gmock/gmock.h>

#include <array>
#include <initializer_list>
#include <set>

namespace assent {
namespace {

using namespace assent::test;
using AnswerStatus = AnswerResult::Status;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

struct Called {
    const char* id;
    const char* tool;
    const char* arguments = "{}";
};

std::string turn_with(std::initializer_list<Called> calls) {
    std::string list;
    for (const auto& call : calls) {
        list += (list.empty() ? "" : ",") + std::string(R"({"id":")") + call.id + R"(","name":")" + call.tool +
                R"(","arguments":)" + call.arguments + "}";
    }
    return R"({"calls":[)" + list + "]},";
}

// A model that remembers what it was asked with.
class Listening final : public Model {
public:
    explicit Listening(std::shared_ptr<Model> speaker) : speaker_(std::move(speaker)) {}
    std::string name() const override { return speaker_->name(); }
    Result<ModelTurn> turn(const ModelRequest& request, const std::function<void(std::string_view)>& on_text,
                           const std::stop_token& stop) override {
        const auto messages = request.messages();
        if (!messages) return messages.failure();
        heard.emplace_back(messages->begin(), messages->end());
        offered.clear();
        for (const auto* tool : request.tools) offered.push_back(tool->name);
        return speaker_->turn(request, on_text, stop);
    }
    std::vector<std::vector<Message>> heard;
    std::vector<std::string> offered;

private:
    std::shared_ptr<Model> speaker_;
};

class AgentFlow : public AgentOverStore {
protected:
    AgentFlow() {
        options_.tools = {pay_, look_};
        ask_about("pay");
    }
    void ask_about(const char* tool) {
        options_.middleware = {std::make_shared<ToolInterruptMiddleware>(std::vector<InterruptRule>{{tool}})};
    }
    Agent listening(const std::shared_ptr<Listening>& model) {
        auto options = options_;
        options.model = model;
        options.checkpointer = store_.get();
        options.thread_id = "t";
        options.clock = &clock_;
        options.random = &random_;
        return Agent(std::move(options));
    }

    std::shared_ptr<WatchedTool> pay_ = watched("pay");
    std::shared_ptr<WatchedTool> look_ = watched("look");
};

INSTANTIATE_TEST_SUITE_P(Stores, AgentFlow, testing::ValuesIn(store_kinds()), store_name);

TEST_P(AgentFlow, ARuleForAllToolsAsksAboutEachCall) {
    ask_about("*");
    auto agent = this->agent(turn_with({{"c1", "pay"}, {"c2", "look"}}) + end_turn);
    const auto open = agent.prompt("go").interrupts;
    ASSERT_EQ(open.size(), 2U);
    EXPECT_EQ(open[0].question.interrupt_id, "approve_c1");
    EXPECT_EQ(open[1].question.interrupt_id, "approve_c2");
    EXPECT_THAT(look_->runs(), IsEmpty());
    EXPECT_EQ(agent.resume({{"approve_c1", true}, {"approve_c2", true}}).status, RunStatus::done);
    EXPECT_THAT(results(agent), ElementsAre("pay ran", "look ran"));
}

TEST_P(AgentFlow, ApprovalsOfOneTurnAreAnsweredOneByOne) {
    const auto turns = turn_with({{"c1", "pay", R"({"n":1})"}, {"c2", "pay", R"({"n":2})"}}) + end_turn;
    ASSERT_EQ(agent(turns).prompt("go").interrupts.size(), 2U);
    auto first = agent(turns);
    const auto run = first.resume({{"approve_c1", true}});
    EXPECT_EQ(run.status, RunStatus::waiting);
    EXPECT_THAT(pay_->runs(), ElementsAre(R"({"n":1})"));
    ASSERT_EQ(run.interrupts.size(), 1U);
    EXPECT_EQ(run.interrupts[0].question.interrupt_id, "approve_c2");
    EXPECT_THAT(results(first), IsEmpty()) << "the model is told when its turn is complete";
    auto second = agent(turns);
    EXPECT_EQ(second.resume({{"approve_c2", false}}).status, RunStatus::done);
    EXPECT_EQ(pay_->runs().size(), 1U);
    EXPECT_THAT(results(second), ElementsAre("pay ran", "Tool 'pay' denied: denied by reviewer"));
}

TEST_P(AgentFlow, OneQuestionFollowsAnother) {
    const auto turns = call_turn("pay", R"({"n":0})") + "," + call_turn("pay", R"({"n":1})") + "," +
                       call_turn("pay", R"({"n":2})") + "," + end_turn;
    auto run = agent(turns).prompt("go");
    std::set<std::string> ids;
    for (std::size_t answered = 0; answered < 3; ++answered) {
        EXPECT_EQ(run.status, RunStatus::waiting);
        ASSERT_EQ(run.interrupts.size(), 1U);
        EXPECT_EQ(run.interrupts[0].arguments, R"({"n":)" + std::to_string(answered) + "}");
        EXPECT_EQ(pay_->runs().size(), answered);
        ids.insert(run.interrupts[0].id);
        run = agent(turns).resume({{run.interrupts[0].id, true}});
    }
    EXPECT_EQ(run.status, RunStatus::done);
    EXPECT_EQ(ids.size(), 3U);
    EXPECT_THAT(pay_->runs(), ElementsAre(R"({"n":0})", R"({"n":1})", R"({"n":2})"));
}

TEST_P(AgentFlow, ADenialSaysNothingOfALaterCallWithTheSameIdAndArguments) {
    const auto turns = call_turn("pay") + "," + call_turn("pay") + "," + end_turn;
    const auto first = agent(turns).prompt("go").interrupts.at(0);
    auto run = agent(turns).resume({{first.id, false}});
    ASSERT_EQ(run.interrupts.size(), 1U);
    const auto second = run.interrupts[0];
    EXPECT_NE(second.id, first.id);
    EXPECT_EQ(second.question.interrupt_id, first.question.interrupt_id);
    EXPECT_THAT(pay_->runs(), IsEmpty());
    run = agent(turns).resume({{second.id, true}});
    EXPECT_EQ(run.status, RunStatus::done);
    EXPECT_EQ(pay_->runs().size(), 1U);
}

TEST_P(AgentFlow, ATurnHeldBackIsAnsweredByDifferentProcesses) {
    options_.hold_batch = true;
    const struct {
        const char* thread;
        Answer first, second;
        std::vector<std::string> ran;
        std::vector<std::string> told;
    } rows[] = {
        {"both", true, true, {R"({"n":1})", R"({"n":2})"}, {"pay ran", "pay ran"}},
        {"deny, then edit",
         ToolDecision{.action = "deny", .message = "no"},
         ToolDecision{.action = "edit", .arguments = R"({"n":3})"},
         {R"({"n":3})"},
         {"Tool 'pay' denied: no", "pay ran"}},
    };
    for (const auto& row : rows) {
        SCOPED_TRACE(row.thread);
        pay_ = watched("pay");
        options_.tools = {pay_};
        options_.thread_id = row.thread;
        const auto turns = turn_with({{"c1", "pay", R"({"n":1})"}, {"c2", "pay", R"({"n":2})"}}) + end_turn;
        ASSERT_EQ(agent(turns).prompt("go").interrupts.size(), 2U);
        EXPECT_EQ(agent(turns).resume({{"approve_c1", row.first}}).status, RunStatus::waiting);
        EXPECT_THAT(pay_->runs(), IsEmpty());
        auto last = agent(turns);
        EXPECT_EQ(last.resume({{"approve_c2", row.second}}).status, RunStatus::done);
        // Calls of one turn run side by side.
        EXPECT_THAT(pay_->runs(), testing::UnorderedElementsAreArray(row.ran));
        EXPECT_EQ(results(last), row.told);
        EXPECT_TRUE(approvals().pending(row.thread)->empty());
    }
}

TEST_P(AgentFlow, TheConversationOnlyGrowsAcrossAPause) {
    for (const bool approved : {true, false}) {
        SCOPED_TRACE(approved);
        const auto model = std::make_shared<Listening>(
            script(call_turn("pay") + "," + end_turn + "," + call_turn("pay") + "," + end_turn));
        const auto open = listening(model).prompt("go").interrupts.at(0);
        const auto run = listening(model).resume({{open.id, approved}});
        EXPECT_EQ(run.status, RunStatus::done);
        EXPECT_EQ(run.text, "all done");
        ASSERT_EQ(model->heard.size(), 2U);
        const auto& before = model->heard[0];
        const auto& after = model->heard[1];
        ASSERT_EQ(after.size(), before.size() + 2);
        EXPECT_TRUE(std::equal(before.begin(), before.end(), after.begin()));
        EXPECT_EQ(after[before.size()].calls.at(0).tool, "pay");
        const auto& result = after.back();
        EXPECT_EQ(result.role, Role::tool);
        EXPECT_EQ(result.is_error, !approved) << "a denial is no ordinary result";
        EXPECT_EQ(result.text, approved ? "pay ran" : "Tool 'pay' denied: denied by reviewer");
    }
}

TEST_P(AgentFlow, OnlyChangedArgumentsStandBesideAResult) {
    const auto turns =
        turn_with(
            {{"c1", "pay", R"({"to":"a", "n":1})"}, {"c2", "pay", R"({"to":"b"})"}, {"c3", "pay", R"({"to":"c"})"}}) +
        end_turn;
    ASSERT_EQ(agent(turns).prompt("go").interrupts.size(), 3U);
    auto agent = this->agent(turns);
    const auto run = agent.resume({{"approve_c1", ToolDecision{.action = "edit", .arguments = R"({"to":"x"})"}},
                                   {"approve_c2", true},
                                   {"approve_c3", ToolDecision{.action = "edit", .arguments = "{}"}}});
    EXPECT_EQ(run.status, RunStatus::done);
    const auto messages = *agent.messages();
    ASSERT_EQ(messages.size(), 6U);
    EXPECT_EQ(messages[1].calls.at(0).arguments, R"({"to":"a", "n":1})") << "what the model said stays";
    EXPECT_EQ(messages[2].used_arguments, R"({"to":"x", "n":1})");
    EXPECT_EQ(messages[3].used_arguments, "");
    EXPECT_EQ(messages[4].used_arguments, "");
    EXPECT_EQ(pay_->runs().size(), 3U);
}

TEST_P(AgentFlow, TheModelIsOfferedTheToolsOfTheAgentAndCannotCallOthers) {
    const auto model = std::make_shared<Listening>(script(call_turn("write") + "," + end_turn));
    auto agent = listening(model);
    EXPECT_EQ(agent.prompt("go").status, RunStatus::done);
    EXPECT_THAT(model->offered, ElementsAre("pay", "look"));
    EXPECT_THAT(results(agent), ElementsAre("Error: there is no tool called write; nothing ran"));
}

TEST_P(AgentFlow, WhateverAToolThrowsFailsThatCallAlone) {
    options_.tools = {watched("plain", [](const ApprovedCall&) -> ToolResult { throw std::runtime_error("boom"); }),
                      watched("odd", [](const ApprovedCall&) -> ToolResult { throw 1; }), look_};
    options_.middleware.clear();
    auto agent = this->agent(turn_with({{"c1", "plain"}, {"c2", "odd"}, {"c3", "look"}}) + end_turn);
    const auto run = agent.prompt("go");
    EXPECT_EQ(run.status, RunStatus::done);
    EXPECT_THAT(results(agent), ElementsAre("Error: boom", "Error: the tool failed", "look ran"));
}

class Rewrites final : public Middleware {
public:
    std::optional<ToolResult> after_tool(const ToolContext& context, const ToolResult& result) override {
        if (!result.is_error) return std::nullopt;
        return ToolResult{.text = std::string(context.tool_name) + " is out of order", .is_error = true};
    }
};

TEST_P(AgentFlow, TheTextOfAFailedCallCanBeRewritten) {
    options_.tools = {watched("pay", [](const ApprovedCall&) -> ToolResult { throw std::runtime_error("at 0x7f"); }),
                      look_};
    options_.middleware = {std::make_shared<Rewrites>()};
    auto agent = this->agent(turn_with({{"c1", "pay"}, {"c2", "look"}}) + end_turn);
    EXPECT_EQ(agent.prompt("go").status, RunStatus::done);
    EXPECT_THAT(results(agent), ElementsAre("pay is out of order", "look ran"));
}

// The fault G-N4 of the collected cases.
TEST_P(AgentFlow, AFailureBesideAQuestionIsRecordedAndNotMadeAgain) {
    const auto broken = watched("broken", [](const ApprovedCall&) -> ToolResult { throw std::runtime_error("boom"); });
    options_.tools = {pay_, broken};
    const auto turns = turn_with({{"c1", "broken"}, {"c2", "pay"}}) + end_turn;
    const auto asked = agent(turns).prompt("go");
    EXPECT_EQ(asked.status, RunStatus::waiting);
    ASSERT_EQ(asked.interrupts.size(), 1U) << "the failure beside it takes no question back";
    EXPECT_EQ(broken->runs().size(), 1U);
    EXPECT_EQ(events().back(), "finished");
    auto agent = this->agent(turns);
    EXPECT_EQ(agent.resume({{asked.interrupts[0].id, true}}).status, RunStatus::done);
    EXPECT_EQ(broken->runs().size(), 1U);
    EXPECT_EQ(pay_->runs().size(), 1U);
    EXPECT_THAT(results(agent), ElementsAre("Error: boom", "pay ran"));
}

// The fault G-N1 of the collected cases.
TEST_P(AgentFlow, WhatRanOnceApprovedIsNotRunAgainWhenTheRunFailsAfterIt) {
    const auto id = agent(call_turn("pay")).prompt("go").interrupts.at(0).id;
    // The model has nothing more to say, which fails the run after the call.
    auto run = agent(call_turn("pay")).resume({{id, true}});
    EXPECT_EQ(run.status, RunStatus::failed);
    EXPECT_EQ(pay_->runs().size(), 1U);
    run = agent(call_turn("pay")).resume({{id, true}});
    EXPECT_EQ(run.status, RunStatus::failed);
    EXPECT_EQ(run.answers.at(0).status, AnswerStatus::already);
    run = agent(call_turn("pay") + "," + end_turn).resume({{id, false}});
    EXPECT_EQ(run.status, RunStatus::done);
    EXPECT_EQ(run.answers.at(0).status, AnswerStatus::conflict);
    EXPECT_EQ(pay_->runs().size(), 1U);
}

// The fault G-N15 of the collected cases.
TEST_P(AgentFlow, TheBudgetOfCallsGoesOnWhereAnotherProcessLeftIt) {
    options_.calls_max = 2;
    const auto turns = call_turn("pay") + "," + call_turn("pay") + "," + call_turn("pay") + "," + end_turn;
    auto run = agent(turns).prompt("go");
    run = agent(turns).resume({{run.interrupts.at(0).id, true}});
    auto last = agent(turns);
    run = last.resume({{run.interrupts.at(0).id, true}});
    EXPECT_EQ(run.status, RunStatus::failed);
    EXPECT_THAT(run.failure->message, HasSubstr("the limit of 2 tool calls per run is reached"));
    EXPECT_TRUE(run.interrupts.empty()) << "nobody is asked about a call that cannot run";
    EXPECT_EQ(pay_->runs().size(), 2U);
    EXPECT_THAT(results(last), ElementsAre("pay ran", "pay ran",
                                           "Error: this call did not run: the limit of 2 tool calls per run is "
                                           "reached"));
}

// The fault G-N12 of the collected cases.
TEST_P(AgentFlow, EachAnswerIsOnRecordWithWhoWhenAndHowTheyWereSignedIn) {
    const auto turns = turn_with({{"c1", "pay"}, {"c2", "pay"}}) + end_turn;
    const auto open = agent(turns).prompt("go").interrupts;
    ASSERT_EQ(open.size(), 2U);
    clock_.pass(5000);
    ASSERT_TRUE(approvals().answer(open[0].id, approve(), {.name = "ann", .signed_in = "terminal"}).ok());
    clock_.pass(5000);
    ASSERT_TRUE(approvals().answer(open[1].id, deny("too much"), {.name = "bob", .signed_in = "token"}).ok());
    EXPECT_EQ(agent(turns).resume().status, RunStatus::done);
    for (const auto& [approval, who, seconds] : {std::tuple(open[0], "ann", 5), std::tuple(open[1], "bob", 10)}) {
        const auto decided = approvals().find(approval.id);
        ASSERT_TRUE(decided.ok());
        EXPECT_EQ(decided->decided_by, who);
        EXPECT_EQ(decided->decided_at, approval.asked_at + seconds * 1000);
    }
    std::string answered;
    for (const auto& entry : *approvals().history("t")) {
        if (entry.event == "answered") answered += entry.fields;
    }
    for (const auto* fact : {"ann", "terminal", "bob", "token", "too much"}) EXPECT_THAT(answered, HasSubstr(fact));
}

// The fault G-C24 of the collected cases.
TEST_P(AgentFlow, IdsThatDifferInLetterCaseOnlyAreOfDifferentCalls) {
    options_.thread_id = std::string(300, 't');
    const auto turns = turn_with({{"Call", "pay", R"({"n":1})"}, {"call", "pay", R"({"n":2})"}}) + end_turn;
    ASSERT_EQ(agent(turns).prompt("go").interrupts.size(), 2U);
    EXPECT_EQ(agent(turns).resume({{"approve_CALL", true}}).answers.at(0).status, AnswerStatus::not_found);
    EXPECT_EQ(agent(turns).resume({{"approve_Call", false}, {"approve_call", true}}).status, RunStatus::done);
    EXPECT_THAT(pay_->runs(), ElementsAre(R"({"n":2})"));
    // So are threads.
    options_.thread_id.back() = 'T';
    EXPECT_EQ(agent(turns).resume().failure->kind, FailureKind::unknown_thread);
}

TEST_P(AgentFlow, WhatIsToldOfACallThatStartsIsWhatRuns) {
    std::string told;
    options_.listener = [&](const AgentEvent& event) {
        if (event.kind == AgentEvent::Kind::started) told = event.call->arguments;
    };
    const auto turns = call_turn("pay", R"({"n":1})") + "," + end_turn;
    ASSERT_EQ(agent(turns).prompt("go").interrupts.size(), 1U);
    const auto run =
        agent(turns).resume({{"approve_call_1", ToolDecision{.action = "edit", .arguments = R"({"n":2})"}}});
    EXPECT_EQ(run.status, RunStatus::done);
    EXPECT_EQ(told, R"({"n":2})");
    EXPECT_THAT(pay_->runs(), ElementsAre(told));
    ASSERT_EQ(run.calls.size(), 1U);
    EXPECT_TRUE(run.calls[0].edited);
}

TEST_P(AgentFlow, AnEditStandsWhenTheTableWouldNotTakeItAnyMoreUnlessItsVersionIsNew) {
    const struct {
        const char* version;
        RunStatus status;
        std::vector<std::string> ran;
    } rows[] = {{"1", RunStatus::done, {R"({"n":2})"}}, {"2", RunStatus::waiting, {}}};
    for (const auto& row : rows) {
        SCOPED_TRACE(row.version);
        pay_ = watched("pay");
        options_.tools = {pay_};
        options_.thread_id = std::string("version ") + row.version;
        options_.middleware = {interrupt_on({{"pay", true}})};
        const auto turns = call_turn("pay", R"({"n":1})") + "," + end_turn;
        const auto id = agent(turns).prompt("go").interrupts.at(0).id;
        ASSERT_EQ(approvals().answer(id, edit(R"({"n":2})"), {.name = "ann"})->status, AnswerStatus::decided);
        options_.middleware = {interrupt_on({{"pay", InterruptOnConfig{.allowed_decisions = {"approve", "reject"}}}},
                                            {.version = row.version})};
        const auto run = agent(turns).resume();
        EXPECT_EQ(run.status, row.status);
        EXPECT_EQ(pay_->runs(), row.ran);
        if (row.status == RunStatus::done) continue;
        ASSERT_EQ(run.interrupts.size(), 1U);
        EXPECT_NE(run.interrupts[0].id, id);
        EXPECT_EQ(run.interrupts[0].arguments, R"({"n":2})");
    }
}

TEST_P(AgentFlow, WithoutAStoreThereIsNothingToResumeAndNothingToAbortElsewhere) {
    Agent agent({.model = script(call_turn("look") + "," + end_turn), .tools = {look_}});
    EXPECT_EQ(agent.abort().failure().kind, FailureKind::unknown_thread);
    EXPECT_EQ(agent.prompt("go").status, RunStatus::done);
    EXPECT_EQ(agent.resume({{"approve_call_1", true}}).failure->kind, FailureKind::no_checkpointer);
    EXPECT_FALSE(agent.abort()->aborted);
    EXPECT_TRUE(approvals().pending()->empty());
    EXPECT_EQ(approvals().abort(agent.thread_id(), "", "ann").failure().kind, FailureKind::unknown_thread);
    EXPECT_EQ(look_->runs().size(), 1U);
}

// The fault E36 of the collected cases.
TEST_P(AgentFlow, AThreadGrowsByTheSameForEachTurn) {
    const std::string arguments = R"({"text":")" + std::string(1000, 'x') + R"("})";
    std::string turns;
    constexpr int prompts = 40;
    for (int i = 0; i < prompts; ++i) turns += call_turn("pay", arguments) + "," + end_turn + ",";
    turns.pop_back();
    std::size_t snapshot_max = 0;
    for (int i = 0; i < prompts; ++i) {
        const auto id = agent(turns).prompt("go on").interrupts.at(0).id;
        EXPECT_EQ(agent(turns).resume({{id, true}}).status, RunStatus::done);
        const auto snapshot = *store_->snapshot("t");
        if (snapshot) snapshot_max = std::max(snapshot_max, snapshot->state.size());
    }
    const auto rows = *store_->load("t", 0);
    ASSERT_EQ(rows.size() % prompts, 0U);
    std::array<std::size_t, 2> halves{};
    for (std::size_t i = 0; i < rows.size(); ++i) {
        halves.at(2 * i / rows.size()) += rows[i].header.size() + rows[i].salt.size() + rows[i].body.size();
    }
    EXPECT_LT(halves[1], halves[0] + halves[0] / 20);
    EXPECT_GT(snapshot_max, 0U);
    EXPECT_LT(snapshot_max, 4U * arguments.size() + 4096U) << "a snapshot is of the latest turn, not of the thread";
}

}  // namespace
}  // namespace assent
