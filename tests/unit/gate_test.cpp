// The life of a call, step by step, over every store.
#include "support/fakes.hpp"
#include "support/stores.hpp"

#include <assent/gate.hpp>
#include <assent/rules.hpp>

#include <gtest/gtest.h>

namespace assent {
namespace {

using namespace assent::test;
using AnswerStatus = AnswerResult::Status;

class GateOverStore : public testing::TestWithParam<StoreKind> {
protected:
    GateOverStore() : store_(make_store(GetParam(), folder_)) {}

    std::unique_ptr<Gate> gate() {
        return std::make_unique<Gate>(GateOptions{.checkpointer = store_.get(),
                                                  .thread_id = "t",
                                                  .tools = {pay_, look_, note_},
                                                  .guards = {guard_, second_},
                                                  .clock = &clock_,
                                                  .random = &random_});
    }
    Approvals approvals() { return Approvals(*store_, clock_, random_); }

    static ModelTurn turn(std::vector<ProposedCall> calls, std::string text = {}) {
        return {.text = std::move(text), .calls = std::move(calls)};
    }
    static ProposedCall call(std::string tool, std::string id = "call_1", std::string arguments = R"({"n": 1.50})") {
        return {.tool = std::move(tool), .id = std::move(id), .arguments = std::move(arguments)};
    }
    // Runs everything that is ready.
    static void run_ready(Gate& gate) {
        auto permits = gate.claim();
        ASSERT_TRUE(permits.ok()) << permits.failure().message;
        for (auto& permit : *permits) {
            const auto tool = gate.tool(permit.tool());
            ASSERT_TRUE(gate.finish(tool->start(std::move(permit))).ok());
        }
    }
    static std::vector<std::string> kinds(Approvals approvals) {
        std::vector<std::string> kinds;
        const auto history = approvals.history("t");
        for (const auto& entry : *history) kinds.push_back(entry.event);
        return kinds;
    }

    TemporaryFolder folder_;
    std::unique_ptr<Checkpointer> store_;
    FakeClock clock_;
    FakeRandom random_;
    std::shared_ptr<FakeTool> pay_ = fake_tool("pay");
    std::shared_ptr<FakeTool> look_ = fake_tool("look");
    std::shared_ptr<FakeTool> note_ = std::make_shared<FakeTool>(ToolSpec{
        .name = "note",
        .schema =
            R"({"type":"object","properties":{"text":{"type":"string"},"copies":{"type":"integer","default":1}},"required":["text"],"additionalProperties":false})"});
    std::shared_ptr<FakeGuard> guard_ = std::make_shared<FakeGuard>();
    std::shared_ptr<FakeGuard> second_ = std::make_shared<FakeGuard>("second");
    Reviewer alice_{.name = "alice"};
    Reviewer bob_{.name = "bob"};
};

INSTANTIATE_TEST_SUITE_P(Stores, GateOverStore, testing::ValuesIn(store_kinds()), store_name);

TEST_P(GateOverStore, AnApprovedCallRunsOnceWithTheExactBytes) {
    guard_->verdicts["pay"] = Verdict::ask;
    auto gate = this->gate();
    ASSERT_TRUE(gate->prompt("pay it", "user").ok());
    EXPECT_EQ(gate->next(), GateStep::call_model);
    ASSERT_TRUE(gate->propose(turn({call("pay")})).ok());
    EXPECT_EQ(gate->next(), GateStep::wait);
    EXPECT_TRUE(pay_->runs.empty());
    const auto open = gate->open();
    ASSERT_EQ(open.size(), 1U);
    EXPECT_EQ(open[0].arguments, R"({"n": 1.50})");

    const auto answered = approvals().answer(open[0].id, approve(), alice_);
    ASSERT_TRUE(answered.ok()) << answered.failure().message;
    EXPECT_EQ(answered->status, AnswerStatus::decided);

    ASSERT_TRUE(gate->resume().ok());
    EXPECT_EQ(gate->next(), GateStep::start);
    run_ready(*gate);
    EXPECT_EQ(pay_->runs, std::vector<std::string>{R"({"n": 1.50})"});
    EXPECT_EQ(gate->next(), GateStep::call_model);
    ASSERT_TRUE(gate->propose(turn({}, "paid")).ok());
    EXPECT_EQ(gate->next(), GateStep::done);
    EXPECT_EQ(kinds(approvals()),
              (std::vector<std::string>{"configured", "user_message", "model_turn", "prepared", "judged", "asked",
                                        "answered", "claimed", "finished", "model_turn", "run_finished"}));
    EXPECT_EQ((*store_->find_thread("t"))->status, ThreadStatus::done);
    EXPECT_FALSE((*store_->find_thread("t"))->runner_alive);
}

TEST_P(GateOverStore, FirstAnswerWinsAndOthersAreToldWhoDecided) {
    guard_->verdicts["pay"] = Verdict::ask;
    auto gate = this->gate();
    ASSERT_TRUE(gate->prompt("pay it", "user").ok());
    ASSERT_TRUE(gate->propose(turn({call("pay")})).ok());
    const auto id = gate->open().at(0).id;
    auto approvals = this->approvals();
    EXPECT_EQ(approvals.answer(id, deny("too much"), alice_)->status, AnswerStatus::decided);
    EXPECT_EQ(approvals.answer(id, deny("too much"), alice_)->status, AnswerStatus::already);
    const auto other = approvals.answer(id, approve(), bob_);
    EXPECT_EQ(other->status, AnswerStatus::conflict);
    EXPECT_EQ(other->approval.decided_by, "alice");
    EXPECT_EQ(other->message, "approval " + id + " was already denied by alice at 2026-11-30T00:53:20.000Z");
    EXPECT_EQ(approvals.answer(id, deny("too much"), bob_)->status, AnswerStatus::conflict);
    EXPECT_EQ(approvals.answer(id, deny("other"), alice_)->status, AnswerStatus::conflict);
    EXPECT_EQ(approvals.answer("9zzzz", approve(), alice_)->status, AnswerStatus::not_found);
    auto wrong = id;
    wrong.back() = wrong.back() == 'a' ? 'b' : 'a';
    EXPECT_EQ(approvals.answer(wrong, approve(), alice_)->status, AnswerStatus::not_found);

    ASSERT_TRUE(gate->resume().ok());
    EXPECT_EQ(gate->next(), GateStep::call_model);
    EXPECT_TRUE(pay_->runs.empty());
    EXPECT_EQ(gate->messages()->back().text,
              "The call of `pay` was denied: too much. It did not run. Do not call it again unless the user asks.");
    EXPECT_TRUE(gate->messages()->back().is_error);
}

TEST_P(GateOverStore, TheStrictestGuardWins) {
    struct Row {
        Verdict first, second, expected;
        std::size_t questions;
    };
    for (const auto& row :
         {Row{Verdict::allow, Verdict::allow, Verdict::allow, 0}, Row{Verdict::allow, Verdict::ask, Verdict::ask, 1},
          Row{Verdict::ask, Verdict::ask, Verdict::ask, 2}, Row{Verdict::ask, Verdict::deny, Verdict::deny, 0},
          Row{Verdict::deny, Verdict::allow, Verdict::deny, 0}}) {
        guard_->verdicts["pay"] = row.first;
        second_->verdicts["pay"] = row.second;
        auto gate = std::make_unique<Gate>(
            GateOptions{.checkpointer = store_.get(),
                        .thread_id = std::string(to_string(row.first)) + std::string(to_string(row.second)),
                        .tools = {pay_},
                        .guards = {guard_, second_},
                        .clock = &clock_,
                        .random = &random_});
        ASSERT_TRUE(gate->prompt("pay it", "user").ok());
        ASSERT_TRUE(gate->propose(turn({call("pay")})).ok());
        EXPECT_EQ(gate->open().size(), row.questions);
        EXPECT_EQ(gate->next(), row.expected == Verdict::allow ? GateStep::start
                                : row.expected == Verdict::ask ? GateStep::wait
                                                               : GateStep::call_model);
    }
}

TEST_P(GateOverStore, TwoGuardsThatAskNeedTwoAnswers) {
    guard_->verdicts["pay"] = second_->verdicts["pay"] = Verdict::ask;
    auto gate = this->gate();
    ASSERT_TRUE(gate->prompt("pay it", "user").ok());
    ASSERT_TRUE(gate->propose(turn({call("pay")})).ok());
    const auto open = gate->open();
    ASSERT_EQ(open.size(), 2U);
    EXPECT_NE(open[0].id, open[1].id);
    EXPECT_EQ(approvals().answer(open[0].id, approve(), alice_)->status, AnswerStatus::decided);
    ASSERT_TRUE(gate->resume().ok());
    EXPECT_EQ(gate->next(), GateStep::wait);
    EXPECT_EQ(approvals().answer(open[1].id, deny("no"), bob_)->status, AnswerStatus::decided);
    ASSERT_TRUE(gate->refresh().ok());
    EXPECT_EQ(gate->next(), GateStep::call_model);
    EXPECT_TRUE(pay_->runs.empty());
}

TEST_P(GateOverStore, ADenialWithdrawsTheOtherQuestionsOfItsCall) {
    guard_->verdicts["pay"] = second_->verdicts["pay"] = Verdict::ask;
    auto gate = this->gate();
    ASSERT_TRUE(gate->prompt("pay it", "user").ok());
    ASSERT_TRUE(gate->propose(turn({call("pay")})).ok());
    const auto open = gate->open();
    EXPECT_EQ(approvals().answer(open[0].id, deny(""), alice_)->status, AnswerStatus::decided);
    const auto late = approvals().answer(open[1].id, approve(), bob_);
    EXPECT_EQ(late->status, AnswerStatus::conflict);
    EXPECT_EQ(late->approval.state, ApprovalState::withdrawn);
    EXPECT_TRUE(approvals().pending()->empty());
}

TEST_P(GateOverStore, AnEditIsCheckedThenJudgedAgain) {
    guard_->verdicts["note"] = Verdict::ask;
    auto gate = this->gate();
    ASSERT_TRUE(gate->prompt("note it", "user").ok());
    ASSERT_TRUE(gate->propose(turn({call("note", "c", R"({"text":"a"})")})).ok());
    const auto open = gate->open();
    EXPECT_EQ(open[0].arguments, R"({"text":"a","copies":1})");  // the default is shown
    EXPECT_EQ(open[0].arguments_raw, R"({"text":"a"})");
    for (const auto& wrong : {edit(R"({"text":5})"), edit(R"({"txt":"b"})"), edit("[1]"), edit(R"({"text":"b")"),
                              edit_keys(R"({"x":1})"), Decision{.kind = DecisionKind::edit}}) {
        const auto refused = approvals().answer(open[0].id, wrong, alice_);
        EXPECT_EQ(refused->status, AnswerStatus::refused) << refused->message;
    }
    const auto answered = approvals().answer(open[0].id, edit_keys(R"({"text":"b"})"), alice_);
    EXPECT_EQ(answered->status, AnswerStatus::decided);
    EXPECT_TRUE(answered->still_judged);
    ASSERT_TRUE(gate->resume().ok());
    EXPECT_EQ(gate->next(), GateStep::judge);
    second_->verdicts["note"] = Verdict::ask;  // another guard may ask about what was edited
    ASSERT_TRUE(gate->judge().ok());
    EXPECT_EQ(gate->next(), GateStep::wait);
    const auto again = gate->open();
    ASSERT_EQ(again.size(), 1U);
    EXPECT_EQ(again[0].guard, "second");
    EXPECT_EQ(again[0].arguments, R"({"text":"b","copies":1})");
    EXPECT_EQ(approvals().answer(again[0].id, approve(), bob_)->status, AnswerStatus::decided);
    ASSERT_TRUE(gate->resume().ok());
    run_ready(*gate);
    EXPECT_EQ(note_->runs, std::vector<std::string>{R"({"text":"b","copies":1})"});
}

TEST_P(GateOverStore, AnEditCannotPassADenyingGuard) {
    guard_->verdicts["pay"] = Verdict::ask;
    auto gate = this->gate();
    ASSERT_TRUE(gate->prompt("pay it", "user").ok());
    ASSERT_TRUE(gate->propose(turn({call("pay")})).ok());
    EXPECT_EQ(approvals().answer(gate->open()[0].id, edit(R"({"n":2})"), alice_)->status, AnswerStatus::decided);
    guard_->verdicts["pay"] = Verdict::deny;
    ASSERT_TRUE(gate->resume().ok());
    ASSERT_TRUE(gate->judge().ok());
    EXPECT_EQ(gate->calls()[0].outcome, OutcomeKind::denied);
    EXPECT_TRUE(pay_->runs.empty());
}

TEST_P(GateOverStore, AnEditMayNameAnotherToolWhichIsJudgedLikeAFreshCall) {
    guard_->verdicts["pay"] = guard_->verdicts["note"] = Verdict::ask;
    auto gate = this->gate();
    ASSERT_TRUE(gate->prompt("pay it", "user").ok());
    ASSERT_TRUE(gate->propose(turn({call("pay")})).ok());
    auto other = edit(R"({"text":"please pay"})");
    other.tool = "nothing";
    EXPECT_EQ(approvals().answer(gate->open()[0].id, other, alice_)->message,
              "the agent has no tool called nothing; approval " + gate->open()[0].id + " stays open");
    other.tool = "note";
    EXPECT_EQ(approvals().answer(gate->open()[0].id, other, alice_)->status, AnswerStatus::decided);
    ASSERT_TRUE(gate->resume().ok());
    ASSERT_TRUE(gate->judge().ok());
    ASSERT_EQ(gate->open().size(), 1U);
    EXPECT_EQ(gate->open()[0].tool, "note");
    EXPECT_EQ(approvals().answer(gate->open()[0].id, approve(), alice_)->status, AnswerStatus::decided);
    ASSERT_TRUE(gate->resume().ok());
    run_ready(*gate);
    EXPECT_TRUE(pay_->runs.empty());
    EXPECT_EQ(note_->runs.size(), 1U);
}

TEST_P(GateOverStore, ARespondIsTheResultAndNothingRuns) {
    guard_->verdicts["pay"] = Verdict::ask;
    auto gate = this->gate();
    ASSERT_TRUE(gate->prompt("pay it", "user").ok());
    ASSERT_TRUE(gate->propose(turn({call("pay")})).ok());
    EXPECT_EQ(approvals().answer(gate->open()[0].id, respond("done by hand"), alice_)->status, AnswerStatus::decided);
    ASSERT_TRUE(gate->resume().ok());
    EXPECT_EQ(gate->calls()[0].outcome, OutcomeKind::answered);
    EXPECT_FALSE(gate->calls()[0].ran);
    EXPECT_EQ(gate->messages()->back().text, "done by hand");
    EXPECT_FALSE(gate->messages()->back().is_error);
}

TEST_P(GateOverStore, MalformedCallsEndWithAnErrorAndNobodyIsAsked) {
    guard_->verdicts["pay"] = guard_->verdicts["note"] = Verdict::ask;
    struct Row {
        ProposedCall call;
        const char* text;
    };
    const std::vector<Row> rows{
        {call("pay", "1", "{"),
         "Error: invalid arguments for pay: a member name in quotes should stand here at byte 1; nothing ran"},
        {call("pay", "2", R"({"a":1,"a":2})"),
         "Error: invalid arguments for pay: an object has the same key twice at byte 7; nothing ran"},
        {call("pay", "3", "{\"a\":\"\xff\"}"),
         "Error: invalid arguments for pay: the json text is not valid utf-8; nothing ran"},
        {call("nothing", "4"), "Error: there is no tool called nothing; nothing ran"},
        {call("pay", "3"), "Error: the call id is used twice in this turn; nothing of this call ran"},
        {call("pay", "5", std::string(200, '[')),
         "Error: invalid arguments for pay: the json text is nested more than 100 deep at byte 100; nothing ran"},
        {call("pay", "6", "{\"a\":\"" + std::string(2'000'000, 'x') + "\"}"),
         "Error: invalid arguments for pay: the json text has 2000008 bytes; at most 1048576 are taken; nothing ran"},
    };
    std::vector<ProposedCall> calls;
    for (const auto& row : rows) calls.push_back(row.call);
    auto gate = this->gate();
    ASSERT_TRUE(gate->prompt("pay it", "user").ok());
    ASSERT_TRUE(gate->propose(turn(calls)).ok());
    EXPECT_TRUE(gate->open().empty());
    EXPECT_EQ(guard_->judged, 0);
    ASSERT_EQ(gate->calls().size(), rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
        EXPECT_EQ(gate->calls()[i].text, rows[i].text);
        EXPECT_EQ(gate->calls()[i].outcome, OutcomeKind::failed);
    }
    EXPECT_EQ(gate->next(), GateStep::call_model);
    // What is not UTF-8 is still there, byte for byte, after the thread is read again.
    EXPECT_TRUE(this->gate()->load().ok());
}

TEST_P(GateOverStore, AGuardThatThrowsNeverAllows) {
    guard_->throws = true;
    auto gate = this->gate();
    ASSERT_TRUE(gate->prompt("pay it", "user").ok());
    ASSERT_TRUE(gate->propose(turn({call("pay")})).ok());
    EXPECT_EQ(gate->calls()[0].outcome, OutcomeKind::denied);
    EXPECT_EQ(gate->calls()[0].text,
              "The call of `pay` was denied: the guard fake failed: out of order. It did not run. Do not call it again "
              "unless the user asks.");
}

TEST_P(GateOverStore, AnAnswerAfterTheDeadlineIsExpired) {
    guard_->verdicts["pay"] = Verdict::ask;
    guard_->question.timeout_ms = 1000;
    auto gate = this->gate();
    ASSERT_TRUE(gate->prompt("pay it", "user").ok());
    ASSERT_TRUE(gate->propose(turn({call("pay")})).ok());
    const auto id = gate->open()[0].id;
    clock_.pass(1000);
    EXPECT_EQ(approvals().answer(id, approve(), alice_)->status, AnswerStatus::expired);
    EXPECT_EQ(approvals().answer(id, approve(), alice_)->status, AnswerStatus::expired);
    ASSERT_TRUE(gate->resume().ok());
    EXPECT_EQ(gate->calls()[0].outcome, OutcomeKind::timed_out);
    EXPECT_TRUE(pay_->runs.empty());
}

TEST_P(GateOverStore, ARunnerSeesADeadlinePassWithoutAnAnswer) {
    guard_->verdicts["pay"] = Verdict::ask;
    guard_->question.timeout_ms = 0;
    auto gate = this->gate();
    ASSERT_TRUE(gate->prompt("pay it", "user").ok());
    ASSERT_TRUE(gate->propose(turn({call("pay")})).ok());
    ASSERT_TRUE(gate->refresh().ok());
    EXPECT_EQ(gate->calls()[0].outcome, OutcomeKind::timed_out);
    EXPECT_EQ(gate->next(), GateStep::call_model);
}

TEST_P(GateOverStore, AnApprovalPastItsUseByIsAskedAgain) {
    guard_->verdicts["pay"] = Verdict::ask;
    auto gate = this->gate();
    ASSERT_TRUE(gate->prompt("pay it", "user").ok());
    ASSERT_TRUE(gate->propose(turn({call("pay")})).ok());
    const auto id = gate->open()[0].id;
    EXPECT_EQ(approvals().answer(id, approve(), alice_)->status, AnswerStatus::decided);
    clock_.pass(24LL * 60 * 60 * 1000 + 1);
    ASSERT_TRUE(gate->resume().ok());
    auto permits = gate->claim();
    ASSERT_TRUE(permits.ok());
    EXPECT_TRUE(permits->empty());
    ASSERT_EQ(gate->open().size(), 1U);
    EXPECT_NE(gate->open()[0].id, id);
    EXPECT_TRUE(pay_->runs.empty());
}

TEST_P(GateOverStore, ANewVersionOfAGuardJudgesAgain) {
    struct Row {
        Verdict now;
        bool runs;
        std::size_t questions;
    };
    for (const auto& row : {Row{Verdict::allow, true, 0}, Row{Verdict::ask, false, 1}, Row{Verdict::deny, false, 0}}) {
        pay_->runs.clear();
        guard_->verdicts["pay"] = Verdict::ask;
        guard_->version_ = "1";
        GateOptions options{.checkpointer = store_.get(),
                            .thread_id = std::string(to_string(row.now)),
                            .tools = {pay_},
                            .guards = {guard_},
                            .clock = &clock_,
                            .random = &random_};
        {
            Gate gate(options);
            ASSERT_TRUE(gate.prompt("pay it", "user").ok());
            ASSERT_TRUE(gate.propose(turn({call("pay")})).ok());
            EXPECT_EQ(approvals().answer(gate.open()[0].id, approve(), alice_)->status, AnswerStatus::decided);
        }
        guard_->version_ = "2";
        guard_->verdicts["pay"] = row.now;
        Gate gate(options);
        ASSERT_TRUE(gate.resume().ok());
        run_ready(gate);
        if (gate.next() == GateStep::start) run_ready(gate);
        EXPECT_EQ(!pay_->runs.empty(), row.runs) << to_string(row.now);
        EXPECT_EQ(gate.open().size(), row.questions) << to_string(row.now);
    }
}

TEST_P(GateOverStore, ANewVersionOfAGuardAsksAboutAnEditThatTheOldOneGot) {
    guard_->verdicts["pay"] = Verdict::ask;
    auto gate = this->gate();
    ASSERT_TRUE(gate->prompt("pay it", "user").ok());
    ASSERT_TRUE(gate->propose(turn({call("pay")})).ok());
    const auto id = gate->open()[0].id;
    EXPECT_EQ(approvals().answer(id, edit(R"({"n":2})"), alice_)->status, AnswerStatus::decided);
    guard_->version_ = "2";
    ASSERT_TRUE(gate->resume().ok());
    ASSERT_TRUE(gate->judge().ok());
    EXPECT_EQ(gate->next(), GateStep::wait);
    ASSERT_EQ(gate->open().size(), 1U);
    EXPECT_NE(gate->open()[0].id, id);
    EXPECT_EQ(gate->open()[0].arguments, R"({"n":2})");
    EXPECT_EQ(approvals().answer(gate->open()[0].id, approve(), bob_)->status, AnswerStatus::decided);
    ASSERT_TRUE(gate->resume().ok());
    run_ready(*gate);
    EXPECT_EQ(pay_->runs, std::vector<std::string>{R"({"n":2})"});
}

TEST_P(GateOverStore, AReusedCallIdIsANewQuestion) {
    guard_->verdicts["pay"] = Verdict::ask;
    auto gate = this->gate();
    ASSERT_TRUE(gate->prompt("pay it", "user").ok());
    ASSERT_TRUE(gate->propose(turn({call("pay", "call_0")})).ok());
    const auto first = gate->open()[0].id;
    EXPECT_EQ(approvals().answer(first, approve(), alice_)->status, AnswerStatus::decided);
    ASSERT_TRUE(gate->resume().ok());
    run_ready(*gate);
    ASSERT_TRUE(gate->propose(turn({call("pay", "call_0", R"({"n":1000})")})).ok());
    ASSERT_EQ(gate->open().size(), 1U);
    EXPECT_NE(gate->open()[0].id, first);
    EXPECT_EQ(pay_->runs.size(), 1U);
}

TEST_P(GateOverStore, ANewPromptOnAWaitingThreadIsRefusedWithWhatIsOpen) {
    guard_->verdicts["pay"] = Verdict::ask;
    auto gate = this->gate();
    ASSERT_TRUE(gate->prompt("pay it", "user").ok());
    ASSERT_TRUE(gate->propose(turn({call("pay")})).ok());
    const auto refused = this->gate()->prompt("and now this", "user");
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.failure().kind, FailureKind::waiting);
    EXPECT_EQ(refused.failure().message,
              "thread t waits for people: " + gate->open()[0].id + " (pay); answer, resume or abort it first");
}

TEST_P(GateOverStore, AbortCancelsWhatHasNotStartedAndTheNextPromptStartsFresh) {
    guard_->verdicts["pay"] = Verdict::ask;
    auto gate = this->gate();
    ASSERT_TRUE(gate->prompt("pay it", "user").ok());
    ASSERT_TRUE(gate->propose(turn({call("pay", "a"), call("pay", "b")})).ok());
    const auto id = gate->open()[0].id;
    const auto aborted = approvals().abort("t", "user closed tab", "alice");
    ASSERT_TRUE(aborted.ok());
    EXPECT_TRUE(aborted->aborted);
    EXPECT_FALSE(approvals().abort("t", "again", "alice")->aborted);
    EXPECT_EQ(approvals().abort("nowhere", "", "alice").failure().kind, FailureKind::unknown_thread);
    const auto late = approvals().answer(id, approve(), bob_);
    EXPECT_EQ(late->status, AnswerStatus::conflict);
    EXPECT_EQ(late->approval.state, ApprovalState::aborted);
    ASSERT_TRUE(gate->refresh().ok());
    EXPECT_EQ(gate->next(), GateStep::done);
    EXPECT_EQ(gate->calls()[1].outcome, OutcomeKind::cancelled);
    EXPECT_EQ(gate->calls()[1].text, "aborted: user closed tab");
    EXPECT_EQ(gate->messages()->back().text, "Conversation aborted: user closed tab");
    EXPECT_TRUE(pay_->runs.empty());
    ASSERT_TRUE(gate->prompt("start again", "user").ok());
    EXPECT_EQ(gate->next(), GateStep::call_model);
}

TEST_P(GateOverStore, ALateOutcomeAfterAnAbortIsStillRecorded) {
    auto gate = this->gate();
    ASSERT_TRUE(gate->prompt("look", "user").ok());
    ASSERT_TRUE(gate->propose(turn({call("look")})).ok());
    auto permits = gate->claim();
    ASSERT_EQ(permits->size(), 1U);
    EXPECT_EQ(approvals().abort("t", "", "alice")->running, 1);
    ASSERT_TRUE(gate->finish(look_->start(std::move(permits->front()))).ok());
    EXPECT_EQ(gate->next(), GateStep::done);
    EXPECT_EQ(gate->calls()[0].outcome, OutcomeKind::done);
    EXPECT_EQ(gate->messages()->back().text, "Conversation aborted: aborted by host");
}

TEST_P(GateOverStore, APermitIsReleasedWhenItsTimeHasPassed) {
    auto gate = this->gate();
    ASSERT_TRUE(gate->prompt("look", "user").ok());
    ASSERT_TRUE(gate->propose(turn({call("look")})).ok());
    auto permits = gate->claim();
    clock_.pass(10'001);
    const auto outcome = look_->start(std::move(permits->front()));
    EXPECT_FALSE(outcome.started);
    EXPECT_TRUE(look_->runs.empty());
    ASSERT_TRUE(gate->finish(outcome).ok());
    EXPECT_EQ(gate->next(), GateStep::start);
    run_ready(*gate);
    EXPECT_EQ(look_->runs.size(), 1U);
}

TEST_P(GateOverStore, APermitOfAnotherToolOrUsedTwiceStartsNothing) {
    auto gate = this->gate();
    ASSERT_TRUE(gate->prompt("look", "user").ok());
    ASSERT_TRUE(gate->propose(turn({call("look", "a"), call("look", "b")})).ok());
    auto permits = gate->claim();
    ASSERT_EQ(permits->size(), 2U);
    EXPECT_FALSE(pay_->start(std::move((*permits)[0])).started);
    EXPECT_TRUE(pay_->runs.empty());
    EXPECT_THROW(look_->start(std::move((*permits)[0])), std::logic_error);
}

TEST_P(GateOverStore, AToolThatThrowsIsAFailedCall) {
    auto bad = std::make_shared<FakeTool>(
        ToolSpec{.name = "bad"}, [](const ApprovedCall&) -> ToolResult { throw std::runtime_error("no\x1b[2Jpe"); });
    Gate gate({.checkpointer = store_.get(), .thread_id = "t", .tools = {bad}, .clock = &clock_, .random = &random_});
    ASSERT_TRUE(gate.prompt("go", "user").ok());
    ASSERT_TRUE(gate.propose(turn({call("bad")})).ok());
    run_ready(gate);
    EXPECT_EQ(gate.calls()[0].outcome, OutcomeKind::failed);
    EXPECT_EQ(gate.calls()[0].text, "Error: no\\u{1b}[2Jpe");
}

TEST_P(GateOverStore, AnEmptyIdMeansNoApproval) {
    guard_->verdicts["pay"] = Verdict::ask;
    auto gate = this->gate();
    ASSERT_TRUE(gate->prompt("pay it", "user").ok());
    ASSERT_TRUE(gate->propose(turn({call("pay")})).ok());
    ASSERT_TRUE(gate->open()[0].question.interrupt_id.empty());
    EXPECT_EQ(approvals().answer("", approve(), alice_, "t")->status, AnswerStatus::not_found);
    EXPECT_EQ(gate->open().size(), 1U);
}

TEST_P(GateOverStore, ADigestThatIsNotTheApprovalsIsRefused) {
    guard_->verdicts["pay"] = Verdict::ask;
    guard_->question.allowed = {DecisionKind::approve, DecisionKind::deny};
    auto gate = this->gate();
    ASSERT_TRUE(gate->prompt("pay it", "user").ok());
    ASSERT_TRUE(gate->propose(turn({call("pay")})).ok());
    const auto open = gate->open()[0];
    auto decision = approve();
    decision.digest = std::string(64, '0');
    EXPECT_EQ(approvals().answer(open.id, decision, alice_)->status, AnswerStatus::refused);
    const auto respond_refused = approvals().answer(open.id, respond("x"), alice_);
    EXPECT_EQ(respond_refused->message,
              "guard fake does not take respond (allowed: approve, deny); approval " + open.id + " stays open");
    decision.digest = open.digest;
    EXPECT_EQ(approvals().answer(open.id, decision, alice_)->status, AnswerStatus::decided);
}

TEST_P(GateOverStore, AReadOfTheWholeJournalGivesTheSameState) {
    guard_->verdicts["pay"] = Verdict::ask;
    auto gate = this->gate();
    ASSERT_TRUE(gate->prompt("pay it", "user").ok());
    ASSERT_TRUE(gate->propose(turn({call("pay", "a"), call("look", "b")})).ok());
    auto fresh = this->gate();
    ASSERT_TRUE(*fresh->load());
    EXPECT_EQ(fresh->calls(), gate->calls());
    EXPECT_EQ(fresh->open(), gate->open());
    EXPECT_EQ(std::vector(fresh->messages()->begin(), fresh->messages()->end()),
              std::vector(gate->messages()->begin(), gate->messages()->end()));
    EXPECT_EQ(*approvals().pending(), gate->open());
}

}  // namespace
}  // namespace assent
