// Appends and looks that the PostgreSQL store makes together.
#include "postgres_store.hpp"

#include "store/postgres/append_call.hpp"
#include "store/postgres/tables.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <future>
#include <latch>
#include <map>
#include <numeric>
#include <optional>
#include <thread>
#include <vector>

namespace assent {
namespace {

using namespace assent::test;
using namespace std::chrono_literals;

class PostgresGroups : public PostgresStore {};

INSTANTIATE_TEST_SUITE_P(On, PostgresGroups, testing::Values(StoreKind::postgres), store_name);

TEST_P(PostgresGroups, OfSeveralAppendsEachIsDoneOrNotByItself) {
    const auto store = this->store();
    auto connection = raw();
    postgres::Tables tables(connection, {}, true);
    const auto runner = tables.add_runner("host", 1, 3'600'000);
    int schemas = 0;
    const auto at = [&](const std::string& id, std::int64_t seq, LeaseUse lease = LeaseUse::none,
                        std::int64_t fence = 0) {
        auto append = event(id);
        append.expected_seq = seq;
        append.lease = lease;
        append.fence = fence;
        append.schemas = {{"schema " + std::to_string(++schemas), "{}"}};
        return append;
    };
    for (const auto* id : {"held", "other_fence", "late", "locked", "ended", "asked"})
        ASSERT_EQ(tables.write(at(id, 0, LeaseUse::take), runner)->fence, 1);
    auto unasked = at("asked", 1);
    unasked.closes = {12345};
    auto unknown = at("unknown", 0);
    unknown.create = false;
    struct Row {
        const char* name;
        Append append;
        std::optional<AppendStatus> status;  // none: to be done alone
    };
    const Row all[] = {
        {"asked", unasked, AppendStatus::closed},
        {"ended", at("ended", 1, LeaseUse::give_back, 1), AppendStatus::done},
        {"held", at("held", 1, LeaseUse::keep, 1), AppendStatus::done},
        {"late", at("late", 0, LeaseUse::keep, 1), AppendStatus::conflict},
        {"locked", at("locked", 1, LeaseUse::keep, 1), std::nullopt},
        {"new", at("new", 0, LeaseUse::take), AppendStatus::done},
        {"other_fence", at("other_fence", 1, LeaseUse::keep, 2), AppendStatus::fenced},
        {"unknown", unknown, std::nullopt},
    };
    auto other = raw();
    other.execute("BEGIN");
    other.run("SELECT FROM thread WHERE id = 'locked' FOR UPDATE");
    std::vector<postgres::RowAppend> rows;
    for (const auto& row : all) rows.emplace_back(row.append, runner, *row.append.expected_seq, row.append.fence);
    std::vector<const postgres::RowAppend*> places;
    for (const auto& row : rows) places.push_back(&row);
    const std::vector<std::string> looked_at = {"held", "new", "unknown"};
    const auto [heads, written] = tables.together(looked_at, places);
    ASSERT_EQ(written.size(), std::size(all));
    other.execute("ROLLBACK");
    // Read as it was before.
    ASSERT_TRUE(heads.has_value());
    ASSERT_EQ(heads->size(), 1U);
    EXPECT_EQ(heads->front().id, "held");
    EXPECT_EQ(heads->front().seq, 1);
    for (std::size_t i = 0; const auto& [name, append, status] : all) {
        SCOPED_TRACE(name);
        const auto& result = written[i++];
        EXPECT_EQ(result.has_value(), status.has_value());
        if (result && status) {
            EXPECT_EQ((*result)->status, *status);
        }
        // What was refused has written nothing.
        const bool done = status == AppendStatus::done;
        const auto rows_there = *store->load(name, 0);
        const auto has_row =
            std::ranges::any_of(rows_there, [&](const auto& row) { return row.command == append.command; });
        EXPECT_EQ(has_row, done);
        EXPECT_EQ(store->schema(append.schemas.front().first).ok(), done);
    }
    // A thread that stands under another fence than was thought is taken all the same.
    EXPECT_EQ(tables.write(at("ended", 2, LeaseUse::take, 7), runner)->fence, 2);
}

TEST_P(PostgresGroups, OfSeveralAppendsEachOpensAndClosesItsOwnApprovals) {
    const auto store = this->store();
    auto connection = raw();
    postgres::Tables tables(connection, {}, true);
    const auto asking = [](std::initializer_list<int> positions, std::optional<UnixMillis> deadline = {}) {
        std::vector<OpenApproval> opens;
        for (const int position : positions)
            opens.push_back({.turn = 2,
                             .position = position,
                             .guard = "g" + std::to_string(position),
                             .deadline = deadline,
                             .question = "q" + std::to_string(position)});
        return opens;
    };
    std::map<std::string, std::int64_t> first;
    for (const auto* id : {"calls", "late", "number", "thread", "unknown"}) {
        auto asks = event(id);
        asks.expected_seq = 0;
        asks.opens = asking({1, 2, 3}, std::string_view(id) == "late" ? std::optional<UnixMillis>(5) : std::nullopt);
        first[id] = tables.write(asks, 0)->first_number;
    }
    struct Row {
        const char* name;
        std::vector<std::int64_t> closes;
        std::vector<std::pair<int, int>> closes_calls;
        bool closes_thread;
        std::vector<OpenApproval> opens;
        AppendStatus status;
        std::vector<int> open_after;  // positions
    };
    const Row all[] = {
        {"calls", {}, {{2, 1}, {2, 3}}, false, asking({4, 5}), AppendStatus::done, {2, 4, 5}},
        {"late", {first["late"]}, {}, false, asking({4}), AppendStatus::expired, {1, 2, 3}},
        {"new", {}, {}, false, asking({1, 2}), AppendStatus::done, {1, 2}},
        {"number", {first["number"] + 2, first["number"]}, {}, false, asking({4}), AppendStatus::done, {2, 4}},
        {"thread", {}, {}, true, asking({6, 7, 8}), AppendStatus::done, {6, 7, 8}},
        {"unknown", {first["unknown"], first["unknown"]}, {}, false, asking({4}), AppendStatus::closed, {1, 2, 3}},
    };
    std::vector<Append> appends;
    for (const auto& row : all) {
        auto append = event(row.name);
        append.expected_seq = first.contains(row.name) ? 1 : 0;
        append.closes = row.closes;
        append.closes_calls = row.closes_calls;
        append.closes_thread = row.closes_thread;
        append.opens = row.opens;
        appends.push_back(append);
    }
    std::vector<postgres::RowAppend> rows;
    for (const auto& append : appends) rows.emplace_back(append, 0, *append.expected_seq, 0);
    std::vector<const postgres::RowAppend*> places;
    for (const auto& row : rows) places.push_back(&row);
    const auto written = tables.together({}, places).written;
    ASSERT_EQ(written.size(), std::size(all));
    for (std::size_t i = 0; const auto& row : all) {
        SCOPED_TRACE(row.name);
        const auto& result = **written[i++];
        EXPECT_EQ(result.status, row.status);
        std::vector<int> open;
        std::vector<std::int64_t> numbers;
        for (const auto& approval : *store->open_approvals(row.name, 0, 100)) {
            open.push_back(approval.position);
            EXPECT_EQ(approval.guard + approval.question,
                      "g" + std::to_string(approval.position) + "q" + std::to_string(approval.position));
            if (approval.number >= result.first_number) numbers.push_back(approval.number - result.first_number);
            EXPECT_EQ((*store->find_approval(approval.number))->thread_id, row.name);
        }
        EXPECT_EQ(open, row.open_after);
        if (result.status != AppendStatus::done) continue;
        std::vector<std::int64_t> in_order(row.opens.size());
        std::iota(in_order.begin(), in_order.end(), 0);
        EXPECT_EQ(numbers, in_order);
    }
}

TEST_P(PostgresGroups, OthersPassWhoWaitsForAThread) {
    const auto store = this->store();
    struct Row {
        const char* name;
        const char* lock;
    };
    for (const auto& [name, lock] : {Row{"thread", "SELECT FROM thread WHERE id = 'thread' FOR UPDATE"},
                                     Row{"mark", "SELECT FROM ready FOR UPDATE"},
                                     Row{"new",
                                         "INSERT INTO thread(id, status, seq, head, hash, fence, task, updated_at)"
                                         " VALUES('new', 0, 0, 0, '', 0, '', 0)"}}) {
        SCOPED_TRACE(name);
        const bool is_new = std::string_view(name) == "new";
        if (!is_new) ready(*store, name);
        const auto next = [&](const std::string& id, std::int64_t seq) {
            auto append = event(id);
            append.expected_seq = seq;
            append.ready = id == name;
            return append;
        };
        auto other = raw();
        other.execute("BEGIN");
        other.run(lock);
        const auto held_up = next(name, is_new ? 0 : 1);
        auto waits = std::async(std::launch::async, [&] { return store->append(held_up); });
        const auto free = std::string("beside ") + name;
        for (int i = 0; i < 20; ++i) EXPECT_EQ(store->append(next(free, i))->status, AppendStatus::done);
        EXPECT_EQ(waits.wait_for(0s), std::future_status::timeout);
        other.execute("ROLLBACK");
        EXPECT_EQ(waits.get()->status, AppendStatus::done);
    }
}

TEST_P(PostgresGroups, AnErrorInOneAppendOrLookDoesNotTakeTheOthers) {
    const auto store = this->store();
    constexpr int threads = 16;
    constexpr int poisoned = 7;
    for (int round = 0; round < 10; ++round) {
        std::latch start(threads * 2);
        std::vector<std::jthread> running;
        for (int i = 0; i < threads; ++i) {
            running.emplace_back([&, i] {
                start.arrive_and_wait();
                const auto head = store->find_thread(i == poisoned ? std::string("a\0b", 3) : "none");
                EXPECT_EQ(head.ok(), i != poisoned);
                EXPECT_TRUE(i == poisoned || !head->has_value());
            });
            auto append = event(std::to_string(round) + "-" + std::to_string(i));
            append.expected_seq = 0;
            if (i == poisoned) append.opens = {{.turn = 1, .guard = std::string("a\0b", 3), .question = "q"}};
            running.emplace_back([&, i, append] {
                start.arrive_and_wait();
                const auto result = store->append(append);
                EXPECT_EQ(result.ok(), i != poisoned);
                EXPECT_TRUE(i == poisoned || result->status == AppendStatus::done);
            });
        }
    }
}

TEST_P(PostgresGroups, WhoClosesAnApprovalLooksAtNoOthersThoughTheServerThinksThatThereAreNone) {
    const auto store = this->store();
    auto connection = raw();
    postgres::Tables tables(connection, {}, true);
    const auto blocks = [&] {
        connection.run("SELECT pg_stat_force_next_flush()");
        return connection
            .run(
                "SELECT sum(idx_blks_hit + idx_blks_read)::bigint FROM pg_statio_user_indexes"
                " WHERE relid = 'approval'::regclass")
            .integer(0, 0);
    };
    const auto ask_and_close = [&](const std::string& id) {
        auto asks = event(id);
        asks.expected_seq = 0;
        asks.opens = {{.turn = 1, .question = "q"}};
        auto answers = event(id);
        answers.expected_seq = 1;
        answers.closes = {tables.write(asks, 0)->first_number};
        EXPECT_EQ(tables.write(answers, 0)->status, AppendStatus::done);
    };
    constexpr const char* many =
        "INSERT INTO approval(no, thread, turn, position, ask_no, kind, guard, digest, at, question)"
        " SELECT 1000000 + n, 1000000 + n, 1, 1, 1, 0, 'g', 'd', 1, '' FROM generate_series(1, 20000) AS n";
    connection.run(many);
    connection.run("DELETE FROM approval");
    connection.run("ANALYZE approval");
    ask_and_close("planned");
    connection.run(many);
    const auto before = blocks();
    ask_and_close("asked");
    EXPECT_LT(blocks() - before, 60);
}

}  // namespace
}  // namespace assent
