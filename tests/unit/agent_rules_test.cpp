// Rules, middleware, configuration and listeners of an agent.
#include "support/agents.hpp"

#include <assent/rules.hpp>

#include <gtest/gtest.h>

namespace assent {
namespace {

using namespace assent::test;
using AnswerStatus = AnswerResult::Status;

using AgentRules = AgentOverStore;
INSTANTIATE_TEST_SUITE_P(Stores, AgentRules, testing::ValuesIn(store_kinds()), store_name);

std::shared_ptr<ToolInterruptMiddleware> rules(std::vector<InterruptRule> list, std::string name = "rules") {
    return std::make_shared<ToolInterruptMiddleware>(std::move(list), "1", std::move(name));
}

TEST_P(AgentRules, EveryFormOfAnAnswerDoesWhatItSays) {
    struct Row {
        const char* name;
        Answer answer;
        AnswerStatus status;
        const char* ran;     // the arguments it ran with; empty: it did not
        const char* result;  // of the call; empty: it still waits
    };
    const std::vector<Row> rows{
        {"true", true, AnswerStatus::decided, R"({"to":"bob", "n":1.50})", "pay ran"},
        {"false", false, AnswerStatus::decided, "", "Tool 'pay' denied: denied by reviewer"},
        {"approve", ToolDecision{.action = "approve"}, AnswerStatus::decided, R"({"to":"bob", "n":1.50})", "pay ran"},
        {"deny", ToolDecision{.action = "deny"}, AnswerStatus::decided, "", "Tool 'pay' denied: denied by reviewer"},
        {"deny with a reason", ToolDecision{.action = "deny", .message = "not today"}, AnswerStatus::decided, "",
         "Tool 'pay' denied: not today"},
        {"edit lays keys over", ToolDecision{.action = "edit", .arguments = R"({"n": 2})"}, AnswerStatus::decided,
         R"({"to":"bob", "n":2})", "pay ran"},
        {"edit adds a key", ToolDecision{.action = "edit", .arguments = R"({"x":[1]})"}, AnswerStatus::decided,
         R"({"to":"bob", "n":1.50,"x":[1]})", "pay ran"},
        {"edit without arguments", ToolDecision{.action = "edit"}, AnswerStatus::decided, "",
         "Tool 'pay' denied: denied by reviewer"},
        {"a decision of the library", deny("no"), AnswerStatus::decided, "", "Tool 'pay' denied: no"},
        {"a replacing edit merges here", edit(R"({"n":3})"), AnswerStatus::decided, R"({"to":"bob", "n":3})",
         "pay ran"},
        {"json true", Answer::json("true"), AnswerStatus::decided, R"({"to":"bob", "n":1.50})", "pay ran"},
        {"json decision", Answer::json(R"({"action":"deny","message":"later"})"), AnswerStatus::decided, "",
         "Tool 'pay' denied: later"},
        {"json number", Answer::json("1"), AnswerStatus::decided, "", "Tool 'pay' denied: invalid approval response"},
        {"json text", Answer::json(R"("yes")"), AnswerStatus::decided, "",
         "Tool 'pay' denied: invalid approval response"},
        {"json null", Answer::json("null"), AnswerStatus::decided, "", "Tool 'pay' denied: invalid approval response"},
        {"unknown action", ToolDecision{.action = "Approve"}, AnswerStatus::decided, "",
         "Tool 'pay' denied: invalid approval response"},
        {"extra key", Answer::json(R"({"action":"approve","note":"x"})"), AnswerStatus::decided, "",
         "Tool 'pay' denied: invalid approval response"},
        {"no json", Answer::json("yes"), AnswerStatus::refused, "", ""},
        {"cut off", Answer::json(R"({"action":"approve")"), AnswerStatus::refused, "", ""},
        {"empty", Answer::json(" "), AnswerStatus::refused, "", ""},
        {"same key twice", Answer::json(R"({"action":"deny","action":"approve"})"), AnswerStatus::refused, "", ""},
        {"respond is not for rules", respond("done"), AnswerStatus::refused, "", ""},
    };
    int number = 0;
    for (const auto& row : rows) {
        SCOPED_TRACE(row.name);
        const auto pay = watched("pay");
        options_.tools = {pay};
        options_.middleware = {rules({{"pay", gt("n", 1)}})};
        options_.thread_id = "t" + std::to_string(++number);
        const auto turns = call_turn("pay", R"({"to":"bob", "n":1.50})") + "," + end_turn;
        const auto asked = this->agent(turns).prompt("pay").interrupts;
        ASSERT_EQ(asked.size(), 1U);
        EXPECT_EQ(asked[0].question.interrupt_id, "approve_call_1");
        EXPECT_EQ(
            asked[0].question.payload,
            R"({"kind":"tool_interrupt","tool_name":"pay","tool_call_id":"call_1","arguments":{"to":"bob", "n":1.50}})");
        auto agent = this->agent(turns);
        // By the style's own id, which is that of the one open approval of the thread.
        const auto run = agent.resume({{"approve_call_1", row.answer}});
        ASSERT_EQ(run.answers.size(), 1U);
        EXPECT_EQ(run.answers[0].status, row.status) << run.answers[0].message;
        const std::string ran(row.ran);
        EXPECT_EQ(pay->runs(), ran.empty() ? std::vector<std::string>{} : std::vector{ran});
        if (*row.result == '\0') {
            EXPECT_EQ(run.status, RunStatus::waiting);
            EXPECT_EQ(agent.resume({{asked[0].id, true}}).status, RunStatus::done) << "it stays open";
        } else {
            EXPECT_EQ(run.status, RunStatus::done);
            EXPECT_EQ(results(agent), std::vector<std::string>{row.result});
        }
    }
}

TEST_P(AgentRules, WhatNoRuleMatchesRunsAtOnce) {
    const auto pay = watched("pay");
    options_.tools = {pay, watched("look")};
    options_.middleware = {rules({{"pay", gt("n", 1)}})};
    EXPECT_EQ(
        this->agent(call_turn("pay", R"({"n":1})") + "," + call_turn("look") + "," + end_turn).prompt("go").status,
        RunStatus::done);
    options_.thread_id = "missing";
    EXPECT_EQ(this->agent(call_turn("pay") + "," + end_turn).prompt("go").status, RunStatus::waiting)
        << "a condition that cannot say counts as a match";
}

TEST_P(AgentRules, SeveralListsOfRulesAskEachTheirOwnQuestion) {
    const auto pay = watched("pay");
    options_.tools = {pay};
    options_.middleware = {rules({{"pay", gt("n", 1)}}), rules({InterruptRule("*")}), rules({"pay"}, "money")};
    auto agent = this->agent(call_turn("pay", R"({"n":5})") + "," + end_turn);
    auto open = agent.prompt("go").interrupts;
    ASSERT_EQ(open.size(), 3U);
    EXPECT_EQ(open[0].guard, "rules");
    EXPECT_EQ(open[1].guard, "rules-2");
    EXPECT_EQ(open[2].guard, "money");
    EXPECT_EQ(agent.resume({{open[0].id, true}, {open[2].id, true}}).status, RunStatus::waiting);
    EXPECT_TRUE(pay->runs().empty());
    // An edit satisfies the list that asked; the others ask about what they had not seen.
    auto run = agent.resume({{open[1].id, ToolDecision{.action = "edit", .arguments = R"({"n":0})"}}});
    EXPECT_EQ(run.status, RunStatus::waiting);
    ASSERT_EQ(run.interrupts.size(), 1U);
    EXPECT_EQ(run.interrupts[0].guard, "money");
    EXPECT_EQ(run.interrupts[0].arguments, R"({"n":0})");
    EXPECT_EQ(agent.resume({{run.interrupts[0].id, true}}).status, RunStatus::done);
    EXPECT_EQ(pay->runs(), std::vector<std::string>{R"({"n":0})"});
}

TEST_P(AgentRules, ACallWithoutAnIdCannotBeAskedAboutButCanRun) {
    const auto pay = watched("pay");
    const auto look = watched("look");
    options_.tools = {pay, look};
    options_.middleware = {rules({"pay"})};
    auto agent = this->agent(R"({"calls":[{"name":"pay"},{"name":"look"}]},)" + end_turn);
    EXPECT_EQ(agent.prompt("go").status, RunStatus::done);
    EXPECT_TRUE(pay->runs().empty());
    EXPECT_EQ(results(agent)[0],
              "The call of `pay` was denied: the call of pay needs a person but has no tool_call_id; give each call an "
              "id. It did not run. Do not call it again unless the user asks.");
    EXPECT_EQ(results(agent)[1], "look ran");
    EXPECT_FALSE(agent.messages()->back().tool_call_id.has_value());
}

// Notes when it is called and adds its letter.
class Adds final : public Middleware {
public:
    Adds(std::string letter, std::vector<std::string>& log) : letter_(std::move(letter)), log_(log) {}
    std::optional<Arguments> before_tool(const ToolContext& context) override {
        log_.push_back("before " + letter_ + " " + context.arguments.text());
        if (letter_ == "x") throw std::runtime_error("the middleware will not have it");
        return lay_over(context.arguments, *Arguments::parse(R"({")" + letter_ + R"(":1})")).value();
    }
    std::optional<ToolResult> after_tool(const ToolContext& context, const ToolResult& result) override {
        log_.push_back("after " + letter_ + " " + context.arguments.text());
        return ToolResult{.text = result.text + letter_};
    }

private:
    std::string letter_;
    std::vector<std::string>& log_;
};

TEST_P(AgentRules, MiddlewareReplacesInOrderOnceAndItsReplacementIsJudgedShownAndRun) {
    std::vector<std::string> log;
    const auto pay = watched("pay");
    options_.tools = {pay};
    // The rule stands first, and still judges what the others make of it.
    options_.middleware = {rules({{"pay", eq("b", 1)}}), std::make_shared<Adds>("a", log),
                           std::make_shared<Adds>("b", log)};
    const auto turns = call_turn("pay", R"({"n": 1.50})") + "," + end_turn;
    const auto open = this->agent(turns).prompt("go").interrupts;
    ASSERT_EQ(open.size(), 1U);
    const std::string replaced = R"({"n": 1.50,"a":1,"b":1})";
    EXPECT_EQ(open[0].arguments, replaced);
    EXPECT_EQ(open[0].arguments_raw, R"({"n": 1.50})");
    auto agent = this->agent(turns);
    EXPECT_EQ(agent.resume({{open[0].id, true}}).status, RunStatus::done);
    EXPECT_EQ(pay->runs(), std::vector{replaced});
    EXPECT_EQ(log, (std::vector<std::string>{R"(before a {"n": 1.50})", R"(before b {"n": 1.50,"a":1})",
                                             "after b " + replaced, "after a " + replaced}));
    EXPECT_EQ(results(agent), std::vector<std::string>{"pay ranba"});
    const auto messages = *agent.messages();
    EXPECT_EQ(messages[1].calls.at(0).arguments, R"({"n": 1.50})") << "the model's own call is not rewritten";
    EXPECT_EQ(messages[2].used_arguments, replaced);
}

TEST_P(AgentRules, MiddlewareThatThrowsEndsTheCallBeforeAnybodyIsAsked) {
    std::vector<std::string> log;
    const auto pay = watched("pay");
    options_.tools = {pay};
    options_.middleware = {rules({"pay"}), std::make_shared<Adds>("x", log), std::make_shared<Adds>("a", log)};
    auto agent = this->agent(call_turn("pay") + "," + end_turn);
    EXPECT_EQ(agent.prompt("go").status, RunStatus::done);
    EXPECT_EQ(results(agent), std::vector<std::string>{"Error: the middleware will not have it"});
    EXPECT_EQ(log, std::vector<std::string>{"before x {}"});
    EXPECT_TRUE(pay->runs().empty());
}

TEST_P(AgentRules, AskingNeedsACheckpointer) {
    const auto message = [](AgentOptions options) -> std::string {
        options.model = script(end_turn);
        try {
            const Agent agent(std::move(options));
        } catch (const ConfigError& error) {
            return error.what();
        }
        return "";
    };
    EXPECT_EQ(message({.tools = {watched("pay")}, .middleware = {rules({"pay"}, "money")}}),
              "the guard money can ask people, so the agent needs a checkpointer or a channel");
    EXPECT_EQ(message({.guards = {guard_}}),
              "the guard fake can ask people, so the agent needs a checkpointer or a channel");
    EXPECT_EQ(message({.middleware = {rules({})}}), "");
    EXPECT_EQ(message({.tools = {watched("pay")}, .middleware = {rules({"refund"})}, .checkpointer = store_.get()}),
              "the guard rules names the tool refund, which does not exist");
    EXPECT_EQ(message({.tools = {watched("pay"), watched("pay")}}), "two tools are called pay");
    EXPECT_THROW(Agent({.checkpointer = store_.get()}), ConfigError);  // no model

    Agent agent({.model = script(call_turn("look") + "," + end_turn), .tools = {watched("look")}});
    EXPECT_EQ(agent.prompt("go").status, RunStatus::done);
    EXPECT_TRUE(agent.thread_id().starts_with("thread-"));
    const auto run = agent.resume();
    EXPECT_EQ(run.status, RunStatus::failed);
    EXPECT_EQ(run.failure->kind, FailureKind::no_checkpointer);
    EXPECT_EQ(run.failure->message, "cannot resume without a checkpointer");
}

TEST_P(AgentRules, TheWrongThreadLeavesTheRightOneUntouched) {
    const auto pay = watched("pay");
    options_.tools = {pay};
    options_.middleware = {rules({"pay"})};
    const auto turns = call_turn("pay") + "," + end_turn;
    const auto open = this->agent(turns).prompt("go").interrupts.at(0);
    const auto before = (*store_->find_thread("t"))->seq;

    options_.thread_id = "nowhere";
    auto run = this->agent(turns).resume({{open.id, true}});
    EXPECT_EQ(run.status, RunStatus::failed);
    EXPECT_EQ(run.failure->kind, FailureKind::unknown_thread);
    EXPECT_EQ(run.failure->message, "no thread is called nowhere");
    EXPECT_TRUE(run.answers.empty());
    EXPECT_FALSE(store_->find_thread("nowhere")->has_value());

    options_.thread_id = "other";
    EXPECT_EQ(this->agent(turns).prompt("go").status, RunStatus::waiting);
    run = this->agent(turns).resume({{open.id, true}});
    EXPECT_EQ(run.answers.at(0).status, AnswerStatus::not_found);
    EXPECT_EQ((*store_->find_thread("t"))->seq, before);
    EXPECT_EQ(approvals().find(open.id)->state, ApprovalState::open);
    EXPECT_TRUE(pay->runs().empty());
}

TEST_P(AgentRules, ListenersHearEverythingInOrder) {
    std::vector<std::string> heard;
    options_.listener = [&](const AgentEvent& event) {
        static constexpr const char* names[] = {"text",    "text_dropped", "turn",    "asked",
                                                "started", "ended",        "waiting", "finished"};
        std::string line = names[static_cast<std::size_t>(event.kind)];
        if (event.call) line += " " + event.call->tool;
        if (event.approval) line += " " + event.approval->tool;
        if (!event.text.empty()) line += " " + event.text;
        heard.push_back(line);
    };
    options_.tools = {watched("look"), watched("pay")};
    options_.middleware = {rules({"pay"})};
    auto agent =
        this->agent(R"({"text":"both","calls":[{"id":"a","name":"look"},{"id":"b","name":"pay"}]},)" + end_turn);
    const auto open = agent.prompt("go").interrupts;
    EXPECT_EQ(heard, (std::vector<std::string>{"text both", "turn both", "asked pay", "started look", "ended look",
                                               "waiting"}));
    heard.clear();
    (void)agent.resume({{open.at(0).id, true}});
    EXPECT_EQ(heard, (std::vector<std::string>{"started pay", "ended pay", "text all done", "finished all done"}));
}

TEST_P(AgentRules, AToolThatStillRunsIsToldOfOnce) {
    std::latch approved(1);
    options_.tools = {watched("slow",
                              [&](const ApprovedCall&) {
                                  approved.wait();
                                  return ToolResult{.text = "slow ran"};
                              }),
                      watched("pay", [&](const ApprovedCall&) {
                          approved.count_down();
                          return ToolResult{.text = "paid"};
                      })};
    options_.middleware = {rules({"pay"})};
    std::vector<std::string> started;
    options_.listener = [&](const AgentEvent& event) {
        if (event.kind != AgentEvent::Kind::started) return;
        started.push_back(event.call->tool);
        // The listener may answer: the run goes on with both.
        if (started.size() > 1) return;
        const auto open = approvals().pending()->at(0).id;
        EXPECT_EQ(approvals().answer(open, approve(), {.name = "bob"})->status, AnswerStatus::decided);
    };
    auto agent = this->agent(R"({"calls":[{"id":"a","name":"slow"},{"id":"b","name":"pay"}]},)" + end_turn);
    EXPECT_EQ(agent.prompt("go").status, RunStatus::done);
    EXPECT_EQ(started, (std::vector<std::string>{"slow", "pay"}));
    EXPECT_EQ(results(agent), (std::vector<std::string>{"slow ran", "paid"}));
}

TEST_P(AgentRules, AListenerThatThrowsChangesNothing) {
    const auto look = watched("look");
    options_.tools = {look};
    for (const bool plain : {true, false}) {
        options_.thread_id = plain ? "plain" : "odd";
        options_.listener = [plain](const AgentEvent&) {
            if (plain) throw std::runtime_error("not now");
            throw 1;
        };
        auto agent = this->agent(call_turn("look") + "," + end_turn);
        EXPECT_EQ(agent.prompt("go").status, RunStatus::done);
        EXPECT_EQ(results(agent), std::vector<std::string>{"look ran"});
    }
    EXPECT_EQ(look->runs().size(), 2U);
}

TEST_P(AgentRules, ANewPromptWaitsForWhatIsOpen) {
    options_.tools = {watched("pay")};
    options_.middleware = {rules({"pay"})};
    auto agent = this->agent(call_turn("pay") + "," + end_turn + "," + end_turn);
    const auto id = agent.prompt("go").interrupts.at(0).id;
    auto run = agent.prompt("and this");
    EXPECT_EQ(run.status, RunStatus::failed);
    EXPECT_EQ(run.failure->kind, FailureKind::waiting);
    EXPECT_EQ(run.failure->message, "thread t waits for people: " + id + " (pay); answer, resume or abort it first");
    ASSERT_EQ(run.interrupts.size(), 1U);
    EXPECT_TRUE(agent.abort("never mind")->aborted);
    run = agent.prompt("and this");
    EXPECT_EQ(run.status, RunStatus::done);
    EXPECT_EQ(run.text, "all done");
}

}  // namespace
}  // namespace assent
