// What every store must do, whatever it keeps its rows in.
#include "support/fakes.hpp"
#include "support/shown_store.hpp"
#include "support/stores.hpp"

#include "journal/encoding.hpp"

#include <gtest/gtest.h>

#include <array>

namespace assent {
namespace {

using namespace assent::test;

class EveryStore : public testing::TestWithParam<StoreKind> {
protected:
    EveryStore() : store_(make_store(GetParam(), folder_)) {}

    // An append of one event to thread `id`; what differs is set by the test.
    Append event(const std::string& id = "t") {
        Append append{.thread_id = id, .create = true, .at = at_++};
        random_.fill(append.command);
        append.kinds = {"user_message"};
        append.salt = std::string("salt\0", 5);
        append.body = "body \xff of " + id;
        append.task = "the task";
        return append;
    }
    AppendResult done(const Append& append) {
        const auto result = *store_->append(append);
        EXPECT_EQ(result.status, AppendStatus::done);
        return result;
    }
    // Nothing at all is written by a refused append.
    void refused(Append append, AppendStatus expected) {
        append.status = ThreadStatus::failed;
        append.opens = {question(9, 9)};
        append.schemas = {{"refused", "{}"}};
        const auto before = shown(*store_);
        const auto result = *store_->append(append);
        EXPECT_EQ(result.status, expected);
        EXPECT_EQ(shown(*store_), before);
        EXPECT_FALSE(store_->schema("refused").ok());
    }
    ThreadHead head(const std::string& id = "t") { return **store_->find_thread(id); }

    TemporaryFolder folder_;
    std::unique_ptr<Checkpointer> store_;
    FakeRandom random_;
    UnixMillis at_ = 1000;
};

INSTANTIATE_TEST_SUITE_P(Stores, EveryStore, testing::ValuesIn(all_store_kinds()), store_name);

TEST_P(EveryStore, MakesAThreadWithItsFirstAppend) {
    EXPECT_FALSE(store_->find_thread("t")->has_value());
    EXPECT_TRUE(store_->load("t", 0)->empty());
    EXPECT_TRUE(store_->threads()->empty());
    auto first = event();
    first.expected_seq = 0;
    first.kinds = {"configured", "user_message"};
    const auto result = done(first);
    EXPECT_EQ(result.seq, 2);
    EXPECT_EQ(result.pos, head().head);
    EXPECT_EQ(result.fence, 0);
    EXPECT_EQ(head().task, "the task");
    EXPECT_EQ(head().updated_at, 1000);
    EXPECT_EQ(head().status, ThreadStatus::active);
    auto again = event();
    again.task = "another";
    done(again);
    EXPECT_EQ(head().task, "the task");
    EXPECT_EQ(head().seq, 3);
    EXPECT_EQ(head().updated_at, 1001);
}

TEST_P(EveryStore, KeepsEveryByteOfARow) {
    auto first = event();
    done(event("other"));
    const auto result = done(first);
    const auto rows = *store_->load("t", 0);
    ASSERT_EQ(rows.size(), 1U);
    EXPECT_EQ(rows[0].command, first.command);
    EXPECT_EQ(rows[0].salt, first.salt);
    EXPECT_EQ(rows[0].body, first.body);
    EXPECT_EQ(rows[0].at, first.at);
    EXPECT_EQ(rows[0].pos, result.pos);
    EXPECT_EQ(rows[0].prev, 0);
}

TEST_P(EveryStore, RefusesAnUnknownThread) {
    auto append = event();
    append.create = false;
    refused(append, AppendStatus::unknown_thread);
}

TEST_P(EveryStore, RefusesAnotherSequenceThanTheExpectedOne) {
    auto fresh = event();
    fresh.expected_seq = 1;
    refused(fresh, AppendStatus::conflict);
    done(event());
    for (const std::int64_t wrong : {0, 2}) {
        auto append = event();
        append.expected_seq = wrong;
        refused(append, AppendStatus::conflict);
    }
    auto right = event();
    right.expected_seq = 1;
    done(right);
}

TEST_P(EveryStore, ARefusedFirstAppendMakesNoThread) {
    auto append = event("fresh");
    append.closes = {1};
    refused(append, AppendStatus::closed);
    EXPECT_FALSE(store_->find_thread("fresh")->has_value());
    append.closes.clear();
    append.lease = LeaseUse::keep;
    append.fence = 7;
    refused(append, AppendStatus::fenced);
    append.expected_seq = 3;  // of several reasons the lease is told
    refused(append, AppendStatus::fenced);
    EXPECT_FALSE(store_->find_thread("fresh")->has_value());
}

TEST_P(EveryStore, ALeaseIsTakenOnceAndGivenBack) {
    auto take = event();
    take.lease = LeaseUse::take;
    EXPECT_EQ(done(take).fence, 1);
    EXPECT_NE(head().runner, 0);
    EXPECT_TRUE(head().runner_alive);
    auto second = event();
    second.lease = LeaseUse::take;
    refused(second, AppendStatus::leased);
    EXPECT_FALSE(store_->append(second)->leased_by.empty());

    auto stale = event();
    stale.lease = LeaseUse::keep;
    refused(stale, AppendStatus::fenced);
    stale.lease = LeaseUse::give_back;
    stale.fence = 2;
    refused(stale, AppendStatus::fenced);

    auto keep = event();
    keep.lease = LeaseUse::keep;
    keep.fence = 1;
    EXPECT_EQ(done(keep).fence, 1);
    EXPECT_TRUE(head().runner_alive);
    keep = event();
    keep.lease = LeaseUse::give_back;
    keep.fence = 1;
    done(keep);
    EXPECT_EQ(head().runner, 0);
    EXPECT_FALSE(head().runner_alive);
    // Whoever gave it back without knowing, in an append that it was told nothing of, does not hold it.
    for (const auto use : {LeaseUse::keep, LeaseUse::give_back}) {
        keep = event();
        keep.lease = use;
        keep.fence = 1;
        refused(keep, AppendStatus::fenced);
    }
    take = event();
    take.lease = LeaseUse::take;
    EXPECT_EQ(done(take).fence, 2);
    keep = event();
    keep.lease = LeaseUse::keep;
    keep.fence = 1;
    refused(keep, AppendStatus::fenced);
}

TEST_P(EveryStore, ALeaseAloneIsTakenWithoutARow) {
    done(event());
    Append take{.thread_id = "t", .lease = LeaseUse::take, .at = 9000};
    const auto result = done(take);
    EXPECT_EQ(result.seq, 1);
    EXPECT_EQ(result.fence, 1);
    EXPECT_EQ(store_->load("t", 0)->size(), 1U);
    EXPECT_EQ(head().updated_at, 1000);
}

TEST_P(EveryStore, GivingBackWithAnOldFenceDoesNothing) {
    auto take = event();
    take.lease = LeaseUse::take;
    done(take);
    ASSERT_TRUE(store_->give_back("t", 0).ok());
    ASSERT_TRUE(store_->give_back("nothing", 1).ok());
    EXPECT_TRUE(head().runner_alive);
    ASSERT_TRUE(store_->give_back("t", 1).ok());
    EXPECT_FALSE(head().runner_alive);
    take = event();
    take.lease = LeaseUse::take;
    EXPECT_EQ(done(take).fence, 2);
    ASSERT_TRUE(store_->give_back("t", 1).ok());
    EXPECT_TRUE(head().runner_alive);
}

TEST_P(EveryStore, NumbersOfQuestionsAreNeverUsedAgain) {
    auto ask = event();
    ask.opens = {question(1, 0), question(1, 1)};
    EXPECT_EQ(done(ask).first_number, 1);
    auto close = event();
    close.closes_thread = true;
    done(close);
    EXPECT_TRUE(store_->open_approvals({}, 0, 10)->empty());
    ask = event("other");
    ask.opens = {question(1, 0)};
    EXPECT_EQ(done(ask).first_number, 3);
    EXPECT_EQ((*store_->find_approval(2))->thread_id, "t");
    EXPECT_FALSE((*store_->find_approval(2))->open.has_value());
    EXPECT_EQ((*store_->find_approval(3))->open->thread_id, "other");
    EXPECT_FALSE(store_->find_approval(4)->has_value());
    EXPECT_FALSE(store_->find_approval(0)->has_value());
}

TEST_P(EveryStore, AnOpenQuestionComesBackAsItWasAsked) {
    auto ask = event();
    auto unknown = question(2, 3, 77'000);
    unknown.kind = ApprovalKind::unknown;
    unknown.ask_no = 4;
    ask.opens = {unknown};
    done(ask);
    const auto row = *(*store_->find_approval(1))->open;
    EXPECT_EQ(row.number, 1);
    EXPECT_EQ(row.thread, head().no);
    EXPECT_EQ(row.thread_id, "t");
    EXPECT_EQ(std::tuple(row.turn, row.position, row.ask_no), std::tuple(2, 3, 4));
    EXPECT_EQ(row.kind, ApprovalKind::unknown);
    EXPECT_EQ(row.guard, "rules");
    EXPECT_EQ(row.digest, unknown.digest);
    EXPECT_EQ(row.deadline, 77'000);
    EXPECT_EQ(row.asked_at, ask.at);
    EXPECT_EQ(row.question, unknown.question);
    EXPECT_EQ(head().open, 1);
    EXPECT_EQ(store_->threads()->at(0).open, 1);
}

TEST_P(EveryStore, TextsOfQuestionsAreKeptWhateverIsInThem) {
    const std::vector<std::string> texts = {"",
                                            "NULL",
                                            "null",
                                            "{}",
                                            "{a,b}",
                                            R"(a"b)",
                                            R"(\)",
                                            R"(\x41)",
                                            "'; DROP TABLE journal; --",
                                            "a, b",
                                            " a ",
                                            "\n\t",
                                            "\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80",
                                            "$1 $function$"};
    auto ask = event();
    for (const auto& text : texts) {
        auto& open = ask.opens.emplace_back(question(1, static_cast<int>(ask.opens.size())));
        open.guard = open.digest = text;
        open.question = text + std::string("\0\xff", 2);
        if (!text.empty()) open.deadline = 77'000;
        ask.schemas.emplace_back("digest of " + text, text);
    }
    done(ask);
    const auto rows = *store_->open_approvals({}, 0, 100);
    ASSERT_EQ(rows.size(), texts.size());
    for (std::size_t i = 0; i < texts.size(); ++i) {
        EXPECT_EQ(rows[i].number, static_cast<std::int64_t>(i) + 1);
        EXPECT_EQ(rows[i].position, static_cast<int>(i));
        EXPECT_EQ(std::tuple(rows[i].guard, rows[i].digest), std::tuple(texts[i], texts[i]));
        EXPECT_EQ(rows[i].question, ask.opens[i].question);
        EXPECT_EQ(rows[i].deadline, ask.opens[i].deadline);
        EXPECT_EQ(*store_->schema("digest of " + texts[i]), texts[i]);
    }
}

TEST_P(EveryStore, ClosesWhatIsOpenAndInTimeOrNothing) {
    auto ask = event();
    ask.opens = {question(1, 0, 5000), question(1, 1)};
    done(ask);
    ask = event("other");
    ask.opens = {question(1, 0)};
    done(ask);

    auto close = event();
    close.closes = {9};
    refused(close, AppendStatus::closed);
    close.closes = {3};  // of another thread
    refused(close, AppendStatus::closed);
    close.closes = {2, 3};
    refused(close, AppendStatus::closed);
    close.closes = {2, 2};
    refused(close, AppendStatus::closed);
    close.closes = {2, 1};
    close.at = 5000;
    refused(close, AppendStatus::expired);
    close.at = 4999;
    done(close);
    refused(close, AppendStatus::closed);
    EXPECT_EQ(store_->open_approvals({}, 0, 10)->size(), 1U);
}

TEST_P(EveryStore, WhatTimesOutIsClosedLate) {
    auto ask = event();
    ask.opens = {question(1, 0, 5000)};
    done(ask);
    auto late = event();
    late.at = 6000;
    late.closes = {1};
    late.closes_late = true;
    done(late);
    EXPECT_TRUE(store_->open_approvals({}, 0, 10)->empty());
}

TEST_P(EveryStore, ClosesAllOfACallOrOfAThread) {
    auto ask = event();
    ask.opens = {question(1, 0), question(1, 0), question(1, 1), question(2, 0)};
    done(ask);
    ask = event("other");
    ask.opens = {question(1, 0)};
    done(ask);
    auto close = event();
    close.closes = {1};
    close.closes_calls = {{1, 0}};
    done(close);
    const auto numbers = [&] {
        std::vector<std::int64_t> all;
        for (const auto& row : *store_->open_approvals({}, 0, 10)) all.push_back(row.number);
        return all;
    };
    EXPECT_EQ(numbers(), (std::vector<std::int64_t>{3, 4, 5}));
    // What an append opens is not closed by it.
    close = event();
    close.closes_thread = true;
    close.opens = {question(3, 0)};
    done(close);
    EXPECT_EQ(numbers(), (std::vector<std::int64_t>{5, 6}));
}

TEST_P(EveryStore, LoadsWhatCameAfterAPosition) {
    const auto first = done(event());
    done(event("other"));
    const auto second = done(event());
    const auto third = done(event());
    const auto positions = [&](std::int64_t after) {
        std::vector<std::int64_t> all;
        for (const auto& row : *store_->load("t", after)) all.push_back(row.pos);
        return all;
    };
    EXPECT_EQ(positions(0), (std::vector{first.pos, second.pos, third.pos}));
    EXPECT_EQ(positions(first.pos), (std::vector{second.pos, third.pos}));
    EXPECT_EQ(positions(third.pos), std::vector<std::int64_t>{});
    EXPECT_EQ(store_->load("t", 0)->at(1).prev, first.pos);
}

TEST_P(EveryStore, TheHeadIsTheChainOverAllRows) {
    for (int i = 0; i < 5; ++i) {
        auto append = event();
        // Lengths of headers that need one, two and three bytes.
        append.kinds.resize(std::array{1U, 30U, 2U, 10'000U, 1U}.at(static_cast<std::size_t>(i)), "judged");
        append.opens.resize(static_cast<std::size_t>(i), question(1, i));
        done(append);
        done(event("other"));
    }
    for (const auto* id : {"t", "other"}) {
        Digest hash{};
        std::int64_t seq = 0;
        for (const auto& row : *store_->load(id, 0)) {
            hash = journal::chain(hash, row.header);
            const auto header = *journal::decode_header(row.header);
            seq += static_cast<std::int64_t>(header.kinds.size());
            EXPECT_EQ(header.thread, id);
            EXPECT_EQ(header.seq, row.seq);
            EXPECT_EQ(header.at, row.at);
            EXPECT_EQ(header.body_digest, journal::body_digest(row.salt, row.body));
            EXPECT_EQ(row.seq, seq);
        }
        EXPECT_EQ(hash, head(id).hash);
    }
}

TEST_P(EveryStore, ListsOpenQuestionsInPages) {
    for (int i = 0; i < 7; ++i) {
        auto ask = event(i % 2 == 0 ? "even" : "odd");
        ask.opens = {question(1, i)};
        done(ask);
    }
    const auto page = [&](const std::string& thread, std::int64_t after, std::size_t limit) {
        std::vector<std::int64_t> all;
        for (const auto& row : *store_->open_approvals(thread, after, limit)) all.push_back(row.number);
        return all;
    };
    using Numbers = std::vector<std::int64_t>;
    EXPECT_EQ(page("", 0, 3), (Numbers{1, 2, 3}));
    EXPECT_EQ(page("", 3, 3), (Numbers{4, 5, 6}));
    EXPECT_EQ(page("", 6, 3), (Numbers{7}));
    EXPECT_EQ(page("", 7, 3), Numbers{});
    EXPECT_EQ(page("even", 0, 2), (Numbers{1, 3}));
    EXPECT_EQ(page("even", 3, 2), (Numbers{5, 7}));
    EXPECT_EQ(page("nobody", 0, 2), Numbers{});
    EXPECT_EQ(page("", 0, 0), Numbers{});
}

// Threads of a host that lie between those of children, as texts are sorted.
const std::vector<std::string> family{"t",         "t/1.0",         "t/1.0/3.1", "t/10.2", "t/x",
                                      "t/1.0/own", "t/1.0/own/1.0", "t0",        "t-/1.0", "t/1.0/3.1/2.0"};

TEST_P(EveryStore, CountsWhatIsOpenAndSaysSinceWhen) {
    EXPECT_EQ(*store_->count_open(), OpenCount{});
    auto first = event();
    first.opens = {question(1, 0), question(1, 1)};
    const auto number = done(first).first_number;
    auto second = event("other");
    second.opens = {question(1, 0)};
    done(second);
    EXPECT_EQ(*store_->count_open(), (OpenCount{.approvals = 3, .oldest_asked_at = first.at}));
    auto answer = event();
    answer.closes = {number, number + 1};
    done(answer);
    EXPECT_EQ(*store_->count_open(), (OpenCount{.approvals = 1, .oldest_asked_at = second.at}));
}

TEST_P(EveryStore, ListsTheThreadsThatWorkForAnother) {
    for (const auto& id : family) done(event(id));
    const auto below = [&](const std::string& id) {
        std::vector<std::string> ids;
        for (const auto& head : *store_->descendants(id)) ids.push_back(head.id);
        return ids;
    };
    using Ids = std::vector<std::string>;
    EXPECT_EQ(below("t"), (Ids{"t/1.0", "t/1.0/3.1", "t/10.2", "t/1.0/3.1/2.0"}));
    EXPECT_EQ(below("t/1.0"), (Ids{"t/1.0/3.1", "t/1.0/3.1/2.0"}));
    EXPECT_EQ(below("t/1.0/own"), Ids{"t/1.0/own/1.0"});
    EXPECT_EQ(below("t/10.2"), Ids{});
    EXPECT_EQ(below("nobody"), Ids{});
    for (const auto& id : {"t", "t/1.0"}) {
        // What a store gets that does not bring its own.
        std::vector<std::string> ids;
        for (const auto& head : *store_->Checkpointer::descendants(id)) ids.push_back(head.id);
        EXPECT_EQ(ids, below(id));
    }
}

TEST_P(EveryStore, ListsTheOpenQuestionsOfAThreadWithThoseBelow) {
    int position = 0;
    for (const auto& id : family) {
        auto ask = event(id);
        ask.opens = {question(1, position++)};
        done(ask);
    }
    const auto open = [&](const std::string& id, std::int64_t after, std::size_t limit) {
        std::vector<std::string> ids;
        for (const auto& row : *store_->open_approvals(id, after, limit)) ids.push_back(row.thread_id);
        return ids;
    };
    using Ids = std::vector<std::string>;
    EXPECT_EQ(open("t", 0, 100), (Ids{"t", "t/1.0", "t/1.0/3.1", "t/10.2", "t/1.0/3.1/2.0"}));
    EXPECT_EQ(open("t", 1, 2), (Ids{"t/1.0", "t/1.0/3.1"}));
    EXPECT_EQ(open("t", 3, 2), (Ids{"t/10.2", "t/1.0/3.1/2.0"}));
    EXPECT_EQ(open("t/1.0/3.1", 0, 100), (Ids{"t/1.0/3.1", "t/1.0/3.1/2.0"}));
    EXPECT_EQ(open("t/x", 0, 100), Ids{"t/x"});
    EXPECT_EQ(open("t/2.0", 0, 100), Ids{});
}

TEST_P(EveryStore, StopsAThreadBelowOneThatWasAborted) {
    done(event("t"));
    done(event("t/1.0"));
    auto child = event("t/1.0/1.0");
    child.ancestors = {"t", "t/1.0", "nobody"};
    done(child);
    auto abort = event("t");
    abort.status = ThreadStatus::aborted;
    done(abort);
    auto next = event("t/1.0/1.0");
    next.ancestors = {"t", "t/1.0"};
    refused(next, AppendStatus::stopped);
    auto fresh = event("t/1.0/2.0");
    fresh.ancestors = {"t/1.0", "t"};
    refused(fresh, AppendStatus::stopped);
    next.ancestors = {"t/1.0"};
    done(next);
    auto again = event("t");
    again.status = ThreadStatus::active;
    done(again);
    fresh.create = true;
    done(fresh);
}

TEST_P(EveryStore, KeepsTheTextOfASchemaOnce) {
    auto append = event();
    append.schemas = {{"d1", "one"}, {"d2", "two"}};
    done(append);
    append = event();
    append.schemas = {{"d1", "one"}};
    done(append);
    EXPECT_EQ(*store_->schema("d1"), "one");
    EXPECT_EQ(*store_->schema("d2"), "two");
    EXPECT_EQ(store_->schema("d3").failure().message,
              "the schema of this approval is not stored; the database is damaged");
}

TEST_P(EveryStore, KeepsTheLastSnapshot) {
    EXPECT_FALSE(store_->snapshot("t")->has_value());
    auto append = event();
    append.create = false;
    append.snapshot = {.version = 1, .state = "x"};
    EXPECT_EQ(store_->append(append)->status, AppendStatus::unknown_thread);
    EXPECT_FALSE(store_->snapshot("t")->has_value());
    append = event();
    append.snapshot = {.version = 1, .state = "old"};
    done(append);
    done(event("other"));
    // The store gives it the position after its append.
    append.snapshot = {.seq = 70, .pos = 80, .version = 4, .state = std::string("n\0w", 3)};
    const auto pos = done(append).pos;
    const auto kept = [&] {
        const auto snapshot = **store_->snapshot("t");
        return std::tuple(snapshot.seq, snapshot.pos, snapshot.version, snapshot.state);
    };
    EXPECT_EQ(kept(), std::tuple(2, pos, 4, std::string("n\0w", 3)));
    // An append without one leaves it as it is, and so does one that is refused.
    done(event());
    append.snapshot = {.version = 5, .state = "refused"};
    append.expected_seq = 1;
    EXPECT_EQ(store_->append(append)->status, AppendStatus::conflict);
    EXPECT_EQ(kept(), std::tuple(2, pos, 4, std::string("n\0w", 3)));
}

TEST_P(EveryStore, PrunesWhatHappenedAndKeepsItsHeaders) {
    auto first = event();
    first.snapshot = {.version = 1, .state = "x"};
    done(first);
    done(event());
    done(event("other"));
    const auto before = *store_->load("t", 0);
    auto prune = event();
    prune.kinds = {"pruned"};
    prune.prunes = 2;
    prune.expected_seq = 1;
    EXPECT_EQ(store_->append(prune)->status, AppendStatus::conflict);
    EXPECT_EQ(store_->load("t", 0)->at(0).body, first.body);
    prune.expected_seq = 2;
    done(prune);
    const auto after = *store_->load("t", 0);
    ASSERT_EQ(after.size(), 3U);
    Digest hash{};
    for (std::size_t i = 0; i < after.size(); ++i) {
        hash = journal::chain(hash, after[i].header);
        if (i == 2) continue;
        EXPECT_EQ(after[i].header, before[i].header);
        EXPECT_EQ(after[i].salt + after[i].body, "");
    }
    EXPECT_EQ(hash, head().hash);
    EXPECT_EQ(after[2].body, prune.body);
    EXPECT_EQ(head().task, "");
    EXPECT_FALSE(store_->snapshot("t")->has_value());
    EXPECT_EQ(store_->load("other", 0)->at(0).body, "body \xff of other");
}

TEST_P(EveryStore, AnAppendThatPrunesUpToItselfKeepsOnlyItsHeader) {
    auto prune = event();
    prune.prunes = 1;
    done(prune);
    const auto rows = *store_->load("t", 0);
    ASSERT_EQ(rows.size(), 1U);
    EXPECT_EQ(rows[0].salt + rows[0].body, "");
    EXPECT_EQ(head().task, "");
}

TEST_P(EveryStore, TheStatusChangesOnlyWhenGiven) {
    auto append = event();
    append.status = ThreadStatus::aborted;
    done(append);
    done(event());
    EXPECT_EQ(head().status, ThreadStatus::aborted);
}

}  // namespace
}  // namespace assent
