// Which threads somebody should go on with, in the stores that say so; and that whoever waits hears of it.
#include "marked_threads.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <semaphore>

namespace assent {
namespace {

using namespace assent::test;
using namespace std::chrono_literals;

constexpr auto patience = 30s;  // nothing waits for it unless something hangs

class ReadyMarks : public MarkedThreads {
protected:
    std::unique_ptr<Checkpointer> store() { return make_store(GetParam(), folder_); }
};

INSTANTIATE_TEST_SUITE_P(On, ReadyMarks, testing::Values(StoreKind::sqlite, StoreKind::postgres, StoreKind::pooled),
                         store_name);

TEST_P(ReadyMarks, WhatIsReadyGoesToOne) {
    const auto a = store();
    const auto b = store();
    EXPECT_EQ(taken(*a), Ids{});
    for (const auto* id : {"x", "y", "z"}) ready(*a, id);
    const auto first = taken(*a, 2);
    EXPECT_EQ(first.size(), 2U);
    EXPECT_EQ(taken(*b).size(), 1U);
    EXPECT_EQ(taken(*a), Ids{}) << "what was taken is not given again";
    ASSERT_TRUE(a->put_back(first[0], 0).ok());
    EXPECT_EQ(taken(*b), Ids{first[0]});
    ASSERT_TRUE(b->put_back(first[0], 1'000'000).ok());
    EXPECT_EQ(taken(*a), Ids{});
    ready(*b, first[0]);
    EXPECT_EQ(taken(*a), Ids{first[0]}) << "something new happened";
}

TEST_P(ReadyMarks, WhatWasTakenByOneThatIsGoneIsReadyAgain) {
    auto a = store();
    const auto b = store();
    ready(*a, "x");
    EXPECT_EQ(taken(*a), Ids{"x"});
    EXPECT_EQ(taken(*b), Ids{});
    a.reset();
    EXPECT_EQ(taken(*b), Ids{"x"});
}

TEST_P(ReadyMarks, WhoeverTakesTheLeaseKnowingAllTakesTheMark) {
    const auto a = store();
    const auto b = store();
    ready(*a, "x");
    auto take = event("x");
    take.lease = LeaseUse::take;
    take.expected_seq = 1;
    ASSERT_EQ(a->append(take)->status, AppendStatus::done);
    ready(*b, "x");
    EXPECT_EQ(taken(*b), Ids{}) << "somebody runs it";
    auto back = event("x");
    back.lease = LeaseUse::give_back;
    back.fence = 1;
    ASSERT_EQ(a->append(back)->status, AppendStatus::done);
    EXPECT_EQ(taken(*b), Ids{"x"}) << "the answer may have come too late for it";
    take = event("x");
    take.lease = LeaseUse::take;
    take.expected_seq = 4;
    ASSERT_EQ(b->append(take)->status, AppendStatus::done);
    ASSERT_TRUE(b->give_back("x", 2).ok());
    EXPECT_EQ(taken(*a), Ids{});
}

TEST_P(ReadyMarks, AThreadOfADeadRunnerIsReady) {
    auto a = store();
    const auto b = store();
    for (const auto* id : {"t", "u/1.0", "u"}) {
        auto take = event(id);
        take.lease = id == std::string("u") ? LeaseUse::none : LeaseUse::take;
        ASSERT_EQ(a->append(take)->status, AppendStatus::done);
    }
    EXPECT_EQ(taken(*b), Ids{});
    a.reset();
    EXPECT_EQ(taken(*b), (Ids{"t", "u"}));
}

TEST_P(ReadyMarks, AnAbortedThreadIsReadyOnlyIfADeadRunnerHeldItItself) {
    auto dies = store();
    const auto lives = store();
    for (const auto* id : {"held", "above", "above/1.0"}) {
        auto take = event(id);
        take.lease = id == std::string("above") ? LeaseUse::none : LeaseUse::take;
        ASSERT_EQ(dies->append(take)->status, AppendStatus::done);
    }
    dies.reset();
    for (const auto* id : {"held", "above", "above/1.0"}) {
        auto abort = event(id);
        abort.status = ThreadStatus::aborted;
        ASSERT_EQ(lives->append(abort)->status, AppendStatus::done);
    }
    EXPECT_EQ(taken(*lives), Ids{"held"}) << "whoever took the other would find nothing to do, again and again";
    ASSERT_TRUE(lives->put_back("held", 0).ok());
    EXPECT_EQ(taken(*lives), Ids{"held"});
}

TEST_P(ReadyMarks, WhatIsReadyLaterIsNotTakenBefore) {
    const auto a = store();
    auto later = event("t");
    later.ready = true;
    later.ready_after_ms = 1'000'000;
    ASSERT_EQ(a->append(later)->status, AppendStatus::done);
    EXPECT_EQ(taken(*a), Ids{});
    ready(*a, "t");
    EXPECT_EQ(taken(*a), Ids{"t"}) << "something new happened";
}

TEST_P(ReadyMarks, AnOverdueQuestionMakesTheThreadReadyThatItWorksFor) {
    const auto a = store();
    ASSERT_EQ(a->append(event("t"))->status, AppendStatus::done);
    auto ask = event("t/1.0");
    ask.opens = {{.turn = 1, .guard = "rules", .digest = "d", .deadline = 5000, .question = "q"}};
    ASSERT_EQ(a->append(ask)->status, AppendStatus::done);
    EXPECT_EQ(taken(*a, 10, 4999), Ids{});
    EXPECT_EQ(taken(*a, 10, 5000), Ids{"t"});
    auto end = event("t");
    end.status = ThreadStatus::done;
    ASSERT_EQ(a->append(end)->status, AppendStatus::done);
    EXPECT_EQ(taken(*a, 10, 5000), Ids{});
}

TEST_P(ReadyMarks, OfWhatHasEndedNobodyTakesOne) {
    const auto a = store();
    ready(*a, "x");
    auto end = event("x");
    end.status = ThreadStatus::done;
    ASSERT_EQ(a->append(end)->status, AppendStatus::done);
    ASSERT_TRUE(a->put_back("x", 0).ok());
    EXPECT_EQ(taken(*a), Ids{});
    end.status = ThreadStatus::active;
    random_.fill(end.command);
    ASSERT_EQ(a->append(end)->status, AppendStatus::done);
    EXPECT_EQ(taken(*a), Ids{}) << "nobody said that somebody should go on";
}

// Behind a pooler nobody hears: who waits looks once a second.
class ReadyNotices : public ReadyMarks {};

INSTANTIATE_TEST_SUITE_P(On, ReadyNotices, testing::Values(StoreKind::sqlite, StoreKind::postgres), store_name);

TEST_P(ReadyNotices, WhoWaitsHearsOfWhatOthersStore) {
    const auto waits = store();
    const auto stores = store();
    std::counting_semaphore<> told(0);
    const auto watching = waits->watch([&](std::string_view) { told.release(); });
    ASSERT_TRUE(told.try_acquire_for(patience)) << "of what was there before nobody knows";
    while (told.try_acquire()) {
    }
    ready(*stores, "x");
    EXPECT_TRUE(told.try_acquire_for(patience));
}

}  // namespace
}  // namespace assent
