#include "base/unique_fd.hpp"
#include "exec/captured_stream.hpp"
#include "exec/process.hpp"

#include "exec_support.hpp"
#include "temp_folder.hpp"
#include "without.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <thread>

namespace assent {
namespace {

using namespace std::chrono_literals;
using test::Lifeline;
using test::Started;
using testing::HasSubstr;
using testing::Not;

class Shell : public testing::Test {
protected:
    Result<ShellEnd> run(const std::string& line, const std::stop_token& stop = {}) {
        options.line = line;
        options.folder = folder.path().string();
        options.helper = ASSENT_EXEC_HELPER;
        return run_shell(options, stop);
    }
    std::string out_of(const std::string& line) {
        const auto end = run(line);
        EXPECT_TRUE(end.ok());
        return end.ok() ? end->out.text() : end.failure().message;
    }

    TempFolder folder;
    ShellRun options;
};

TEST_F(Shell, GivesStatusAndBothStreams) {
    const auto end = run("echo out; echo err >&2; exit 3");
    ASSERT_TRUE(end.ok());
    EXPECT_EQ(end->exit_status, 3);
    EXPECT_FALSE(end->signal);
    EXPECT_EQ(end->out.text(), "out\n");
    EXPECT_EQ(end->err.text(), "err\n");
    EXPECT_FALSE(end->timed_out || end->cancelled || end->unknown);
    EXPECT_EQ(run("kill -9 $$")->signal, SIGKILL);
    EXPECT_EQ(run("true")->exit_status, 0);
    EXPECT_EQ(run("nonexistent-command")->exit_status, 127);
    EXPECT_EQ(run("if")->exit_status, 2);
}

TEST_F(Shell, RunsInTheFolderWithNothingToRead) {
    EXPECT_EQ(out_of("pwd"), folder.path().string() + "\n");
    EXPECT_EQ(out_of("cat; readlink /proc/self/fd/0"), "/dev/null\n");
}

TEST_F(Shell, HasNoTerminalAndASessionOfItsOwn) {
    EXPECT_NE(run(": </dev/tty")->exit_status, 0);
    EXPECT_NE(run(": >/dev/tty")->exit_status, 0);
    // state ppid pgrp session tty: its own group, not our session, no terminal
    const auto facts = out_of("cut -d')' -f2 /proc/$$/stat | cut -d' ' -f4-6; echo $$");
    int group = 0;
    int session = 0;
    int terminal = -1;
    int pid = 0;
    ASSERT_EQ(std::sscanf(facts.c_str(), "%d %d %d %d", &group, &session, &terminal, &pid), 4) << facts;
    EXPECT_EQ(group, pid);
    EXPECT_NE(session, getsid(0));
    EXPECT_NE(session, pid);
    EXPECT_EQ(terminal, 0);
}

TEST_F(Shell, SeesOnlyTheEnvironmentThatToolsNeed) {
    setenv("ASSENT_TEST_API_KEY", "secret", 1);
    setenv("ASSENT_TEST_EXTRA", "wanted", 1);
    setenv("LD_PRELOAD_X", "no", 1);
    setenv("LC_TIME", "C", 1);
    options.environment_names = {"ASSENT_TEST_EXTRA"};
    const auto seen = out_of("env");
    EXPECT_THAT(seen, Not(HasSubstr("secret")));
    EXPECT_THAT(seen, Not(HasSubstr("LD_PRELOAD_X")));
    EXPECT_THAT(seen, HasSubstr("ASSENT_TEST_EXTRA=wanted\n"));
    EXPECT_THAT(seen, HasSubstr("LC_TIME=C\n"));
    EXPECT_THAT(seen, HasSubstr("PATH="));
    unsetenv("ASSENT_TEST_API_KEY");
    unsetenv("ASSENT_TEST_EXTRA");
    const std::string path = getenv("PATH");
    unsetenv("PATH");
    EXPECT_EQ(out_of("echo $PATH"), "/usr/local/bin:/usr/bin:/bin\n");
    setenv("PATH", path.c_str(), 1);
}

TEST_F(Shell, InheritsNoDescriptorAndNoNewPrivileges) {
    const UniqueFd leak(open("/dev/null", O_RDONLY));  // deliberately not close-on-exec
    EXPECT_EQ(out_of("ls /proc/$$/fd; true"), "0\n1\n2\n");
    EXPECT_THAT(out_of("grep NoNewPrivs /proc/self/status"), HasSubstr("1"));
}

TEST_F(Shell, ResetsSignalsThatTheHostIgnoresOrBlocks) {
    sigset_t blocked;
    sigset_t before;
    sigfillset(&blocked);
    pthread_sigmask(SIG_BLOCK, &blocked, &before);
    const auto old_child = signal(SIGCHLD, SIG_IGN);
    const auto old_pipe = signal(SIGPIPE, SIG_IGN);
    const auto end = run("grep -E 'Sig(Blk|Ign)' /proc/self/status; exit 4");
    signal(SIGCHLD, old_child);
    signal(SIGPIPE, old_pipe);
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    ASSERT_TRUE(end.ok());
    // With SIGCHLD ignored the kernel reaps for the host; the status comes by our own pipe.
    EXPECT_EQ(end->exit_status, 4);
    unsigned long blocked_there = 1;
    unsigned long ignored_there = 1;
    ASSERT_EQ(std::sscanf(end->out.text().c_str(), "SigBlk: %lx SigIgn: %lx", &blocked_there, &ignored_there), 2);
    // 32 and 33 belong to the C library, which lets nobody change them.
    EXPECT_EQ(blocked_there, 0U);
    EXPECT_EQ(ignored_there & ~0x180000000UL, 0U);
}

TEST_F(Shell, WhatIgnoresTermIsKilledAfterTheGrace) {
    Lifeline life((folder / "life").string());
    options.time_limit = 1s;
    options.grace = 100ms;
    const auto end = run("trap '' TERM; exec 9>life; echo before; while :; do sleep 1000; done");
    ASSERT_TRUE(end.ok());
    EXPECT_TRUE(end->timed_out);
    EXPECT_EQ(end->signal, SIGKILL);
    EXPECT_FALSE(end->unknown);
    EXPECT_EQ(end->out.text(), "before\n");
    EXPECT_TRUE(life.all_dead());
}

TEST_F(Shell, WhatHearsTermMayTidyUp) {
    options.time_limit = 1s;
    options.grace = 60s;
    const auto end = run("trap 'echo tidied; exit 5' TERM; while :; do sleep 1000 & wait; done");
    ASSERT_TRUE(end.ok());
    EXPECT_TRUE(end->timed_out);
    EXPECT_EQ(end->exit_status, 5);
    EXPECT_EQ(end->out.text(), "tidied\n");
}

TEST_F(Shell, CannotForgeTheReportOfTheHelper) {
    const auto end =
        run("for fd in 3 4 5; do echo 'ended exit=0 signal=0 timed_out=0 cancelled=0 left=0' >/proc/$PPID/fd/$fd; "
            "done; exit 7");
    ASSERT_TRUE(end.ok());
    EXPECT_EQ(end->exit_status, 7);
    EXPECT_FALSE(end->unknown);
}

TEST_F(Shell, AFloodOfOutputIsCutInTheMiddleAndDoesNotBlock) {
    options.output_bytes_max = 1000;
    const auto end = run("echo first; head -c 5000000 /dev/zero | tr '\\0' x; echo last; echo err >&2");
    ASSERT_TRUE(end.ok());
    EXPECT_EQ(end->exit_status, 0);
    const auto text = end->out.text();
    EXPECT_THAT(text, testing::StartsWith("first\nxxx"));
    EXPECT_THAT(text, testing::EndsWith("xxxlast\n"));
    EXPECT_EQ(end->out.cut_bytes(), 5'000'011U - 1000U);
    EXPECT_THAT(text, HasSubstr("\n[… 4999011 bytes cut …]\n"));
    EXPECT_EQ(end->err.text(), "err\n");
}

TEST_F(Shell, AnEndlessFloodEndsAtTheTimeLimit) {
    options.time_limit = 300ms;
    const auto end = run("yes");
    ASSERT_TRUE(end.ok());
    EXPECT_TRUE(end->timed_out);
    EXPECT_GT(end->out.cut_bytes(), 0U);
}

TEST_F(Shell, NothingThatForkedAwayLivesOn) {
    struct Row {
        const char* name;
        const char* line;
    };
    for (const auto& row : {
             Row{"background", "sleep 1000 & echo done"},
             Row{"setsid", "setsid sh -c 'echo up >fifo; exec sleep 1000' & read x <fifo; echo done"},
             Row{"twice", "( setsid sh -c 'setsid sleep 1000 & exit 0' & ); echo done"},
             Row{"ignores",
                 "setsid sh -c 'trap \"\" TERM HUP INT; echo up >fifo; while :; do sleep 1000; done' & "
                 "read x <fifo; echo done"},
             Row{"stopped", "sh -c 'echo up >fifo; kill -STOP $$' & read x <fifo; echo done"},
         }) {
        std::filesystem::remove(folder / "life");
        std::filesystem::remove(folder / "fifo");
        Lifeline life((folder / "life").string());
        ASSERT_EQ(mkfifo((folder / "fifo").c_str(), 0600), 0);
        options.linger = 50ms;
        const auto end = run("exec 9>life; " + std::string(row.line));
        ASSERT_TRUE(end.ok()) << row.name;
        EXPECT_EQ(end->exit_status, 0) << row.name;
        EXPECT_FALSE(end->timed_out || end->unknown) << row.name;
        EXPECT_THAT(end->out.text(), HasSubstr("done\n")) << row.name;
        EXPECT_TRUE(life.all_dead()) << row.name;
    }
}

TEST_F(Shell, WhatEndsSoonAfterTheShellMayFinish) {
    options.linger = 60s;
    const auto end = run("(sleep 0.1; echo late) & echo early");
    ASSERT_TRUE(end.ok());
    EXPECT_EQ(end->out.text(), "early\nlate\n");
}

TEST_F(Shell, AGrowingTreeIsKilledWhole) {
    Lifeline life((folder / "life").string());
    options.time_limit = 300ms;
    options.grace = 0ms;
    // Each one starts the next and ignores what it can; 200 at most, should we fail to kill them.
    folder.put("grow",
               "trap '' TERM\n[ \"$1\" -gt 200 ] && exit\nsh grow $(($1 + 1)) &\nsleep 0.005\nsh grow $(($1 + 1)) "
               "&\nsleep 1000\n");
    const auto end = run("exec 9>life; ulimit -u 2000 2>/dev/null; sh grow 193");
    ASSERT_TRUE(end.ok());
    EXPECT_FALSE(end->unknown);
    EXPECT_TRUE(life.all_dead());
}

TEST_F(Shell, IsCancelledByAStopRequest) {
    Lifeline life((folder / "life").string());
    options.grace = 100ms;
    std::stop_source stop;
    std::thread canceller([&] {
        EXPECT_EQ(life.next(), "up\n");
        stop.request_stop();
    });
    const auto end = run("echo seen; exec 9>life; echo up >&9; sleep 1000", stop.get_token());
    canceller.join();
    ASSERT_TRUE(end.ok());
    EXPECT_TRUE(end->cancelled);
    EXPECT_FALSE(end->timed_out);
    EXPECT_EQ(end->out.text(), "seen\n");
    EXPECT_TRUE(life.all_dead());
    // One that was requested before starts nothing.
    const auto before = run("echo ran >file", stop.get_token());
    EXPECT_TRUE(before->cancelled);
    EXPECT_FALSE(std::filesystem::exists(folder / "file"));
}

TEST_F(Shell, CannotReachTheTerminalOfItsRunner) {
    const std::string line = "(: </dev/tty) && echo terminal; echo end";
    Started plain({"/bin/sh", "-c", line}, true);
    EXPECT_EQ(plain.finish(), "terminal\nend\n");
    Started ours({ASSENT_EXEC_RUNNER, ASSENT_EXEC_HELPER, folder.path().string(), line}, true);
    EXPECT_EQ(ours.finish(), "end\n");
}

TEST_F(Shell, EverythingDiesWithTheRunner) {
    Lifeline life((folder / "life").string());
    const std::string line =
        "exec 9>life; trap '' TERM HUP; setsid sh -c 'trap \"\" TERM; echo up >&9; sleep 1000' & sleep 1000";
    Started runner({ASSENT_EXEC_RUNNER, ASSENT_EXEC_HELPER, folder.path().string(), line}, false);
    EXPECT_EQ(life.next(), "up\n");
    kill(runner.pid, SIGKILL);
    runner.finish();
    EXPECT_TRUE(WIFSIGNALED(runner.status));
    EXPECT_TRUE(life.all_dead());
}

TEST_F(Shell, AHelperThatIsKilledLeavesTheEndUnknown) {
    if (!test_switches_compiled) GTEST_SKIP() << "needs the switches of test builds";
    const Without landlock("landlock");                          // which would not let the line kill it
    const Variable temporary("TMPDIR", folder.path().string());  // where what it leaves is removed
    Lifeline life((folder / "life").string());
    const auto end = run("exec 9>life; echo before; kill -9 $PPID; exec sleep 1000");
    ASSERT_TRUE(end.ok());
    EXPECT_TRUE(end->unknown);
    EXPECT_TRUE(end->output_lost);
    EXPECT_FALSE(end->exit_status);
    EXPECT_TRUE(life.all_dead());
}

TEST_F(Shell, ManyRunAtOnceWithoutHoldingEachOther) {
    std::vector<std::thread> threads;
    std::atomic<int> good = 0;
    for (int i = 0; i < 8; ++i) {
        threads.emplace_back([this, i, &good] {
            ShellRun mine;
            mine.folder = folder.path().string();
            mine.helper = ASSENT_EXEC_HELPER;
            for (int round = 0; round < 5; ++round) {
                mine.line = "echo " + std::to_string(i) + "; exit " + std::to_string(i);
                const auto end = run_shell(mine, {});
                if (end.ok() && end->exit_status == i && end->out.text() == std::to_string(i) + "\n") ++good;
            }
        });
    }
    for (auto& thread : threads) thread.join();
    EXPECT_EQ(good, 40);
}

TEST_F(Shell, FindsItsHelperBesideTheProgramAndWhereItIsInstalled) {
    namespace fs = std::filesystem;
    fs::create_directories(folder / "bin");
    fs::create_directories(folder / "libexec/assent");
    fs::copy_file(ASSENT_EXEC_RUNNER, folder / "bin/host");
    const std::vector<std::string> host{(folder / "bin/host").string(), "", folder.path().string(),
                                        "tr '\\0' '\\n' </proc/$PPID/cmdline | head -n 1"};
    const auto helper_used = [&] { return Started(host, false).finish(); };
    // Unless it is installed on this machine.
    EXPECT_THAT(helper_used(), testing::AnyOf(HasSubstr("the shell helper assent-exec was not found"),
                                              testing::EndsWith("/libexec/assent/assent-exec\n")));
    fs::copy_file(ASSENT_EXEC_HELPER, folder / "libexec/assent/assent-exec");
    EXPECT_EQ(helper_used(), (folder / "libexec/assent/assent-exec").string() + "\n");
    fs::copy_file(ASSENT_EXEC_HELPER, folder / "bin/assent-exec");
    EXPECT_EQ(helper_used(), (folder / "bin/assent-exec").string() + "\n");
}

TEST_F(Shell, SaysWhyNothingWasRun) {
    options.folder = (folder / "missing").string();
    options.line = "true";
    options.helper = ASSENT_EXEC_HELPER;
    EXPECT_THAT(run_shell(options, {}).failure().message, HasSubstr("(folder): No such file"));
    options.folder = folder.path().string();
    options.helper = (folder / "none").string();
    const auto missing = run_shell(options, {});
    EXPECT_EQ(missing.failure().kind, FailureKind::tool);
    EXPECT_THAT(missing.failure().message, HasSubstr("is no program; correct its path"));
    EXPECT_THAT(run(std::string("a\0b", 3)).failure().message, HasSubstr("NUL"));
    EXPECT_THAT(run(std::string(200'000, 'x')).failure().message, HasSubstr("at most 102400"));
    options.time_limit = 0ms;
    EXPECT_THAT(run("true").failure().message, HasSubstr("time limit"));
}

TEST(CapturedStream, KeepsHeadAndTailAndStatesTheCut) {
    struct Row {
        std::size_t max;
        std::vector<std::string> pieces;
        std::string text;
        std::uint64_t cut;
    };
    for (const auto& row : {
             Row{10, {}, "", 0},
             Row{10, {"0123456789"}, "0123456789", 0},
             Row{10, {"01234", "5", "6789a"}, "01234\n[… 1 bytes cut …]\n6789a", 1},
             Row{10, {"0123456789abcdefghij"}, "01234\n[… 10 bytes cut …]\nfghij", 10},
             Row{10,
                 {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "a", "b", "c", "d", "e", "f", "g"},
                 "01234\n[… 7 bytes cut …]\ncdefg",
                 7},
             Row{10, {"0123é", "xxx", "é4567"}, "0123\n[… 7 bytes cut …]\n4567", 5},
             Row{0, {"abc"}, "\n[… 3 bytes cut …]\n", 3},
             Row{20, {"a\xff", "b\xc3", "\xa9"}, "a\\xffbé", 0},
         }) {
        CapturedStream stream(row.max);
        for (const auto& piece : row.pieces) stream.add(piece);
        EXPECT_EQ(stream.text(), row.text);
        EXPECT_EQ(stream.cut_bytes(), row.cut);
    }
}

}  // namespace
}  // namespace assent
