// What a watched store tells, and that it is otherwise the store behind it.
#include "support/fakes.hpp"
#include "support/faulty_store.hpp"

#include "base/base32.hpp"
#include "base/sha256.hpp"
#include "journal/encoding.hpp"
#include "watch/metrics.hpp"
#include "watch/watched_store.hpp"

#include <assent/memory.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assent::watch {
namespace {

using namespace assent::test;
using testing::ElementsAre;
using testing::IsEmpty;

class Notes final : public Watcher {
public:
    void happened(const Happening& happening) override {
        auto note = happening.thread + " " + std::string(journal::kind_of(happening.event));
        if (happening.question)
            note += " " + happening.question->id + " asked at " + std::to_string(happening.question->asked_at);
        notes.push_back(std::move(note));
    }
    void appended(AppendStatus status, std::int64_t milliseconds) override {
        appends.emplace_back(status, milliseconds);
    }
    void failed(std::string_view operation, const Failure& /*failure*/) override { failures.emplace_back(operation); }

    // Those since the last call.
    std::vector<std::string> take() { return std::exchange(notes, {}); }

    std::vector<std::string> notes;
    std::vector<std::pair<AppendStatus, std::int64_t>> appends;
    std::vector<std::string> failures;
};

class WatchedStoreTest : public testing::Test {
protected:
    // An append of these events to thread "t"; questions among them open.
    Append append_of(std::vector<journal::Event> events, std::optional<std::int64_t> expected = {}) {
        Append append{.thread_id = "t", .create = true, .expected_seq = expected, .at = at_++};
        random_.fill(append.command);
        for (const auto& event : events) {
            append.kinds.emplace_back(journal::kind_of(event));
            if (std::holds_alternative<journal::Asked>(event))
                append.opens.push_back({.digest = binding_, .question = "q"});
        }
        append.salt = "salt";
        append.body = journal::encode(events);
        return append;
    }
    static AppendResult done(Checkpointer& store, const Append& append) {
        const auto result = *store.append(append);
        EXPECT_EQ(result.status, AppendStatus::done);
        return result;
    }
    journal::Asked asked() { return {.tool = "shell", .binding = binding_}; }
    void read() { ASSERT_TRUE(watched_.load("t", 0).ok()); }

    const std::string binding_ = std::string(64, 'd');
    FakeRandom random_;
    UnixMillis at_ = 1000;
    MemoryCheckpointer memory_;
    FaultyStore store_{memory_};
    Notes notes_;
    WatchedStore watched_{store_, {&notes_}};
};

TEST_F(WatchedStoreTest, TellsOnceWhatIsAppendedThroughIt) {
    done(watched_, append_of({journal::UserMessage{.text = "hello"}}));
    EXPECT_THAT(notes_.take(), ElementsAre("t user_message"));
    done(watched_, append_of({journal::ModelSaid{.turn = 1}}, 1));
    EXPECT_THAT(notes_.take(), ElementsAre("t model_turn"));
    read();
    EXPECT_THAT(notes_.take(), IsEmpty());
    EXPECT_THAT(notes_.appends, testing::SizeIs(2));
}

TEST_F(WatchedStoreTest, TellsNothingOfAnAppendThatWasRefused) {
    done(watched_, append_of({journal::UserMessage{.text = "hello"}}));
    notes_.take();
    EXPECT_EQ(watched_.append(append_of({journal::ModelSaid{.turn = 1}}, 7))->status, AppendStatus::conflict);
    EXPECT_THAT(notes_.take(), IsEmpty());
    EXPECT_EQ(notes_.appends.back().first, AppendStatus::conflict);
}

TEST_F(WatchedStoreTest, SaysWhichQuestionAnEventAsksAndWhichItEnds) {
    const auto number = done(watched_, append_of({asked()})).first_number;
    Digest digest{};
    const auto raw = unhex(binding_);
    std::copy(raw.begin(), raw.end(), digest.begin());
    const auto question = " " + public_id(number, digest) + " asked at 1000";
    EXPECT_THAT(notes_.take(), ElementsAre("t asked" + question));
    done(watched_, append_of({journal::Answered{.number = number}}));
    EXPECT_THAT(notes_.take(), ElementsAre("t answered" + question));
}

TEST_F(WatchedStoreTest, AnAnswerThatWasGivenElsewhereIsToldOnceByWhoeverReadsIt) {
    const auto number = done(watched_, append_of({asked()})).first_number;
    notes_.take();
    done(store_, append_of({journal::Answered{.number = number}}));
    EXPECT_THAT(notes_.take(), IsEmpty());
    read();
    read();
    EXPECT_THAT(notes_.take(), ElementsAre(testing::StartsWith("t answered ")));
}

TEST_F(WatchedStoreTest, WhatARunnerElsewhereWentOnFromIsItsToTell) {
    const auto number = done(store_, append_of({asked()})).first_number;
    done(store_, append_of({journal::Answered{.number = number}}));
    done(store_, append_of({journal::Claimed{}}));
    const auto next = done(store_, append_of({asked()})).first_number;
    read();
    EXPECT_THAT(notes_.take(), IsEmpty());
    // Since when its question is open is known all the same.
    done(store_, append_of({journal::Answered{.number = next}}));
    read();
    EXPECT_THAT(notes_.take(), ElementsAre(testing::EndsWith(" asked at 1003")));
}

TEST_F(WatchedStoreTest, AnAnswerBesideAnOutcomeOfItsOwnIsTold) {
    const auto number = done(watched_, append_of({asked()})).first_number;
    notes_.take();
    done(store_, append_of({journal::Answered{.number = number}}));
    done(watched_, append_of({journal::Finished{.attempt = "a"}}));
    read();
    EXPECT_THAT(notes_.take(), ElementsAre("t finished", testing::StartsWith("t answered ")));
}

TEST_F(WatchedStoreTest, AnAppendThatWasInDoubtIsToldWhenItIsFound) {
    done(watched_, append_of({journal::UserMessage{.text = "hello"}}));
    notes_.take();
    store_.appends = {FaultyStore::Fault::uncertain_kept};
    EXPECT_EQ(watched_.append(append_of({journal::Claimed{}}))->status, AppendStatus::uncertain);
    EXPECT_THAT(notes_.take(), IsEmpty());
    read();
    read();
    EXPECT_THAT(notes_.take(), ElementsAre("t claimed"));
    EXPECT_EQ(notes_.appends.back().first, AppendStatus::uncertain);
}

TEST_F(WatchedStoreTest, TellsWhatFailed) {
    store_.appends = {FaultyStore::Fault::fails};
    store_.loads_fail = 1;
    EXPECT_FALSE(watched_.append(append_of({journal::Claimed{}})).ok());
    EXPECT_FALSE(watched_.load("t", 0).ok());
    EXPECT_FALSE(watched_.schema("none").ok());
    EXPECT_THAT(notes_.failures, ElementsAre("append", "load", "schema"));
    EXPECT_THAT(notes_.appends, IsEmpty());
}

// Members with a default are easily forgotten.
class MockedStore : public Checkpointer {
public:
    using Heads = Result<std::vector<ThreadHead>>;
    MOCK_METHOD(Result<AppendResult>, append, (const Append&), (override));
    MOCK_METHOD(Result<std::optional<ThreadHead>>, find_thread, (const std::string&), (override));
    MOCK_METHOD(Result<std::vector<JournalRow>>, load, (const std::string&, std::int64_t), (override));
    MOCK_METHOD(Heads, threads, (), (override));
    MOCK_METHOD(Heads, descendants, (const std::string&), (override));
    MOCK_METHOD(Result<std::vector<OpenApproval>>, open_approvals, (const std::string&, std::int64_t, std::size_t),
                (override));
    MOCK_METHOD(Result<OpenCount>, count_open, (), (override));
    MOCK_METHOD(Result<std::optional<ApprovalPlace>>, find_approval, (std::int64_t), (override));
    MOCK_METHOD(Result<std::string>, schema, (const std::string&), (override));
    MOCK_METHOD(Result<std::optional<Snapshot>>, snapshot, (const std::string&), (override));
    MOCK_METHOD(Result<void>, give_back, (const std::string&, std::int64_t), (override));
    MOCK_METHOD(Result<std::vector<ReadyThread>>, take_ready, (std::size_t, UnixMillis), (override));
    MOCK_METHOD(Result<void>, put_back, (const std::string&, std::int64_t), (override));
    MOCK_METHOD(std::optional<std::int64_t>, keeps_for_ms, (), (const, override));
    MOCK_METHOD(std::shared_ptr<void>, when_lost, (std::function<void()>), (const, override));
    MOCK_METHOD(const Clock&, clock, (), (const, override));
    MOCK_METHOD(std::shared_ptr<void>, watch, (Changed), (override));
};

TEST(WatchedStore, GivesOnWhateverItIsAsked) {
    MockedStore store;
    const FakeClock clock;
    WatchedStore watched(store, {});
    const auto nothing = std::make_shared<int>(1);
    EXPECT_CALL(store, threads).WillOnce([] { return std::vector<ThreadHead>(1); });
    EXPECT_CALL(store, descendants("a")).WillOnce([] { return std::vector<ThreadHead>(2); });
    EXPECT_CALL(store, count_open).WillOnce([] { return OpenCount{.approvals = 3}; });
    EXPECT_CALL(store, take_ready(4, 5)).WillOnce([] { return std::vector<ReadyThread>(4); });
    EXPECT_CALL(store, put_back("b", 6)).WillOnce([] { return Result<void>(); });
    EXPECT_CALL(store, give_back("c", 7)).WillOnce([] { return Result<void>(); });
    EXPECT_CALL(store, keeps_for_ms).WillOnce([] { return std::optional<std::int64_t>(8); });
    EXPECT_CALL(store, when_lost).WillOnce([&] { return nothing; });
    EXPECT_CALL(store, clock).WillOnce(testing::ReturnRef(clock));
    EXPECT_CALL(store, watch).WillOnce([&] { return nothing; });
    EXPECT_EQ(watched.threads()->size(), 1U);
    EXPECT_EQ(watched.descendants("a")->size(), 2U);
    EXPECT_EQ(watched.count_open()->approvals, 3);
    EXPECT_EQ(watched.take_ready(4, 5)->size(), 4U);
    EXPECT_TRUE(watched.put_back("b", 6).ok());
    EXPECT_TRUE(watched.give_back("c", 7).ok());
    EXPECT_EQ(watched.keeps_for_ms(), 8);
    EXPECT_EQ(watched.when_lost({}), nothing);
    EXPECT_EQ(&watched.clock(), &clock);
    EXPECT_EQ(watched.watch({}), nothing);
}

TEST(MetricsAddress, IsOfOneSocketAndOfThisMachineIfNotSaid) {
    for (const auto& [given, listens] : std::vector<std::pair<std::string, std::string>>{
             {":9464", "127.0.0.1:9464"},
             {":0", "127.0.0.1:0"},
             {"localhost:80", "127.0.0.1:80"},
             {"0.0.0.0:9464", "0.0.0.0:9464"},
             {"[::1]:9464", "[::1]:9464"},
             {"10.0.0.1:65535", "10.0.0.1:65535"},
         }) {
        const auto address = listening_address(given);
        ASSERT_TRUE(address.ok()) << given;
        EXPECT_EQ(*address, listens);
    }
    for (const std::string wrong : {"", "9464", ":", ":x", ":65536", ":-1", ":9464,8080", ":9464s", "+9464", "::1:9464",
                                    "[127.0.0.1]:1", "host:9464", "1.2.3:4", ":+1", ": 1"}) {
        const auto address = listening_address(wrong);
        ASSERT_FALSE(address.ok()) << wrong;
        EXPECT_EQ(address.failure().kind, FailureKind::usage);
    }
}

}  // namespace
}  // namespace assent::watch
