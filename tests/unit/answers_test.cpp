// Answers in the forms of the styles, as text.
#include "policy/policy_answer.hpp"

#include <assent/parse_answer.hpp>

#include <gtest/gtest.h>

#include <string>
#include <variant>
#include <vector>

namespace assent {
namespace {

TEST(PolicyAnswers, AreReadAsDecisions) {
    const struct {
        const char* json;
        Decision decision;
    } rows[] = {
        {R"({"decision":"approve"})", approve()},
        {R"({"decision":"approve","edited_args":null,"reason":null})", approve()},
        {R"({"decision":"approve","edited_args":{"n":2},"note":"x"})", approve()},
        {R"({"decision":"approve","reason":"fine"})", {.kind = DecisionKind::approve, .message = "fine"}},
        {R"({"decision":"deny"})", deny()},
        {R"({"decision":"deny","reason":null})", deny()},
        {R"({"decision":"deny","reason":"not this file","edited_args":[]})", deny("not this file")},
        {R"({"decision":"edit","edited_args":{"n": 1.50}})", edit(R"({"n": 1.50})")},
        {R"({"reason":"other file","edited_args":{},"decision":"edit"})",
         {.kind = DecisionKind::edit, .arguments = "{}", .message = "other file"}},
    };
    for (const auto& row : rows) {
        const auto read = read_policy_answer(row.json);
        const auto* decision = std::get_if<Decision>(&read);
        ASSERT_NE(decision, nullptr) << row.json;
        EXPECT_EQ(*decision, row.decision) << row.json;
    }
}

TEST(PolicyAnswers, ThatAreNoneAreRefused) {
    const struct {
        const char* json;
        Refusal kind;
        const char* message;
    } rows[] = {
        {"approve", Refusal::bad_shape, "the answer is no json: this is no json value at byte 0"},
        {R"({"decision":"deny","decision":"approve"})", Refusal::bad_shape,
         "the answer is no json: an object has the same key twice at byte 19"},
        {"true", Refusal::bad_shape, "an answer must be an object with decision, one of: approve, deny, edit"},
        {R"(["approve"])", Refusal::bad_shape,
         "an answer must be an object with decision, one of: approve, deny, edit"},
        {"{}", Refusal::bad_shape, "an answer needs decision, one of: approve, deny, edit"},
        {R"({"decision":true})", Refusal::bad_shape, "an answer needs decision, one of: approve, deny, edit"},
        {R"({"decision":"Approve"})", Refusal::not_allowed,
         "the decision Approve is unknown; take one of: approve, deny, edit"},
        {R"({"decision":"respond"})", Refusal::not_allowed,
         "the decision respond is unknown; take one of: approve, deny, edit"},
        {"{\"decision\":\"\\u202eapprove\"}", Refusal::not_allowed,
         "the decision \\u{202e}approve is unknown; take one of: approve, deny, edit"},
        {R"({"decision":"deny","reason":5})", Refusal::bad_shape, "reason must be a text or null"},
        {R"({"decision":"edit"})", Refusal::bad_shape,
         "the decision edit needs edited_args, an object with all arguments"},
        {R"({"decision":"edit","edited_args":null})", Refusal::bad_shape,
         "the decision edit needs edited_args, an object with all arguments"},
        {R"({"decision":"edit","edited_args":"b.txt"})", Refusal::bad_shape,
         "the decision edit needs edited_args, an object with all arguments"},
    };
    for (const auto& row : rows) {
        const auto read = read_policy_answer(row.json);
        const auto* refusal = std::get_if<AnswerRefusal>(&read);
        ASSERT_NE(refusal, nullptr) << row.json;
        EXPECT_EQ(refusal->kind, row.kind) << row.json;
        EXPECT_EQ(refusal->message, row.message);
    }
}

Decision other_tool(std::string tool, std::string arguments) {
    auto decision = edit(std::move(arguments));
    decision.tool = std::move(tool);
    return decision;
}

struct ParsedRow {
    const char* name;
    Style style;
    const char* json;
    ParsedAnswer answer;
};

class ParsedAnswers : public testing::TestWithParam<ParsedRow> {};

TEST_P(ParsedAnswers, SayWhatThePersonDecided) {
    const auto& row = GetParam();
    const auto parsed = parse_answer(row.style, row.json);
    ASSERT_TRUE(parsed.ok()) << parsed.failure().message;
    EXPECT_TRUE(*parsed == row.answer) << "alternative " << parsed->index();
}

INSTANTIATE_TEST_SUITE_P(
    Styles, ParsedAnswers,
    testing::Values(
        ParsedRow{"RulesTrue", Style::rules, "true", approve()},
        ParsedRow{"RulesFalse", Style::rules, "false", deny("denied by reviewer")},
        ParsedRow{"RulesApprove", Style::rules, R"({"action":"approve"})", approve()},
        ParsedRow{"RulesDeny", Style::rules, R"({"action":"deny","message":"too much"})", deny("too much")},
        ParsedRow{"RulesEditLaysKeysOver", Style::rules, R"({"action":"edit","arguments":{"n": 1.50}})",
                  edit_keys(R"({"n": 1.50})")},
        ParsedRow{"RulesEditWithNull", Style::rules, R"({"action":"edit","arguments":null})",
                  deny("denied by reviewer")},
        ParsedRow{"RulesNoDecision", Style::rules, R"({"decision":"approve"})", deny("invalid approval response")},
        ParsedRow{"PolicyApprove", Style::policy, R"({"decision":"approve"})", approve()},
        ParsedRow{"PolicyEditReplaces", Style::policy, R"({"decision":"edit","edited_args":{"n": 1.50}})",
                  edit(R"({"n": 1.50})")},
        ParsedRow{"PolicyYes", Style::policy, "true", Confirmation{.yes = true}},
        ParsedRow{"PolicyNo", Style::policy, " false ", Confirmation{.yes = false}},
        ParsedRow{"PolicyQuestions", Style::policy, R"({"color":"red","sizes":["s","m"],"note":""})",
                  QuestionAnswers{{.key = "color", .values = {"red"}},
                                  {.key = "sizes", .values = {"s", "m"}, .is_list = true},
                                  {.key = "note", .values = {""}}}},
        ParsedRow{"TableList", Style::table,
                  R"({"decisions":[{"type":"approve"},{"type":"reject","message":"why"},{"type":"deny"}]})",
                  DecisionsInOrder{approve(), deny("why"), deny()}},
        ParsedRow{"TableNobody", Style::table, R"({"decisions":[]})", DecisionsInOrder{}},
        ParsedRow{"TableById", Style::table,
                  R"({"5abcd":{"type":"respond","message":"done by hand"},"6abcd":{"type":"approve"}})",
                  DecisionsById{{"5abcd", respond("done by hand")}, {"6abcd", approve()}}},
        ParsedRow{"TableOne", Style::table, R"({"type":"edit","edited_action":{"name":"send","args":{"n": 1.50}}})",
                  other_tool("send", R"({"n": 1.50})")},
        ParsedRow{"AssentsOwn", Style::assent, R"({"type":"approve"})", approve()}),
    [](const auto& row) { return row.param.name; });

TEST(ParsedAnswer, IsNeverMadeOfSomethingElse) {
    const struct {
        Style style;
        const char* json;
        const char* message;
    } rows[] = {
        {Style::rules, "yes", "the answer is no json, give true, false or a decision: this is no json value at byte 0"},
        {Style::policy, "yes", "the answer is no json: this is no json value at byte 0"},
        {Style::policy, "null", "an answer must be an object with decision, one of: approve, deny, edit"},
        {Style::policy, R"("approve")", "an answer must be an object with decision, one of: approve, deny, edit"},
        {Style::policy, "{}", "an answer needs decision, one of: approve, deny, edit"},
        {Style::policy, R"({"decision":"yes"})", "the decision yes is unknown; take one of: approve, deny, edit"},
        {Style::policy, R"({"color":5})",
         "the answer to color must be a text or a list of texts; a decision needs decision"},
        {Style::policy, R"({"sizes":["s",1]})",
         "the answer to sizes must be a text or a list of texts; a decision needs decision"},
        {Style::table, "yes", "the answer is no json: this is no json value at byte 0"},
        {Style::table, "true", "an answer must be an object with decisions, or with decisions by id"},
        {Style::table, R"([{"type":"approve"}])",
         "an answer must be an object with decisions, or with decisions by id"},
        {Style::table, "{}", "the answer has no decisions; give a list as decisions, or decisions by id"},
        {Style::table, R"({"decisions":{"type":"approve"}})", "decisions must be a list, one for each call that waits"},
        {Style::table, R"({"decisions":["approve"]})", "a decision must be an object with type"},
        {Style::table, R"({"decisions":[{"decisions":[{"type":"approve"}]}]})",
         "a decision cannot be a list of decisions"},
        {Style::table, R"({"5abcd":{"decisions":[{"type":"approve"}]}})", "a decision cannot be a list of decisions"},
        {Style::table, R"({"decisions":[{"type":"approve"},{"type":"nope"}]})",
         "the decision nope is not allowed; take one of: approve, reject, edit, respond"},
        {Style::table, R"({"5abcd":{"type":"respond"}})", "the decision respond needs message, the result of the call"},
        {Style::table, R"({"type":"edit","edited_action":{"name":"send","args":null}})",
         "edited_action needs args, an object with all arguments"},
    };
    for (const auto& row : rows) {
        const auto parsed = parse_answer(row.style, row.json);
        ASSERT_FALSE(parsed.ok()) << row.json;
        EXPECT_EQ(parsed.failure().kind, FailureKind::refused) << row.json;
        EXPECT_EQ(parsed.failure().message, row.message);
    }
}

}  // namespace
}  // namespace assent
