// Questions to people: those of the tools `ask_user` and `confirm`, and those that a host asks on a channel.
#include "support/live_host.hpp"

#include <assent/ask_user.hpp>

#include <gtest/gtest.h>

namespace assent {
namespace {

using namespace assent::test;
using namespace std::chrono_literals;
using AnswerStatus = AnswerResult::Status;

constexpr auto two_questions = R"({"questions":[
    {"key":"color","prompt":"Which color?","options":[{"label":"Red","value":"red"},{"label":"Blue","value":"blue"}]},
    {"key":"sizes","prompt":"Which sizes?","options":[{"label":"s"},{"label":"m"}],"multi_select":true,"required":false}]})";

class QuestionTools : public LiveHost {
protected:
    QuestionTools() {
        options_.tools = {ask_user_tool(), confirm_tool(), pay_};
        options_.middleware = {};
    }
    RunEnd ask(const std::string& arguments, const Host& host) {
        auto agent = this->agent(call_turn("ask_user", arguments) + "," + end_turn);
        return prompt(agent, host);
    }
};

INSTANTIATE_TEST_SUITE_P(Stores, QuestionTools, testing::ValuesIn(store_kinds()), store_name);

TEST_P(QuestionTools, TheAnswersAreTheResult) {
    const auto run = ask(two_questions, [&](const HitlRequest& request) {
        EXPECT_EQ(request.payload.kind, ApprovalKind::ask);
        ASSERT_EQ(request.payload.questions.size(), 2U);
        EXPECT_EQ(request.payload.questions[1].options[0].value, "s");
        EXPECT_FALSE(request.payload.questions[1].required);
        const auto answers = hitl_answers_json({{"color", {"red"}}, {"sizes", {"m"}}}, request.payload.questions);
        EXPECT_EQ(answers, R"({"color":"red","sizes":["m"]})");
        EXPECT_EQ(channel_->answer(request.question_id, HitlAnswer::json(answers))->status, AnswerStatus::decided);
    });
    EXPECT_EQ(run.status, RunStatus::done);
    const auto& call = run.calls.at(0);
    EXPECT_EQ(call.outcome, OutcomeKind::answered);
    EXPECT_FALSE(call.ran || call.is_error || call.blocked);
    EXPECT_EQ(call.text, "User answers:\n{\n  \"color\": \"red\",\n  \"sizes\": [\n    \"m\"\n  ]\n}");
    EXPECT_EQ(call.details, R"({"hitl":{"kind":"ask","answers":{"color":"red","sizes":["m"]}}})");
    EXPECT_EQ(heard_.all<HitlAnswerEvent>().at(0).answer, R"({"color":"red","sizes":["m"]})");
}

struct AnswersRow {
    const char* answers;
    const char* problem;  // null: they count
};

TEST_P(QuestionTools, AnAnswerThatDoesNotFitTheQuestionsIsRefused) {
    const AnswersRow rows[] = {
        {"true", "an object with a text for each of: color, sizes"},
        {R"({})", "the answer to color is missing"},
        {R"({"color":""})", "the answer to color is empty"},
        {R"({"color":"Red"})", "the answer to color must be one of: red, blue"},
        {R"({"color":["red"]})", "the answer to color must be a text"},
        {R"({"color":"red","sizes":"m"})", "the answer to sizes must be a list of texts"},
        {R"({"color":"red","sizes":["l"]})", "the answer to sizes must be one of: s, m"},
        {R"({"color":"red","sizes":["m","m"]})", "the answer to sizes names an option twice"},
        {R"({"color":"red","colour":"blue"})", "no question is called colour; take one of: color, sizes"},
        {R"({"color":"red","color":"blue"})", "the answer is no json"},
        {R"({"color":"red"})", nullptr},
    };
    const auto run = ask(two_questions, [&](const HitlRequest& request) {
        for (const auto& [answers, problem] : rows) {
            const auto told = channel_->answer(request.id, HitlAnswer::json(answers));
            EXPECT_EQ(told->status, problem != nullptr ? AnswerStatus::refused : AnswerStatus::decided) << answers;
            if (problem == nullptr) continue;
            EXPECT_NE(told->message.find(problem), std::string::npos) << told->message;
        }
    });
    EXPECT_EQ(run.calls.at(0).details, R"({"hitl":{"kind":"ask","answers":{"color":"red"}}})");
}

TEST_P(QuestionTools, AFreeTextAnswersOneQuestionAlone) {
    options_.channel = nullptr;
    auto one = agent(call_turn("ask_user", R"({"questions":[{"key":"name","prompt":"Your name?"}]})") + "," + end_turn);
    const auto asked = one.prompt("go");
    EXPECT_EQ(asked.interrupts.at(0).kind, ApprovalKind::ask);
    const auto run = one.resume({{asked.interrupts[0].id, respond("Ada")}});
    EXPECT_EQ(run.calls.at(0).text, "User answers:\n{\n  \"name\": \"Ada\"\n}");
    options_.thread_id = "two";
    auto two = agent(call_turn("ask_user", two_questions) + "," + end_turn);
    const auto refused = two.resume({{two.prompt("go").interrupts.at(0).id, respond("red")}});
    EXPECT_EQ(refused.answers.at(0).status, AnswerStatus::refused);
    EXPECT_EQ(refused.status, RunStatus::waiting);
}

TEST_P(QuestionTools, QuestionsThatCannotBeAskedAreAnErrorForTheModel) {
    const std::pair<const char*, const char*> rows[] = {
        {R"({"questions":[]})", "invalid arguments for ask_user"},
        {R"({"questions":[{"key":"a","prompt":"x"},{"key":"a","prompt":"y"}]})", "the question a stands twice"},
        {R"({"questions":[{"key":"a","prompt":"x","multi_select":true}]})", "the question a has no options to select"},
        {R"({"questions":[{"key":"a","prompt":"x","options":[{}]}]})", "has an option without a label"},
        {R"({"questions":[{"key":"a","prompt":"x","options":[{"label":"r"},{"value":"r"}]}]})",
         "has two options of one value"},
    };
    int thread = 0;
    options_.channel = nullptr;
    for (const auto& [arguments, problem] : rows) {
        options_.thread_id = "t" + std::to_string(++thread);
        const auto run = agent(call_turn("ask_user", arguments) + "," + end_turn).prompt("go");
        EXPECT_EQ(run.status, RunStatus::done);
        EXPECT_TRUE(run.calls.at(0).is_error);
        EXPECT_NE(run.calls[0].text.find(problem), std::string::npos) << run.calls[0].text;
    }
}

TEST_P(QuestionTools, NobodyAnswersOrSomebodyDeclines) {
    options_.tools[0] = ask_user_tool(30s);
    auto run = ask(two_questions, [&](const HitlRequest&) { clock_.pass(31s); });
    EXPECT_EQ(run.calls.at(0).text, "timed out after 30 seconds");
    EXPECT_EQ(run.calls.at(0).details, R"({"hitl":{"kind":"ask","outcome":"timed_out","seconds":30}})");
    use_thread("cancelled");
    run = ask(two_questions, [&](const HitlRequest& request) { (void)channel_->cancel(request.id, "not now"); });
    EXPECT_EQ(run.calls.at(0).text, "cancelled by user: not now");
    EXPECT_EQ(run.calls.at(0).details, R"({"hitl":{"kind":"ask","outcome":"cancelled","reason":"not now"}})");
    use_thread("declined");
    run = ask(two_questions, answering({.reason = "ask my boss"}));
    EXPECT_EQ(run.calls.at(0).text, "cancelled by user: ask my boss");
    EXPECT_TRUE(run.calls.at(0).is_error);
}

TEST_P(QuestionTools, YesAndNoAreResultsBoth) {
    for (const bool yes : {true, false}) {
        use_thread(yes ? "yes" : "no");
        auto agent =
            this->agent(call_turn("confirm", R"({"prompt":"Deploy?","details":{"to":"live"}})") + "," + end_turn);
        const auto run = prompt(agent, [&](const HitlRequest& request) {
            EXPECT_EQ(request.payload.kind, ApprovalKind::confirm);
            EXPECT_EQ(request.payload.prompt, "Deploy?");
            EXPECT_EQ(request.payload.details.text(), R"({"to":"live"})");
            EXPECT_EQ(channel_->answer(request.id, HitlAnswer::json("\"yes\""))->status, AnswerStatus::refused);
            EXPECT_EQ(channel_->answer(request.id, yes)->status, AnswerStatus::decided);
        });
        EXPECT_EQ(run.calls.at(0).text, yes ? "yes" : "no");
        EXPECT_EQ(run.calls.at(0).outcome, OutcomeKind::answered);
        EXPECT_EQ(run.calls.at(0).details,
                  std::string(R"({"hitl":{"kind":"confirm","answer":)") + (yes ? "true" : "false") + "}}");
    }
}

TEST_P(QuestionTools, OtherGuardsJudgeTheCallToo) {
    const auto guard = std::make_shared<FakeGuard>();
    guard->verdicts["ask_user"] = Verdict::deny;
    options_.guards = {guard};
    options_.channel = nullptr;
    EXPECT_EQ(agent(call_turn("ask_user", two_questions) + "," + end_turn).prompt("go").calls.at(0).outcome,
              OutcomeKind::denied);
    guard->verdicts["ask_user"] = Verdict::ask;
    options_.thread_id = "asked";
    auto agent = this->agent(call_turn("ask_user", two_questions) + "," + end_turn);
    auto run = agent.prompt("go");
    ASSERT_EQ(run.interrupts.size(), 2U);
    run = agent.resume({{run.interrupts[0].id, approve()}});
    ASSERT_EQ(run.interrupts.size(), 1U) << "an approval is no answer";
    run = agent.resume({{run.interrupts[0].id, answer_questions(R"({"color":"blue"})")}});
    EXPECT_EQ(run.calls.at(0).outcome, OutcomeKind::answered);
}

TEST_P(QuestionTools, AYesEndsTheCallAndWithItWhatOthersAsk) {
    const auto guard = std::make_shared<FakeGuard>();
    guard->verdicts["confirm"] = Verdict::ask;
    options_.guards = {guard};
    options_.channel = nullptr;
    auto agent = this->agent(call_turn("confirm", R"({"prompt":"Deploy?"})") + "," + end_turn);
    auto run = agent.prompt("go");
    ASSERT_EQ(run.interrupts.size(), 2U);
    EXPECT_EQ(approvals().answer(run.interrupts[1].id, approve(), {.name = "alice"})->status, AnswerStatus::decided);
    EXPECT_TRUE(approvals().pending("t")->empty());
    run = agent.resume();
    EXPECT_EQ(run.status, RunStatus::done);
    EXPECT_EQ(run.calls.at(0).text, "yes");
}

TEST_P(QuestionTools, AnAgentThatCanAskNeedsAPlaceForTheQuestion) {
    options_.channel = nullptr;
    options_.checkpointer = nullptr;
    try {
        (void)agent(end_turn);
        FAIL();
    } catch (const ConfigError& error) {
        EXPECT_STREQ(error.what(), "the tool ask_user asks people, so the agent needs a checkpointer or a channel");
    }
}

class HostQuestions : public LiveHost {
protected:
    // Answers the next request with `json`, on another thread, while `act` runs.
    template <class Act>
    auto answered(const std::string& json, Act act) {
        const auto requests = channel_->subscribe();
        std::jthread person([&](const std::stop_token& stop) {
            const auto request = requests->next(stop);
            if (!request || !request->has_value()) return;
            asked_ = **request;
            told_ = *channel_->answer(asked_.id, HitlAnswer::json(json), {.name = "alice"});
        });
        return act();
    }
    HitlRequest asked_;
    AnswerResult told_;
};

INSTANTIATE_TEST_SUITE_P(Stores, HostQuestions, testing::ValuesIn(store_kinds()), store_name);

TEST_P(HostQuestions, EachKindComesBackInItsOwnForm) {
    const auto yes = answered("true", [&] { return channel_->confirm({.prompt = "Go on?"}); });
    ASSERT_TRUE(yes.ok()) << yes.failure().message;
    EXPECT_EQ(yes->end, HitlEnd::answered);
    EXPECT_TRUE(yes->answer);
    EXPECT_EQ(yes->by, "alice");
    EXPECT_EQ(asked_.payload.prompt, "Go on?");

    const auto no = answered("false", [&] { return channel_->confirm({.prompt = "Go on?"}); });
    EXPECT_EQ(no->end, HitlEnd::answered);
    EXPECT_FALSE(no->answer);
    EXPECT_NE(no->id, yes->id) << "the same question again is another question";

    const auto ask = answered(R"({"k":"red"})", [&] {
        return channel_->ask(
            {.questions = {{.key = "k", .prompt = "p", .options = {{.label = "red", .value = "red"}}}}});
    });
    EXPECT_EQ(ask->answer, (HitlAnswers{{"k", {"red"}}}));

    const auto edit = answered(R"({"decision":"edit","edited_args":{"n":2},"reason":"less"})", [&] {
        return channel_->approve(
            {.tool_name = "pay", .tool_call_id = "tc-42", .args = *Arguments::parse(R"({"n":1})")});
    });
    EXPECT_EQ(asked_.question_id, "tc-42");
    EXPECT_EQ(edit->answer,
              (ApproveAnswer{.decision = DecisionKind::edit, .edited_args = R"({"n":2})", .reason = "less"}));
    const auto denied = answered(R"({"decision":"deny"})", [&] { return channel_->approve({.tool_name = "pay"}); });
    EXPECT_EQ(denied->answer, ApproveAnswer{});
    EXPECT_TRUE(channel_->pending()->empty());
    EXPECT_TRUE(pay_->runs().empty()) << "what is done with an answer is the asker's";
}

TEST_P(HostQuestions, AreOverWithoutAnAnswer) {
    EXPECT_EQ(channel_->confirm({.prompt = "p", .timeout = 0s})->end, HitlEnd::timed_out);
    const auto requests = channel_->subscribe();
    std::stop_source stop;
    const std::function<void(const HitlRequest&)> acts[] = {
        [&](const HitlRequest& request) { (void)channel_->cancel(request.id, "closed tab"); },
        [&](const HitlRequest&) { clock_.pass(61s); },
        [&](const HitlRequest&) { channel_->detach(); },
        [&](const HitlRequest&) { stop.request_stop(); },
    };
    const HitlEnd ends[] = {HitlEnd::cancelled, HitlEnd::timed_out, HitlEnd::detached, HitlEnd::aborted};
    for (std::size_t i = 0; i < std::size(ends); ++i) {
        std::jthread person([&](const std::stop_token& ended) {
            const auto request = requests->next(ended);
            if (request && request->has_value()) acts[i](**request);
        });
        const auto reply = channel_->confirm({.prompt = "p", .timeout = 60s}, stop.get_token());
        ASSERT_TRUE(reply.ok()) << reply.failure().message;
        EXPECT_EQ(reply->end, ends[i]) << i;
        EXPECT_EQ(reply->reason, i == 0 ? "closed tab" : i == 3 ? "whoever asked was told to stop" : "") << i;
    }
    EXPECT_EQ(channel_->pending()->size(), 1U) << "the one that was detached";
}

TEST_P(HostQuestions, ThatCannotBeAskedAreAFailure) {
    EXPECT_EQ(channel_->ask({}).failure().kind, FailureKind::refused);
    EXPECT_EQ(channel_->ask({.questions = {{.key = "a", .prompt = ""}}}).failure().kind, FailureKind::refused);
}

TEST(NoOp, SaysYesToEverything) {
    NoOpChannel channel;
    EXPECT_TRUE(channel.confirm({.prompt = "p"})->answer);
    EXPECT_EQ(channel.approve({.tool_name = "pay"})->answer.decision, DecisionKind::approve);
    EXPECT_EQ(channel.ask({.questions = {{.key = "k", .prompt = "p"}}})->answer, (HitlAnswers{{"k", {"none"}}}));
    EXPECT_EQ(channel.history().size(), 3U);
}

}  // namespace
}  // namespace assent
