// Receipts: what is written, what is believed, and what is left when the runner or its helper dies.
#include "exec/receipts.hpp"

#include "base/sha256.hpp"
#include "base/test_point.hpp"
#include "exec/process.hpp"

#include "exec_support.hpp"
#include "temp_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <signal.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

namespace assent {
namespace {

using namespace std::chrono_literals;
using State = FoundReceipt::State;
using test::Lifeline;
using test::Started;
using testing::HasSubstr;

const std::string attempt = "00112233445566778899aabbccddeeff";
const std::string other_attempt = "ff112233445566778899aabbccddeeff";

HelperReport a_report() {
    HelperReport report{.attempt = attempt, .line_sha256 = hex(sha256("true")), .started = true, .exit = 3};
    report.left = 1;
    report.limit_ms = 120'000;
    report.out = CapturedStream(10);
    report.out.add(std::string("a\0b\n\xff", 5) + "cut this away 56789");
    report.err.add("not kept");
    return report;
}

// As a version that is newer writes it; what follows is its own business.
std::string of_newer_format(std::string bytes) {
    const std::string line = "report 1\n";
    return bytes.replace(bytes.find(line), line.size(), "report 2\n");
}

TEST(HelperReport, IsReadAsItWasWritten) {
    for (const bool failed : {false, true}) {
        auto report = a_report();
        if (failed) report.failed_step = "folder";
        report.failed_error = failed ? 2 : 0;
        report.timed_out = report.cancelled = report.runner_died = failed;
        const auto read = read_report(encode(report));
        ASSERT_TRUE(read.ok()) << read.failure().message;
        EXPECT_EQ(read->attempt, report.attempt);
        EXPECT_EQ(read->line_sha256, report.line_sha256);
        EXPECT_EQ(std::tuple(read->failed_step, read->failed_error),
                  std::tuple(report.failed_step, report.failed_error));
        EXPECT_EQ(std::tuple(read->started, read->exit, read->signal, read->left, read->limit_ms),
                  std::tuple(true, 3, 0, 1, 120'000));
        EXPECT_EQ(std::tuple(read->timed_out, read->cancelled, read->runner_died), std::tuple(failed, failed, failed));
        EXPECT_EQ(read->out.text(), report.out.text());
        EXPECT_EQ(read->out.cut_bytes(), 14U);
        EXPECT_EQ(read->err.text(), report.err.text());
    }
    EXPECT_EQ(read_report(encode(HelperReport{}))->attempt, "");
}

TEST(HelperReport, NoPartOfItIsTakenForTheWhole) {
    const auto whole = encode(a_report());
    for (std::size_t size = 0; size < whole.size(); ++size) {
        EXPECT_FALSE(read_report(std::string_view(whole).substr(0, size)).ok()) << size;
    }
    for (std::size_t at = 0; at < whole.size(); ++at) {
        auto changed = whole;
        changed[at] = static_cast<char>(changed[at] ^ 0x04);
        EXPECT_FALSE(read_report(changed).ok()) << at;
    }
    EXPECT_FALSE(read_report(whole + "x").ok());
    const auto without_sum = whole.substr(0, whole.rfind("sum "));
    ASSERT_EQ(with_sum(without_sum), whole);
    for (const auto* otherwise : {"exit=+3", "exit=03", "exit=4294967299"}) {
        auto changed = without_sum;
        EXPECT_FALSE(read_report(with_sum(changed.replace(changed.find("exit=3"), 6, otherwise))).ok()) << otherwise;
    }
    EXPECT_THAT(read_report(of_newer_format(whole)).failure().message,
                HasSubstr("a format that this version does not know"));
}

class ReceiptFolder : public testing::Test {
protected:
    [[nodiscard]] Receipts receipts() const { return *Receipts::open(path); }
    void put(const std::string& name, const std::string& bytes, mode_t mode = 0600) const {
        std::ofstream(path + "/" + name) << bytes;
        EXPECT_EQ(chmod((path + "/" + name).c_str(), mode), 0);
    }
    [[nodiscard]] bool there(const std::string& name) const {
        return std::filesystem::exists(std::filesystem::symlink_status(path + "/" + name));
    }

    TempFolder folder;
    std::string path = (folder / "receipts").string();
};

TEST_F(ReceiptFolder, IsMadeForItsOwnerAloneAndRefusedOtherwise) {
    EXPECT_TRUE(Receipts::open(path).ok());
    struct stat facts{};
    ASSERT_EQ(stat(path.c_str(), &facts), 0);
    EXPECT_EQ(facts.st_mode & 07777U, 0700U);
    EXPECT_EQ(chmod(path.c_str(), 0750), 0);
    const auto open_to_others = Receipts::open(path);
    ASSERT_FALSE(open_to_others.ok());
    EXPECT_EQ(open_to_others.failure().kind, FailureKind::tool);
    EXPECT_EQ(open_to_others.failure().message,
              "the folder of receipts " + path + " is open to others; make it yours with mode 0700");
    EXPECT_EQ(chmod(path.c_str(), 0700), 0);
    std::filesystem::create_directory_symlink(path, folder / "link");
    EXPECT_FALSE(Receipts::open((folder / "link").string()).ok());
    EXPECT_THAT(Receipts::open((folder / "none/below").string()).failure().message, HasSubstr("cannot be made"));
}

TEST_F(ReceiptFolder, BelievesOnlyWhatTheHelperWroteOfThisAttempt) {
    (void)receipts();
    auto foreign = a_report();
    foreign.attempt = other_attempt;
    auto whole = encode(a_report());
    struct Row {
        const char* name;
        std::string bytes;
        mode_t mode;
        State state;
        const char* why;
    };
    for (const auto& row : {
             Row{"good", whole, 0600, State::complete, ""},
             Row{"torn", whole.substr(0, whole.size() / 2), 0600, State::doubtful, "is torn"},
             Row{"zeros", std::string(whole.size(), '\0'), 0600, State::doubtful, "is torn"},
             Row{"empty", "", 0600, State::doubtful, "is torn"},
             Row{"foreign", encode(foreign), 0600, State::doubtful, "is of another attempt"},
             Row{"newer", of_newer_format(whole), 0600, State::doubtful, "does not know"},
             Row{"mode", whole, 0644, State::doubtful, "not written by the shell helper"},
             Row{"setuid", whole, 04600, State::doubtful, "not written by the shell helper"},
         }) {
        put(attempt, row.bytes, row.mode);
        const auto found = receipts().find(attempt, 0ms);
        EXPECT_EQ(found.state, row.state) << row.name;
        EXPECT_THAT(found.why, HasSubstr(row.why)) << row.name;
        std::filesystem::remove(path + "/" + attempt);
    }
    // In its place by another name: a link, hard or soft, to what was written elsewhere.
    put("elsewhere", whole);
    for (const bool hard : {true, false}) {
        if (hard) std::filesystem::create_hard_link(path + "/elsewhere", path + "/" + attempt);
        if (!hard) std::filesystem::create_symlink(path + "/elsewhere", path + "/" + attempt);
        EXPECT_EQ(receipts().find(attempt, 0ms).state, State::doubtful) << hard;
        std::filesystem::remove(path + "/" + attempt);
    }
    EXPECT_EQ(mkfifo((path + "/" + attempt).c_str(), 0600), 0);
    EXPECT_EQ(receipts().find(attempt, 0ms).state, State::doubtful);
    EXPECT_EQ(receipts().find("../receipts/" + attempt, 0ms).state, State::none);
}

TEST_F(ReceiptFolder, TellsWhetherAHelperStillLives) {
    const auto receipts = this->receipts();
    EXPECT_EQ(receipts.find(attempt, 0ms).state, State::none);
    auto lock = *receipts.begin(attempt);
    EXPECT_EQ(receipts.find(attempt, 0ms).state, State::alive);
    EXPECT_EQ(receipts.find(attempt, 20ms).state, State::alive);
    receipts.remove(attempt);
    EXPECT_TRUE(there(attempt + ".open"));
    EXPECT_THAT(receipts.begin(attempt).failure().message, HasSubstr("the receipt cannot be made"));
    lock.reset();
    EXPECT_EQ(receipts.find(attempt, 0ms).state, State::unended);
    put(attempt, encode(a_report()));
    EXPECT_EQ(receipts.find(attempt, 0ms).state, State::complete);
    receipts.remove(attempt);
    EXPECT_FALSE(there(attempt) || there(attempt + ".open"));
    EXPECT_EQ(receipts.find(attempt, 0ms).state, State::none);
    EXPECT_FALSE(receipts.begin("../x").ok());
    EXPECT_FALSE(receipts.begin("").ok());
}

TEST_F(ReceiptFolder, OnlyWhatIsOldAndHasNoWriterIsSwept) {
    const auto receipts = this->receipts();
    const auto lock = *receipts.begin(other_attempt);
    put(attempt, encode(a_report()));
    put("notes.txt", "of somebody else");
    const auto now = system_clock().now();
    receipts.remove_older(now);
    EXPECT_TRUE(there(attempt) && there(other_attempt + ".open") && there("notes.txt"));
    receipts.remove_older(now + receipt_age_max_ms + 60'000);
    EXPECT_FALSE(there(attempt));
    EXPECT_TRUE(there(other_attempt + ".open") && there("notes.txt"));
}

class ReceiptOfShell : public ReceiptFolder {
protected:
    // A runner that is killed, or its helper, or both, at a point of the helper.
    FoundReceipt after_kill(const char* point, const char* whom, const std::string& line) {
        setenv("ASSENT_HELPER_POINT", point, 1);
        setenv("ASSENT_HELPER_KILLS", whom, 1);
        Started runner({ASSENT_EXEC_RUNNER, ASSENT_EXEC_HELPER, folder.path().string(), line, path, attempt}, false);
        unsetenv("ASSENT_HELPER_POINT");
        unsetenv("ASSENT_HELPER_KILLS");
        runner.finish();
        return receipts().find(attempt, 60s);
    }
};

TEST_F(ReceiptOfShell, HoldsWhatTheRunnerIsTold) {
    ShellRun run{.line = "echo out; echo err >&2; ls /proc/$$/fd; exit 3", .folder = folder.path().string()};
    run.helper = ASSENT_EXEC_HELPER;
    run.receipts = path;
    run.attempt = attempt;
    const auto end = run_shell(run, {});
    ASSERT_TRUE(end.ok()) << end.failure().message;
    EXPECT_EQ(end->exit_status, 3);
    const auto found = receipts().find(attempt, 0ms);
    ASSERT_EQ(found.state, State::complete) << found.why;
    EXPECT_EQ(found.report.line_sha256, hex(sha256(run.line)));
    EXPECT_FALSE(found.report.runner_died);
    const auto kept = end_of(found.report);
    EXPECT_EQ(kept->exit_status, 3);
    // Neither the file nor its folder nor the lock is the tool's.
    EXPECT_EQ(kept->out.text(), "out\n0\n1\n2\n");
    EXPECT_EQ(kept->err.text(), "err\n");
    EXPECT_FALSE(there(attempt + ".open"));
    // An attempt is started once.
    EXPECT_TRUE(run_shell(run, {}).ok());
    put(other_attempt + ".open", "");
    run.attempt = other_attempt;
    EXPECT_THAT(run_shell(run, {}).failure().message, HasSubstr("the receipt cannot be made"));
}

TEST_F(ReceiptOfShell, SaysThatNothingWasRun) {
    ShellRun run{.line = "true", .folder = (folder / "missing").string()};
    run.helper = ASSENT_EXEC_HELPER;
    run.receipts = path;
    run.attempt = attempt;
    const auto told = run_shell(run, {}).failure();
    const auto found = receipts().find(attempt, 0ms);
    ASSERT_EQ(found.state, State::complete);
    EXPECT_EQ(end_of(found.report).failure().message, told.message);
    run.helper = (folder / "none").string();
    run.attempt = other_attempt;
    EXPECT_FALSE(run_shell(run, {}).ok());
    EXPECT_EQ(receipts().find(other_attempt, 0ms).state, State::none);
}

TEST_F(ReceiptOfShell, SaysThatItWasKilledBecauseTheRunnerDied) {
    Lifeline life((folder / "life").string());
    const std::string line = "echo before; exec 9>life; echo up >&9; exec sleep 1000";
    Started runner({ASSENT_EXEC_RUNNER, ASSENT_EXEC_HELPER, folder.path().string(), line, path, attempt}, false);
    EXPECT_EQ(life.next(), "up\n");
    kill(runner.pid, SIGKILL);
    runner.finish();
    // The helper is waited for, however slow it is.
    const auto found = receipts().find(attempt, 60s);
    ASSERT_EQ(found.state, State::complete) << found.why;
    EXPECT_TRUE(found.report.runner_died && found.report.started);
    EXPECT_EQ(found.report.signal, SIGKILL);
    EXPECT_EQ(found.report.out.text(), "before\n");
    EXPECT_TRUE(life.all_dead());
}

TEST_F(ReceiptOfShell, ProvesTheEndWhereverTheRunnerDiesAfterIt) {
    if (!test_points_compiled) GTEST_SKIP() << "needs the named points";
    for (const auto* point : {"ended", "receipt:written", "receipt:named", "receipt", "reported"}) {
        const auto found = after_kill(point, "runner", "echo told; exit 3");
        ASSERT_EQ(found.state, State::complete) << point << found.why;
        EXPECT_FALSE(found.report.runner_died) << point;
        EXPECT_EQ(found.report.exit, 3) << point;
        EXPECT_EQ(found.report.out.text(), "told\n") << point;
        receipts().remove(attempt);
    }
}

TEST_F(ReceiptOfShell, ProvesThatNothingStartsOnceTheRunnerIsDead) {
    if (!test_points_compiled) GTEST_SKIP() << "needs the named points";
    const auto found = after_kill("prepared", "runner", "touch effect");
    ASSERT_EQ(found.state, State::complete) << found.why;
    EXPECT_TRUE(found.report.runner_died);
    EXPECT_FALSE(found.report.started);
    EXPECT_FALSE(std::filesystem::exists(folder / "effect"));
}

TEST_F(ReceiptOfShell, AHelperThatDiesBeforeItIsDoneProvesNothing) {
    if (!test_points_compiled) GTEST_SKIP() << "needs the named points";
    struct Row {
        const char* point;
        State state;
    };
    for (const auto* whom : {"helper", "both"}) {
        for (const auto& row : {
                 Row{"prepared", State::unended},
                 Row{"started", State::unended},
                 Row{"ended", State::unended},
                 Row{"receipt:written", State::unended},
                 Row{"receipt:named", State::complete},
                 Row{"receipt", State::complete},
             }) {
            const auto found = after_kill(row.point, whom, "true");
            EXPECT_EQ(found.state, row.state) << row.point << " " << whom;
            receipts().remove(attempt);
        }
    }
}

}  // namespace
}  // namespace assent
