// Answers in the forms of the styles, as text.
#include "policy/policy_answer.hpp"

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

}  // namespace
}  // namespace assent
