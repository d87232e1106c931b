// The table style with a question of its own for each call.
#include "support/agents.hpp"

#include <assent/interrupt_on.hpp>

#include <gmock/gmock.h>

namespace assent::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;
using AnswerStatus = AnswerResult::Status;

constexpr const char* mail_schema = R"({"type":"object","properties":{"to":{"type":"string"},"cc":{"type":"string"}},)"
                                    R"("required":["to"],"additionalProperties":false})";

class PerCallTable : public AgentOverStore {
protected:
    PerCallTable() {
        options_.tools = {mail_, remove_, look_};
        ask({{"mail", true}});
    }
    void ask(InterruptOnTable table) {
        options_.middleware = {interrupt_on(std::move(table), {.interrupt_mode = InterruptMode::per_call})};
    }
    static assent::Run answer(Agent& agent, const std::string& id, const std::string& decision) {
        return agent.resume(R"({")" + id + R"(":)" + decision + "}");
    }
    static Message last_result(const Agent& agent) {
        Message last;
        for (const auto& message : *agent.messages())
            if (message.role == Role::tool) last = message;
        return last;
    }

    std::shared_ptr<WatchedTool> mail_ = std::make_shared<WatchedTool>(ToolSpec{.name = "mail", .schema = mail_schema});
    std::shared_ptr<WatchedTool> remove_ = watched("remove");
    std::shared_ptr<WatchedTool> look_ = watched("look");
};

INSTANTIATE_TEST_SUITE_P(Stores, PerCallTable, testing::ValuesIn(store_kinds()), store_name);

TEST_P(PerCallTable, HasABranchOfTheAnswerForEachDecision) {
    ask({{"mail", InterruptOnConfig{.allowed_decisions = {"approve", "edit", "reject", "respond"},
                                    .description = "Mail",
                                    .args_schema = R"({"title":"for a form"})"}}});
    auto running = agent(call_turn("mail", R"({"to":"ann"})"));
    const auto run = running.prompt("go");
    ASSERT_EQ(run.interrupts.size(), 1U);
    EXPECT_EQ(run.interrupts[0].question.payload,
              R"({"type":"tool_approval","tool_call_id":"call_1","name":"mail","args":{"to":"ann"},)"
              R"("description":"Mail","response_schema":{"oneOf":[)"
              R"({"type":"object","properties":{"type":{"const":"approve"}},"required":["type"],)"
              R"("additionalProperties":false},)"
              R"({"type":"object","properties":{"type":{"const":"edit"},"edited_action":{"type":"object",)"
              R"("properties":{"name":{"const":"mail"},"args":)" +
                  std::string(mail_schema) +
                  R"(},"required":["name","args"],"additionalProperties":false}},)"
                  R"("required":["type","edited_action"],"additionalProperties":false},)"
                  R"({"type":"object","properties":{"type":{"const":"reject"},"message":{"type":["string","null"]}},)"
                  R"("required":["type"],"additionalProperties":false},)"
                  R"({"type":"object","properties":{"type":{"const":"respond"},"message":{"type":"string"}},)"
                  R"("required":["type","message"],"additionalProperties":false}]}})");
}

TEST_P(PerCallTable, EachDecisionDoesWhatItSays) {
    const struct {
        const char* name;
        const char* decision;
        std::vector<std::string> ran;
        const char* result_ends;
        bool is_error;
    } rows[] = {
        {"approve", R"({"type":"approve"})", {R"({"to":"ann"})"}, "mail ran", false},
        {"edit",
         R"({"type":"edit","edited_action":{"name":"mail","args":{"to":"bob"}}})",
         {R"({"to":"bob"})"},
         "Executed instead: mail with arguments {\"to\":\"bob\"}.\n\nTool response:\nmail ran",
         false},
        {"reject", R"({"type":"reject","message":"not now"})", {}, "for `mail` with reason: not now", true},
        {"reject without a reason",
         R"({"type":"reject"})",
         {},
         "The tool was not executed. Do not retry this tool call unless the user explicitly requests it.",
         true},
        {"respond", R"({"type":"respond","message":"sent by hand"})", {}, "sent by hand", false},
    };
    for (const auto& row : rows) {
        SCOPED_TRACE(row.name);
        mail_ = std::make_shared<WatchedTool>(mail_->spec());
        options_.tools = {mail_};
        options_.thread_id = row.name;
        const auto turns = call_turn("mail", R"({"to":"ann"})") + "," + end_turn;
        const auto id = agent(turns).prompt("go").interrupts.at(0).id;
        auto running = agent(turns);
        EXPECT_EQ(answer(running, id, row.decision).status, RunStatus::done);
        EXPECT_EQ(mail_->runs(), row.ran);
        EXPECT_THAT(last_result(running).text, testing::EndsWith(row.result_ends));
        EXPECT_EQ(last_result(running).is_error, row.is_error);
    }
}

TEST_P(PerCallTable, WrongAnswersAreRefusedAndARightOneStillCounts) {
    auto running = agent(call_turn("mail", R"({"to":"ann"})") + "," + end_turn);
    const auto id = running.prompt("go").interrupts.at(0).id;
    const auto before = events();
    const auto edit = [](const char* action) {
        return R"({"type":"edit","edited_action":)" + std::string(action) + "}";
    };
    const struct {
        std::string decision;
        Refusal refusal;
        const char* problem;
    } rows[] = {
        {R"({"type":"edit"})", Refusal::bad_shape, "an edit needs edited_action"},
        {R"({"type":"nope"})", Refusal::not_allowed, "the decision nope is not allowed for tool mail"},
        {edit(R"({"name":"mail","args":{}})"), Refusal::bad_args, "to"},
        {edit(R"({"name":"mail","args":{"to":5}})"), Refusal::bad_args, "to"},
        {edit(R"({"name":"look","args":{"to":"bob"}})"), Refusal::not_allowed, "keeps the tool mail"},
        {edit(R"({"name":"mail","args":{"to":"bob","bcc":"eve"}})"), Refusal::bad_args, "bcc"},
        {edit(R"({"name":"mail","args":{"to":"bob"},"id":"x"})"), Refusal::bad_shape, "the unknown key id"},
    };
    for (const auto& row : rows) {
        SCOPED_TRACE(row.decision);
        const auto run = answer(running, id, row.decision);
        ASSERT_EQ(run.answers.size(), 1U);
        EXPECT_EQ(run.answers[0].status, AnswerStatus::refused);
        EXPECT_EQ(run.answers[0].refusal, row.refusal);
        EXPECT_THAT(run.answers[0].message, HasSubstr(row.problem));
        EXPECT_EQ(run.interrupts.size(), 1U);
    }
    EXPECT_EQ(events(), before);
    EXPECT_THAT(mail_->runs(), IsEmpty());
    EXPECT_EQ(answer(running, id, edit(R"({"name":"mail","args":{"to":"bob"}})")).status, RunStatus::done);
    EXPECT_THAT(mail_->runs(), ElementsAre(R"({"to":"bob"})"));
}

TEST_P(PerCallTable, EachCallOfATurnIsAskedAndAnsweredByItself) {
    ask({{"mail", true},
         {"remove", InterruptOnConfig{.allowed_decisions = {"approve", "reject"}, .when = matches("path", "^/etc/")}}});
    auto running = agent(R"({"calls":[{"id":"1","name":"mail","arguments":{"to":"ann","cc":"eve"}},)"
                         R"({"id":"2","name":"remove","arguments":{"path":"/etc/x"}},)"
                         R"({"id":"3","name":"remove","arguments":{"path":"/tmp/x"}},)"
                         R"({"id":"4","name":"look","arguments":{}}]},)" +
                         end_turn);
    auto run = running.prompt("go");
    ASSERT_EQ(run.interrupts.size(), 2U);
    const auto mail = run.interrupts[0].id;
    const auto removal = run.interrupts[1].id;
    EXPECT_NE(mail, removal);
    EXPECT_THAT(remove_->runs(), ElementsAre(R"({"path":"/tmp/x"})")) << "what nobody is asked about does not wait";
    EXPECT_EQ(look_->runs().size(), 1U);

    run = answer(running, removal, R"({"type":"respond","message":"done"})");
    ASSERT_EQ(run.answers.size(), 1U);
    EXPECT_EQ(run.answers[0].refusal, Refusal::not_allowed);
    EXPECT_THAT(run.answers[0].message, HasSubstr("take one of: approve, reject"));

    run = answer(running, mail, R"({"type":"edit","edited_action":{"name":"mail","args":{"to":"bob"}}})");
    ASSERT_EQ(run.interrupts.size(), 1U);
    EXPECT_EQ(run.interrupts[0].id, removal);
    EXPECT_THAT(mail_->runs(), ElementsAre(R"({"to":"bob"})")) << "what the edit leaves out is not carried over";

    EXPECT_EQ(answer(running, removal, R"({"type":"reject"})").status, RunStatus::done);
    EXPECT_EQ(mail_->runs().size(), 1U);
    EXPECT_EQ(remove_->runs().size(), 1U);
    EXPECT_EQ(look_->runs().size(), 1U);
    ASSERT_EQ(results(running).size(), 4U);
    EXPECT_THAT(results(running)[1], HasSubstr("User rejected the tool call for `remove` with id 2"));
}

TEST_P(PerCallTable, CallsWithoutAnIdOrWithAnEmptyOneAreAnsweredByTheirApprovals) {
    auto running = agent(R"({"calls":[{"id":"e1","name":"mail","arguments":{"to":"ann"}},)"
                         R"({"id":"","name":"mail","arguments":{"to":"bob"}},)"
                         R"({"name":"mail","arguments":{"to":"eve"}}]},)" +
                         end_turn);
    auto run = running.prompt("go");
    ASSERT_EQ(run.interrupts.size(), 3U);
    EXPECT_THAT(run.interrupts[2].question.payload, HasSubstr(R"("tool_call_id":null)"));
    const auto open = run.interrupts;
    (void)answer(running, open[0].id, R"({"type":"approve"})");
    (void)answer(running, open[1].id, R"({"type":"reject"})");
    EXPECT_EQ(answer(running, open[2].id, R"({"type":"approve"})").status, RunStatus::done);
    EXPECT_THAT(mail_->runs(), UnorderedElementsAre(R"({"to":"ann"})", R"({"to":"eve"})"));
}

}  // namespace
}  // namespace assent::test
