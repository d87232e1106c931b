// Resuming with answers: one append for the answers and the claim, and what may happen before the start.
// Opening a thread from a snapshot.
#include "support/fakes.hpp"
#include "support/faulty_store.hpp"
#include "support/other_process.hpp"
#include "support/stores.hpp"

#include <assent/gate.hpp>

#include <gtest/gtest.h>

#include <algorithm>

namespace assent {
namespace {

using namespace assent::test;
using AnswerStatus = AnswerResult::Status;
using Fault = FaultyStore::Fault;

class GateResume : public testing::TestWithParam<StoreKind> {
protected:
    GateResume() : kept_(make_store(GetParam(), folder_)), store_(*kept_) { guard_->verdicts["pay"] = Verdict::ask; }

    std::unique_ptr<Gate> gate_over(Checkpointer& store) {
        return std::make_unique<Gate>(GateOptions{.checkpointer = &store,
                                                  .thread_id = "t",
                                                  .tools = {pay_},
                                                  .guards = {guard_},
                                                  .clock = &clock_,
                                                  .random = &random_});
    }
    std::unique_ptr<Gate> gate() { return gate_over(store_); }
    Approvals approvals() { return Approvals(*kept_, clock_, random_); }
    // A thread that waits for `calls` answers.
    void ask(Gate& gate, int calls = 1) {
        ModelTurn turn;
        for (int i = 0; i < calls; ++i) {
            turn.calls.push_back({.tool = "pay", .id = "call_" + std::to_string(i), .arguments = R"({"n":1})"});
        }
        ASSERT_TRUE(gate.prompt("pay it", "user").ok());
        ASSERT_TRUE(gate.propose(turn).ok());
        ASSERT_EQ(gate.open().size(), static_cast<std::size_t>(calls));
    }
    static std::vector<GivenAnswer> all_approved(const std::vector<Approval>& open) {
        std::vector<GivenAnswer> answers;
        for (const auto& approval : open) answers.push_back({approval, approve()});
        return answers;
    }
    Result<void> approve_all(Gate& gate) {
        told_.clear();
        return gate.resume(all_approved(gate.open()), alice_, told_);
    }
    std::vector<AnswerStatus> told() const {
        std::vector<AnswerStatus> statuses;
        for (const auto& result : told_) statuses.push_back(result.status);
        return statuses;
    }
    static std::size_t run_ready(Gate& gate) {
        auto permits = gate.claim();
        EXPECT_TRUE(permits.ok());
        for (auto& permit : *permits) {
            const auto tool = gate.tool(permit.tool());
            EXPECT_TRUE(gate.finish(tool->start(std::move(permit))).ok());
        }
        return permits->size();
    }
    std::vector<std::string> events() {
        std::vector<std::string> kinds;
        for (const auto& entry : *approvals().history("t")) kinds.push_back(entry.event);
        return kinds;
    }
    std::vector<std::string> events_since_asked() {
        auto kinds = events();
        const auto last = std::find(kinds.rbegin(), kinds.rend(), "asked").base();
        return {last, kinds.end()};
    }
    std::size_t rows() { return kept_->load("t", 0)->size(); }

    TemporaryFolder folder_;
    std::unique_ptr<Checkpointer> kept_;
    FaultyStore store_;
    FakeClock clock_;
    FakeRandom random_;
    std::shared_ptr<FakeTool> pay_ = fake_tool("pay");
    std::shared_ptr<FakeGuard> guard_ = std::make_shared<FakeGuard>();
    Reviewer alice_{.name = "alice"};
    Reviewer bob_{.name = "bob"};
    std::vector<AnswerResult> told_;
};

INSTANTIATE_TEST_SUITE_P(Stores, GateResume, testing::ValuesIn(store_kinds()), store_name);

TEST_P(GateResume, AGatedCycleIsFiveAppends) {
    auto gate = this->gate();
    ask(*gate);
    EXPECT_EQ(store_.appended, 2);
    ASSERT_TRUE(approve_all(*gate).ok());
    EXPECT_EQ(told(), std::vector{AnswerStatus::decided});
    EXPECT_EQ(told_[0].approval.decided_by, "alice");
    EXPECT_EQ(store_.appended, 3);
    EXPECT_EQ(gate->next(), GateStep::start);
    EXPECT_EQ(run_ready(*gate), 1U);
    EXPECT_EQ(store_.appended, 4);
    ASSERT_TRUE(gate->propose({.text = "paid"}).ok());
    EXPECT_EQ(gate->next(), GateStep::done);
    ASSERT_TRUE(gate->give_back().ok());
    EXPECT_EQ(store_.appended, 5);
    EXPECT_EQ(rows(), 5U);
    EXPECT_EQ(pay_->runs.size(), 1U);
    EXPECT_EQ(events_since_asked(),
              (std::vector<std::string>{"answered", "claimed", "finished", "model_turn", "run_finished"}));
    EXPECT_FALSE((*kept_->find_thread("t"))->runner_alive);
}

TEST_P(GateResume, EveryKindOfAnswerGoesWithTheClaim) {
    guard_->question.allowed = {DecisionKind::approve, DecisionKind::deny, DecisionKind::edit, DecisionKind::respond};
    auto gate = this->gate();
    ask(*gate, 4);
    const auto open = gate->open();
    const auto appends = store_.appended;
    ASSERT_TRUE(gate->resume({{open[0], approve()},
                              {open[1], deny("no")},
                              {open[2], edit(R"({"n":2})")},
                              {open[3], respond("I did it")}},
                             alice_, told_)
                    .ok());
    EXPECT_EQ(store_.appended, appends + 1);
    EXPECT_EQ(told(), std::vector(4, AnswerStatus::decided));
    EXPECT_TRUE(told_[2].still_judged);
    EXPECT_TRUE(approvals().pending()->empty());
    EXPECT_EQ(run_ready(*gate), 1U);
    EXPECT_EQ(gate->next(), GateStep::judge);
    guard_->verdicts["pay"] = Verdict::allow;
    ASSERT_TRUE(gate->judge().ok());
    EXPECT_EQ(run_ready(*gate), 1U);
    EXPECT_EQ(pay_->runs, (std::vector<std::string>{R"({"n":1})", R"({"n":2})"}));
    EXPECT_EQ(gate->next(), GateStep::call_model);
}

TEST_P(GateResume, AnAnswerThatCameTooLateIsToldSoAndTheRestGoesOn) {
    for (const bool at_the_last_moment : {false, true}) {
        SCOPED_TRACE(at_the_last_moment);
        auto gate = this->gate();
        ask(*gate, 3);
        const auto open = gate->open();
        const auto bob_denies = [&] {
            EXPECT_EQ(approvals().answer(open[1].id, deny("no"), bob_)->status, AnswerStatus::decided);
        };
        if (at_the_last_moment) {
            store_.before_append = bob_denies;
        } else {
            bob_denies();
        }
        told_.clear();
        ASSERT_TRUE(gate->resume(all_approved(open), alice_, told_).ok());
        EXPECT_EQ(told(), (std::vector{AnswerStatus::decided, AnswerStatus::conflict, AnswerStatus::decided}));
        EXPECT_EQ(told_[1].approval.decided_by, "bob");
        EXPECT_EQ(told_[1].approval.state, ApprovalState::denied);
        pay_->runs.clear();
        EXPECT_EQ(run_ready(*gate), 2U);
        EXPECT_EQ(pay_->runs.size(), 2U);
        EXPECT_EQ(gate->next(), GateStep::call_model);
        ASSERT_TRUE(gate->propose({.text = "so far"}).ok());
    }
}

TEST_P(GateResume, TheSameAnswerTwiceCountsOnceAndAnExpiredOneNotAtAll) {
    guard_->question.timeout_ms = 1000;
    auto gate = this->gate();
    ask(*gate, 2);
    const auto open = gate->open();
    ASSERT_TRUE(gate->resume({{open[0], approve()}, {open[0], approve()}, {open[0], deny("no")}}, alice_, told_).ok());
    EXPECT_EQ(told(), (std::vector{AnswerStatus::decided, AnswerStatus::already, AnswerStatus::conflict}));
    clock_.pass(1000);
    told_.clear();
    ASSERT_TRUE(gate->resume({{open[1], approve()}}, alice_, told_).ok());
    EXPECT_EQ(told(), std::vector{AnswerStatus::expired});
    EXPECT_EQ(run_ready(*gate), 1U) << "what the first resume claimed is still to start";
    EXPECT_EQ(pay_->runs.size(), 1U);
    EXPECT_EQ(gate->next(), GateStep::call_model);
}

TEST_P(GateResume, WhatIsClaimedByOneResumeIsNotForgottenByTheNext) {
    auto gate = this->gate();
    ask(*gate, 2);
    const auto open = gate->open();
    ASSERT_TRUE(gate->resume({{open[0], approve()}}, alice_, told_).ok());
    ASSERT_TRUE(gate->resume().ok());
    ASSERT_TRUE(gate->resume({{open[1], approve()}}, alice_, told_).ok());
    EXPECT_EQ(run_ready(*gate), 2U);
    EXPECT_EQ(run_ready(*gate), 0U);
    EXPECT_EQ(pay_->runs.size(), 2U);
}

TEST_P(GateResume, AThreadThatRunsElsewhereTakesTheAnswersAndGoesOnThere) {
    auto owner = this->gate();
    ask(*owner, 2);
    const auto open = owner->open();
    ASSERT_TRUE(owner->resume({{open[0], approve()}}, alice_, told_).ok());
    told_.clear();
    auto other = this->gate();
    ASSERT_TRUE(*other->load());
    const auto refused = other->resume({{open[0], deny("no")}, {open[1], approve()}}, bob_, told_);
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.failure().kind, FailureKind::leased);
    EXPECT_EQ(told(), (std::vector{AnswerStatus::conflict, AnswerStatus::decided}));
    EXPECT_TRUE(approvals().pending()->empty());
    other.reset();
    ASSERT_TRUE(owner->refresh().ok());
    EXPECT_EQ(run_ready(*owner), 2U);
    EXPECT_EQ(pay_->runs.size(), 2U);
}

TEST_P(GateResume, AThreadThatRunsElsewhereTakesAllAnswersThatCountTogetherOrNone) {
    auto owner = this->gate();
    ask(*owner, 3);
    const auto open = owner->open();
    ASSERT_TRUE(owner->resume({{open[0], approve()}}, alice_, told_).ok());
    auto other = this->gate();
    const auto list = [&](const std::vector<GivenAnswer>& answers) {
        told_.clear();
        return other->resume(answers, bob_, told_, Counting::all_or_none);
    };
    const auto before = events();
    const auto refused = list({{open[1], approve()}, {open[0], deny("no")}});
    EXPECT_EQ(refused.failure().kind, FailureKind::conflict);
    EXPECT_EQ(told(), (std::vector{AnswerStatus::refused, AnswerStatus::conflict}));
    EXPECT_EQ(events(), before);
    const auto elsewhere = list({{open[1], approve()}, {open[2], deny("no")}});
    EXPECT_EQ(elsewhere.failure().kind, FailureKind::leased);
    EXPECT_EQ(told(), (std::vector{AnswerStatus::decided, AnswerStatus::decided}));
    EXPECT_TRUE(approvals().pending()->empty());
    EXPECT_EQ(kept_->load("t", 0)->size(), 4U) << "both are one append";
    ASSERT_TRUE(owner->refresh().ok());
    EXPECT_EQ(run_ready(*owner), 2U);
}

TEST_P(GateResume, AThreadThatIsAbortedBeforeTheStartDoesNotStart) {
    auto gate = this->gate();
    ask(*gate);
    ASSERT_TRUE(approve_all(*gate).ok());
    EXPECT_EQ(approvals().abort("t", "enough", "bob")->status, ThreadStatus::aborted);
    EXPECT_EQ(run_ready(*gate), 0U);
    EXPECT_TRUE(pay_->runs.empty());
    EXPECT_EQ(gate->next(), GateStep::done);
    EXPECT_TRUE(gate->aborted());
    const auto calls = gate->calls();
    EXPECT_EQ(std::tuple(calls.at(0).outcome, calls.at(0).ran), std::tuple(OutcomeKind::cancelled, false));
    EXPECT_EQ(events_since_asked(), (std::vector<std::string>{"answered", "claimed", "aborted", "released"}));
    ASSERT_TRUE(gate->give_back().ok());
    ASSERT_TRUE(gate->prompt("again", "user").ok());
}

TEST_P(GateResume, WhatNobodyStartedIsReleasedWhenTheThreadIsGivenBack) {
    enum class End { given_back, failed, destroyed };
    for (const auto end : {End::given_back, End::failed, End::destroyed}) {
        SCOPED_TRACE(static_cast<int>(end));
        pay_->runs.clear();
        auto gate = this->gate();
        ask(*gate);
        ASSERT_TRUE(approve_all(*gate).ok());
        EXPECT_EQ(gate->next(), GateStep::start);
        if (end == End::given_back) {
            ASSERT_TRUE(gate->give_back().ok());
        }
        if (end == End::failed) {
            ASSERT_TRUE(gate->fail({FailureKind::model, "no"}).ok());
        }
        if (end == End::destroyed) gate = this->gate();
        EXPECT_FALSE((*kept_->find_thread("t"))->runner_alive);
        ASSERT_TRUE(gate->resume().ok());
        EXPECT_TRUE(gate->open().empty()) << "nobody is asked about a call that did not run";
        EXPECT_EQ(run_ready(*gate), 1U);
        EXPECT_EQ(pay_->runs.size(), 1U);
        auto expected = std::vector<std::string>{"answered", "claimed", "released", "claimed", "finished"};
        if (end == End::failed) expected.insert(expected.begin() + 3, "run_finished");
        EXPECT_EQ(events_since_asked(), expected);
        ASSERT_TRUE(gate->propose({.text = "paid"}).ok());
    }
}

TEST_P(GateResume, AReleaseThatCannotBeStoredIsTriedAgainAndNothingRunsTwice) {
    auto gate = this->gate();
    ask(*gate);
    ASSERT_TRUE(approve_all(*gate).ok());
    store_.appends = {Fault::fails};
    ASSERT_FALSE(gate->give_back().ok());
    // Still the runner, so what it claimed may start.
    ASSERT_TRUE(gate->resume().ok());
    store_.appends = {Fault::uncertain_kept};
    ASSERT_TRUE(gate->give_back().ok());
    ASSERT_TRUE(gate->resume().ok());
    EXPECT_EQ(run_ready(*gate), 1U);
    EXPECT_EQ(pay_->runs.size(), 1U);
}

TEST_P(GateResume, AfterAnUncertainAppendTheAnswersAreThereOnceAndRunOnce) {
    for (const auto fault : {Fault::uncertain_kept, Fault::uncertain_lost, Fault::fails}) {
        SCOPED_TRACE(static_cast<int>(fault));
        pay_->runs.clear();
        auto gate = this->gate();
        ask(*gate);
        store_.appends = {fault};
        const auto resumed = approve_all(*gate);
        EXPECT_EQ(resumed.ok(), fault == Fault::uncertain_kept);
        EXPECT_EQ(told(), std::vector{AnswerStatus::decided});
        if (!resumed) {
            ASSERT_TRUE(gate->resume().ok());
        }
        EXPECT_EQ(run_ready(*gate), 1U);
        EXPECT_EQ(pay_->runs.size(), 1U);
        EXPECT_EQ(events_since_asked(), (std::vector<std::string>{"answered", "claimed", "finished"}));
        ASSERT_TRUE(gate->propose({.text = "paid"}).ok());
    }
}

TEST_P(GateResume, AFailureAfterTheClaimLeavesNothingBehind) {
    auto gate = this->gate();
    ask(*gate, 2);
    const auto open = gate->open();
    EXPECT_EQ(approvals().answer(open[0].id, deny("no"), bob_)->status, AnswerStatus::decided);
    // The claim is stored; then what stands of the lost answer cannot be read.
    store_.before_append = [&] { store_.loads_fail = 1; };
    const auto failed = gate->resume(all_approved(open), alice_, told_);
    ASSERT_FALSE(failed.ok());
    ASSERT_TRUE(gate->give_back().ok());
    EXPECT_FALSE((*kept_->find_thread("t"))->runner_alive);
    ASSERT_TRUE(gate->resume().ok());
    EXPECT_TRUE(gate->open().empty());
    EXPECT_EQ(run_ready(*gate), 1U);
    EXPECT_EQ(pay_->runs.size(), 1U);
}

TEST_P(GateResume, AnApprovalThatCannotBeUsedAnyMoreIsAskedAgainInTheSameAppend) {
    auto gate = this->gate();
    ask(*gate);
    const auto open = gate->open();
    guard_->version_ = "2";
    const auto appends = store_.appended;
    ASSERT_TRUE(gate->resume(all_approved(open), alice_, told_).ok());
    EXPECT_EQ(store_.appended, appends + 1);
    EXPECT_EQ(told(), std::vector{AnswerStatus::decided});
    EXPECT_EQ(gate->next(), GateStep::wait);
    ASSERT_EQ(gate->open().size(), 1U);
    EXPECT_NE(gate->open()[0].id, open[0].id);
    EXPECT_EQ(*approvals().pending(), gate->open());
    EXPECT_EQ(run_ready(*gate), 0U);
}

TEST_P(GateResume, CallsThatWaitForTheirStartAreNotReportedAsRunning) {
    auto gate = this->gate();
    ask(*gate);
    ASSERT_TRUE(approve_all(*gate).ok());
    EXPECT_FALSE(gate->calls().at(0).running);
    const auto permits = gate->claim();
    EXPECT_TRUE(gate->calls().at(0).running);
}

TEST_P(GateResume, AThreadOpenedFromASnapshotGoesOnWithoutReadingItAll) {
    auto gate = this->gate();
    const auto cycle = [&](Gate& of, int n) {
        ASSERT_TRUE(of.prompt("prompt " + std::to_string(n), "user").ok());
        ASSERT_TRUE(of.propose({.text = "calling", .calls = {{.tool = "pay", .id = "c", .arguments = "{}"}}}).ok());
        ASSERT_TRUE(of.resume(all_approved(of.open()), alice_, told_).ok());
        ASSERT_EQ(run_ready(of), 1U);
        ASSERT_TRUE(of.propose({.text = "paid " + std::to_string(n)}).ok());
    };
    constexpr int cycles = 60;
    for (int n = 0; n < cycles; ++n) cycle(*gate, n);
    EXPECT_EQ(rows(), 5U * cycles);
    const auto snapshot = *kept_->snapshot("t");
    ASSERT_TRUE(snapshot.has_value());
    EXPECT_LT(snapshot->state.size(), 4096U) << "it does not grow with the thread";

    store_.rows_loaded = 0;
    auto fresh = this->gate();
    ASSERT_TRUE(*fresh->load());
    EXPECT_EQ(fresh->last_text(), "paid 59");
    EXPECT_EQ(fresh->calls(), gate->calls());
    cycle(*fresh, cycles);
    EXPECT_LE(store_.rows_loaded, 70U);

    const auto whole = fresh->messages();
    ASSERT_TRUE(whole.ok());
    ASSERT_EQ(whole->size(), 4U * (cycles + 1));
    EXPECT_EQ((*whole)[0].text, "prompt 0");
    EXPECT_EQ(whole->back().text, "paid 60");
    const std::vector messages(whole->begin(), whole->end());
    EXPECT_EQ(*approvals().transcript("t"), messages);
    // Read once, they are kept up.
    store_.rows_loaded = 0;
    cycle(*fresh, cycles + 1);
    EXPECT_EQ(fresh->messages()->size(), messages.size() + 4);
    EXPECT_EQ(store_.rows_loaded, 0U);
    // The one that was open all the time has the same.
    ASSERT_TRUE(gate->refresh().ok());
    EXPECT_TRUE(std::equal(gate->messages()->begin(), gate->messages()->end(), fresh->messages()->begin(),
                           fresh->messages()->end()));
}

TEST_P(GateResume, AConversationThatCannotBeReadChangesNothingAndIsReadLater) {
    auto gate = this->gate();
    for (int n = 0; n < 40; ++n) {
        ASSERT_TRUE(gate->prompt("prompt", "user").ok());
        ASSERT_TRUE(gate->propose({.text = "paid"}).ok());
    }
    ask(*gate);
    auto fresh = this->gate();
    ASSERT_TRUE(*fresh->load());
    // Somebody answers meanwhile: to read the conversation is not to go on.
    EXPECT_EQ(approvals().answer(fresh->open().at(0).id, approve(), bob_)->status, AnswerStatus::decided);
    store_.loads_fail = 1;
    const auto failed = fresh->messages();
    ASSERT_FALSE(failed.ok());
    EXPECT_EQ(failed.failure().message, "the store is broken");
    EXPECT_EQ(fresh->open().size(), 1U);
    EXPECT_EQ(fresh->turns(), 41);
    EXPECT_EQ(fresh->messages()->size(), 82U);
    EXPECT_EQ(fresh->open().size(), 1U);
    ASSERT_TRUE(fresh->resume().ok());
    EXPECT_EQ(run_ready(*fresh), 1U);
    EXPECT_EQ(fresh->messages()->size(), 83U);
}

class GateAndAnotherProcess : public testing::Test {
protected:
    // Opens what it needs itself: it is forked before anything is open here.
    struct Side {
        explicit Side(const std::string& path) : store(path) { guard->verdicts["pay"] = Verdict::ask; }
        std::unique_ptr<Gate> gate() {
            return std::make_unique<Gate>(
                GateOptions{.checkpointer = &store, .thread_id = "t", .tools = {pay}, .guards = {guard}});
        }
        SqliteCheckpointer store;
        std::shared_ptr<FakeTool> pay = fake_tool("pay");
        std::shared_ptr<FakeGuard> guard = std::make_shared<FakeGuard>();
        Reviewer alice{.name = "alice"};
        std::vector<AnswerResult> told;
    };
    // Asks twice, answers the first, claims it, and does not start it.
    void claim_only(const Talk& talk) const {
        Side side(path_);
        auto gate = side.gate();
        const ProposedCall call{.tool = "pay", .id = "a", .arguments = "{}"};
        auto second = call;
        second.id = "b";
        const bool asked = gate->prompt("go", "user").ok() && gate->propose({.calls = {call, second}}).ok();
        const auto open = gate->open();
        const bool claimed = asked && gate->resume({{open.at(0), approve()}}, side.alice, side.told).ok();
        talk.say(claimed ? open.at(1).id : "failed");
        talk.hear();
    }
    TemporaryFolder folder_;
    std::string path_ = folder_.file("test.db");
};

TEST_F(GateAndAnotherProcess, AnswersAreTakenWhileItRunsTheThread) {
    const OtherProcess owner([&](const Talk& talk) { claim_only(talk); });
    const auto id = owner.hear();
    Side side(path_);
    Approvals approvals(side.store, system_clock(), system_random());
    const auto open = approvals.find(id, "t");
    ASSERT_TRUE(open.ok());
    auto gate = side.gate();
    const auto refused = gate->resume({{*open, approve()}}, side.alice, side.told);
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.failure().kind, FailureKind::leased);
    ASSERT_EQ(side.told.size(), 1U);
    EXPECT_EQ(side.told[0].status, AnswerStatus::decided);
    EXPECT_EQ(approvals.find(id, "t")->state, ApprovalState::approved);
}

TEST_F(GateAndAnotherProcess, WhatItClaimedAndPerhapsStartedIsDoubtedWhenItDies) {
    const OtherProcess owner([&](const Talk& talk) { claim_only(talk); });
    const auto id = owner.hear();
    owner.kill_now();
    Side side(path_);
    auto gate = side.gate();
    Approvals approvals(side.store, system_clock(), system_random());
    // The doubt and its question are one append; the answer to the other call and its claim are another.
    ASSERT_TRUE(gate->resume({{*approvals.find(id, "t"), approve()}}, side.alice, side.told).ok());
    EXPECT_EQ(side.told.at(0).status, AnswerStatus::decided);
    EXPECT_EQ(side.store.load("t", 0)->size(), 5U);
    ASSERT_EQ(gate->open().size(), 1U);
    EXPECT_EQ(gate->open()[0].kind, ApprovalKind::unknown);
    auto permits = gate->claim();
    ASSERT_EQ(permits->size(), 1U);
    ASSERT_TRUE(gate->finish(side.pay->start(std::move(permits->at(0)))).ok());
    EXPECT_EQ(side.pay->runs.size(), 1U) << "the first call is not run on suspicion";
    EXPECT_EQ(gate->next(), GateStep::wait);
}

TEST_P(GateResume, WhoGaveAThreadBackWithoutKnowingClaimsNothing) {
    auto gate = this->gate();
    ASSERT_TRUE(gate->prompt("pay it", "user").ok());
    store_.appends = {Fault::uncertain_kept};
    store_.loads_fail = 1;
    const ModelTurn turn{.calls = {{.tool = "pay", .id = "call_1", .arguments = "{}"}}};
    EXPECT_FALSE(gate->propose(turn).ok());
    ASSERT_TRUE(gate->propose(turn).ok());
    EXPECT_EQ(approvals().answer(gate->open().at(0).id, approve(), alice_)->status, AnswerStatus::decided);
    ASSERT_TRUE(gate->refresh().ok());
    const auto refused = gate->claim();
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.failure().kind, FailureKind::leased);
    ASSERT_TRUE(gate->resume().ok());
    EXPECT_EQ(run_ready(*gate), 1U);
}

}  // namespace
}  // namespace assent
