// The state of a thread as a fold of its events, step by step.
#include "journal/encoding.hpp"
#include "journal/lineage.hpp"
#include "support/journal_events.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <type_traits>

namespace assent::journal {
namespace {

using namespace assent::test;

// One permit is one start: no second one comes into being by accident.
static_assert(!std::is_default_constructible_v<Permit>);
static_assert(!std::is_copy_constructible_v<Permit>);
static_assert(!std::is_copy_assignable_v<Permit>);
static_assert(!std::is_move_assignable_v<Permit>);
static_assert(std::is_nothrow_move_constructible_v<Permit>);
static_assert(!std::is_constructible_v<Permit, std::nullptr_t>);
static_assert(!std::is_aggregate_v<Permit>);
// The arguments are found in one place, made in one place.
static_assert(!std::is_default_constructible_v<ApprovedCall>);
static_assert(!std::is_copy_constructible_v<ApprovedCall>);
static_assert(!std::is_move_constructible_v<ApprovedCall>);
static_assert(!std::is_copy_assignable_v<ApprovedCall>);
static_assert(!std::is_aggregate_v<ApprovedCall>);
static_assert(!std::is_convertible_v<Permit, ApprovedCall>);
static_assert(!std::is_copy_constructible_v<Tool>);

std::string step(const ThreadState& state) {
    const auto refs = [](const std::vector<CallRef>& calls) {
        std::string text;
        for (const auto& call : calls) text += ' ' + std::to_string(call.position);
        return text;
    };
    const auto next = journal::next(state);
    if (std::holds_alternative<CallModel>(next)) return "model";
    if (const auto* judge = std::get_if<JudgeCalls>(&next)) return "judge" + refs(judge->calls);
    if (const auto* start = std::get_if<StartCalls>(&next)) return "start" + refs(start->calls);
    if (const auto* wait = std::get_if<Wait>(&next)) {
        const auto children = wait->children == 0 ? "" : std::to_string(wait->children) + " children ";
        return "wait " + std::to_string(wait->running) + " running " + children + std::to_string(wait->people) +
               " people";
    }
    return "done";
}

ThreadState folded(const std::vector<Event>& events) {
    ThreadState state;
    UnixMillis at = 1000;
    for (const auto& event : events) apply(state, event, at++);
    return state;
}

TEST(Fold, AnEmptyThreadIsDone) {
    EXPECT_EQ(step({}), "done");
    EXPECT_EQ(ThreadState{}.status, ThreadStatus::done);
}

struct Row {
    const char* name;
    std::vector<Event> events;  // after a prompt
    std::string step;
    std::string outcomes;  // of the calls that have ended, and the stage of the others
};

std::string outcomes(const ThreadState& state) {
    static constexpr const char* stages[] = {"proposed", "asked", "edited", "ready", "claimed", "delegated", "unknown"};
    std::string text;
    for (const auto& call : state.calls) {
        if (!text.empty()) text += ' ';
        text += call.stage == CallStage::ended ? std::string(to_string(call.outcome))
                                               : stages[static_cast<std::size_t>(call.stage)];
    }
    return text;
}

class FoldStep : public testing::TestWithParam<Row> {};

TEST_P(FoldStep, LeadsToTheNextStep) {
    std::vector<Event> events{UserMessage{.text = "go", .by = "user"}};
    events.insert(events.end(), GetParam().events.begin(), GetParam().events.end());
    const auto state = folded(events);
    EXPECT_EQ(step(state), GetParam().step);
    EXPECT_EQ(outcomes(state), GetParam().outcomes);
    EXPECT_EQ(state.seq, static_cast<std::int64_t>(events.size()));
    // A turn is open as long as one of its calls is.
    EXPECT_EQ(state.turn_open, std::any_of(state.calls.begin(), state.calls.end(),
                                           [](const Call& call) { return call.stage != CallStage::ended; }));
}

// Short for events about the call at position 0 or `at` of turn 1.
ModelSaid said(int calls) {
    ModelSaid turn{.turn = 1, .text = "text"};
    for (int i = 0; i < calls; ++i) turn.calls.push_back({.tool = "pay", .id = "c" + std::to_string(i)});
    return turn;
}
Prepared prepared(int at = 0) {
    return {.call = {1, at}, .arguments = R"({"n":1})"};
}
Judged judged(Verdict verdict, int at = 0) {
    return {.call = {1, at}, .verdict = verdict, .text = "no"};
}
Asked asked(std::int64_t number, int at = 0, std::string guard = "rules") {
    return {.number = number,
            .call = {1, at},
            .ask_no = static_cast<int>(number),
            .tool = "pay",
            .arguments = R"({"n":1})",
            .guard = std::move(guard)};
}
Answered answered(std::int64_t number, DecisionKind decision, int at = 0) {
    return {.number = number,
            .call = {1, at},
            .decision = decision,
            .tool = "pay",
            .arguments = decision == DecisionKind::edit ? R"({"n":2})" : "",
            .text = "answer"};
}
Claimed claimed(std::string attempt, int at = 0) {
    return {.starts = {{.call = {1, at}, .attempt = std::move(attempt)}}, .process = {.host = "h", .pid = 7}};
}
Finished finished(std::string attempt) {
    return {.attempt = std::move(attempt), .outcome = OutcomeKind::done, .result = {.text = "paid"}};
}
Asked doubt(std::int64_t number, std::string attempt) {
    auto question = asked(number, 0, "unknown outcome");
    question.kind = ApprovalKind::unknown;
    question.attempt = std::move(attempt);
    return question;
}
Resolved resolved(std::int64_t number, Resolution how) {
    return {.number = number, .call = {1, 0}, .how = how};
}

Delegated delegated(int at = 0) {
    return {.call = {1, at}, .child = child_id("t", {1, at})};
}
ChildFinished child_finished(int at = 0, OutcomeKind outcome = OutcomeKind::done) {
    return {.child = child_id("t", {1, at}),
            .outcome = outcome,
            .result = {.text = "found"},
            .turns_used = 2,
            .calls_used = 5};
}

constexpr auto ask = Verdict::ask;
constexpr auto allow = Verdict::allow;
constexpr auto deny = Verdict::deny;

const std::vector<Row> rows{
    {"Prompt", {}, "model", ""},
    {"FinalText", {said(0), RunFinished{.ok = true}}, "done", ""},
    {"FailedRunGoesOn", {RunFinished{.ok = false}}, "model", ""},
    {"Proposed", {said(1)}, "judge 0", "proposed"},
    {"Prepared", {said(1), prepared()}, "judge 0", "proposed"},
    {"Refused", {said(1), Refused{.call = {1, 0}}}, "model", "failed"},
    {"Allowed", {said(1), prepared(), judged(allow)}, "start 0", "ready"},
    {"Denied", {said(1), prepared(), judged(deny)}, "model", "denied"},
    {"Asked", {said(1), prepared(), judged(ask), asked(1)}, "wait 0 running 1 people", "asked"},
    {"Approved", {said(1), prepared(), judged(ask), asked(1), answered(1, DecisionKind::approve)}, "start 0", "ready"},
    {"DeniedByAPerson",
     {said(1), prepared(), judged(ask), asked(1), answered(1, DecisionKind::deny)},
     "model",
     "denied"},
    {"Responded",
     {said(1), prepared(), judged(ask), asked(1), answered(1, DecisionKind::respond)},
     "model",
     "answered"},
    {"Edited", {said(1), prepared(), judged(ask), asked(1), answered(1, DecisionKind::edit)}, "judge 0", "edited"},
    {"EditedAndAllowed",
     {said(1), prepared(), judged(ask), asked(1), answered(1, DecisionKind::edit), judged(allow)},
     "start 0",
     "ready"},
    {"EditedAndAskedAgain",
     {said(1), prepared(), judged(ask), asked(1), answered(1, DecisionKind::edit), judged(ask), asked(2, 0, "b")},
     "wait 0 running 1 people",
     "asked"},
    {"OneOfTwoApproved",
     {said(1), prepared(), judged(ask), asked(1), asked(2, 0, "b"), answered(1, DecisionKind::approve)},
     "wait 0 running 1 people",
     "asked"},
    {"AnEditMakesTheOtherQuestionMoot",
     {said(1), prepared(), judged(ask), asked(1), asked(2, 0, "b"), answered(1, DecisionKind::edit),
      answered(2, DecisionKind::approve)},
     "judge 0",
     "edited"},
    {"TheFirstAnswerCounts",
     {said(1), prepared(), judged(ask), asked(1), answered(1, DecisionKind::approve), answered(1, DecisionKind::deny)},
     "start 0",
     "ready"},
    {"TimedOut", {said(1), prepared(), judged(ask), asked(1), TimedOut{.number = 1}}, "model", "timed_out"},
    {"TimedOutAfterTheAnswer",
     {said(1), prepared(), judged(ask), asked(1), answered(1, DecisionKind::approve), TimedOut{.number = 1}},
     "start 0",
     "ready"},
    {"Claimed", {said(1), prepared(), judged(allow), claimed("a")}, "wait 1 running 0 people", "claimed"},
    {"Finished", {said(1), prepared(), judged(allow), claimed("a"), finished("a")}, "model", "done"},
    {"FinishedByAnUnknownAttempt",
     {said(1), prepared(), judged(allow), claimed("a"), finished("b")},
     "wait 1 running 0 people",
     "claimed"},
    {"Released", {said(1), prepared(), judged(allow), claimed("a"), Released{.attempt = "a"}}, "start 0", "ready"},
    {"Doubted",
     {said(1), prepared(), judged(allow), claimed("a"), Doubted{.attempt = "a"}, doubt(1, "a")},
     "wait 0 running 1 people",
     "unknown"},
    {"DoubtedAndIdempotent",
     {said(1), prepared(), judged(allow), claimed("a"), Doubted{.attempt = "a", .may_run_again = true}},
     "start 0",
     "ready"},
    {"ResolvedAsDone",
     {said(1), prepared(), judged(allow), claimed("a"), Doubted{.attempt = "a"}, doubt(1, "a"),
      resolved(1, Resolution::done)},
     "model",
     "done"},
    {"ResolvedAsFailed",
     {said(1), prepared(), judged(allow), claimed("a"), Doubted{.attempt = "a"}, doubt(1, "a"),
      resolved(1, Resolution::fail)},
     "model",
     "failed"},
    {"ResolvedAsRetry",
     {said(1), prepared(), judged(allow), claimed("a"), Doubted{.attempt = "a"}, doubt(1, "a"),
      resolved(1, Resolution::retry)},
     "start 0",
     "ready"},
    {"LateOutcomeSettlesTheDoubt",
     {said(1), prepared(), judged(allow), claimed("a"), Doubted{.attempt = "a"}, doubt(1, "a"),
      LateFinished{.attempt = "a", .outcome = OutcomeKind::done}},
     "model",
     "done"},
    {"LateOutcomeAfterARetryChangesNothing",
     {said(1), prepared(), judged(allow), claimed("a"), Doubted{.attempt = "a"}, doubt(1, "a"),
      resolved(1, Resolution::retry), claimed("b"), LateFinished{.attempt = "a", .outcome = OutcomeKind::done}},
     "wait 1 running 0 people",
     "claimed"},
    {"AnOldAttemptCannotFinishTheCallOfANewOne",
     {said(1), prepared(), judged(allow), claimed("a"), Doubted{.attempt = "a"}, doubt(1, "a"),
      resolved(1, Resolution::retry), claimed("b"), finished("a")},
     "wait 1 running 0 people",
     "claimed"},
    {"AnOutcomeIsRecordedOnce",
     {said(1), prepared(), judged(allow), claimed("a"), finished("a"),
      Finished{.attempt = "a", .outcome = OutcomeKind::failed}},
     "model",
     "done"},
    {"OneDenialStopsOneCall",
     {said(2), prepared(0), judged(ask, 0), asked(1, 0), prepared(1), judged(allow, 1),
      answered(1, DecisionKind::deny, 0)},
     "start 1",
     "denied ready"},
    {"AllowedCallsStartWhileOthersAreAsked",
     {said(3), prepared(0), judged(ask, 0), asked(1, 0), prepared(1), judged(allow, 1), prepared(2), judged(allow, 2)},
     "start 1 2",
     "asked ready ready"},
    {"RunningAndWaiting",
     {said(2), prepared(0), judged(ask, 0), asked(1, 0), prepared(1), judged(allow, 1), claimed("b", 1)},
     "wait 1 running 1 people",
     "asked claimed"},
    {"Delegated", {said(1), prepared(), judged(allow), delegated()}, "wait 0 running 1 children 0 people", "delegated"},
    {"DelegatedAndFinished", {said(1), prepared(), judged(allow), delegated(), child_finished()}, "model", "done"},
    {"DelegatedAndFailed",
     {said(1), prepared(), judged(allow), delegated(), child_finished(0, OutcomeKind::failed)},
     "model",
     "failed"},
    {"AChildFinishesOnce",
     {said(1), prepared(), judged(allow), delegated(), child_finished(), child_finished(0, OutcomeKind::failed)},
     "model",
     "done"},
    {"AChildThatNobodyWaitsForFinishesNothing",
     {said(2), prepared(0), judged(allow, 0), delegated(0), prepared(1), judged(allow, 1), claimed("a", 1),
      child_finished(1)},
     "wait 1 running 1 children 0 people",
     "delegated claimed"},
    {"OtherCallsStartWhileAChildWorks",
     {said(2), prepared(0), judged(allow, 0), delegated(0), prepared(1), judged(allow, 1)},
     "start 1",
     "delegated ready"},
    {"AbortedWhileDelegated",
     {said(2), prepared(0), judged(allow, 0), delegated(0), prepared(1), judged(ask, 1), asked(1, 1), Aborted{}},
     "done",
     "cancelled cancelled"},
    {"AChildThatFinishesAfterTheAbortChangesNothing",
     {said(1), prepared(), judged(allow), delegated(), Aborted{}, child_finished()},
     "done",
     "cancelled"},
    {"AbortedBeforeTheModel", {Aborted{.reason = "r"}}, "done", ""},
    {"AbortedWhileAsked",
     {said(2), prepared(0), judged(ask, 0), asked(1, 0), prepared(1), judged(allow, 1), Aborted{}},
     "done",
     "cancelled cancelled"},
    {"AbortedWhileRunning",
     {said(2), prepared(0), judged(allow, 0), prepared(1), judged(ask, 1), asked(1, 1), claimed("a"), Aborted{}},
     "wait 1 running 0 people",
     "claimed cancelled"},
    {"AbortedAndThenFinished",
     {said(1), prepared(), judged(allow), claimed("a"), Aborted{}, finished("a")},
     "done",
     "done"},
    {"AbortedAndThenReleased",
     {said(1), prepared(), judged(allow), claimed("a"), Aborted{}, Released{.attempt = "a"}},
     "done",
     "cancelled"},
    {"AbortedAndThenDoubted",
     {said(1), prepared(), judged(allow), claimed("a"), Aborted{}, Doubted{.attempt = "a"}},
     "done",
     "unknown"},
    {"AbortedWhileInDoubt",
     {said(1), prepared(), judged(allow), claimed("a"), Doubted{.attempt = "a"}, doubt(1, "a"), Aborted{}},
     "done",
     "unknown"},
    {"PromptAfterAnAbort",
     {said(1), prepared(), judged(ask), asked(1), Aborted{}, UserMessage{.text = "again"}},
     "model",
     "cancelled"},
};

INSTANTIATE_TEST_SUITE_P(Table, FoldStep, testing::ValuesIn(rows), [](const auto& row) { return row.param.name; });

TEST(Fold, ResultsJoinTheConversationInTheModelsOrderWhenAllHaveEnded) {
    ThreadState state = folded({UserMessage{.text = "go"}, said(2), prepared(0), judged(allow, 0), prepared(1),
                                judged(allow, 1), claimed("a", 0), claimed("b", 1), finished("b")});
    EXPECT_EQ(state.messages.size(), 2U);
    apply(state, Finished{.attempt = "a", .outcome = OutcomeKind::failed, .result = {.text = "x", .is_error = true}},
          9);
    ASSERT_EQ(state.messages.size(), 4U);
    EXPECT_EQ(state.messages[2].tool_call_id, "c0");
    EXPECT_EQ(state.messages[2].text, "x");
    EXPECT_TRUE(state.messages[2].is_error);
    EXPECT_EQ(state.messages[3].tool_call_id, "c1");
    EXPECT_EQ(state.messages[3].text, "paid");
}

TEST(Fold, AnAbortLeavesOneTerminalMessage) {
    const auto state = folded({UserMessage{.text = "go"}, said(1), prepared(), judged(ask), asked(1), Aborted{}});
    EXPECT_EQ(state.messages.back().text, "Conversation aborted: aborted by host");
    EXPECT_EQ(state.messages[2].text, "aborted: aborted by host");
    EXPECT_EQ(state.status, ThreadStatus::aborted);
    EXPECT_EQ(state.calls[0].approvals[0].state, ApprovalState::aborted);
}

TEST(Fold, AnEditClearsWhatOthersApproved) {
    const auto state = folded({UserMessage{.text = "go"}, said(1), prepared(), judged(ask), asked(1), asked(2, 0, "b"),
                               answered(2, DecisionKind::approve), answered(1, DecisionKind::edit)});
    EXPECT_EQ(state.calls[0].satisfied, std::vector<std::string>{"rules"});
    EXPECT_EQ(state.calls[0].arguments, R"({"n":2})");
    EXPECT_TRUE(state.calls[0].edited);
}

TEST(Fold, ARunCountsItsTurnsAndCallsFromThePrompt) {
    auto second = said(3);
    second.turn = 2;
    auto state = folded({UserMessage{.text = "go"}, said(2), Refused{.call = {1, 0}}, Refused{.call = {1, 1}}, second});
    EXPECT_EQ(state.turns, 2);
    EXPECT_EQ(state.run_turns, 2);
    EXPECT_EQ(state.run_calls, 5);
    apply(state, UserMessage{.text = "more"}, 1);
    EXPECT_EQ(state.turns, 2);
    EXPECT_EQ(state.run_turns, 0);
    EXPECT_EQ(state.run_calls, 0);
}

TEST(Fold, ARunCountsWhatItsChildrenUsed) {
    auto state = folded({UserMessage{.text = "go"}, said(2), prepared(0), judged(allow, 0), delegated(0), prepared(1),
                         judged(allow, 1), delegated(1), child_finished(1), child_finished(1)});
    EXPECT_EQ(state.run_turns, 3);
    EXPECT_EQ(state.run_calls, 7);
    EXPECT_EQ(child_of(state.calls[0]), "t/1.0");
    // No number of children makes it overflow.
    constexpr int most = 1'000'000'000;
    apply(state, ChildFinished{.child = "t/1.0", .turns_used = most, .calls_used = most}, 1);
    EXPECT_LT(state.run_turns, most);
    EXPECT_GT(state.run_calls, 100'000'000);
}

TEST(Lineage, TheIdOfAChildSaysWhoseItIs) {
    using Ids = std::vector<std::string>;
    const struct {
        const char* id;
        Ids above;
    } table[] = {
        {"t/1.0", {"t"}},
        {"t/12.34", {"t"}},
        {"a/b/3.1", {"a/b"}},
        {"t/1.0/2.1", {"t", "t/1.0"}},
        {"t/1.0/2.1/3.0", {"t", "t/1.0", "t/1.0/2.1"}},
        {"t/1.0/notes/2.1", {"t/1.0/notes"}},
        {"t", {}},
        {"", {}},
        {"/1.0", {}},
        {"1.0", {}},
        {"t/1", {}},
        {"t/1.", {}},
        {"t/.0", {}},
        {"t/1.0/", {}},
        {"t/0.0", {}},
        {"t/01.0", {}},
        {"t/1.00", {}},
        {"t/+1.0", {}},
        {"t/1.-0", {}},
        {"t/1.0x", {}},
        {"t/1.0.0", {}},
        {"t/1234567890.0", {}},
    };
    for (const auto& row : table) {
        EXPECT_EQ(ancestors_of(row.id), row.above) << row.id;
        const auto child = child_of(row.id);
        ASSERT_EQ(child.has_value(), !row.above.empty()) << row.id;
        if (!child) continue;
        EXPECT_EQ(child->parent, row.above.back());
        EXPECT_EQ(child_id(child->parent, child->call), row.id);
        for (const auto& above : row.above) EXPECT_TRUE(call_behind(row.id, above)) << row.id << " " << above;
    }
}

TEST(Lineage, ADescendantIsFoundBehindTheCallThatLedToIt) {
    EXPECT_EQ(call_behind("t/3.1/7.2", "t"), (CallRef{3, 1}));
    EXPECT_EQ(call_behind("t/3.1/7.2", "t/3.1"), (CallRef{7, 2}));
    for (const auto* other : {"t/3.1/7.2", "t/3.1/7.2/1.0", "t/3", "t/3.1/", "", "x", "t/3.10"})
        EXPECT_FALSE(call_behind("t/3.1/7.2", other)) << other;
    EXPECT_FALSE(call_behind("t/1.0/notes", "t")) << "a host may call a thread so";
    EXPECT_FALSE(call_behind("t/1.0/notes/1.0", "t"));
}

// A snapshot of any moment and the rest of the events give the same state as all of them.
TEST(Fold, ASnapshotOfAnyMomentIsAsGoodAsTheEventsBefore) {
    std::set<std::string_view> made;
    bool files_met = false;
    for (const auto seed : seeds()) {
        SCOPED_TRACE("ASSENT_TEST_SEED=" + std::to_string(seed));
        Dice dice(seed);
        EventMaker maker(dice);
        ThreadState state;
        std::vector<Event> events;
        std::vector<std::string> snapshots;
        for (int i = 0; i < 250; ++i) {
            snapshots.push_back(encode_state(state));
            const auto before = state;
            files_met = files_met || !state.files.empty();
            events.push_back(maker.next(state));
            apply(state, events.back(), i);
            ASSERT_EQ(state.seq, i + 1);
            // What has ended never moves again, but for a new turn in its place.
            if (state.turns != before.turns) continue;
            for (std::size_t call = 0; call < state.calls.size(); ++call) {
                if (before.calls[call].stage != CallStage::ended) continue;
                ASSERT_EQ(state.calls[call].stage, CallStage::ended);
                ASSERT_EQ(state.calls[call].outcome, before.calls[call].outcome);
            }
        }
        const auto whole = encode_state(state);
        for (std::size_t cut = 0; cut < events.size(); cut += 1 + static_cast<std::size_t>(dice.roll(9))) {
            auto from = *decode_state(snapshots[cut]);
            ASSERT_EQ(encode_state(from), snapshots[cut]);
            for (std::size_t i = cut; i < events.size(); ++i) apply(from, events[i], static_cast<UnixMillis>(i));
            ASSERT_EQ(encode_state(from), whole) << "cut at " << cut;
        }
        made.insert(maker.kinds_made().begin(), maker.kinds_made().end());
    }
    if (seeds().size() == 1) return;
    // The sequences are only worth something if they meet every kind of event.
    std::set<std::string_view> all;
    for (const auto& event : full_events()) all.insert(kind_of(event));
    EXPECT_EQ(made, all);
    EXPECT_TRUE(files_met);
}

}  // namespace
}  // namespace assent::journal
