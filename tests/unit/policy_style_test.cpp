// The policy style through an agent: what a policy decides, what people answer, and what hosts are told of it.
#include "support/agents.hpp"

#include <assent/ask_user.hpp>
#include <assent/describe.hpp>
#include <assent/policy.hpp>
#include <assent/testing.hpp>

#include <gtest/gtest.h>

#include <cmath>

namespace assent {
namespace {

using namespace assent::test;
using namespace std::chrono_literals;
using AnswerStatus = AnswerResult::Status;

struct PayArgs {
    std::string to;
    int amount = 0;
};
BOOST_DESCRIBE_STRUCT(PayArgs, (), (to, amount))

PolicyDecision small_amounts(const ToolCall<PayArgs>& call) {
    if (call.args.amount < 10) return Approve{};
    if (call.args.amount > 1000) return Deny{"too much"};
    return AskUser{.prompt = "pay?", .timeout = 60s, .details = {{"to", call.args.to}}};
}

std::string pay_args(int amount) {
    return R"({"to":"Ada","amount":)" + std::to_string(amount) + "}";
}

class PolicyStyle : public AgentOverStore {
protected:
    PolicyStyle() { options_.tools = {pay_}; }
    // An agent that calls `pay` once.
    Agent paying(int amount) { return agent(call_turn("pay", pay_args(amount)) + "," + end_turn); }
    static std::string details(const assent::Run& run) { return run.calls.at(0).details; }

    std::shared_ptr<WatchedTool> pay_ =
        std::make_shared<WatchedTool>(ToolSpec{.name = "pay", .schema = json_schema<PayArgs>()});
};

INSTANTIATE_TEST_SUITE_P(Stores, PolicyStyle, testing::ValuesIn(store_kinds()), store_name);

TEST_P(PolicyStyle, ATypedPolicySeesTheStructAndDecidesThreeWays) {
    options_.middleware = {policy(small_amounts)};
    auto run = paying(5).prompt("pay");
    EXPECT_EQ(run.status, RunStatus::done);
    EXPECT_EQ(details(run), "") << "nothing is told of what nobody was asked about";

    options_.thread_id = "denied";
    run = paying(5000).prompt("pay");
    EXPECT_EQ(run.calls.at(0).text, "too much");
    EXPECT_EQ(details(run), R"({"hitl":{"decision":"policy_deny","reason":"too much"}})");
    EXPECT_TRUE(run.calls.at(0).blocked);

    options_.thread_id = "asked";
    run = paying(50).prompt("pay");
    ASSERT_EQ(run.status, RunStatus::waiting);
    const auto request = hitl_request(run.interrupts.at(0));
    EXPECT_EQ(request.question_id, "call_1");
    EXPECT_EQ(request.payload.prompt, "pay?");
    EXPECT_EQ(request.payload.details.text(), R"({"to":"Ada"})");
    EXPECT_EQ(request.timeout_seconds, 60);
    EXPECT_EQ(pay_->runs().size(), 1U);
}

TEST_P(PolicyStyle, APolicyOfAStructThatDoesNotFitDeniesUnlessItNamesItsTools) {
    const auto look = watched("look");
    options_.tools.push_back(look);
    options_.middleware = {policy(small_amounts)};
    auto run = agent(call_turn("look") + "," + end_turn).prompt("look");
    EXPECT_TRUE(run.calls.at(0).is_error);
    EXPECT_EQ(details(run), R"({"hitl":{"decision":"policy_error"}})");
    EXPECT_TRUE(look->runs().empty());

    options_.thread_id = "named";
    options_.middleware = {policy(small_amounts, {.tools = {"pay"}})};
    run = agent(call_turn("look") + "," + end_turn).prompt("look");
    EXPECT_EQ(run.status, RunStatus::done);
    EXPECT_EQ(look->runs().size(), 1U);
    options_.middleware = {policy(small_amounts, {.tools = {"pai"}})};
    EXPECT_THROW(agent(end_turn), ConfigError);
}

TEST_P(PolicyStyle, APolicySeesTheRunItJudgesIn) {
    options_.system_prompt = "Be careful.";
    std::vector<std::string> seen;
    options_.middleware = {policy([&](const ToolCall<>& call) -> PolicyDecision {
        const auto messages = call.context.messages();
        seen = {std::string(call.context.system_prompt), messages->at(0).text,
                call.context.assistant_message()->calls.at(0).tool, std::string(*call.id),
                std::to_string(call.context.tools.size())};
        return Approve{};
    })};
    EXPECT_EQ(paying(5).prompt("pay it").status, RunStatus::done);
    EXPECT_EQ(seen, (std::vector<std::string>{"Be careful.", "pay it", "pay", "call_1", "1"}));
}

TEST_P(PolicyStyle, APolicyThatIsCutShortDecidesNothing) {
    std::stop_source stop;
    int judged = 0;
    options_.middleware = {policy([&](const ToolCall<>& call) -> PolicyDecision {
        if (++judged > 1) return Approve{};
        stop.request_stop();
        EXPECT_TRUE(call.context.stop.stop_requested());
        throw std::runtime_error("cut short");
    })};
    auto agent = paying(5);
    const auto run = agent.prompt("pay", stop.get_token());
    EXPECT_TRUE(run.interrupted);
    EXPECT_TRUE(run.calls.empty()) << "what it said is not recorded";
    EXPECT_EQ(agent.resume().status, RunStatus::done);
    EXPECT_EQ(pay_->runs().size(), 1U);
}

TEST_P(PolicyStyle, ANewPolicyThatIsCutShortDecidesNothingAboutWhatWasApproved) {
    for (const bool throws : {false, true}) {
        options_.thread_id = throws ? "throws" : "approves";
        options_.middleware = {policy([](const ToolCall<>&) { return AskUser{}; }, {.version = "1"})};
        const auto asked = paying(50).prompt("pay");
        EXPECT_EQ(approvals().answer(asked.interrupts.at(0).id, approve(), {})->status, AnswerStatus::decided);
        std::stop_source stop;
        options_.middleware = {policy(
            [&](const ToolCall<>& call) -> PolicyDecision {
                stop.request_stop();
                EXPECT_TRUE(call.context.stop.stop_requested());
                if (throws) throw std::runtime_error("cut short");
                return Approve{};
            },
            {.version = "2"})};
        EXPECT_TRUE(paying(50).resume({}, stop.get_token()).interrupted);
        options_.middleware = {policy([](const ToolCall<>&) { return Deny{"no more"}; }, {.version = "2"})};
        const auto run = paying(50).resume();
        EXPECT_EQ(run.status, RunStatus::done);
        EXPECT_EQ(run.calls.at(0).text, "no more");
    }
    EXPECT_TRUE(pay_->runs().empty());
}

TEST_P(PolicyStyle, SeveralPoliciesAskOneByOneAndTheirTracesAreChained) {
    const auto asks = [](const ToolCall<>&) { return AskUser{}; };
    options_.middleware = {policy(asks), policy(asks)};
    auto agent = paying(50);
    auto run = agent.prompt("pay");
    ASSERT_EQ(run.interrupts.size(), 2U);
    EXPECT_EQ(run.interrupts[1].guard, "policy-2");
    EXPECT_EQ(approvals().answer(run.interrupts[0].id, approve(), {.name = "alice"})->status, AnswerStatus::decided);
    EXPECT_TRUE(pay_->runs().empty());
    EXPECT_EQ(approvals().answer(run.interrupts[1].id, deny("no"), {.name = "bob"})->status, AnswerStatus::decided);
    run = agent.resume();
    const auto first = run.calls.at(0).details;
    EXPECT_TRUE(first.starts_with(R"({"hitl":{"decision":"human_deny","reason":"no","_chain":[{"approval":")"))
        << first;
    EXPECT_NE(first.find(R"("by":"alice")"), std::string::npos) << first;
    EXPECT_TRUE(pay_->runs().empty());
}

TEST_P(PolicyStyle, AnEditStaysOnTopOfALaterApproval) {
    options_.middleware = {policy([](const ToolCall<>&) { return AskUser{}; }),
                           policy([](const ToolCall<>&) { return AskUser{}; })};
    auto agent = paying(50);
    auto run = agent.prompt("pay");
    run = agent.resume(
        {{run.interrupts.at(0).id, ApproveAnswer{.decision = DecisionKind::edit, .edited_args = pay_args(20)}}});
    ASSERT_EQ(run.interrupts.size(), 1U) << "the other one is asked about what it has become";
    run = agent.resume({{run.interrupts.at(0).id, ApproveAnswer{.decision = DecisionKind::approve}}});
    EXPECT_EQ(pay_->runs(), std::vector<std::string>{pay_args(20)});
    EXPECT_TRUE(details(run).starts_with(R"({"hitl":{"decision":"edit","original_args":)" + pay_args(50) +
                                         R"(,"edited_args":)" + pay_args(20) + R"(,"_chain":[{"approval":)"))
        << details(run);
}

TEST_P(PolicyStyle, AToolsOwnDetailsStayBesideTheTrace) {
    const std::pair<std::string, std::string> rows[] = {
        {R"({"exit":0})", R"({"exit":0,"hitl":{"approval")"},
        {R"({"hitl":"mine","exit":0})", R"({"hitl":{"approval")"},
        {"[1]", R"({"_non_dict_details":[1],"hitl":{"approval")"},
        {"no json", R"({"_non_dict_details":"no json","hitl":{"approval")"},
    };
    int thread = 0;
    for (const auto& [own, wanted] : rows) {
        const auto text = own;
        options_.thread_id = "t" + std::to_string(++thread);
        options_.tools = {
            watched("pay", [text](const ApprovedCall&) { return ToolResult{.text = "paid", .details = text}; })};
        options_.middleware = {confirm_tools({"pay"})};
        auto agent = paying(1);
        const auto asked = agent.prompt("pay");
        const auto run = agent.resume({{asked.interrupts.at(0).id, true}});
        EXPECT_TRUE(run.calls.at(0).details.starts_with(wanted)) << run.calls.at(0).details;
    }
}

TEST_P(PolicyStyle, ConfirmToolsAsksAboutTheNamedOnesAlone) {
    options_.tools.push_back(watched("look"));
    options_.middleware = {confirm_tools({"pay"}, {.prompt = "sure?", .timeout = std::nullopt})};
    options_.timeout = 5s;
    EXPECT_EQ(agent(call_turn("look") + "," + end_turn).prompt("look").status, RunStatus::done);
    options_.thread_id = "asked";
    const auto run = paying(1).prompt("pay");
    EXPECT_EQ(run.interrupts.at(0).question.description, "sure?");
    EXPECT_FALSE(run.interrupts.at(0).deadline) << "for ever was said, so the default does not count";
}

TEST_P(PolicyStyle, ADeadlineThatIsOverAtOnceEndsTheCallInTheSamePrompt) {
    options_.middleware = {confirm_tools({}, {.timeout = 0s})};
    const auto run = paying(1).prompt("pay");
    EXPECT_EQ(run.status, RunStatus::done);
    EXPECT_EQ(run.calls.at(0).text, "approval_timeout");
    EXPECT_EQ(run.calls.at(0).block_reason, "approval_timeout");
}

TEST(PolicyStyleAlone, ATimeoutHasThreeStates) {
    EXPECT_EQ(Timeout().milliseconds(7), 7);
    EXPECT_EQ(Timeout(std::nullopt).milliseconds(7), std::nullopt);
    EXPECT_EQ(Timeout(0s).milliseconds(7), 0);
    EXPECT_EQ(Timeout(std::chrono::duration<double>(0.0501)).milliseconds(), 51);
    EXPECT_THROW(Timeout(-1s), std::invalid_argument);
    EXPECT_THROW(Timeout(std::chrono::duration<double>(std::nan(""))), std::invalid_argument);
}

TEST(PolicyStyleAlone, WithoutAPolicyOrWithDetailsThatAreNoObjectNothingIsBuilt) {
    EXPECT_THROW((void)policy(Policy()), ConfigError);
    EXPECT_THROW((void)PolicyDetails::json("[1]"), std::invalid_argument);
    AgentOptions options{.model = script(end_turn), .middleware = {confirm_tools({})}};
    try {
        const Agent agent(std::move(options));
        FAIL() << "an agent that can ask needs a place for the question";
    } catch (const ConfigError& error) {
        EXPECT_STREQ(error.what(), "the guard policy can ask people, so the agent needs a checkpointer or a channel");
    }
}

// What `before_tool_call` gives its caller for each end of a question.
struct DirectRow {
    const char* name;
    ScriptedChannel::Answerer answer;  // null: the policy decides alone
    PolicyDecision decision;
    std::optional<BeforeToolCallResult> expected;
};

class BeforeToolCall : public testing::TestWithParam<DirectRow> {};

TEST_P(BeforeToolCall, SaysWhatToDo) {
    const auto& row = GetParam();
    const auto channel = std::make_shared<ScriptedChannel>();
    if (row.answer) channel->then(row.answer);
    ApprovalPolicyMiddleware middleware(channel, [&](const ToolCall<>&) { return row.decision; });
    const RunContext outside;
    auto result = middleware.before_tool_call(
        {.tool_name = "pay", .id = "call_1", .args = *Arguments::parse(R"({"n":1})"), .context = outside});
    EXPECT_EQ(channel->history().size(), row.answer ? 1U : 0U);
    if (row.answer) {
        EXPECT_EQ(channel->history()[0].question_id, "call_1");
        EXPECT_EQ(channel->history()[0].payload.args.text(), R"({"n":1})");
    }
    // Who approved and when differs from run to run.
    if (result && result->hitl_trace.starts_with(R"({"approval":)")) result->hitl_trace = "approved";
    EXPECT_EQ(result, row.expected);
}

std::optional<HitlAnswer> answer_with(const ApproveAnswer& answer) {
    return HitlAnswer(answer);
}

INSTANTIATE_TEST_SUITE_P(
    Ends, BeforeToolCall,
    testing::Values(
        DirectRow{"PolicyApproves", nullptr, Approve{}, std::nullopt},
        DirectRow{"PolicyDenies", nullptr, Deny{"forbidden"},
                  BeforeToolCallResult{.block = true,
                                       .reason = "forbidden",
                                       .deny_reason = "forbidden",
                                       .hitl_trace = R"({"decision":"policy_deny","reason":"forbidden"})"}},
        DirectRow{"PersonApproves", [](const HitlRequest&) { return answer_with({.decision = DecisionKind::approve}); },
                  AskUser{}, BeforeToolCallResult{.hitl_trace = "approved"}},
        DirectRow{"PersonDenies",
                  [](const HitlRequest&) { return answer_with({.decision = DecisionKind::deny, .reason = "no"}); },
                  AskUser{},
                  BeforeToolCallResult{.block = true,
                                       .reason = "no",
                                       .deny_reason = "no",
                                       .hitl_trace = R"({"decision":"human_deny","reason":"no"})"}},
        DirectRow{
            "PersonEdits",
            [](const HitlRequest&) {
                return answer_with({.decision = DecisionKind::edit, .edited_args = R"({"n":2})"});
            },
            AskUser{},
            BeforeToolCallResult{.edited_args = *Arguments::parse(R"({"n":2})"),
                                 .hitl_trace = R"({"decision":"edit","original_args":{"n":1},"edited_args":{"n":2}})"}},
        DirectRow{"NobodyAnswersInTime", nullptr, AskUser{.timeout = 0s},
                  BeforeToolCallResult{.block = true,
                                       .reason = "approval_timeout",
                                       .deny_reason = "approval_timeout",
                                       .hitl_trace = R"({"decision":"timed_out"})"}}),
    [](const auto& row) { return row.param.name; });

}  // namespace
}  // namespace assent
