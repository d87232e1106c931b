// Where the gate meets what is late, stale, broken or hostile.
#include "support/fakes.hpp"
#include "support/faulty_store.hpp"
#include "support/other_process.hpp"
#include "support/raw_sqlite.hpp"
#include "support/stores.hpp"

#include "base/display.hpp"
#include "gate/process.hpp"
#include "journal/encoding.hpp"

#include <assent/gate.hpp>
#include <assent/rules.hpp>

#include <gtest/gtest.h>

namespace assent {
namespace {

using namespace assent::test;
using AnswerStatus = AnswerResult::Status;
using Fault = FaultyStore::Fault;

// Hooks that do what the test says.
class Hooks final : public Middleware {
public:
    std::optional<Arguments> before_tool(const ToolContext&) override {
        if (before) before();
        return std::nullopt;
    }
    std::optional<ToolResult> after_tool(const ToolContext&, const ToolResult& result) override {
        ++after_calls;
        if (after) after();
        return ToolResult{.text = result.text + "+"};
    }
    std::function<void()> before;
    std::function<void()> after;
    int after_calls = 0;
};

class GateEdge : public testing::TestWithParam<StoreKind> {
protected:
    GateEdge() : kept_(make_store(GetParam(), folder_)), store_(*kept_) {}

    GateOptions options() {
        return {.checkpointer = &store_,
                .thread_id = "t",
                .tools = {pay_},
                .middleware = {hooks_},
                .guards = {guard_, second_},
                .clock = &clock_,
                .random = &random_};
    }
    std::unique_ptr<Gate> gate() { return std::make_unique<Gate>(options()); }
    Approvals approvals() { return Approvals(store_, clock_, random_); }
    static ModelTurn pay(std::string arguments = R"({"n":1})") {
        return {.calls = {{.tool = "pay", .id = "call_1", .arguments = std::move(arguments)}}};
    }
    std::string ask(Gate& gate) {
        EXPECT_TRUE(gate.prompt("pay it", "user").ok());
        EXPECT_TRUE(gate.propose(pay()).ok());
        return gate.open().at(0).id;
    }
    std::vector<Permit> claimed(Gate& gate) {
        auto permits = gate.claim();
        EXPECT_TRUE(permits.ok());
        return std::move(permits).value();
    }

    TemporaryFolder folder_;
    std::unique_ptr<Checkpointer> kept_;
    FaultyStore store_;
    FakeClock clock_;
    FakeRandom random_;
    std::shared_ptr<FakeTool> pay_ = fake_tool("pay");
    std::shared_ptr<Hooks> hooks_ = std::make_shared<Hooks>();
    std::shared_ptr<FakeGuard> guard_ = std::make_shared<FakeGuard>("first");
    std::shared_ptr<FakeGuard> second_ = std::make_shared<FakeGuard>("second");
    Reviewer alice_{.name = "alice"};
};

INSTANTIATE_TEST_SUITE_P(Stores, GateEdge, testing::ValuesIn(store_kinds()), store_name);

TEST_P(GateEdge, AQuestionAboutOldArgumentsCannotBeApprovedForEditedOnes) {
    guard_->verdicts["pay"] = second_->verdicts["pay"] = Verdict::ask;
    auto gate = this->gate();
    ask(*gate);
    const auto open = gate->open();
    ASSERT_EQ(open.size(), 2U);
    EXPECT_EQ(approvals().answer(open[0].id, edit(R"({"n":1000000})"), alice_)->status, AnswerStatus::decided);
    // The second guard's question showed {"n":1}.
    const auto stale = approvals().answer(open[1].id, approve(), alice_);
    EXPECT_EQ(stale->status, AnswerStatus::conflict);
    EXPECT_EQ(stale->approval.state, ApprovalState::withdrawn);
    EXPECT_TRUE(approvals().pending()->empty());

    ASSERT_TRUE(gate->resume().ok());
    ASSERT_TRUE(gate->judge().ok());
    const auto again = gate->open();
    ASSERT_EQ(again.size(), 1U);
    EXPECT_EQ(again[0].guard, "second");
    EXPECT_EQ(again[0].arguments, R"({"n":1000000})");
    EXPECT_EQ(gate->next(), GateStep::wait);
    EXPECT_TRUE(pay_->runs.empty());
    EXPECT_EQ(approvals().answer(again[0].id, approve(), alice_)->status, AnswerStatus::decided);
    ASSERT_TRUE(gate->resume().ok());
    EXPECT_EQ(claimed(*gate).size(), 1U);
}

TEST_P(GateEdge, AnswersThatCountTogetherAndExcludeEachOtherDoNotCount) {
    guard_->verdicts["pay"] = second_->verdicts["pay"] = Verdict::ask;
    for (const bool elsewhere : {false, true}) {
        auto options = this->options();
        options.thread_id = elsewhere ? "elsewhere" : "here";
        Gate owner(options);
        ask(owner);
        const auto open = owner.open();
        ASSERT_EQ(open.size(), 2U);
        if (elsewhere) {
            ASSERT_TRUE(owner.resume().ok());
        }
        std::vector<AnswerResult> told;
        Gate other(options);
        const auto resumed =
            other.resume({{open[0], edit(R"({"n":2})")}, {open[1], approve()}}, alice_, told, Counting::all_or_none);
        EXPECT_EQ(resumed.failure().kind, FailureKind::refused) << "the edit withdraws the other question";
        EXPECT_EQ(resumed.failure().message,
                  "one of the answers leaves nothing to ask where another one answers; none of the answers counts");
        ASSERT_EQ(told.size(), 2U);
        EXPECT_EQ(told[0].status, AnswerStatus::refused);
        EXPECT_EQ(told[1].status, AnswerStatus::refused);
        EXPECT_EQ(approvals().pending(options.thread_id)->size(), 2U);
    }
}

TEST_P(GateEdge, AnEditStandsForTheGuardAsItWasAndNotForEver) {
    struct Row {
        const char* version;
        std::int64_t later_ms;
        bool runs;
    };
    const std::int64_t use_by_ms = 24LL * 60 * 60 * 1000;
    for (const auto& row : {Row{"1", use_by_ms, true}, Row{"2", 0, false}, Row{"1", use_by_ms + 1, false}}) {
        guard_->version_ = "1";
        guard_->verdicts["pay"] = Verdict::ask;
        auto options = this->options();
        options.thread_id = row.version + std::to_string(row.later_ms);
        Gate gate(options);
        const auto id = ask(gate);
        EXPECT_EQ(approvals().answer(id, edit(R"({"n":2})"), alice_)->status, AnswerStatus::decided);
        guard_->version_ = row.version;
        clock_.pass(row.later_ms);
        ASSERT_TRUE(gate.resume().ok());
        ASSERT_TRUE(gate.judge().ok());
        EXPECT_EQ(gate.next() == GateStep::start, row.runs) << options.thread_id;
        EXPECT_EQ(gate.open().size(), row.runs ? 0U : 1U) << options.thread_id;
    }
}

TEST_P(GateEdge, ALateApprovalOfAGuardThatAllowsByNowIsNoLongerNeeded) {
    guard_->verdicts["pay"] = Verdict::ask;
    auto gate = this->gate();
    const auto id = ask(*gate);
    EXPECT_EQ(approvals().answer(id, approve(), alice_)->status, AnswerStatus::decided);
    clock_.pass(24LL * 60 * 60 * 1000 + 1);
    guard_->verdicts["pay"] = Verdict::allow;
    ASSERT_TRUE(gate->resume().ok());
    EXPECT_TRUE(claimed(*gate).empty());  // judged again
    EXPECT_EQ(gate->next(), GateStep::start);
    EXPECT_EQ(claimed(*gate).size(), 1U);
}

TEST_P(GateEdge, ALateOutcomeOfAnOlderStartLeavesTheQuestionAboutTheNewerOneOpen) {
    pay_ = std::make_shared<FakeTool>(ToolSpec{.name = "pay", .idempotent = true}, [](const ApprovedCall&) {
        return ToolResult{.text = "no answer came", .unknown = true};
    });
    auto stalled = gate();
    ASSERT_TRUE(stalled->prompt("pay it", "user").ok());
    ASSERT_TRUE(stalled->propose(pay()).ok());
    const auto late = pay_->start(std::move(claimed(*stalled)[0]));
    ASSERT_TRUE(stalled->give_back().ok());
    auto next = gate();
    ASSERT_TRUE(next->resume().ok());
    ASSERT_TRUE(next->finish(pay_->start(std::move(claimed(*next).at(0)))).ok());
    ASSERT_EQ(next->open().size(), 1U);

    ASSERT_TRUE(stalled->finish(late).ok());
    const auto open = approvals().pending();
    ASSERT_EQ(open->size(), 1U) << "the newer start is still in doubt";
    EXPECT_EQ(approvals().resolve(open->front().id, Resolution::done, "paid", alice_)->status, AnswerStatus::decided);
    ASSERT_TRUE(next->refresh().ok());
    EXPECT_EQ(next->next(), GateStep::call_model);
}

TEST_P(GateEdge, ALateOutcomeThatCannotSayDoesNotEndTheDoubt) {
    pay_ = std::make_shared<FakeTool>(ToolSpec{.name = "pay"}, [](const ApprovedCall&) {
        return ToolResult{.text = "no answer came", .unknown = true};
    });
    auto stalled = gate();
    ASSERT_TRUE(stalled->prompt("pay it", "user").ok());
    ASSERT_TRUE(stalled->propose(pay()).ok());
    const auto late = pay_->start(std::move(claimed(*stalled)[0]));
    ASSERT_TRUE(stalled->give_back().ok());
    auto next = gate();
    ASSERT_TRUE(next->resume().ok());
    const auto id = approvals().pending()->at(0).id;
    EXPECT_EQ(approvals().resolve(id, Resolution::retry, "", alice_)->status, AnswerStatus::refused)
        << "its process lives and may still run it";

    ASSERT_TRUE(stalled->finish(late).ok());
    ASSERT_TRUE(next->refresh().ok());
    EXPECT_EQ(next->next(), GateStep::wait);
    EXPECT_EQ(approvals().resolve(id, Resolution::retry, "", alice_)->status, AnswerStatus::decided)
        << "it has come back";
    ASSERT_TRUE(next->resume().ok());
    EXPECT_EQ(claimed(*next).size(), 1U);
}

TEST_P(GateEdge, ALateOutcomeOfACallThatAPersonEndedIsOnRecordToo) {
    for (const bool aborted : {false, true}) {
        auto options = this->options();
        options.thread_id = aborted ? "aborted" : "resolved";
        Gate stalled(options);
        ASSERT_TRUE(stalled.prompt("pay it", "user").ok());
        ASSERT_TRUE(stalled.propose(pay()).ok());
        const auto late = pay_->start(std::move(claimed(stalled)[0]));
        ASSERT_TRUE(stalled.give_back().ok());
        Gate next(options);
        ASSERT_TRUE(next.resume().ok());
        if (aborted) {
            EXPECT_TRUE(approvals().abort(options.thread_id, "", "alice")->aborted);
        } else {
            const auto id = approvals().pending(options.thread_id)->at(0).id;
            EXPECT_EQ(approvals().resolve(id, Resolution::fail, "gone", alice_)->status, AnswerStatus::decided);
        }
        ASSERT_TRUE(stalled.finish(late).ok());
        const auto last = approvals().history(options.thread_id)->back();
        EXPECT_EQ(last.event, "late_finished");
        EXPECT_NE(last.fields.find("ok pay"), std::string::npos);
        ASSERT_TRUE(next.refresh().ok());
        EXPECT_EQ(next.calls()[0].outcome, aborted ? OutcomeKind::unknown : OutcomeKind::failed)
            << "it changes nothing";
    }
}

TEST_P(GateEdge, ALateOutcomeIsOnRecordAlsoWhenTheConversationHasGoneOn) {
    auto stalled = gate();
    ASSERT_TRUE(stalled->prompt("pay it", "user").ok());
    ASSERT_TRUE(stalled->propose(pay()).ok());
    const auto late = pay_->start(std::move(claimed(*stalled)[0]));
    ASSERT_TRUE(stalled->give_back().ok());
    auto next = gate();
    ASSERT_TRUE(next->resume().ok());
    const auto id = approvals().pending()->at(0).id;
    EXPECT_EQ(approvals().resolve(id, Resolution::done, "paid", alice_)->status, AnswerStatus::decided);
    ASSERT_TRUE(next->refresh().ok());
    ASSERT_TRUE(next->propose(pay()).ok());

    // By whom it is told does not matter, nor how often.
    ASSERT_TRUE(stalled->finish(late).ok());
    ASSERT_TRUE(stalled->finish(late).ok());
    ASSERT_TRUE(gate()->finish(late).ok());
    int recorded = 0;
    for (const auto& entry : *approvals().history("t")) {
        if (entry.event != "late_finished") continue;
        ++recorded;
        EXPECT_NE(entry.fields.find("ok pay+"), std::string::npos) << "after the hooks";
    }
    EXPECT_EQ(recorded, 1);
    EXPECT_TRUE(gate()->finish({.attempt = "nobody's", .started = true}).ok());
}

TEST_P(GateEdge, AnOutcomeIsTakenByAGateThatHasNotReadItsThread) {
    auto first = gate();
    ASSERT_TRUE(first->prompt("pay it", "user").ok());
    ASSERT_TRUE(first->propose(pay()).ok());
    const auto outcome = pay_->start(std::move(claimed(*first)[0]));
    ASSERT_TRUE(gate()->finish(outcome).ok());
    EXPECT_EQ(approvals().history("t")->back().event, "finished");
}

TEST_P(GateEdge, HooksRunOnceHoweverOftenStoringTheOutcomeFails) {
    auto gate = this->gate();
    ASSERT_TRUE(gate->prompt("pay it", "user").ok());
    ASSERT_TRUE(gate->propose(pay()).ok());
    auto permits = claimed(*gate);
    const auto outcome = pay_->start(std::move(permits[0]));
    store_.appends = {Fault::fails, Fault::fails};
    EXPECT_FALSE(gate->finish(outcome).ok());
    EXPECT_FALSE(gate->finish(outcome).ok());
    ASSERT_TRUE(gate->finish(outcome).ok());
    EXPECT_EQ(hooks_->after_calls, 1);
    EXPECT_EQ(gate->messages()->back().text, "ok pay+");
    ASSERT_TRUE(gate->finish(outcome).ok());  // recorded before: nothing is added
    EXPECT_EQ(gate->messages()->back().text, "ok pay+");
}

TEST_P(GateEdge, WhateverAHookThrowsIsCaughtAtItsSeam) {
    hooks_->before = [] { throw 1; };
    auto gate = this->gate();
    ASSERT_TRUE(gate->prompt("pay it", "user").ok());
    ASSERT_TRUE(gate->propose(pay()).ok());
    EXPECT_EQ(gate->messages()->back().text, "Error: a middleware failed before pay; nothing ran");
    EXPECT_EQ(guard_->judged, 0);
    hooks_->before = [] { throw std::runtime_error("no\x1b"); };
    ASSERT_TRUE(gate->propose(pay()).ok());
    EXPECT_EQ(gate->messages()->back().text, "Error: no\\u{1b}");
    hooks_->before = {};

    for (const bool plain : {true, false}) {
        hooks_->after = [plain] {
            if (plain) throw std::runtime_error("late");
            throw 1;
        };
        ASSERT_TRUE(gate->propose(pay()).ok());
        auto permits = claimed(*gate);
        ASSERT_TRUE(gate->finish(pay_->start(std::move(permits.at(0)))).ok());
        EXPECT_EQ(gate->messages()->back().text,
                  plain ? "ok pay\n(a hook after the tool failed: late)" : "ok pay\n(a hook after the tool failed)");
    }
}

TEST_P(GateEdge, NoBytesOfAnybodyMakeAThreadUnreadable) {
    const std::string bad = "b\xff\xc3\xa4\xc3";
    pay_ = std::make_shared<FakeTool>(ToolSpec{.name = "pay"},
                                      [&](const ApprovedCall&) { return ToolResult{.text = bad, .details = bad}; });
    guard_->verdicts["pay"] = Verdict::ask;
    guard_->reason = guard_->question.description = guard_->question.details = bad;
    guard_->version_ = bad;
    auto gate = this->gate();
    gate->configure(bad);
    ASSERT_TRUE(gate->prompt(bad, bad).ok());
    ASSERT_TRUE(gate->propose({.text = bad, .calls = pay().calls, .stop_reason = bad}).ok());
    const auto open = gate->open().at(0);
    EXPECT_EQ(approvals().pending()->at(0), open);
    EXPECT_EQ(approvals().answer(open.id, approve(), {.name = bad, .signed_in = bad})->status, AnswerStatus::decided);
    ASSERT_TRUE(gate->resume().ok());
    hooks_->after = {};
    for (int tries = 0; gate->next() == GateStep::start && tries < 3; ++tries) {
        for (auto& permit : claimed(*gate)) ASSERT_TRUE(gate->finish(pay_->start(std::move(permit))).ok());
    }
    EXPECT_EQ(approvals().abort("t", bad, bad)->aborted, gate->next() != GateStep::done);
    ASSERT_TRUE(gate->refresh().ok());

    auto fresh = this->gate();
    const auto loaded = fresh->load();
    ASSERT_TRUE(loaded.ok()) << loaded.failure().message;
    EXPECT_EQ(fresh->calls(), gate->calls());
    EXPECT_EQ(std::vector(fresh->messages()->begin(), fresh->messages()->end()),
              std::vector(gate->messages()->begin(), gate->messages()->end()));
    const auto history = approvals().history("t");
    ASSERT_TRUE(history.ok());
    for (const auto& entry : *history) EXPECT_TRUE(valid_utf8(entry.fields));
}

TEST_P(GateEdge, AThreadNeedsAnIdThatCanBeWritten) {
    auto bad = options();
    bad.thread_id = "\xff";
    EXPECT_THROW(Gate{bad}, ConfigError);
    bad.thread_id = "";
    EXPECT_THROW(Gate{bad}, ConfigError);
}

TEST_P(GateEdge, TheTaskOfAThreadIsCutBetweenCharacters) {
    std::string text(119, 'a');
    text += "\xc3\xa4rger";
    ASSERT_TRUE(gate()->prompt(text, "user").ok());
    EXPECT_EQ((*store_.find_thread("t"))->task, std::string(119, 'a'));
}

TEST_P(GateEdge, AThreadThatCouldNotBeGivenBackIsStillHeld) {
    auto gate = this->gate();
    ASSERT_TRUE(gate->prompt("pay it", "user").ok());
    store_.give_backs_fail = 1;
    EXPECT_FALSE(gate->give_back().ok());
    EXPECT_TRUE((*store_.find_thread("t"))->runner_alive);
    ASSERT_TRUE(gate->propose(pay()).ok());  // still the runner
    ASSERT_TRUE(gate->give_back().ok());
    EXPECT_FALSE((*store_.find_thread("t"))->runner_alive);
}

TEST_P(GateEdge, AnUncertainCommitThatWasKeptCounts) {
    guard_->verdicts["pay"] = Verdict::ask;
    auto gate = this->gate();
    store_.appends = {Fault::uncertain_kept, Fault::uncertain_kept};
    const auto id = ask(*gate);
    EXPECT_EQ(approvals().pending()->at(0).id, id);
    store_.appends = {Fault::uncertain_kept};
    EXPECT_EQ(approvals().answer(id, approve(), alice_)->status, AnswerStatus::decided);
    ASSERT_TRUE(gate->resume().ok());
    store_.appends = {Fault::uncertain_kept};
    auto permits = claimed(*gate);
    ASSERT_EQ(permits.size(), 1U);
    const auto outcome = pay_->start(std::move(permits[0]));
    store_.appends = {Fault::uncertain_kept};
    ASSERT_TRUE(gate->finish(outcome).ok());
    EXPECT_EQ(gate->next(), GateStep::call_model);
    std::vector<std::string> events;
    const auto history = approvals().history("t");
    for (const auto& entry : *history) events.push_back(entry.event);
    EXPECT_EQ(events, (std::vector<std::string>{"configured", "user_message", "model_turn", "prepared", "judged",
                                                "asked", "answered", "claimed", "finished"}));
}

TEST_P(GateEdge, AnUncertainCommitThatWasLostIsToldAndCanBeMadeAgain) {
    guard_->verdicts["pay"] = Verdict::ask;
    auto gate = this->gate();
    store_.appends = {Fault::uncertain_lost};
    const auto lost = gate->prompt("pay it", "user");
    ASSERT_FALSE(lost.ok());
    EXPECT_EQ(lost.failure().message, "the store failed; the last change was not kept: try again");
    const auto id = ask(*gate);
    store_.appends = {Fault::uncertain_lost};
    EXPECT_FALSE(approvals().answer(id, approve(), alice_).ok());
    EXPECT_EQ(approvals().answer(id, approve(), alice_)->status, AnswerStatus::decided);
    ASSERT_TRUE(gate->resume().ok());
    store_.appends = {Fault::uncertain_lost};
    EXPECT_FALSE(gate->claim().ok());  // no permit without a stored claim
    EXPECT_EQ(gate->next(), GateStep::start);
    EXPECT_EQ(claimed(*gate).size(), 1U);
}

TEST_P(GateEdge, ATurnThatWasPerhapsKeptAndComesAgainCountsOnce) {
    guard_->verdicts["pay"] = Verdict::ask;
    auto gate = this->gate();
    ASSERT_TRUE(gate->prompt("pay it", "user").ok());
    store_.appends = {Fault::uncertain_kept};
    store_.loads_fail = 1;
    EXPECT_FALSE(gate->propose(pay()).ok());
    ASSERT_TRUE(gate->propose(pay()).ok());
    EXPECT_EQ(gate->turns(), 1);
    EXPECT_EQ(gate->open().size(), 1U);
    EXPECT_EQ(approvals().pending()->size(), 1U);
    // Nor does one come in that nobody asked for.
    ASSERT_TRUE(gate->propose({.text = "never mind"}).ok());
    ASSERT_TRUE(gate->refuse_proposed(pay(), "too many").ok());
    EXPECT_EQ(gate->next(), GateStep::wait);
}

TEST_P(GateEdge, ListsOfRulesWithoutNamesAreToldApartByTheirOrder) {
    const auto rules = [](const char* tool, std::string name = "rules") {
        return std::make_shared<ToolInterruptMiddleware>(std::vector<InterruptRule>{tool}, "1", std::move(name));
    };
    auto several = options();
    several.middleware = {rules("pay"), rules("*"), rules("pay", "money")};
    several.guards = {};
    Gate gate(several);
    ASSERT_TRUE(gate.prompt("pay it", "user").ok());
    ASSERT_TRUE(gate.propose(pay()).ok());
    std::vector<std::string> guards;
    for (const auto& approval : gate.open()) guards.push_back(approval.guard);
    EXPECT_EQ(guards, (std::vector<std::string>{"rules", "rules-2", "money"}));
    const auto twice = approvals().answer("approve_call_1", approve(), alice_, "t");
    EXPECT_EQ(twice->status, AnswerStatus::ambiguous);
    for (const auto& approval : gate.open()) {
        EXPECT_EQ(gate.next(), GateStep::wait);
        EXPECT_EQ(approvals().answer(approval.id, approve(), alice_)->status, AnswerStatus::decided);
        ASSERT_TRUE(gate.refresh().ok());
    }
    EXPECT_EQ(gate.next(), GateStep::start);

    const auto message = [&](std::vector<std::shared_ptr<Middleware>> middleware) -> std::string {
        several.middleware = std::move(middleware);
        try {
            const Gate refused(several);
        } catch (const ConfigError& error) {
            return error.what();
        }
        return "";
    };
    EXPECT_EQ(message({rules("pay", "a"), rules("pay", "a")}), "two guards are called a; give each a name of its own");
    EXPECT_EQ(message({rules("pay"), rules("refund")}),
              "the guard rules-2 names the tool refund, which does not exist");
    several.guards = {std::make_shared<FakeGuard>("rules")};
    EXPECT_EQ(message({rules("pay")}), "two guards are called rules; give each a name of its own");
}

TEST_P(GateEdge, ASnapshotGivesTheSameStateAsTheWholeJournal) {
    guard_->verdicts["pay"] = Verdict::ask;
    auto gate = this->gate();
    ASSERT_TRUE(gate->prompt("go", "user").ok());
    // More rows than there are between two snapshots.
    for (int turn = 0; turn < 25; ++turn) {
        ASSERT_TRUE(gate->propose({.text = "turn " + std::to_string(turn), .calls = pay().calls}).ok());
        EXPECT_EQ(approvals().answer(gate->open().at(0).id, approve(), alice_)->status, AnswerStatus::decided);
        ASSERT_TRUE(gate->resume().ok());
        auto permits = claimed(*gate);
        ASSERT_TRUE(gate->finish(pay_->start(std::move(permits.at(0)))).ok());
    }
    ASSERT_TRUE(gate->propose(pay()).ok());
    const auto kept = *store_.snapshot("t");
    ASSERT_TRUE(kept.has_value());

    const auto same = [&] {
        auto fresh = this->gate();
        EXPECT_TRUE(*fresh->load());
        EXPECT_EQ(fresh->calls(), gate->calls());
        EXPECT_EQ(fresh->open(), gate->open());
        EXPECT_EQ(fresh->turns(), gate->turns());
        EXPECT_EQ(std::vector(fresh->messages()->begin(), fresh->messages()->end()),
                  std::vector(gate->messages()->begin(), gate->messages()->end()));
    };
    same();
    const auto keep = [&](Snapshot snapshot) {
        const Append append{.thread_id = "t", .snapshot = std::move(snapshot)};
        EXPECT_EQ(store_.append(append)->status, AppendStatus::done);
    };
    // A cache: what cannot be read is not used.
    for (const auto* damaged : {"", "{", R"({"v":2})", R"({"v":1,"d":{}})", R"({"v":2,"d":{}})", "[]"}) {
        keep({.version = journal::snapshot_version, .state = damaged});
        same();
    }
    keep({.version = journal::snapshot_version + 1, .state = kept->state});
    same();
}

TEST(GateOverFile, ARowThatWasChangedIsFound) {
    const TemporaryFolder folder;
    const auto path = folder.file("test.db");
    FakeClock clock;
    FakeRandom random;
    SqliteCheckpointer store(path);
    Approvals approvals(store, clock, random);
    {
        Gate gate({.checkpointer = &store, .thread_id = "t", .tools = {fake_tool("pay")}, .clock = &clock});
        ASSERT_TRUE(gate.prompt("pay it", "user").ok());
        clock.pass(5);
        ASSERT_TRUE(gate.propose({.text = "done"}).ok());
    }
    ASSERT_TRUE(approvals.history("t").ok());
    const RawSqlite other(path);
    const std::string changed = "a journal row was changed after it was written; restore the database from a copy";
    const std::string chain = "the journal of thread t does not fit its chain; restore the database from a copy";
    struct Row {
        const char* change;
        const char* back;
        std::string error;
    };
    for (const auto& row : {
             Row{"UPDATE journal SET at = at - 1 WHERE pos = 1", "UPDATE journal SET at = at + 1 WHERE pos = 1",
                 changed},
             Row{"UPDATE journal SET seq = 7 WHERE pos = 1", "UPDATE journal SET seq = 2 WHERE pos = 1", changed},
             Row{"UPDATE journal SET body = CAST(replace(body, 'pay it', 'pay me') AS BLOB) WHERE pos = 1",
                 "UPDATE journal SET body = CAST(replace(body, 'pay me', 'pay it') AS BLOB) WHERE pos = 1", changed},
             Row{"UPDATE journal SET salt = CAST(salt || 'x' AS BLOB) WHERE pos = 2",
                 "UPDATE journal SET salt = substr(salt, 1, 16) WHERE pos = 2", changed},
             Row{"UPDATE thread SET head = 1", "UPDATE thread SET head = 2", chain},
             Row{"UPDATE thread SET head = 0", "UPDATE thread SET head = 2", chain},
             Row{"UPDATE journal SET header = CAST(replace(header, '\"n\":0', '\"n\":2') AS BLOB) WHERE pos = 1",
                 "UPDATE journal SET header = CAST(replace(header, '\"n\":2', '\"n\":0') AS BLOB) WHERE pos = 1",
                 chain},
         }) {
        SCOPED_TRACE(row.change);
        other.run(row.change);
        const auto history = approvals.history("t");
        ASSERT_FALSE(history.ok());
        EXPECT_EQ(history.failure().message, row.error);
        other.run(row.back);
    }
}

TEST(ProcessLifeTest, IsProvedByPidStartTimeAndBoot) {
    const auto self = this_process();
    EXPECT_EQ(life_of(self), ProcessLife::alive);
    OtherProcess other([](const Talk& talk) {
        const auto mark = this_process();
        talk.say(std::to_string(mark.pid) + " " + std::to_string(mark.started));
        talk.hear();
    });
    auto mark = self;
    std::sscanf(other.hear().c_str(), "%ld %ld", &mark.pid, &mark.started);
    EXPECT_EQ(mark.pid, other.pid());  // not the parent's, though it was known before the fork
    EXPECT_EQ(life_of(mark), ProcessLife::alive);
    auto changed = mark;
    changed.started -= 1;  // the number was given to another process
    EXPECT_EQ(life_of(changed), ProcessLife::dead);
    changed = mark;
    changed.boot = "another boot";
    EXPECT_EQ(life_of(changed), ProcessLife::dead);
    changed = mark;
    changed.host = "another host";
    EXPECT_EQ(life_of(changed), ProcessLife::unknown);
    other.kill_now();
    EXPECT_EQ(life_of(mark), ProcessLife::dead) << "ended, not yet reaped";
    other.reap();
    EXPECT_EQ(life_of(mark), ProcessLife::dead);
}

}  // namespace
}  // namespace assent
