#include "support/agents.hpp"

#include <assent/interrupt_on.hpp>

#include <gmock/gmock.h>

namespace assent::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

struct WrongTable {
    const char* name;
    std::function<void()> build;
    const char* problem;
};

class TableThatCannotBeRight : public testing::TestWithParam<WrongTable> {};

TEST_P(TableThatCannotBeRight, IsRefusedWhenItIsBuilt) {
    try {
        GetParam().build();
        FAIL() << "it was built";
    } catch (const ConfigError& error) {
        EXPECT_STREQ(error.what(), GetParam().problem);
    }
}

void from_json(const char* json) {
    (void)interrupt_on_table(json);
}
void from_config(InterruptOnConfig config, InterruptOnOptions options = {}) {
    (void)interrupt_on({{"send", std::move(config)}}, std::move(options));
}

INSTANTIATE_TEST_SUITE_P(
    Tables, TableThatCannotBeRight,
    testing::Values(
        WrongTable{
            "NothingAllowed", [] { from_config({}); },
            "interrupt_on: the tool send has no allowed_decisions, so nobody could answer; list some of approve, "
            "edit, reject, respond, or say true"},
        WrongTable{"UnknownDecision", [] { from_config({.allowed_decisions = {"approve", "aprove"}}); },
                   "interrupt_on: the tool send allows \"aprove\", which is no decision; take approve, edit, reject or "
                   "respond"},
        WrongTable{"SchemaIsNoObject", [] { from_config({.allowed_decisions = {"edit"}, .args_schema = "[]"}); },
                   "interrupt_on: the args_schema of the tool send is no json object"},
        WrongTable{"ToolTwice", [] { (void)interrupt_on({{"send", true}, {"send", false}}); },
                   "interrupt_on: the tool send stands twice in the table; keep one of them"},
        WrongTable{"NegativeTimeout", [] { from_config({.allowed_decisions = {"edit"}}, {.timeout_seconds = -1}); },
                   "interrupt_on: timeout_seconds must be between 0 and 3162240000; leave it out to wait for ever"},
        WrongTable{"UnknownMode", [] { (void)interrupt_mode("sometimes"); },
                   "interrupt_mode must be batched or per_call, not \"sometimes\""},
        WrongTable{"NoJson", [] { from_json("{"); },
                   "interrupt_on: the table cannot be read: a member name in quotes should stand here at byte 1"},
        WrongTable{"KeyTwice", [] { from_json(R"({"send":true,"send":false})"); },
                   "interrupt_on: the table cannot be read: an object has the same key twice at byte 13"},
        WrongTable{"SettingIsText", [] { from_json(R"({"send":"yes"})"); },
                   "interrupt_on: the tool send has a setting that is neither true, false nor an object"},
        WrongTable{"UnknownKey", [] { from_json(R"({"send":{"allowed":["approve"]}})"); },
                   "interrupt_on: the tool send has the unknown key \"allowed\"; take allowed_decisions, description, "
                   "args_schema and when"},
        WrongTable{"AllowedIsText", [] { from_json(R"({"send":{"allowed_decisions":"approve"}})"); },
                   "interrupt_on: the tool send has allowed_decisions that are no list"},
        WrongTable{"DecisionIsNumber", [] { from_json(R"({"send":{"allowed_decisions":[1]}})"); },
                   "interrupt_on: the tool send has a decision that is no text"},
        WrongTable{"SchemaIsText", [] { from_json(R"({"send":{"args_schema":"x"}})"); },
                   "interrupt_on: the tool send has an args_schema that is no object"},
        WrongTable{"WhenIsText", [] { from_json(R"({"send":{"when":"x"}})"); },
                   "interrupt_on: the tool send has a when that is no object"},
        WrongTable{"WhenWithoutValue", [] { from_json(R"({"send":{"when":{"field":"a","op":"eq"}}})"); },
                   "interrupt_on: the tool send has a when without field, op and value"},
        WrongTable{"WhenUnknownKey", [] { from_json(R"({"send":{"when":{"field":"a","op":"eq","valu":1}}})"); },
                   "interrupt_on: the tool send has the unknown key \"valu\" in when; take field, op and value"},
        WrongTable{"WhenUnknownOp", [] { from_json(R"({"send":{"when":{"field":"a","op":"ne","value":1}}})"); },
                   "interrupt_on: the tool send has a condition with op \"ne\"; take eq, gt, ge, lt, le or matches"},
        WrongTable{"WhenPatternIsNumber",
                   [] { from_json(R"({"send":{"when":{"field":"a","op":"matches","value":1}}})"); },
                   "interrupt_on: the tool send has a pattern that is no text"}),
    [](const auto& row) { return row.param.name; });

class TableAgent : public AgentOverStore {
protected:
    void table(InterruptOnTable table, InterruptOnOptions options = {}) {
        options_.tools = {send_, look_};
        options_.middleware = {interrupt_on(std::move(table), std::move(options))};
    }
    // The result of the one call of `send` after this decision.
    std::string result_after(const std::string& decision) {
        auto running = agent(call_turn("send", R"({"to":"ann"})") + "," + end_turn);
        auto run = running.prompt("go");
        EXPECT_EQ(run.status, RunStatus::waiting);
        run = running.resume(R"({"decisions":[)" + decision + "]}");
        EXPECT_EQ(run.status, RunStatus::done) << (run.failure ? run.failure->message : "");
        return results(running).empty() ? "none" : results(running).front();
    }

    std::shared_ptr<WatchedTool> send_ = watched("send");
    std::shared_ptr<WatchedTool> look_ = watched("look");
};

INSTANTIATE_TEST_SUITE_P(Stores, TableAgent, testing::ValuesIn(store_kinds()), store_name);

TEST_P(TableAgent, RunsWhatWasApprovedFromAList) {
    table({{"send", true}});
    EXPECT_EQ(result_after(R"({"type":"approve"})"), "send ran");
    EXPECT_THAT(send_->runs(), ElementsAre(R"({"to":"ann"})"));
}

TEST_P(TableAgent, MarksTheResultOfAnEditedCall) {
    table({{"send", true}});
    EXPECT_EQ(result_after(R"({"type":"edit","edited_action":{"name":"send","args":{"to": "bob"}}})"),
              std::string(default_edit_notice) +
                  "\nExecuted instead: send with arguments {\"to\": \"bob\"}.\n\nTool response:\nsend ran");
}

TEST_P(TableAgent, MarksNothingWithoutANotice) {
    table({{"send", true}}, {.edit_notice = std::nullopt});
    EXPECT_EQ(result_after(R"({"type":"edit","edited_action":{"name":"send","args":{}}})"), "send ran");
}

TEST_P(TableAgent, LeavesOutTheResponseOfAToolThatSaysNothing) {
    send_ = watched("send", [](const ApprovedCall&) { return ToolResult{}; });
    table({{"send", true}}, {.edit_notice = "Changed."});
    EXPECT_EQ(result_after(R"({"type":"edit","edited_action":{"name":"send","args":{}}})"),
              "Changed.\nExecuted instead: send with arguments {}.");
}

TEST_P(TableAgent, TellsTheModelOfAResponseOnlyIfAsked) {
    table({{"send", true}}, {.respond_notice = "Nothing ran. A person says:"});
    EXPECT_EQ(result_after(R"({"type":"respond","message":"sent by hand"})"),
              "Nothing ran. A person says:\n\nsent by hand");
    EXPECT_THAT(send_->runs(), IsEmpty());
}

TEST_P(TableAgent, GivesTheReasonAloneIfAsked) {
    table({{"send", true}}, {.reject_text = RejectText::reason});
    EXPECT_EQ(result_after(R"({"type":"reject","message":"not today"})"), "not today");
}

TEST_P(TableAgent, ShowsWhatAFunctionSaysOfTheCall) {
    table(
        {{"send", InterruptOnConfig{
                      .allowed_decisions = {"approve", "approve"},
                      .description = [](const GuardedCall& call) { return "to " + call.arguments->find("to")->string; },
                      .args_schema = R"({"type":"object"})"}}});
    auto running = agent(call_turn("send", R"({"to":"ann"})"));
    const auto run = running.prompt("go");
    ASSERT_EQ(run.interrupts.size(), 1U);
    EXPECT_EQ(run.interrupts[0].question.description, "to ann");
    EXPECT_EQ(action_requests(run.interrupts),
              R"({"action_requests":[{"id":")" + run.interrupts[0].id +
                  R"(","name":"send","args":{"to":"ann"},"description":"to ann"}],"review_configs":[)"
                  R"({"action_name":"send","allowed_decisions":["approve"],"args_schema":{"type":"object"}}]})");
}

TEST_P(TableAgent, RunsNothingWhenADescriptionFails) {
    table({{"send",
            InterruptOnConfig{.allowed_decisions = {"approve"}, .description = [](const GuardedCall&) -> std::string {
                                  throw std::runtime_error("out of order");
                              }}}});
    auto running = agent(call_turn("send") + "," + end_turn);
    EXPECT_EQ(running.prompt("go").status, RunStatus::done);
    EXPECT_THAT(results(running).front(), HasSubstr("the guard interrupt_on failed: out of order"));
    EXPECT_THAT(send_->runs(), IsEmpty());
}

TEST_P(TableAgent, AsksWhenAConditionCannotSay) {
    table({{"send", InterruptOnConfig{.allowed_decisions = {"approve"}, .when = gt("amount", 10)}}});
    auto running = agent(call_turn("send") + "," + call_turn("send", R"({"amount":1})") + "," + end_turn);
    EXPECT_EQ(running.prompt("go").interrupts.size(), 1U);
    EXPECT_EQ(running.resume(R"({"decisions":[{"type":"approve"}]})").status, RunStatus::done);
    EXPECT_EQ(send_->runs().size(), 2U);
}

TEST_P(TableAgent, AsksWhenAFunctionOfTheCallSaysSoOrFails) {
    table({{"send", InterruptOnConfig{.allowed_decisions = {"approve"},
                                      .when =
                                          [](const GuardedCall& call) {
                                              const auto* to = call.arguments->find("to");
                                              if (to == nullptr) throw std::runtime_error("to whom?");
                                              return call.tool_name == "send" && to->string == "ann";
                                          }}},
           {"look", InterruptOnConfig{.allowed_decisions = {"approve"},
                                      .when = [](const JsonText& arguments) { return arguments.text() == "[]"; }}}});
    auto running = agent(R"({"calls":[{"id":"1","name":"send","arguments":{"to":"bob"}},)"
                         R"({"id":"2","name":"send","arguments":{"to":"ann"}},)"
                         R"({"id":"3","name":"send","arguments":{}},{"id":"4","name":"look","arguments":{}}]})");
    const auto run = running.prompt("go");
    ASSERT_EQ(run.interrupts.size(), 2U);
    EXPECT_EQ(run.interrupts[0].arguments, R"({"to":"ann"})");
    EXPECT_EQ(run.interrupts[1].arguments, "{}");
    EXPECT_EQ(look_->runs().size(), 1U);
}

TEST_P(TableAgent, AlwaysAsksWithAnEmptyCondition) {
    table({{"send", InterruptOnConfig{.allowed_decisions = {"approve"}, .when = Predicate()}},
           {"look",
            InterruptOnConfig{.allowed_decisions = {"approve"}, .when = std::function<bool(const GuardedCall&)>()}}});
    auto running =
        agent(R"({"calls":[{"id":"1","name":"send","arguments":{}},{"id":"2","name":"look","arguments":{}}]})");
    EXPECT_EQ(running.prompt("go").interrupts.size(), 2U);
}

TEST_P(TableAgent, SaysInPerCallModeWhatAnAnswerLooksLike) {
    table({{"send", InterruptOnConfig{.allowed_decisions = {"reject", "respond"}}}},
          {.interrupt_mode = InterruptMode::per_call});
    auto running = agent(call_turn("send", R"({"to":"ann"})"));
    const auto run = running.prompt("go");
    ASSERT_EQ(run.interrupts.size(), 1U);
    EXPECT_EQ(
        run.interrupts[0].question.payload,
        R"({"type":"tool_approval","tool_call_id":"call_1","name":"send","args":{"to":"ann"},)"
        R"("description":"Tool execution requires approval\n\nTool: send\nArgs: {\"to\":\"ann\"}","response_schema":)"
        R"({"oneOf":[{"type":"object","properties":{"type":{"const":"reject"},"message":{"type":["string","null"]}},)"
        R"("required":["type"],"additionalProperties":false},)"
        R"({"type":"object","properties":{"type":{"const":"respond"},"message":{"type":"string"}},)"
        R"("required":["type","message"],"additionalProperties":false}]}})");
    EXPECT_EQ(action_requests(run.interrupts), R"({"action_requests":[],"review_configs":[]})");
}

TEST_P(TableAgent, KeepsTheToolOfAnEditInPerCallMode) {
    table({{"send", InterruptOnConfig{.allowed_decisions = {"edit"}}}}, {.interrupt_mode = InterruptMode::per_call});
    auto running = agent(call_turn("send") + "," + end_turn);
    auto run = running.prompt("go");
    const auto id = run.interrupts.at(0).id;
    EXPECT_THAT(run.interrupts[0].question.payload,
                HasSubstr(R"("response_schema":{"type":"object","properties":{"type":{"const":"edit"},"edited_action":)"
                          R"({"type":"object","properties":{"name":{"const":"send"},"args":{"type":"object"}},)"));
    const auto edit = [&](const std::string& tool) {
        return R"({")" + id + R"(":{"type":"edit","edited_action":{"name":")" + tool + R"(","args":{}}}})";
    };
    run = running.resume(edit("look"));
    ASSERT_EQ(run.answers.size(), 1U);
    EXPECT_EQ(run.answers[0].refusal, Refusal::not_allowed);
    EXPECT_EQ(run.answers[0].message, "an edit of this approval keeps the tool send; approval " + id + " stays open");
    EXPECT_EQ(running.resume(edit("send")).status, RunStatus::done);
    EXPECT_THAT(look_->runs(), IsEmpty());
}

TEST_P(TableAgent, IsOverAtOnceWithATimeoutOfZero) {
    table({{"send", true}}, {.timeout_seconds = 0});
    auto running = agent(call_turn("send") + "," + end_turn);
    const auto run = running.prompt("go");
    const auto later = running.resume(R"({"decisions":[{"type":"approve"}]})");
    EXPECT_NE(later.status, RunStatus::waiting);
    EXPECT_THAT(send_->runs(), IsEmpty());
}

struct WrongDecision {
    const char* name;
    const char* json;
    Refusal refusal;
    const char* problem;
};

TEST_P(TableAgent, RefusesWhatIsNoAnswerAndStoresNothing) {
    table({{"send", InterruptOnConfig{.allowed_decisions = {"approve", "edit", "deny"}}}});
    auto running = agent(call_turn("send") + "," + end_turn);
    ASSERT_EQ(running.prompt("go").interrupts.size(), 1U);
    const auto before = events();
    const WrongDecision rows[] = {
        {"NoJson", "{", Refusal::bad_shape, "the answer is no json: "},
        {"BesideDecisions", R"({"decisions":[],"more":1})", Refusal::bad_shape,
         "beside decisions an answer takes no other keys"},
        {"UnknownKey", R"({"decisions":[{"type":"approve","mesage":"x"}]})", Refusal::bad_shape,
         "the decision approve has the unknown key mesage"},
        {"EditInAnApproval", R"({"decisions":[{"type":"approve","edited_action":{"name":"send","args":{}}}]})",
         Refusal::bad_shape, "the decision approve has the unknown key edited_action"},
        {"UnknownKeyOfTheAction",
         R"({"decisions":[{"type":"edit","edited_action":{"name":"send","args":{},"id":"1"}}]})", Refusal::bad_shape,
         "edited_action has the unknown key id; take name and args"},
        {"NotAllowed", R"({"decisions":[{"type":"respond","message":"x"}]})", Refusal::not_allowed,
         "the decision respond is not allowed for tool send; take one of: approve, edit, reject"},
        {"HiddenCharacters", "{\"decisions\":[{\"type\":\"no\\u202epe\"}]}", Refusal::not_allowed,
         "the decision no\\u{202e}pe is not allowed for tool send; take one of: approve, edit, reject"},
        {"Count", R"({"decisions":[]})", Refusal::count_mismatch,
         "the number of decisions (0) does not match the number of calls that wait (1); give one for each in this "
         "order: "},
    };
    for (const auto& row : rows) {
        SCOPED_TRACE(row.name);
        const auto run = running.resume(std::string(row.json));
        EXPECT_EQ(run.status, RunStatus::failed);
        ASSERT_EQ(run.answers.size(), 1U);
        EXPECT_EQ(run.answers[0].status, AnswerResult::Status::refused);
        EXPECT_EQ(run.answers[0].refusal, row.refusal);
        EXPECT_TRUE(run.answers[0].message.starts_with(row.problem)) << run.answers[0].message;
        EXPECT_EQ(run.interrupts.size(), 1U);
    }
    EXPECT_EQ(events(), before);
    EXPECT_EQ(running.resume(R"({"decisions":[{"type":"approve"}]})").status, RunStatus::done);
    EXPECT_EQ(send_->runs().size(), 1U);
}

TEST_P(TableAgent, NamesTheFieldsOfTheToolThatAnEditMissed) {
    const auto takes = [](std::string name, const std::string& fields) {
        return std::make_shared<WatchedTool>(
            ToolSpec{.name = std::move(name), .schema = R"({"type":"object","properties":{)" + fields + "}}"});
    };
    table({{"send", true}});
    options_.tools = {takes("send", R"("recipient":{},"text":{})"), takes("note", R"("text":{})")};
    auto running = agent(call_turn("send", R"({"recipient":"ann","cc":"bob"})") + "," + end_turn);
    const auto id = running.prompt("go").interrupts.at(0).id;
    const auto edited = [&](const std::string& tool, const std::string& args) {
        auto run = running.resume(R"({"decisions":[{"type":"edit","edited_action":{"name":")" + tool + R"(","args":)" +
                                  args + "}}]}");
        EXPECT_EQ(run.answers.at(0).status, AnswerResult::Status::refused);
        EXPECT_EQ(run.answers[0].refusal, Refusal::bad_args);
        EXPECT_EQ(run.interrupts.size(), 1U);
        return run.answers[0].message;
    };
    const auto stays_open = "; approval " + id + " stays open";
    EXPECT_EQ(edited("send", R"({"text":"hi","recipent":"eve"})"),
              "tool send has no field recipent (nearest: recipient); it takes recipient, text" + stays_open);
    EXPECT_EQ(edited("note", R"({"cc":"bob"})"),
              "tool note has no field cc (nearest: text); it takes text" + stays_open);
    // What the model itself had sent may stay.
    const auto run = running.resume(
        R"({"decisions":[{"type":"edit","edited_action":{"name":"send","args":{"recipient":"eve","cc":"bob"}}}]})");
    EXPECT_EQ(run.status, RunStatus::done);
}

TEST_P(TableAgent, CountsNoDecisionOfAListWhenOneComesTooLate) {
    table({{"send", true}, {"look", true}});
    auto running = agent(
        R"({"calls":[{"id":"1","name":"send","arguments":{}},{"id":"2","name":"look","arguments":{}}]},)" + end_turn);
    const auto open = running.prompt("go").interrupts;
    ASSERT_EQ(open.size(), 2U);
    Gate gate({.checkpointer = store_.get(),
               .thread_id = "t",
               .tools = options_.tools,
               .middleware = options_.middleware,
               .clock = &clock_,
               .random = &random_});
    ASSERT_TRUE(*gate.load());
    ASSERT_TRUE(approvals().answer(open[1].id, deny("no"), {.name = "bob"}).ok());
    std::vector<AnswerResult> told;
    const auto resumed =
        gate.resume({{open[0], approve()}, {open[1], approve()}}, {.name = "ann"}, told, Counting::all_or_none);
    ASSERT_FALSE(resumed.ok());
    EXPECT_EQ(resumed.failure().kind, FailureKind::conflict);
    ASSERT_EQ(told.size(), 2U);
    EXPECT_EQ(told[0].status, AnswerResult::Status::refused);
    EXPECT_EQ(told[1].status, AnswerResult::Status::conflict);
    EXPECT_EQ(approvals().pending("t")->size(), 1U);
}

TEST_P(TableAgent, HoldsATurnBackUntilItIsDecided) {
    table({{"send", true}});
    options_.hold_batch = true;
    auto running = agent(R"({"calls":[{"id":"1","name":"send","arguments":{}},{"id":"2","name":"look","arguments":{}},)"
                         R"({"id":"3","name":"send","arguments":{"n":3}}]},)" +
                         end_turn);
    auto run = running.prompt("go");
    ASSERT_EQ(run.interrupts.size(), 2U);
    run = running.resume({{run.interrupts[0].id, approve()}});
    EXPECT_EQ(run.status, RunStatus::waiting);
    EXPECT_THAT(send_->runs(), IsEmpty());
    EXPECT_THAT(look_->runs(), IsEmpty());
    run = running.resume({{run.interrupts.at(0).id, deny("no")}});
    EXPECT_EQ(run.status, RunStatus::done);
    EXPECT_EQ(send_->runs().size(), 1U);
    EXPECT_EQ(look_->runs().size(), 1U);
}

TEST_P(TableAgent, HoldsATurnBackWhenAnApprovalIsAskedAgain) {
    table({{"send", true}});
    options_.hold_batch = true;
    options_.use_by_ms = 1000;
    auto running = agent(
        R"({"calls":[{"id":"1","name":"send","arguments":{}},{"id":"2","name":"send","arguments":{}}]},)" + end_turn);
    auto run = running.prompt("go");
    ASSERT_EQ(run.interrupts.size(), 2U);
    (void)running.resume({{run.interrupts[0].id, approve()}});
    clock_.pass(1001);
    run = running.resume({{run.interrupts[1].id, approve()}});
    EXPECT_EQ(run.status, RunStatus::waiting);
    EXPECT_EQ(run.interrupts.size(), 1U);
    EXPECT_THAT(send_->runs(), IsEmpty());
    EXPECT_EQ(running.resume(R"({"decisions":[{"type":"approve"}]})").status, RunStatus::done);
    EXPECT_EQ(send_->runs().size(), 2U);
}

TEST_P(TableAgent, ListIsForTheApprovalsOfTheTableAlone) {
    table({{"send", true}});
    options_.middleware.push_back(
        std::make_shared<ToolInterruptMiddleware>(std::vector<InterruptRule>{{"look"}, {"send"}}));
    options_.guards = {guard_};
    guard_->verdicts = {{"look", Verdict::ask}};
    auto running = agent(
        R"({"calls":[{"id":"1","name":"look","arguments":{}},{"id":"2","name":"send","arguments":{}}]},)" + end_turn);
    ASSERT_EQ(running.prompt("go").interrupts.size(), 4U);
    auto run = running.resume(R"({"decisions":[{"type":"approve"},{"type":"approve"}]})");
    EXPECT_EQ(run.answers.at(0).refusal, Refusal::count_mismatch);
    run = running.resume(R"({"decisions":[{"type":"approve"}]})");
    ASSERT_EQ(run.answers.size(), 1U);
    EXPECT_EQ(run.answers[0].approval.question.style, Style::table);
    EXPECT_EQ(run.interrupts.size(), 3U);
    // Late, and no other call's.
    run = running.resume(R"({"decisions":[{"type":"approve"}]})");
    EXPECT_EQ(run.answers.at(0).refusal, Refusal::count_mismatch);
    EXPECT_EQ(run.interrupts.size(), 3U);
    EXPECT_THAT(send_->runs(), IsEmpty());
}

// Assent's own guards take the same form, with their own texts.
TEST_P(TableAgent, ListAnswersAssentsOwnGuardsToo) {
    options_.tools = {send_};
    options_.guards = {guard_};
    guard_->verdicts = {{"send", Verdict::ask}};
    EXPECT_EQ(result_after(R"({"type":"reject","message":"no"})"),
              "The call of `send` was denied: no. It did not run. Do not call it again unless the user asks.");
}

}  // namespace
}  // namespace assent::test
