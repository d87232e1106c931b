// Many appends at once: groups, refusals and errors inside of them, and turns between processes.
#include "support/fakes.hpp"
#include "support/other_process.hpp"
#include "support/raw_sqlite.hpp"
#include "support/stores.hpp"

#include "gate/session.hpp"
#include "journal/encoding.hpp"
#include "store/call_group.hpp"
#include "store/sqlite/turnstile.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <latch>
#include <map>
#include <set>
#include <thread>

namespace assent {
namespace {

using namespace assent::test;
using sqlite::RunnerLocks;
using sqlite::Turnstile;
using testing::EndsWith;
using Group = CallGroup<Append, Result<AppendResult>>;
using Batch = Group::Batch;

constexpr int threads = 16;
const AppendResult unanswered{.status = AppendStatus::uncertain};

void wait_for(const Group& group, std::size_t waiting) {
    while (group.waiting() != waiting) std::this_thread::yield();
}

TEST(CallGroupTest, WhoComesDuringACommitIsCommittedTogetherAndGetsItsOwnResult) {
    Group group;
    std::latch committing(1);
    std::latch go_on(1);
    std::atomic<int> at_once = 0;
    std::vector<std::size_t> sizes;
    const Group::Call commit = [&](const Batch& batch) {
        EXPECT_EQ(++at_once, 1);
        sizes.push_back(batch.size());
        if (sizes.size() == 1) {
            committing.count_down();
            go_on.wait();
        }
        for (const auto& pending : batch) {
            const bool refused = pending->item.at % 3 == 0;
            pending->answer =
                AppendResult{.status = refused ? AppendStatus::conflict : AppendStatus::done, .seq = pending->item.at};
        }
        --at_once;
    };
    const auto append = [&](int i) {
        const auto own = group.join({.at = i}, commit, unanswered);
        const auto& result = own->answer;
        ASSERT_TRUE(result.ok());
        EXPECT_EQ(result->seq, i);
        EXPECT_EQ(result->status, i % 3 == 0 ? AppendStatus::conflict : AppendStatus::done);
    };
    {
        std::vector<std::jthread> running;
        running.emplace_back(append, 0);
        committing.wait();
        for (int i = 1; i < threads; ++i) running.emplace_back(append, i);
        wait_for(group, threads - 1);
        go_on.count_down();
    }
    EXPECT_EQ(sizes, (std::vector<std::size_t>{1, threads - 1}));
    append(1);
    EXPECT_EQ(sizes.size(), 3U);
}

// A group whose first commit takes until others wait.
struct HeldGroup {
    explicit HeldGroup(std::chrono::microseconds linger_max, std::size_t size_max = Group::any_size)
        : group(linger_max, size_max) {}

    void append() {
        const auto commit = [this](const Batch& batch) {
            sizes.push_back(batch.size());
            for (const auto& pending : batch) pending->answer = AppendResult{.status = AppendStatus::done};
            if (sizes.size() > 1) return;
            committing.count_down();
            go_on.wait();
        };
        const auto own = group.join({}, commit, unanswered);
        EXPECT_EQ(own->answer->status, AppendStatus::done);
    }
    // One, and so many more while that is committed.
    void append_one_and(std::size_t more) {
        std::vector<std::jthread> running;
        running.emplace_back([this] { append(); });
        committing.wait();
        for (std::size_t i = 0; i < more; ++i) running.emplace_back([this] { append(); });
        wait_for(group, more);
        go_on.count_down();
    }

    Group group;
    std::latch committing{1};
    std::latch go_on{1};
    std::vector<std::size_t> sizes;
};

TEST(CallGroupTest, AGroupHasALargestSizeAndTheRestFollows) {
    constexpr std::size_t size_max = 3;
    HeldGroup held({}, size_max);
    held.append_one_and(7);
    EXPECT_EQ(held.sizes, (std::vector<std::size_t>{1, 3, 3, 1}));
}

TEST(CallGroupTest, TheFirstHaveTheirTurnBeforeTheLastButForAQuarterEachInTheirOrder) {
    constexpr std::size_t size_max = 4;
    Group group({}, size_max);
    std::latch calling(1);
    std::latch go_on(1);
    std::vector<UnixMillis> order;
    const auto join = [&](UnixMillis at, Group::Place place) {
        const Group::Call call = [&](const Batch& batch) {
            for (const auto& pending : batch) order.push_back(pending->item.at);
            if (order.size() > 1) return;
            calling.count_down();
            go_on.wait();
        };
        (void)group.join({.at = at}, call, unanswered, place);
    };
    {
        std::vector<std::jthread> running;
        running.emplace_back(join, 0, Group::Place::last);
        calling.wait();
        for (const UnixMillis at : {11, 12, 1, 13, 2, 3, 4, 5, 6, 7}) {
            running.emplace_back(join, at, at < 10 ? Group::Place::first : Group::Place::last);
            wait_for(group, running.size() - 1);
        }
        go_on.count_down();
    }
    EXPECT_EQ(order, (std::vector<UnixMillis>{0, 1, 2, 3, 11, 4, 5, 6, 12, 7, 13}));
}

TEST(CallGroupTest, WhoCommitsLingersForThoseOfTheLastTimeAndThoseWhoCameMeanwhile) {
    HeldGroup held(std::chrono::hours(1));
    constexpr int rounds = 3;
    {
        std::vector<std::jthread> running;
        running.emplace_back([&] {
            for (int round = 0; round <= rounds; ++round) held.append();
        });
        held.committing.wait();
        for (std::size_t i = 1; i <= 2; ++i) {
            running.emplace_back([&] {
                for (int round = 0; round < rounds; ++round) held.append();
            });
            wait_for(held.group, i);
        }
        held.go_on.count_down();
    }
    EXPECT_EQ(held.sizes, (std::vector<std::size_t>{1, 3, 3, 3}));
}

TEST(CallGroupTest, NobodyLingersWhereThatIsNotWanted) {
    HeldGroup held({});
    held.append_one_and(2);
    held.append();
    EXPECT_EQ(held.sizes, (std::vector<std::size_t>{1, 2, 1}));
}

TEST(CallGroupTest, ACommitThatThrowsWakesEverybodyAndNobodyIsToldThatItIsDone) {
    Group group;
    std::latch committing(1);
    std::latch go_on(1);
    int commits = 0;
    const Group::Call commit = [&](const Batch& batch) {
        if (++commits == 1) {
            committing.count_down();
            go_on.wait();
            batch.front()->answer = AppendResult{.status = AppendStatus::done};
            return;
        }
        if (commits == 2) throw std::bad_alloc();
        for (const auto& pending : batch) pending->answer = AppendResult{.status = AppendStatus::done};
    };
    std::atomic<int> thrown = 0;
    std::atomic<int> uncertain = 0;
    std::atomic<int> done = 0;
    const auto append = [&] {
        try {
            const auto own = group.join({}, commit, unanswered);
            ++(own->answer->status == AppendStatus::done ? done : uncertain);
        } catch (const std::bad_alloc&) {
            ++thrown;
        }
    };
    {
        std::vector<std::jthread> running;
        running.emplace_back(append);
        committing.wait();
        for (int i = 0; i < 3; ++i) running.emplace_back(append);
        wait_for(group, 3);
        go_on.count_down();
    }
    EXPECT_EQ(std::tuple(done.load(), thrown.load(), uncertain.load()), std::tuple(1, 1, 2));
    append();
    EXPECT_EQ(done, 2);
}

// Some threads at one store. They all begin while another program holds the database, so most of what they
// append comes together.
class Together : public testing::Test {
protected:
    template <class Body>
    void together(Body body) {
        const RawSqlite other(path_);
        other.run("BEGIN IMMEDIATE");
        std::latch begun(threads);
        std::vector<std::jthread> running;
        for (int i = 0; i < threads; ++i) {
            running.emplace_back([&, i] {
                begun.count_down();
                body(i);
            });
        }
        begun.wait();
        other.run("COMMIT");
        running.clear();
    }
    static Append said(const std::string& thread, int i, const std::string& text = "hello") {
        const journal::Event event = journal::UserMessage{.text = text, .by = std::to_string(i)};
        Append append{.thread_id = thread,
                      .create = true,
                      .at = 1000,
                      .kinds = {"user_message"},
                      .salt = std::string(16, 's'),
                      .body = journal::encode(std::span(&event, 1))};
        append.command[0] = static_cast<std::uint8_t>(i + 1);
        append.command[1] = static_cast<std::uint8_t>(++commands_);
        append.schemas = {{"of " + thread + " by " + std::to_string(i), "{}"}};
        append.opens = {{.turn = 1, .guard = "g", .question = "q"}};
        return append;
    }
    bool has_schema(const std::string& thread, int i) {
        return store_->schema("of " + thread + " by " + std::to_string(i)).ok();
    }
    // The commands of the rows, oldest first. Checks the chain.
    std::vector<std::array<std::uint8_t, 16>> commands(const std::string& thread) {
        std::vector<std::array<std::uint8_t, 16>> all;
        const auto walked = walk_thread(
            *store_, thread,
            [&](const auto&, const auto&, const JournalRow& row, const auto&) { all.push_back(row.command); });
        EXPECT_TRUE(walked.ok()) << walked.failure().message;
        return all;
    }

    TemporaryFolder folder_;
    std::string path_ = folder_.file("test.db");
    std::unique_ptr<SqliteCheckpointer> store_ = std::make_unique<SqliteCheckpointer>(path_);
    static inline std::atomic<int> commands_ = 0;
};

TEST_F(Together, OfConflictingAppendsOneWinsAndTheOthersLeaveNothing) {
    for (int round = 0; round < 5; ++round) {
        const auto name = [&](const char* what) { return what + std::to_string(round); };
        std::array<std::atomic<int>, 3> winners{};
        std::array<std::atomic<int>, 3> won{};
        auto question = said(name("asked"), threads);
        const auto opened = store_->append(question);
        ASSERT_EQ(opened->status, AppendStatus::done);
        const auto take_part = [&](int what, int i, const Append& append, AppendStatus refused) {
            const auto result = store_->append(append);
            ASSERT_TRUE(result.ok()) << result.failure().message;
            if (result->status == AppendStatus::done) {
                won[static_cast<std::size_t>(what)] = i;
                ++winners[static_cast<std::size_t>(what)];
            } else {
                EXPECT_EQ(result->status, refused);
            }
        };
        together([&](int i) {
            auto first = said(name("first"), i);
            first.expected_seq = 0;
            take_part(0, i, first, AppendStatus::conflict);
            auto owner = said(name("owned"), i);
            owner.lease = LeaseUse::take;
            take_part(1, i, owner, AppendStatus::leased);
            auto answer = said(name("asked"), i);
            answer.closes = {opened->first_number};
            take_part(2, i, answer, AppendStatus::closed);
            for (int n = 1; n <= 3; ++n) {
                const auto own = store_->append(said(name("own") + std::to_string(i), i));
                ASSERT_TRUE(own.ok());
                EXPECT_EQ(std::tuple(own->status, own->seq), std::tuple(AppendStatus::done, n));
            }
        });
        EXPECT_EQ(winners[0], 1);
        EXPECT_EQ(winners[1], 1);
        EXPECT_EQ(winners[2], 1);
        EXPECT_EQ(commands(name("first")).size(), 1U);
        EXPECT_EQ(commands(name("owned")).size(), 1U);
        EXPECT_EQ(commands(name("asked")).size(), 2U);
        for (int i = 0; i < threads; ++i) {
            EXPECT_EQ(has_schema(name("first"), i), i == won[0]);
            EXPECT_EQ(has_schema(name("owned"), i), i == won[1]);
            EXPECT_EQ(has_schema(name("asked"), i), i == won[2]);
            EXPECT_EQ(commands(name("own") + std::to_string(i)).size(), 3U);
        }
        // One of each winner, one of the answer, and those of the threads that nobody else wanted.
        std::set<std::int64_t> numbers;
        const auto open = *store_->open_approvals({}, 0, 10'000);
        for (const auto& row : open) numbers.insert(row.number);
        EXPECT_EQ(open.size(), static_cast<std::size_t>((round + 1) * (3 + 3 * threads)));
        EXPECT_EQ(numbers.size(), open.size());
    }
}

TEST_F(Together, AnErrorInOneAppendDoesNotTakeTheOthers) {
    ASSERT_EQ(store_->append(said("t", threads))->status, AppendStatus::done);
    RawSqlite(path_).run(
        "CREATE TRIGGER refuse BEFORE INSERT ON journal WHEN instr(new.body, 'poison') > 0"
        " BEGIN SELECT raise(ABORT, 'poison'); END");
    together([&](int i) {
        const auto result = store_->append(said("t", i, i == 7 ? "poison" : "fine"));
        EXPECT_EQ(result.ok(), i != 7);
        if (i == 7) {
            EXPECT_EQ(result.failure().message, "the database " + path_ + " failed: poison");
        } else {
            EXPECT_EQ(result->status, AppendStatus::done);
        }
    });
    EXPECT_EQ(commands("t").size(), static_cast<std::size_t>(threads));
    for (int i = 0; i < threads; ++i) EXPECT_EQ(has_schema("t", i), i != 7);
    EXPECT_EQ(store_->open_approvals("t", 0, 100)->size(), static_cast<std::size_t>(threads));
}

TEST_F(Together, WhoIsToldSomethingOfAGroupThatWasPerhapsLostIsToldTheTruth) {
    const FailingDisk disk;
    store_ = std::make_unique<SqliteCheckpointer>(path_);
    const RawSqlite other(path_);  // so that the log outlives the store's connection
    ASSERT_EQ(store_->append(said("t", threads))->status, AppendStatus::done);
    auto mine = said("mine", threads);
    mine.lease = LeaseUse::take;
    ASSERT_EQ(store_->append(mine)->status, AppendStatus::done);
    for (int round = 0; round < 10; ++round) {
        const auto free = "free" + std::to_string(round);
        ASSERT_EQ(store_->append({.thread_id = free, .create = true, .at = 1})->status, AppendStatus::done);
        FailingDisk::fail_syncs(1);
        std::vector<Append> wanted(threads);
        std::vector<std::optional<Result<AppendResult>>> results(threads);
        for (int i = 0; i < threads; ++i) {
            auto& append = wanted[static_cast<std::size_t>(i)];
            append = said("t", i);
            if (i % 4 == 1) append.expected_seq = -1;
            if (i % 4 == 2) append = {.thread_id = free, .lease = LeaseUse::take, .at = 1000};
        }
        together([&](int i) {
            const auto at = static_cast<std::size_t>(i);
            results[at].emplace(store_->append(wanted[at]));
        });
        const auto kept = commands("t");
        int took = 0;
        for (std::size_t i = 0; i < threads; ++i) {
            const auto& result = *results[i];
            const auto times = std::count(kept.begin(), kept.end(), wanted[i].command);
            if (!result.ok()) {
                EXPECT_THAT(result.failure().message,
                            EndsWith("failed: disk I/O error; the last change was not kept: try again"));
                if (!wanted[i].kinds.empty()) {
                    EXPECT_EQ(times, 0);
                }
            } else if (i % 4 == 2) {
                EXPECT_TRUE(result->status == AppendStatus::done || result->status == AppendStatus::leased);
                took += result->status == AppendStatus::done ? 1 : 0;
            } else if (i % 4 == 1) {
                EXPECT_EQ(result->status, AppendStatus::conflict);
                EXPECT_EQ(times, 0);
            } else if (result->status == AppendStatus::done) {
                EXPECT_EQ(times, 1);
            } else {
                EXPECT_EQ(result->status, AppendStatus::uncertain);
                EXPECT_LE(times, 1);
            }
        }
        EXPECT_EQ(took == 1, (*store_->find_thread(free))->runner_alive);
        EXPECT_EQ((*store_->find_thread(free))->fence, took);
    }
}

TEST_F(Together, WhoWaitsForAnotherProgramWaitsOnceForAll) {
    store_ = std::make_unique<SqliteCheckpointer>(path_, SqliteOptions{.busy_ms = 20});
    ASSERT_EQ(store_->append(said("t", threads))->status, AppendStatus::done);
    const RawSqlite other(path_);
    other.run("BEGIN IMMEDIATE");
    {
        std::vector<std::jthread> running;
        for (int i = 0; i < threads; ++i) {
            running.emplace_back([&, i] {
                const auto result = store_->append(said("t", i));
                ASSERT_FALSE(result.ok());
                EXPECT_EQ(result.failure().message,
                          "the database " + path_ + " is locked by another program; try again when it has ended");
            });
        }
    }
    other.run("COMMIT");
    EXPECT_EQ(store_->append(said("t", 0))->seq, 2);
}

TEST_F(Together, ABusyProcessAndOneWithSomeAnswersTakeTurns) {
    store_.reset();
    const auto path = folder_.file("shared.db");
    constexpr int answers = 30;
    // Far more than turns allow, far fewer than a committer makes that is never kept waiting.
    constexpr std::int64_t between_max = 200;
    OtherProcess busy([&](const Talk& talk) {
        SqliteCheckpointer store(path);
        int commits = 0;
        while (store.append(said("busy", 1))->status == AppendStatus::done) {
            if (++commits == 20) talk.say("running");
        }
    });
    ASSERT_EQ(busy.hear(), "running");
    SqliteCheckpointer store(path);
    std::int64_t first = 0;
    std::int64_t last = 0;
    for (int i = 0; i < answers; ++i) {
        const auto result = store.append(said("answers", i));
        ASSERT_TRUE(result.ok()) << result.failure().message;
        if (i == 0) first = result->pos;
        last = result->pos;
    }
    busy.kill_now();
    EXPECT_LT(last - first, answers * between_max) << "the answers were kept waiting";
    EXPECT_GE(last - first, answers - 1);
    const auto ended = (*store.find_thread("busy"))->seq;
    EXPECT_GE(ended, 20);
    EXPECT_EQ(store.append(said("answers", answers))->seq, answers + 1) << "a turn dies with its process";
}

TEST_F(Together, AStoppedProcessThatHasATurnDoesNotStopOthersForEver) {
    store_.reset();
    for (const auto place : {Turnstile::turn_place, Turnstile::next_place}) {
        OtherProcess stopped([&](const Talk& talk) {
            auto locks = RunnerLocks::open(path_ + "-runners");
            talk.say(locks->hold(place) ? "holds" : "does not hold");
            talk.hear();
        });
        ASSERT_EQ(stopped.hear(), "holds");
        ASSERT_EQ(::kill(stopped.pid(), SIGSTOP), 0);
        constexpr std::int64_t busy_ms = 200;
        constexpr int appends = 500;
        SqliteCheckpointer store(path_, {.busy_ms = busy_ms});
        const auto began = system_clock().monotonic();
        for (int i = 0; i < appends; ++i) ASSERT_EQ(store.append(said("t", i % 100))->status, AppendStatus::done);
        EXPECT_LT(system_clock().monotonic() - began, busy_ms * appends / 2) << "it waited again and again";
    }
}

TEST_F(Together, WhoWasLetThroughWaitsAgainOnceThePlacesAreFree) {
    auto own = RunnerLocks::open(path_ + "-runners");
    auto others = RunnerLocks::open(path_ + "-runners");
    Turnstile turnstile(*own);
    const auto has_turn = [&] {
        const Turnstile::Turn turn(turnstile, 1);
        EXPECT_FALSE(others->held(Turnstile::next_place));
        return others->held(Turnstile::turn_place);
    };
    EXPECT_TRUE(has_turn());
    EXPECT_FALSE(others->held(Turnstile::turn_place));
    ASSERT_TRUE(others->hold(Turnstile::turn_place));
    {
        const Turnstile::Turn turn(turnstile, 1);
        EXPECT_FALSE(own->hold(Turnstile::turn_place));
        EXPECT_FALSE(others->held(Turnstile::next_place)) << "given up also by who had no turn";
    }
    others->release(Turnstile::turn_place);
    EXPECT_TRUE(has_turn());
    EXPECT_TRUE(has_turn());
}

}  // namespace
}  // namespace assent
