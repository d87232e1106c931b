#include <assent/rules.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <thread>

namespace assent {
namespace {

JsonText json(std::string text) {
    return *JsonText::parse(std::move(text));
}

template <class Action>
std::string refusal(Action action) {
    try {
        action();
    } catch (const std::invalid_argument& problem) {
        return problem.what();
    }
    return "accepted";
}

TEST(Predicates, NameTheFieldAndNeverTheValue) {
    struct Row {
        Predicate condition;
        const char* arguments;
        PredicateError::Kind kind;
        const char* text;
    };
    using Kind = PredicateError::Kind;
    for (const auto& row : {
             Row{gt("amount", 5), "{}", Kind::lookup, "the argument 'amount' is missing"},
             Row{gt("amount", 5), "[7]", Kind::lookup, "the arguments are no object, so 'amount' is missing"},
             Row{gt("amount", 5), R"({"amount":"77"})", Kind::type, "the argument 'amount' is a text, not a number"},
             Row{gt("amount", 5), R"({"amount":true})", Kind::type, "the argument 'amount' is a boolean, not a number"},
             Row{eq("amount", true), R"({"amount":1})", Kind::type, "the argument 'amount' is a number, not a boolean"},
             Row{eq("amount", nullptr), R"({"amount":{}})", Kind::type, "the argument 'amount' is an object, not null"},
             Row{gt("v", nullptr), R"({"v":null})", Kind::type,
                 "the argument 'v' cannot be compared: null has no order"},
             Row{lt("v", json_threshold("{}")), R"({"v":{}})", Kind::type,
                 "the argument 'v' cannot be compared: an object has no order"},
             Row{le("v", json_threshold(R"([1,"a"])")), R"({"v":[1,2]})", Kind::type,
                 "the argument 'v' cannot be compared: a number and a text have no order"},
             Row{matches("to", "x"), R"({"to":["secret"]})", Kind::type, "the argument 'to' is a list, not a text"},
         }) {
        try {
            (void)row.condition(json(row.arguments));
            ADD_FAILURE() << row.text;
        } catch (const PredicateError& error) {
            EXPECT_STREQ(error.what(), row.text);
            EXPECT_EQ(error.kind(), row.kind) << row.text;
        }
    }
}

TEST(Predicates, CompareListsByTheFirstDifference) {
    struct Row {
        const char* threshold;
        const char* argument;
        bool greater;
    };
    for (const auto& row : {
             Row{"[null,1]", "[null,2]", true},  // equal elements need no order
             Row{"[1,2]", "[1]", false},
             Row{"[1]", "[1,null]", true},
             Row{"[[1],2]", "[[1,0],2]", true},
             Row{"[false]", "[1]", true},
             Row{"[0.5]", "[true]", true},
             Row{R"(["é"])", R"(["f"])", false},
             Row{R"([{"a":1}])", R"([{"a":true},0])", true},
         }) {
        const auto arguments = json(std::string(R"({"v":)") + row.argument + "}");
        EXPECT_EQ(gt("v", json_threshold(row.threshold))(arguments), row.greater) << row.argument;
        EXPECT_EQ(le("v", json_threshold(row.threshold))(arguments), !row.greater) << row.argument;
    }
}

TEST(Predicates, CompareBooleansInsideObjectsAsNumbers) {
    EXPECT_TRUE(eq("v", json_threshold(R"({"a":[1,{"b":0}]})"))(json(R"({"v":{"a":[true,{"b":false}]}})")));
    EXPECT_FALSE(eq("v", json_threshold(R"({"a":1})"))(json(R"({"v":{"b":1}})")));
    EXPECT_FALSE(eq("v", json_threshold(R"({"a":1})"))(json(R"({"v":{"a":1,"b":1}})")));
}

TEST(Predicates, KnowThatInfinityIsBeyondEveryNumber) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    const auto huge = json(R"({"n":9e99999999999999999999999999})");
    EXPECT_FALSE(gt("n", infinity)(huge));
    EXPECT_FALSE(ge("n", infinity)(huge));
    EXPECT_TRUE(lt("n", infinity)(huge));
    EXPECT_FALSE(eq("n", infinity)(huge));
    EXPECT_TRUE(gt("n", -infinity)(json(R"({"n":-1e400})")));
    EXPECT_THROW((void)gt("n", infinity)(json(R"({"n":true})")), PredicateError);
}

TEST(Predicates, AreRefusedWhenTheyAreBuilt) {
    struct Row {
        void (*build)();
        const char* text;
    };
    for (const auto& row : {
             Row{[] { (void)Threshold(std::nan("")); }, "nothing compares with NaN; give a number"},
             Row{[] { (void)json_threshold("[NaN]"); },
                 "the value to compare with cannot be used: this is no json value at byte 1"},
             Row{[] { (void)Threshold("\xff"); }, "the text to compare with is not valid utf-8"},
             Row{[] { (void)all_fields({}); }, "all_fields needs at least one pattern"},
             Row{[] { (void)any_field({}); }, "any_field needs at least one pattern"},
             Row{[] { (void)any_field({{"a", "x"}, {"b", "x**"}}); },
                 "pattern refused at character 2: a repeat of a repeat"},
         }) {
        EXPECT_EQ(refusal(row.build), row.text);
    }
}

TEST(Predicates, CompareADoubleByTheDigitsItsAuthorWrote) {
    EXPECT_TRUE(eq("n", 0.1)(json(R"({"n":0.1})")));
    EXPECT_FALSE(eq("n", 0.1)(json(R"({"n":0.1000000000000000055511151231257827})")));
    EXPECT_TRUE(eq("n", 1e22)(json(R"({"n":10000000000000000000000})")));
}

TEST(Rules, AskWhenAConditionThrowsAnything) {
    const auto throws = [](auto value) { return Predicate([value](const JsonText&) -> bool { throw value; }); };
    EXPECT_TRUE(should_interrupt({{"t", throws(std::runtime_error("x"))}}, "t", "{}"));
    EXPECT_TRUE(should_interrupt({{"t", throws(5)}}, "t", "{}"));
    EXPECT_FALSE(should_interrupt({{"u", throws(5)}}, "t", "{}"));
}

TEST(Rules, AskForMalformedArguments) {
    EXPECT_TRUE(should_interrupt({{"t"}}, "t", R"({"a":1,"a":2})"));
    EXPECT_TRUE(should_interrupt({{"t", eq("a", 1)}}, "t", "{"));
    EXPECT_TRUE(should_interrupt({}, "t", "{"));
    EXPECT_FALSE(should_interrupt({}, "t"));
    EXPECT_TRUE(should_interrupt({{"t", eq("a", 1)}}, "t")) << "without arguments every field is missing";
}

TEST(Rules, EndACancelledThread) {
    // Swallowing the exception of a cancelled thread would end the process.
    bool swallowed = false;
    pthread_t thread{};
    const auto body = [](void* result) -> void* {
        const Predicate leaves = [](const JsonText&) -> bool { pthread_exit(nullptr); };
        (void)should_interrupt({{"t", leaves}}, "t", "{}");
        *static_cast<bool*>(result) = true;
        return nullptr;
    };
    ASSERT_EQ(pthread_create(&thread, nullptr, body, &swallowed), 0);
    ASSERT_EQ(pthread_join(thread, nullptr), 0);
    EXPECT_FALSE(swallowed);
}

TEST(Payloads, HaveTheirJsonForm) {
    EXPECT_EQ((ToolInterrupt{.tool_name = "a\"b", .tool_call_id = std::nullopt}.json()),
              R"({"kind":"tool_interrupt","tool_name":"a\"b","tool_call_id":null,"arguments":{}})");
    EXPECT_EQ((ToolInterrupt{.tool_name = "t", .tool_call_id = "fc:1", .arguments = R"({"n": 1.50})"}.json()),
              R"({"kind":"tool_interrupt","tool_name":"t","tool_call_id":"fc:1","arguments":{"n": 1.50}})");
    EXPECT_EQ((ToolDecision{.action = "approve", .arguments = {}, .message = {}}.json()), R"({"action":"approve"})");
    EXPECT_EQ((ToolDecision{.action = "edit", .arguments = "{\"n\":1}", .message = {}}.json()),
              R"({"action":"edit","arguments":{"n":1}})");
    EXPECT_EQ((ToolDecision{.action = "deny", .arguments = {}, .message = "no\n"}.json()),
              R"({"action":"deny","message":"no\n"})");
}

TEST(Denials, SayTheToolAndTheReason) {
    EXPECT_STREQ(ToolDeniedError("refund", "too much").what(), "Tool 'refund' denied: too much");
    EXPECT_STREQ(ToolDeniedError("refund", "").what(), "Tool 'refund' denied");
}

TEST(Answers, ThatAreNoJsonOrHaveAKeyTwiceAreNoAnswers) {
    for (const auto* text : {"", "True", R"({"action":"approve",})", R"({"action":"deny","action":"approve"})"}) {
        const auto answer = read_rules_answer(text);
        ASSERT_FALSE(answer.ok()) << text;
        EXPECT_EQ(answer.failure().kind, FailureKind::refused);
    }
    EXPECT_EQ(read_rules_answer("yes").failure().message,
              "the answer is no json, give true, false or a decision: this is no json value at byte 0");
}

TEST(Answers, AreNeverEchoed) {
    const auto answer = read_rules_answer(R"({"action":"approve","secret":"hunter2"})");
    ASSERT_TRUE(answer.ok());
    EXPECT_EQ(answer->kind, RulesAnswer::Kind::deny);
    EXPECT_EQ(answer->reason, "invalid approval response");
}

// The middleware called directly, with a person who gives `answer`.
struct Direct {
    explicit Direct(std::string given) : answer(std::move(given)) {
        context.tool_name = "send_mail";
        context.tool_call_id = "fc:1";
        context.arguments = *Arguments::parse(R"({"to": "a", "n": 1.50})");
        context.interrupt = [this](const std::string& payload, const std::string& id) {
            ++asked;
            shown = payload;
            shown_id = id;
            return answer;
        };
    }
    Direct(const Direct&) = delete;
    Direct& operator=(const Direct&) = delete;

    std::string answer;
    ToolContext context;
    int asked = 0;
    std::string shown;
    std::string shown_id;
};

TEST(DirectUse, AsksWithThePayloadAndRunsWhatWasApproved) {
    ToolInterruptMiddleware middleware({{"send_mail", gt("n", 1)}});
    Direct direct("true");
    EXPECT_EQ(middleware.before_tool(direct.context), std::nullopt);
    EXPECT_EQ(direct.asked, 1);
    EXPECT_EQ(direct.shown_id, "approve_fc.3a1");
    EXPECT_EQ(
        direct.shown,
        R"({"kind":"tool_interrupt","tool_name":"send_mail","tool_call_id":"fc:1","arguments":{"to": "a", "n": 1.50}})");
}

TEST(DirectUse, LaysTheKeysOfAnEditOver) {
    ToolInterruptMiddleware middleware({InterruptRule("*")});
    Direct direct(R"({"action":"edit","arguments":{"to":"b","cc":[ ]}})");
    const auto edited = middleware.before_tool(direct.context);
    ASSERT_TRUE(edited.has_value());
    EXPECT_EQ(edited->text(), R"({"to": "b", "n": 1.50,"cc":[ ]})");
    Direct same(R"({"action":"edit","arguments":{}})");
    EXPECT_EQ(middleware.before_tool(same.context), same.context.arguments);
}

TEST(DirectUse, ThrowsForEveryOtherAnswer) {
    ToolInterruptMiddleware middleware({InterruptRule("*")});
    struct Row {
        const char* answer;
        const char* text;
    };
    for (const auto& row : {
             Row{"false", "Tool 'send_mail' denied: denied by reviewer"},
             Row{R"({"action":"deny","message":"too much"})", "Tool 'send_mail' denied: too much"},
             Row{R"({"action":"edit","message":"forgot"})", "Tool 'send_mail' denied: forgot"},
             Row{R"("secret")", "Tool 'send_mail' denied: invalid approval response"},
         }) {
        Direct direct(row.answer);
        try {
            (void)middleware.before_tool(direct.context);
            ADD_FAILURE() << row.answer;
        } catch (const ToolDeniedError& error) {
            EXPECT_STREQ(error.what(), row.text);
            EXPECT_EQ(error.tool_name(), "send_mail");
        }
    }
    Direct broken("{");
    EXPECT_THROW((void)middleware.before_tool(broken.context), std::invalid_argument);
}

TEST(DirectUse, NeedsACallIdOnlyWhereItAsks) {
    ToolInterruptMiddleware middleware({InterruptRule("send_mail")});
    Direct direct("true");
    direct.context.tool_call_id = std::nullopt;
    EXPECT_EQ(refusal([&] { (void)middleware.before_tool(direct.context); }),
              "the call of send_mail needs a person but has no tool_call_id; give each call an id");
    direct.context.tool_call_id = "\xff";
    EXPECT_EQ(refusal([&] { (void)middleware.before_tool(direct.context); }), "the tool_call_id is not valid utf-8");
    EXPECT_EQ(direct.asked, 0);
    direct.context.tool_call_id = "";
    EXPECT_EQ(middleware.before_tool(direct.context), std::nullopt) << "an empty id is an id";
    EXPECT_EQ(direct.shown_id, "approve_");
    direct.context.tool_name = "other";
    direct.context.tool_call_id = std::nullopt;
    EXPECT_EQ(middleware.before_tool(direct.context), std::nullopt);
}

TEST(Judging, GivesAQuestionOfTheRulesStyle) {
    ToolInterruptMiddleware middleware({{"send_mail", eq("to", "a")}, {"*", eq("none", 1)}}, "7");
    const auto arguments = *Arguments::parse(R"({"to":"a"})");
    GuardedCall call;
    call.tool_name = "send_mail";
    call.tool_call_id = "m.1";
    call.arguments = &arguments;
    const auto asked = middleware.judge(call);
    EXPECT_EQ(asked.verdict, Verdict::ask);
    ASSERT_TRUE(asked.question.has_value());
    EXPECT_EQ(asked.question->style, Style::rules);
    EXPECT_EQ(asked.question->interrupt_id, "approve_m.2e1");
    EXPECT_EQ(asked.question->payload,
              R"({"kind":"tool_interrupt","tool_name":"send_mail","tool_call_id":"m.1","arguments":{"to":"a"}})");
    EXPECT_EQ(asked.question->allowed, (std::vector{DecisionKind::approve, DecisionKind::deny, DecisionKind::edit}));
    EXPECT_EQ(middleware.version(), "7");
    EXPECT_EQ(middleware.tools_named(), (std::vector<std::string>{"send_mail"}));

    call.tool_call_id = std::nullopt;
    const auto denied = middleware.judge(call);
    EXPECT_EQ(denied.verdict, Verdict::deny);
    EXPECT_EQ(denied.reason, "the call of send_mail needs a person but has no tool_call_id; give each call an id");
    EXPECT_FALSE(denied.question.has_value());
}

// Rules of other tools are never looked at, those of this tool and of all tools in the order they were given.
TEST(Judging, CallsConditionsInTheOrderOfTheRulesUpToTheFirstThatHolds) {
    std::string called;
    const auto says = [&called](char name, bool holds) {
        return [&called, name, holds](const JsonText&) {
            called += name;
            return holds;
        };
    };
    const std::vector<InterruptRule> rules{{"mail", says('a', false)}, {"*", says('b', false)},
                                           {"other", says('c', true)}, {"mail", says('d', true)},
                                           {"*", says('e', true)},     {"mail", says('f', true)}};
    ToolInterruptMiddleware middleware(rules);
    struct Row {
        const char* tool;
        const char* called;
    };
    for (const auto& row : {Row{"mail", "abd"}, Row{"other", "bc"}, Row{"Mail", "be"}, Row{"*", "be"}, Row{"", "be"}}) {
        const Arguments none;
        called.clear();
        EXPECT_EQ(middleware.judge({.tool_name = row.tool, .tool_call_id = "1", .arguments = &none}).verdict,
                  Verdict::ask);
        EXPECT_EQ(called, row.called) << row.tool;
        called.clear();
        EXPECT_TRUE(should_interrupt(rules, row.tool, none.json()));
        EXPECT_EQ(called, row.called) << row.tool;
    }
}

TEST(Judging, AllowsWhatNoRuleAsksFor) {
    ToolInterruptMiddleware middleware({{"send_mail", eq("to", "b")}});
    const auto arguments = *Arguments::parse(R"({"to":"a"})");
    GuardedCall call;
    call.tool_name = "send_mail";
    call.arguments = &arguments;
    EXPECT_EQ(middleware.judge(call), (Judgement{.verdict = Verdict::allow, .reason = {}, .question = {}}));
    EXPECT_TRUE(middleware.can_ask());
    EXPECT_FALSE(ToolInterruptMiddleware({}).can_ask());
}

}  // namespace
}  // namespace assent
