// What only the PostgreSQL store does: marks of what is ready, notices, addresses.
#include "postgres_store.hpp"

#include "store/postgres/address.hpp"
#include "store/postgres/connection.hpp"
#include "store/postgres/pool.hpp"
#include "store/postgres/tables.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

namespace assent {
namespace {

using namespace assent::test;
using namespace std::chrono_literals;

constexpr auto patience = 30s;  // nothing waits for it unless something hangs

INSTANTIATE_TEST_SUITE_P(On, PostgresStore, testing::Values(StoreKind::postgres), store_name);

TEST_P(PostgresStore, ADeadlineIsJudgedByTheServersClock) {
    const auto store = this->store();
    constexpr std::int64_t hour = 3'600'000;
    struct Row {
        const char* name;
        std::int64_t from_now;  // the deadline, by the server's clock
        bool late;              // a time-out, which comes late by its nature
        AppendStatus status;
    };
    for (const auto& [name, from_now, late, status] :
         {Row{"past", -1, false, AppendStatus::expired}, Row{"timed_out", -1, true, AppendStatus::done},
          Row{"to_come", hour, false, AppendStatus::done}}) {
        SCOPED_TRACE(name);
        auto ask = event(name);
        ask.opens = {
            {.turn = 1, .guard = "rules", .digest = "d", .deadline = store->clock().now() + from_now, .question = "q"}};
        const auto asked = store->append(ask);
        ASSERT_EQ(asked->status, AppendStatus::done);
        // By a clock that is far behind.
        auto answer = event(name);
        answer.closes = {asked->first_number};
        answer.closes_late = late;
        EXPECT_EQ(store->append(answer)->status, status);
    }
}

TEST_P(PostgresStore, ItsClockIsTheServers) {
    const auto store = this->store();
    postgres::Connection connection(postgres_url(), {});
    const auto server = [&] {
        return connection.run("SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint").integer(0, 0);
    };
    const auto before = server();
    const auto now = store->clock().now();
    // Off by half of the way there and back at most, which is generous here.
    constexpr std::int64_t way = 2000;
    EXPECT_GE(now, before - way);
    EXPECT_LE(now, server() + way);
}

TEST_P(PostgresStore, WhatWasTakenIsGivenAgainToWhoDidNotHearOfIt) {
    const auto store = this->store();
    ready(*store, "x");
    ready(*store, "y");
    auto connection = raw();
    postgres::Tables tables(connection, {}, true);
    const auto runner = tables.add_runner("host", 1, 3'600'000);
    constexpr std::int64_t token = 7;
    const auto first = tables.take_ready(1, runner, token);
    ASSERT_EQ(first.size(), 1U);
    EXPECT_EQ(tables.take_ready(1, runner, token), first) << "tried again: its answer was lost";
    EXPECT_EQ(tables.take_ready(10, runner, token + 1).size(), 1U) << "another time: what is left";
}

TEST_P(PostgresStore, WhoRenewsTooLateHoldsNothingAnyMore) {
    const auto late = store({.lease_ms = 90});
    auto take = event("t");
    take.lease = LeaseUse::take;
    ASSERT_EQ(late->append(take)->fence, 1);
    std::promise<void> told;
    const auto watching = late->when_lost(
        [&, once = std::make_shared<std::once_flag>()] { std::call_once(*once, [&] { told.set_value(); }); });
    auto connection = raw();
    connection.execute("UPDATE runner SET alive_until = clock_timestamp() - interval '1 hour'");
    ASSERT_EQ(told.get_future().wait_for(patience), std::future_status::ready);
    // The fence is still its own, the right is not.
    auto keep = event("t");
    keep.lease = LeaseUse::keep;
    keep.fence = 1;
    const auto until = std::chrono::steady_clock::now() + patience;
    while (late->append(keep)->status == AppendStatus::done && std::chrono::steady_clock::now() < until) {
        random_.fill(keep.command);
    }
    EXPECT_EQ(late->append(keep)->status, AppendStatus::fenced);
    auto again = event("t");
    again.lease = LeaseUse::take;
    EXPECT_EQ(late->append(again)->fence, 2) << "under another number it may go on";
}

TEST_P(PostgresStore, GivesBackOnlyWhatItHoldsItself) {
    const auto holds = store();
    const auto other = store();
    auto take = event("t");
    take.lease = LeaseUse::take;
    ASSERT_EQ(holds->append(take)->fence, 1);
    auto another = event("u");
    another.lease = LeaseUse::take;
    ASSERT_EQ(other->append(another)->status, AppendStatus::done);
    ASSERT_TRUE(other->give_back("t", 1).ok());
    EXPECT_TRUE((*other->find_thread("t"))->runner_alive);
    ASSERT_TRUE(holds->give_back("t", 1).ok());
    EXPECT_FALSE((*other->find_thread("t"))->runner_alive);
}

TEST_P(PostgresStore, AfterDoubtItWaitsForTheOldAppend) {
    const auto store = this->store();
    ASSERT_EQ(store->append(event("t"))->status, AppendStatus::done);
    auto old = raw();
    auto asks = raw({.answer_ms = 20});
    for (const auto* id : {"t", "new"}) {
        SCOPED_TRACE(id);
        old.execute(
            "BEGIN; INSERT INTO thread(id, status, seq, head, hash, fence, task, updated_at)"
            " VALUES('new', 0, 0, 0, '', 0, '', 0) ON CONFLICT DO NOTHING;"
            " SELECT FROM thread WHERE id = 't' FOR UPDATE");
        auto append = event(id);
        append.create = id == std::string("new");
        EXPECT_THROW(postgres::Tables(asks, {}, true).wait_for_append(append), postgres::Error) << "it is not over";
        old.execute("ROLLBACK");
        asks = raw({.answer_ms = 20'000});
        postgres::Tables(asks, {}, true).wait_for_append(append);
        EXPECT_FALSE((*store->find_thread("new")).has_value()) << "only looked";
        asks = raw({.answer_ms = 20});
    }
}

// The server says how a statement went before it commits it.
TEST_P(PostgresStore, WhatIsNotCommittedIsNotDone) {
    const auto store = this->store();
    ASSERT_EQ(store->append(event("t"))->status, AppendStatus::done);
    auto server = raw();
    const auto at_commit = [&](const std::string& what) {
        server.execute("CREATE FUNCTION at_commit() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN " + what +
                       "; RETURN NULL; END $$; CREATE CONSTRAINT TRIGGER at_commit AFTER UPDATE ON thread"
                       " DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION at_commit()");
    };
    auto in_one = event("t");
    in_one.expected_seq = 1;
    const auto locked = event("t");
    at_commit("RAISE EXCEPTION 'no commit'");
    for (const auto& append : {in_one, locked})
        EXPECT_EQ(store->append(append).failure().message, "the PostgreSQL database failed: no commit");
    server.execute("DROP FUNCTION at_commit CASCADE");
    at_commit("PERFORM pg_terminate_backend(pg_backend_pid())");
    EXPECT_TRUE(
        store->append(in_one).failure().message.ends_with("whether the last change was kept is not known: look again"));
    // Nobody else can make it any more, so whoever looks for its row knows.
    EXPECT_EQ(store->append(locked)->status, AppendStatus::uncertain);
    server.execute("DROP FUNCTION at_commit CASCADE");
    EXPECT_EQ((*store->find_thread("t"))->seq, 1);
    EXPECT_EQ(store->append(in_one)->seq, 2);
}

TEST_P(PostgresStore, AnAppendWhoseConnectionIsLostIsMadeAgain) {
    const auto name = folder_.path().filename().string();
    PostgresCheckpointer store(postgres_url() + "&application_name=" + name,
                               {.schema = postgres_options(folder_).schema});
    ASSERT_EQ(store.append(event("t"))->status, AppendStatus::done);
    auto server = raw();
    const auto lose_connections = [&] {
        const auto ended =
            server.run("SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE application_name = $1",
                       postgres::Parameters().add(name));
        EXPECT_GT(ended.count(), 0);
    };
    auto append = event("t");
    append.expected_seq = 1;
    lose_connections();
    EXPECT_EQ(store.append(append)->status, AppendStatus::done);
    lose_connections();
    EXPECT_EQ(store.append(append)->status, AppendStatus::uncertain) << "its row is there, whoever looks finds it";
    append.command[0] ^= 1;
    lose_connections();
    EXPECT_EQ(store.append(append)->status, AppendStatus::conflict) << "refused for good";
    EXPECT_EQ((*store.find_thread("t"))->seq, 2);
}

TEST_P(PostgresStore, TellsWhatBecameOfAnAppend) {
    const auto store = this->store();
    auto connection = raw();
    postgres::Tables tables(connection, {}, true);
    using Fate = postgres::Tables::Fate;
    auto append = event("t");
    append.expected_seq = 0;
    EXPECT_EQ(tables.fate_of(append), Fate::open) << "there is no thread yet";
    ASSERT_EQ(store->append(append)->status, AppendStatus::done);
    EXPECT_EQ(tables.fate_of(append), Fate::kept);
    auto other = append;
    other.command[0] ^= 1;
    EXPECT_EQ(tables.fate_of(other), Fate::over);
    other.expected_seq = 1;
    EXPECT_EQ(tables.fate_of(other), Fate::open);
    ASSERT_EQ(store->append(event("t"))->status, AppendStatus::done);
    EXPECT_EQ(tables.fate_of(append), Fate::kept) << "others have gone on";
}

TEST_P(PostgresStore, AMissingRowIsAnErrorAndNotAShorterHistory) {
    const auto store = this->store();
    for (int i = 0; i < 3; ++i) ASSERT_EQ(store->append(event("t"))->status, AppendStatus::done);
    raw().execute("DELETE FROM journal WHERE pos = 2");
    ASSERT_FALSE(store->load("t", 0).ok());
    EXPECT_EQ(store->load("t", 0).failure().message,
              "the PostgreSQL database failed: a row of the journal is missing; restore it from a copy");
    EXPECT_EQ(store->load("t", 2)->size(), 1U);
}

TEST_P(PostgresStore, ATaskWithAZeroByteIsShownWithoutIt) {
    const auto store = this->store();
    auto append = event("t");
    append.task = std::string("a\0b", 3);
    ASSERT_EQ(store->append(append)->status, AppendStatus::done);
    EXPECT_EQ((*store->find_thread("t"))->task,
              "a\xef\xbf\xbd"
              "b");
}

TEST_P(PostgresStore, AnySchemaNameMayBeUsed) {
    // Words of SQL, and a database whose transactions see otherwise than ours must.
    PostgresCheckpointer store(postgres_url() + "&options=-cdefault_transaction_isolation%3Dserializable",
                               {.schema = "user", .sweep_ms = 0});
    ASSERT_EQ(store.append(event(folder_.path().filename()))->status, AppendStatus::done);
    postgres::Connection(postgres_url(), {}).execute("DROP SCHEMA \"user\" CASCADE");
}

TEST_P(PostgresStore, HearsWhatOthersStore) {
    const auto waits = store();
    const auto stores = store();
    std::promise<std::string> promise;
    std::atomic<bool> told = false;
    const auto watching = waits->watch([&](std::string_view id) {
        if (!id.empty() && !told.exchange(true)) promise.set_value(std::string(id));
    });
    auto heard = promise.get_future();
    // It may begin to listen behind the first notices.
    for (auto end = std::chrono::steady_clock::now() + patience;
         heard.wait_for(10ms) != std::future_status::ready && std::chrono::steady_clock::now() < end;)
        ready(*stores, "x");
    ASSERT_TRUE(told);
    EXPECT_EQ(heard.get(), "x");
}

TEST_P(PostgresStore, TellsWhoWatchesInTheSameProcessAtOnce) {
    const auto a = store();
    Ids heard;
    auto watching = a->watch([&](std::string_view id) {
        if (!id.empty()) heard.emplace_back(id);
    });
    ready(*a, "x");
    EXPECT_EQ(heard, Ids{"x"});
    watching.reset();
    ready(*a, "y");
    EXPECT_EQ(heard, Ids{"x"});
}

TEST_P(PostgresStore, WhoWaitsForAConnectionGetsItsTurn) {
    constexpr int many = 64;
    postgres::Pool pool(postgres_url(), {.connections_max = 2, .connect_ms = 1000});
    std::atomic<int> served = 0;
    {
        std::vector<std::jthread> threads;
        for (int i = 0; i < many; ++i) {
            threads.emplace_back([&] {
                try {
                    // The last of them wait for longer than `connect_ms`, which matters to nobody as long as it goes
                    // on.
                    (*pool.take()).run("SELECT pg_sleep(0.04)");
                    ++served;
                } catch (const postgres::Error& error) {
                    ADD_FAILURE() << error.what();
                }
            });
        }
    }
    EXPECT_EQ(served, many);
}

TEST_P(PostgresStore, WhoTakesAConnectionForManyIsServedFirst) {
    using Place = postgres::Pool::Place;
    postgres::Pool pool(postgres_url(), {.connections_max = 2});
    std::vector<int> served;  // by the one connection that is given back, so by one at a time
    const auto kept = pool.take();
    std::vector<std::jthread> threads;
    {
        const auto given_back = pool.take();
        for (const auto& [who, place] : {std::pair(1, Place::last), {2, Place::last}, {0, Place::first}}) {
            const auto before = pool.waiting();
            threads.emplace_back([&, who = who, place = place] {
                const auto connection = pool.take(place);
                served.push_back(who);
            });
            while (pool.waiting() == before) std::this_thread::yield();
        }
    }
    for (auto& thread : threads) thread.join();
    EXPECT_EQ(served, (std::vector{0, 1, 2}));
}

TEST_P(PostgresStore, ThatAllConnectionsAreInUseForLongIsAFailure) {
    postgres::Pool pool(postgres_url(), {.connections_max = 2, .connect_ms = 10});
    const auto one = pool.take();
    const auto two = pool.take();
    try {
        (void)pool.take();
        FAIL() << "a third connection";
    } catch (const postgres::Error& error) {
        EXPECT_STREQ(error.what(), "all connections of this program are in use");
    }
}

TEST_P(PostgresStore, AThreadThatNobodyHasTakenYetIsNotGivenBack) {
    const auto store = this->store();
    auto connection = raw();
    postgres::Tables tables(connection, {}, true);
    const auto runner = tables.add_runner("host", 1, 3'600'000);
    EXPECT_FALSE(tables.give_back("t", 1, runner, true)) << "there is none";
    ready(*store, "t");
    EXPECT_EQ(taken(*store), Ids{"t"});
    EXPECT_FALSE(tables.give_back("t", 1, runner, true)) << "its fence is still 0";
    auto take = event("t");
    take.lease = LeaseUse::take;
    EXPECT_EQ(tables.write(take, runner)->fence, 1);
    EXPECT_TRUE(tables.give_back("t", 1, runner, true));
    EXPECT_EQ((*store->find_thread("t"))->runner, 0);
    EXPECT_TRUE(tables.give_back("t", 1, runner, true)) << "nothing is left to do";
}

TEST_P(PostgresStore, GivesUpAServerThatDoesNotAnswer) {
    postgres::Connection connection(postgres_url(), {.answer_ms = 20});
    constexpr const char* hangs = "SELECT pg_sleep(60)";
    try {
        connection.run(hangs);
        FAIL() << "answered";
    } catch (const postgres::Error& error) {
        EXPECT_TRUE(error.connection_lost()) << "what was being done is in doubt";
        EXPECT_STREQ(error.what(), "it does not answer");
    }
    EXPECT_FALSE(connection.usable());
    EXPECT_FALSE(connection.in_transaction()) << "nothing more is asked there, not even to roll back";
}

TEST(PostgresAddress, SaysWhatIsOurs) {
    const auto read = postgres::read_address("postgresql://u@h/d?schema=s1&sslmode=require&pooler=transaction", {});
    ASSERT_TRUE(read.ok());
    EXPECT_EQ(read->url, "postgresql://u@h/d?sslmode=require");
    EXPECT_EQ(read->options.schema, "s1");
    EXPECT_FALSE(read->options.prepared);
    EXPECT_FALSE(read->options.listen);
}

TEST(PostgresAddress, QuotesNothingOfWhatItCannotRead) {
    for (const auto* wrong : {"postgresql://u:sec/ret@h/d", "postgresql://u:sec@ret@h/d", "postgresql://u:s%zz@h/d",
                              "postgres:secret", "postgresql://h/d?secret=1", "postgresql://h/d?pooler=secret"}) {
        const auto read = postgres::read_address(wrong, {});
        ASSERT_FALSE(read.ok()) << wrong;
        EXPECT_EQ(read.failure().kind, FailureKind::usage);
        EXPECT_FALSE(read.failure().message.contains("sec")) << wrong;
    }
}

TEST(PostgresAddress, IsShownWithoutPasswords) {
    const std::pair<std::string, std::string> rows[] = {
        {"postgresql://u:secret@h:5432/d", "postgresql://u@h:5432/d"},
        {"postgresql://h:5432/d", "postgresql://h:5432/d"},
        {"postgresql://u:se?cr@et@h/d", "postgresql://u@h/d"},
        {"postgres://u@h/d?password=secret&sslmode=require", "postgres://u@h/d?password=&sslmode=require"},
        {"postgres://u:@h/d?sslpassword=secret", "postgres://u@h/d?sslpassword="},
        {"postgresql://u@h:5432/d?password=secret@secret", "postgresql://u@h"},
        {"sqlite:file@home:x", "sqlite:file@home:x"},
    };
    for (const auto& [address, shown] : rows) {
        EXPECT_EQ(postgres::without_passwords(address), shown);
        std::string argument = "--db=" + address;
        postgres::overwrite_passwords(argument.data());
        EXPECT_FALSE(argument.contains("secret")) << argument;
        EXPECT_EQ(argument.size(), address.size() + 5);
    }
}

}  // namespace
}  // namespace assent
