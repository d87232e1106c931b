// What is special about journals in a file: bad files, other programs, dying processes, a failing disk.
#include "support/fakes.hpp"
#include "support/other_process.hpp"
#include "support/raw_sqlite.hpp"
#include "support/stores.hpp"

#include "base/sha256.hpp"
#include "gate/session.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <latch>
#include <list>
#include <map>
#include <sstream>
#include <thread>

namespace assent {
namespace {

using namespace assent::test;
using testing::EndsWith;
namespace fs = std::filesystem;

Append event(const std::string& thread = "t", LeaseUse lease = LeaseUse::none) {
    static FakeRandom random;
    Append append{.thread_id = thread, .create = true, .lease = lease, .at = 1000, .kinds = {"user_message"}};
    random.fill(append.command);
    append.body = "{}";
    return append;
}

std::string error_of(const std::string& path, const SqliteOptions& options = {}) {
    const auto opened = SqliteCheckpointer::open(path, options);
    return opened ? "opened" : opened.failure().message;
}

std::string bytes_of_file(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

class Sqlite : public testing::Test {
protected:
    std::unique_ptr<SqliteCheckpointer> open(const SqliteOptions& options = {}) {
        return std::make_unique<SqliteCheckpointer>(path_, options);
    }
    // A database with a row, closed.
    void make_database() { EXPECT_EQ(open()->append(event())->status, AppendStatus::done); }
    std::map<std::string, std::string> files() const {
        std::map<std::string, std::string> all;
        for (const auto& entry : fs::directory_iterator(folder_.path())) {
            all[entry.path().filename()] = entry.is_regular_file() ? hex(sha256(bytes_of_file(entry.path()))) : "";
        }
        return all;
    }

    TemporaryFolder folder_;
    std::string path_ = folder_.file("agent.db");
    std::string where_ = "the database " + path_;
};

TEST_F(Sqlite, RefusesWhatIsNotItsDatabaseAndChangesNothing) {
    struct Row {
        const char* name;
        std::function<void()> prepare;
        std::string error;
    };
    const auto raw = [this](const char* sql) { return [this, sql] { RawSqlite(path_).run(sql); }; };
    const auto cut = [this](double share) {
        return [this, share] {
            make_database();
            fs::resize_file(path_, static_cast<std::uintmax_t>(static_cast<double>(fs::file_size(path_)) * share));
        };
    };
    const std::string damaged = where_ + " is damaged (cut off or overwritten); restore it from a copy";
    const std::string foreign = where_ + " belongs to another program; give another path";
    const std::vector<Row> rows{
        {"text", [this] { std::ofstream(path_) << std::string(5000, 'x'); },
         where_ + " is not a database; give another path"},
        {"short text", [this] { std::ofstream(path_) << "hello"; }, where_ + " is not a database; give another path"},
        {"cut in half", cut(0.5), damaged},
        {"cut after its first page", cut(0.07), damaged},
        {"tables of another program", raw("CREATE TABLE thread(no)"), foreign},
        {"another program's id", raw("PRAGMA application_id = 7"), foreign},
        {"another program's id and tables", raw("PRAGMA application_id = 7; CREATE TABLE a(b)"), foreign},
        {"another program's version", raw("PRAGMA user_version = 1"), foreign},
        {"newer",
         [this] {
             make_database();
             RawSqlite(path_).run("PRAGMA user_version = 99");
         },
         where_ + " was made by a newer version of assent (format 99, this one knows 2); use that version"},
        {"folder", [this] { fs::create_directory(path_); }, where_ + " is a folder; give the path of a file"},
    };
    for (const auto& row : rows) {
        SCOPED_TRACE(row.name);
        for (const auto& entry : fs::directory_iterator(folder_.path())) fs::remove_all(entry.path());
        row.prepare();
        const auto before = files();
        EXPECT_EQ(error_of(path_), row.error);
        EXPECT_EQ(files(), before);
        EXPECT_EQ(error_of(path_, {.read_only = true}), row.error);
        EXPECT_EQ(files()["agent.db"], before.at("agent.db"));
    }
    EXPECT_EQ(error_of(""), "a database needs the path of a file; give one");
    EXPECT_EQ(error_of(std::string("a\0b", 3)), "a database needs the path of a file; give one");
    EXPECT_EQ(error_of(folder_.file("none/agent.db")),
              "the file " + folder_.file("none/agent.db-runners") +
                  " beside the database cannot be opened: No such file or directory; check that the folder exists and "
                  "may be written");
    EXPECT_THROW(SqliteCheckpointer(folder_.file("none/agent.db")), std::runtime_error);
}

TEST_F(Sqlite, AnyPathIsThePathOfAFile) {
    for (const auto* name : {"a b&c=d%20e?f#g.db", "vfs=none&mode=memory.db", ":memory:", "\xc3\xa4.db"}) {
        const auto path = folder_.file(name);
        EXPECT_EQ(SqliteCheckpointer(path).append(event())->status, AppendStatus::done);
        EXPECT_EQ(fs::status(path).permissions(), fs::perms::owner_read | fs::perms::owner_write) << name;
        EXPECT_TRUE(SqliteCheckpointer(path).find_thread("t")->has_value()) << name;
    }
    EXPECT_TRUE(SqliteCheckpointer("/" + folder_.file(":memory:")).find_thread("t")->has_value());
    const auto here = fs::current_path();
    fs::current_path(folder_.path());
    EXPECT_TRUE(SqliteCheckpointer(":memory:").find_thread("t")->has_value());
    fs::current_path(here);
}

TEST_F(Sqlite, WhatStoodInADatabaseOfTheFirstVersionIsLookedAtOnce) {
    make_database();
    auto ended = event("ended");
    ended.status = ThreadStatus::done;
    ASSERT_EQ(open()->append(ended)->status, AppendStatus::done);
    RawSqlite(path_).run(
        "DROP TABLE ready; DROP INDEX thread_running; DELETE FROM schema_version WHERE version > 1;"
        "PRAGMA user_version = 1");
    EXPECT_EQ(error_of(path_, {.read_only = true}),
              where_ + " is of an older version and cannot be upgraded, it is read-only");
    const auto store = open();
    const auto ready = store->take_ready(10, 0);
    ASSERT_TRUE(ready.ok());
    ASSERT_EQ(ready->size(), 1U);
    EXPECT_EQ(ready->front().id, "t");
}

TEST_F(Sqlite, ReadOnlyReadsAndWritesNothing) {
    EXPECT_EQ(error_of(path_, {.read_only = true}),
              where_ + " cannot be opened; check that the folder exists and may be written");
    std::ofstream(path_).close();
    EXPECT_EQ(error_of(path_, {.read_only = true}), where_ + " is not set up yet and cannot be, it is read-only");
    make_database();
    const auto store = open({.read_only = true});
    EXPECT_EQ((*store->find_thread("t"))->seq, 1);
    EXPECT_EQ(store->load("t", 0)->size(), 1U);
    const auto refused = where_ + " is read-only; check its permissions or mode=ro";
    EXPECT_EQ(store->append(event()).failure().message, refused);
    auto with_snapshot = event();
    with_snapshot.snapshot = Snapshot{};
    EXPECT_EQ(store->append(with_snapshot).failure().message, refused);
    EXPECT_FALSE(store->snapshot("t")->has_value());
    EXPECT_EQ(store->give_back("t", 1).failure().message, refused);
    EXPECT_EQ((*store->find_thread("t"))->seq, 1);
}

// What another user is told. Root may do everything, so as root this needs a process that is nobody.
std::string error_of_somebody_else(const std::string& path) {
    if (geteuid() != 0) return error_of(path);
    const OtherProcess nobody([&](const Talk& talk) {
        if (setgid(65534) != 0 || setuid(65534) != 0) throw std::runtime_error("cannot become nobody");
        talk.say(error_of(path));
    });
    return nobody.hear();
}

TEST_F(Sqlite, SaysWhichPermissionIsMissing) {
    using fs::perms;
    make_database();
    const auto readable = perms::owner_read | perms::group_read | perms::others_read;
    const auto enterable = readable | perms::owner_exec | perms::group_exec | perms::others_exec;
    fs::permissions(path_, readable);
    fs::permissions(folder_.path(), enterable);
    EXPECT_EQ(error_of_somebody_else(path_), where_ + " is read-only; check its permissions or mode=ro");
    fs::permissions(path_, perms::none);
    EXPECT_EQ(error_of_somebody_else(path_), where_ + " may not be opened by this user");
    EXPECT_EQ(error_of_somebody_else(folder_.file("new.db")),
              "the file " + folder_.file("new.db-runners") +
                  " beside the database cannot be opened: Permission denied; check that the folder exists and may be "
                  "written");
    fs::permissions(folder_.path(), perms::owner_all);
    fs::permissions(path_, perms::owner_read | perms::owner_write);
    EXPECT_TRUE(open()->find_thread("t")->has_value());
}

TEST_F(Sqlite, NewFilesAreForTheirOwnerOnly) {
    const auto mask = umask(0);
    const auto store = open();
    EXPECT_EQ(store->append(event("t", LeaseUse::take))->status, AppendStatus::done);
    umask(mask);
    for (const auto* suffix : {"", "-wal", "-shm", "-runners"}) {
        EXPECT_EQ(fs::status(path_ + suffix).permissions(), fs::perms::owner_read | fs::perms::owner_write) << suffix;
    }
    EXPECT_EQ(files().size(), 4U);
}

TEST_F(Sqlite, WaitsForAnotherWriterAndThenSaysSo) {
    const auto store = open({.busy_ms = 5});
    EXPECT_EQ(store->append(event())->status, AppendStatus::done);
    const auto locked = where_ + " is locked by another program; try again when it has ended";
    const RawSqlite other(path_);
    other.run("BEGIN IMMEDIATE");
    EXPECT_EQ(store->append(event()).failure().message, locked);
    EXPECT_EQ(store->append(event("t", LeaseUse::take)).failure().message, locked);
    EXPECT_EQ((*store->find_thread("t"))->seq, 1);  // reading goes on
    EXPECT_EQ(error_of(path_, {.busy_ms = 5}), "opened");
    other.run("COMMIT");
    EXPECT_EQ(store->append(event("t", LeaseUse::take))->seq, 2);
}

TEST_F(Sqlite, ANewDatabaseThatAnotherProgramHoldsIsLocked) {
    const RawSqlite other(path_);
    other.run("BEGIN EXCLUSIVE");
    EXPECT_EQ(error_of(path_, {.busy_ms = 5}), where_ + " is locked by another program; try again when it has ended");
    other.run("COMMIT");
    EXPECT_EQ(error_of(path_), "opened");
}

TEST_F(Sqlite, SeveralProcessesMaySetUpOneDatabaseAtOnce) {
    for (int round = 0; round < 10; ++round) {
        const auto path = folder_.file("new" + std::to_string(round));
        std::list<OtherProcess> others;
        for (int i = 0; i < 4; ++i) {
            others.emplace_back([&](const Talk& talk) {
                talk.hear();
                talk.say(error_of(path));
            });
        }
        for (const auto& other : others) other.say("go");
        for (const auto& other : others) EXPECT_EQ(other.hear(), "opened");
    }
}

TEST_F(Sqlite, KeepsEveryCommitWhileOtherProgramsOpenAndCloseTheDatabase) {
    // Opening and closing the file outside SQLite would drop our locks; then the other program would
    // delete the log under us and our next commit would be gone.
    const OtherProcess other([&](const Talk& talk) {
        while (!talk.hear().empty()) talk.say(RawSqlite(path_).value("SELECT count(*) FROM journal"));
    });
    const auto store = open();
    EXPECT_EQ(store->append(event())->status, AppendStatus::done);
    EXPECT_EQ(open()->append(event())->status, AppendStatus::done);  // a second connection, opened and closed
    EXPECT_EQ(error_of(path_, {.read_only = true}), "opened");
    EXPECT_EQ(other.ask("count"), "2");
    for (int commits = 3; commits < 6; ++commits) {
        EXPECT_EQ(store->append(event())->status, AppendStatus::done);
        EXPECT_EQ(other.ask("count"), std::to_string(commits));
    }
    EXPECT_EQ(store->load("t", 0)->size(), 5U);
}

TEST_F(Sqlite, ARunnerThatDiesLosesItsThreadAtOnce) {
    OtherProcess runner([&](const Talk& talk) {
        SqliteCheckpointer store(path_);
        talk.say(store.append(event("t", LeaseUse::take))->status == AppendStatus::done ? "taken" : "not taken");
        talk.hear();
    });
    ASSERT_EQ(runner.hear(), "taken");
    const auto store = open();
    const auto refused = *store->append(event("t", LeaseUse::take));
    EXPECT_EQ(refused.status, AppendStatus::leased);
    std::array<char, 256> host{};
    gethostname(host.data(), host.size() - 1);
    EXPECT_EQ(refused.leased_by, "process " + std::to_string(runner.pid()) + " on " + host.data());
    EXPECT_TRUE((*store->find_thread("t"))->runner_alive);
    runner.kill_now();
    EXPECT_FALSE((*store->find_thread("t"))->runner_alive);
    const auto taken = *store->append(event("t", LeaseUse::take));
    EXPECT_EQ(taken.status, AppendStatus::done);
    EXPECT_EQ(taken.fence, 2);
}

TEST_F(Sqlite, TwoStoresOfOneProcessAreTwoRunners) {
    const auto first = open();
    const auto second = open();
    EXPECT_EQ(first->append(event("t", LeaseUse::take))->status, AppendStatus::done);
    EXPECT_EQ(second->append(event("t", LeaseUse::take))->status, AppendStatus::leased);
    EXPECT_EQ(second->append(event("other", LeaseUse::take))->status, AppendStatus::done);
    EXPECT_EQ(first->append(event("other", LeaseUse::take))->status, AppendStatus::leased);
    ASSERT_TRUE(first->give_back("t", 1).ok());
    EXPECT_EQ(second->append(event("t", LeaseUse::take))->fence, 2);
}

TEST_F(Sqlite, EveryCommitIsSyncedToTheLog) {
    const FailingDisk disk;
    const auto store = open();
    EXPECT_EQ(RawSqlite(path_).value("PRAGMA journal_mode"), "wal");
    EXPECT_EQ(store->append(event())->status, AppendStatus::done);
    for (int i = 0; i < 3; ++i) {
        const int before = FailingDisk::syncs();
        EXPECT_EQ(store->append(event())->status, AppendStatus::done);
        EXPECT_GT(FailingDisk::syncs(), before);
    }
}

TEST_F(Sqlite, AnUncertainCommitIsLookedUp) {
    const FailingDisk disk;
    const auto store = open();
    FakeClock clock;
    FakeRandom random;
    ThreadSession session(*store, "t", clock, random);
    const Change prompt{.events = {journal::UserMessage{.text = "go"}}, .lease = LeaseUse::take, .create = true};
    ASSERT_EQ(session.append(prompt)->status, AppendStatus::done);

    const Change said{.events = {journal::ModelSaid{.turn = 1, .text = "hello"}}};
    FailingDisk::fail_syncs(1);
    const auto lost = session.append(said);
    ASSERT_FALSE(lost.ok());
    EXPECT_THAT(lost.failure().message, EndsWith("failed: disk I/O error; the last change was not kept: try again"));
    EXPECT_EQ(session.state().turns, 0);
    EXPECT_TRUE(session.held());
    ASSERT_EQ(session.append(said)->status, AppendStatus::done);
    EXPECT_EQ(session.state().turns, 1);
    EXPECT_EQ(store->load("t", 0)->size(), 2U);
    EXPECT_TRUE((*store->find_thread("t"))->runner_alive);
}

TEST_F(Sqlite, AnUncertainCommitOfTheStoreIsToldAsSuch) {
    const FailingDisk disk;
    const auto store = open();
    const RawSqlite other(path_);  // so that the log outlives our connection
    EXPECT_EQ(store->append(event())->status, AppendStatus::done);
    FailingDisk::fail_syncs(1);
    EXPECT_EQ(store->append(event())->status, AppendStatus::uncertain);
    EXPECT_EQ(store->load("t", 0)->size(), 1U);
    EXPECT_EQ(store->append(event())->seq, 2);
    EXPECT_EQ(other.value("SELECT count(*) FROM journal"), "2");
}

TEST_F(Sqlite, ALeaseThatWasPerhapsTakenIsLookedUpToo) {
    const FailingDisk disk;
    const auto store = open();
    EXPECT_EQ(store->append(event("t", LeaseUse::take))->status, AppendStatus::done);
    ASSERT_TRUE(store->give_back("t", 1).ok());
    const Append take{.thread_id = "t", .lease = LeaseUse::take, .at = 2000};
    FailingDisk::fail_syncs(1);
    const auto lost = store->append(take);
    ASSERT_FALSE(lost.ok());
    EXPECT_THAT(lost.failure().message, EndsWith("failed: disk I/O error; the last change was not kept: try again"));
    EXPECT_EQ(store->append(take)->fence, 2);
}

TEST_F(Sqlite, AfterAnErrorOfTheDiskOtherWritesWorkAgain) {
    const FailingDisk disk;
    const auto store = open();
    EXPECT_EQ(store->append(event())->status, AppendStatus::done);
    FailingDisk::fail_syncs(1);
    auto with_snapshot = event();
    with_snapshot.snapshot = Snapshot{.version = 1, .state = "s"};
    EXPECT_EQ(store->append(with_snapshot)->status, AppendStatus::uncertain);
    EXPECT_FALSE(store->snapshot("t")->has_value());
    EXPECT_EQ(store->append(with_snapshot)->status, AppendStatus::done);
    EXPECT_EQ((*store->snapshot("t"))->state, "s");
    FailingDisk::fail_syncs(1);
    EXPECT_FALSE(store->append(event("t", LeaseUse::take)).ok());  // the runner's own number is written first
    EXPECT_EQ(store->append(event("t", LeaseUse::take))->status, AppendStatus::done);
    FailingDisk::fail_syncs(1);
    const auto lost = store->give_back("t", 1);
    ASSERT_FALSE(lost.ok());
    EXPECT_TRUE(lost.failure().message.starts_with(where_ + " failed: ")) << lost.failure().message;
    EXPECT_TRUE((*store->find_thread("t"))->runner_alive);
    ASSERT_TRUE(store->give_back("t", 1).ok());
    EXPECT_FALSE((*store->find_thread("t"))->runner_alive);
}

TEST_F(Sqlite, ADamagedListOfRowsIsAnErrorAndNotALoop) {
    const auto store = open();
    EXPECT_EQ(store->append(event())->status, AppendStatus::done);
    EXPECT_EQ(store->append(event())->status, AppendStatus::done);
    const auto damaged = where_ + " is damaged (cut off or overwritten); restore it from a copy";
    const RawSqlite other(path_);
    other.run("UPDATE journal SET prev = 2 WHERE pos = 2");
    EXPECT_EQ(store->load("t", 0).failure().message, damaged);
    other.run("UPDATE journal SET prev = 1 WHERE pos = 2; DELETE FROM journal WHERE pos = 1");
    EXPECT_EQ(store->load("t", 0).failure().message, damaged);
    EXPECT_EQ(store->load("t", 1)->size(), 1U);
}

TEST_F(Sqlite, ManyThreadsShareOneStore) {
    const auto store = open();
    constexpr int threads = 4;
    constexpr int appends = 10;
    std::latch begin(threads);
    {
        std::vector<std::jthread> running;
        for (int i = 0; i < threads; ++i) {
            running.emplace_back([&, i] {
                Append own{.thread_id = "t" + std::to_string(i % 2), .create = true, .kinds = {"judged"}, .body = "{}"};
                begin.arrive_and_wait();
                for (int n = 0; n < appends; ++n) EXPECT_EQ(store->append(own)->status, AppendStatus::done);
            });
        }
    }
    EXPECT_EQ((*store->find_thread("t0"))->seq, threads / 2 * appends);
    EXPECT_EQ(store->load("t1", 0)->size(), static_cast<std::size_t>(threads / 2 * appends));
}

}  // namespace
}  // namespace assent
