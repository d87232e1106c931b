// What a shell line can reach, and what it cannot. Without Landlock in the kernel the rows about files
// have nothing to test.
#include "base/real_places.hpp"
#include "base/unique_fd.hpp"
#include "exec/landlock_abi.hpp"
#include "exec/process.hpp"

#include "temp_folder.hpp"
#include "without.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/stat.h>
#include <unistd.h>

#include <thread>

namespace assent {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

class Reach : public testing::Test {
protected:
    void SetUp() override {
        folder.put("state/gate.db", "secret of the gate");
        folder.put("state/other.txt", "neighbour");
        folder.put("work/a.txt", "a");
        folder.put("work/sub/b.txt", "b");
        folder.put("elsewhere/readable.txt", "readable");
        fs::create_symlink(folder / "state", folder / "work/way-in");
        fs::create_symlink(folder / "state/gate.db", folder / "alias.db");
        run.folder = (folder / "work").string();
        run.helper = ASSENT_EXEC_HELPER;
        run.closed = {(folder / "alias.db").string(), (folder / "state/gate.db-wal").string()};
    }
    std::string out_of(const std::string& line) {
        run.line = "exec 2>&1; " + line;
        const auto end = run_shell(run, {});
        return end.ok() ? end->out.text() : end.failure().message;
    }
    static bool confined() { return landlock::abi() > 0; }

    TempFolder folder;
    ShellRun run;
};

struct Row {
    const char* name;
    const char* line;
    bool works;
};

TEST_F(Reach, IsWhatToolsNeedAndNothingThatIsClosed) {
    if (!confined()) GTEST_SKIP() << "this kernel has no Landlock";
    for (const auto& row : {
             Row{"write here", "echo x > new.txt && mkdir d && mv new.txt d/ && rm -r d", true},
             Row{"replace here", "echo x > a.txt && mv a.txt sub/a.txt && ln sub/a.txt a.txt", true},
             Row{"truncate here", "truncate -s 0 sub/b.txt", true},
             Row{"run what was made here", "printf '#!/bin/sh\\n' > s && chmod +x s && ./s", true},
             Row{"temporary files", "mktemp && echo x > $TMPDIR/y && mv $TMPDIR/y . ", true},
             Row{"nothing to write to", "echo x > /dev/null && head -c 1 /dev/urandom > /dev/null", true},
             Row{"standard output by its name", "echo x > /dev/stdout", true},
             Row{"read elsewhere", "cat ../elsewhere/readable.txt", true},
             Row{"read a neighbour of what is closed", "cat ../state/other.txt", true},
             Row{"read the system", "cat /etc/passwd > /dev/null && ls /usr/bin > /dev/null", true},
             Row{"look at itself", "cat /proc/self/environ > /dev/null && ls /proc/self/fd", true},
             Row{"signal its own", "sleep 100 & kill $!", true},

             Row{"read it", "cat ../state/gate.db", false},
             Row{"read it through a link", "cat way-in/gate.db", false},
             Row{"read it under its other name", "cat ../alias.db", false},
             Row{"write to it", "echo x >> ../state/gate.db", false},
             Row{"truncate it", "truncate -s 0 ../state/gate.db", false},
             Row{"remove it", "rm -f ../state/gate.db", false},
             Row{"rename it", "mv ../state/gate.db ../state/gone", false},
             Row{"replace it", "cp a.txt ../state/gate.db", false},
             Row{"put something over it", "mv a.txt ../state/gate.db", false},
             Row{"a hard link to it", "ln ../state/gate.db mine", false},
             Row{"make what is closed and not there yet", "echo x > ../state/gate.db-wal", false},
             Row{"list the folder it is in", "ls ../state", false},
             Row{"list the folder above", "ls ..", false},
             Row{"write elsewhere", "echo x > ../elsewhere/new.txt", false},
             Row{"change elsewhere", "echo x >> ../elsewhere/readable.txt", false},
             Row{"write to the system's temporary folder", "echo x > $TMPDIR/../assent-outside", false},
             Row{"the terminal", "cat < /dev/tty", false},
             Row{"make a terminal", ": < /dev/ptmx", false},
             Row{"list devices", "ls /dev", false},
             Row{"a device of its own", "mknod zero c 1 5", false},
             Row{"signal the helper", "kill -0 $PPID", false},
             Row{"look into the helper", "cat /proc/$PPID/environ", false},
             Row{"the program of the helper", "readlink /proc/$PPID/exe", false},
             Row{"mount", "mount -t tmpfs none sub", false},
         }) {
        fs::remove_all(folder / "work");
        folder.put("work/a.txt", "a");
        folder.put("work/sub/b.txt", "b");
        fs::create_symlink(folder / "state", folder / "work/way-in");
        const auto said = out_of("{ " + std::string(row.line) + "; } && echo it worked");
        EXPECT_EQ(said.ends_with("it worked\n"), row.works) << row.name << ": " << said;
        EXPECT_THAT(said, Not(HasSubstr("secret of the gate"))) << row.name;
        EXPECT_EQ(folder.get("state/gate.db"), "secret of the gate") << row.name;
        EXPECT_FALSE(fs::exists(folder / "state/gate.db-wal")) << row.name;
        EXPECT_EQ(folder.get("elsewhere/readable.txt"), "readable") << row.name;
    }
}

TEST_F(Reach, WhatIsMadeBesideSomethingClosedLaterIsClosedToo) {
    if (!confined()) GTEST_SKIP() << "this kernel has no Landlock";
    ASSERT_EQ(mkfifo((folder / "work/go").c_str(), 0600), 0);
    run.line = "echo up > go; cat go; cat ../state/later.txt";
    std::jthread maker([this] {
        EXPECT_EQ(folder.get("work/go"), "up\n");
        folder.put("state/later.txt", "later");
        std::ofstream(folder / "work/go") << "made\n";
    });
    const auto end = run_shell(run, {});
    ASSERT_TRUE(end.ok());
    EXPECT_EQ(end->out.text(), "made\n");
    EXPECT_THAT(end->err.text(), HasSubstr("Permission denied"));
}

TEST_F(Reach, AClosedPlaceInTheWorkspaceIsLeftOut) {
    if (!confined()) GTEST_SKIP() << "this kernel has no Landlock";
    run.closed = {(folder / "work/sub/b.txt").string()};
    EXPECT_THAT(out_of("cat sub/b.txt"), HasSubstr("Permission denied"));
    EXPECT_THAT(out_of("rm sub/b.txt"), HasSubstr("Permission denied"));
    EXPECT_EQ(out_of("echo x > a.txt; cat a.txt"), "x\n");
}

TEST_F(Reach, OtherFoldersCanBeWritable) {
    if (!confined()) GTEST_SKIP() << "this kernel has no Landlock";
    run.writable = {(folder / "elsewhere").string()};
    EXPECT_EQ(out_of("echo x > ../elsewhere/new.txt && mv ../elsewhere/new.txt . && cat new.txt"), "x\n");
    run.closed = {(folder / "elsewhere/readable.txt").string()};
    EXPECT_THAT(out_of("echo x > ../elsewhere/readable.txt"), HasSubstr("Permission denied"));
    EXPECT_EQ(folder.get("elsewhere/readable.txt"), "readable");
}

TEST_F(Reach, AWorkspaceInAClosedPlaceIsRefused) {
    run.closed = {folder.path().string()};
    EXPECT_THAT(out_of("true"), HasSubstr("which is closed; work in another"));
    run.closed.assign(reach_paths_max + 1, "/nowhere");
    EXPECT_THAT(out_of("true"), HasSubstr("more than 200 paths are closed or writable"));
}

TEST_F(Reach, WithoutLandlockTheLineRunsAllTheSame) {
    if (!test_switches_compiled) GTEST_SKIP() << "needs the switches of test builds";
    const Without landlock("landlock");
    EXPECT_EQ(out_of("cat ../state/gate.db; echo; echo x > ../elsewhere/new.txt && echo written"),
              "secret of the gate\nwritten\n");
    EXPECT_EQ(out_of("env | grep -c ASSENT_WITHOUT"), "0\n");
}

TEST_F(Reach, ATemporaryFolderIsPrivateAndGoneAfterwards) {
    const auto facts = out_of(R"(stat -c %a "$TMPDIR"; echo "$TMPDIR"; mkdir -p "$TMPDIR/a/b"; )"
                              R"(ln -s "$PWD" "$TMPDIR/a/link"; touch "$TMPDIR/a/b/c"; chmod -R 0 "$TMPDIR/a/b")");
    EXPECT_TRUE(facts.starts_with("700\n")) << facts;
    const auto path = facts.substr(4, facts.size() - 5);
    EXPECT_THAT(path, HasSubstr("/assent-tool-"));
    EXPECT_FALSE(fs::exists(path));
    EXPECT_EQ(folder.get("work/a.txt"), "a") << "no link was followed";
    const Variable missing("TMPDIR", (folder / "none").string());
    EXPECT_TRUE(out_of("echo $TMPDIR").starts_with("/tmp/assent-tool-"));
}

// As root: nothing of this is there for other users to begin with.
TEST_F(Reach, CapabilitiesThatReachFurtherAreGone) {
    std::uint64_t kept = 0;
    const auto status = out_of("grep CapEff /proc/self/status");
    ASSERT_EQ(std::sscanf(status.c_str(), "CapEff: %lx", &kept), 1) << status;
    constexpr int sys_admin = 21;
    constexpr int sys_ptrace = 19;
    constexpr int sys_resource = 24;
    for (const int capability : {sys_admin, sys_ptrace, sys_resource}) EXPECT_EQ(kept >> capability & 1, 0U);
}

TEST(RealPlaces, NameAFileUnderEachOfItsNames) {
    const TempFolder folder;
    const auto root = folder.path().string();
    folder.put("real/file", "");
    fs::create_symlink(folder / "real", folder / "way");
    fs::create_symlink(folder / "real/file", folder / "alias");
    EXPECT_THAT(real_places({root + "/real/file"}), ElementsAre(root + "/real/file"));
    EXPECT_THAT(real_places({root + "/way/../way//file"}), ElementsAre(root + "/real/file"));
    EXPECT_THAT(real_places({root + "/alias"}), ElementsAre(root + "/real/file", root + "/alias"));
    EXPECT_THAT(real_places({root + "/way/"}), ElementsAre(root + "/real", root + "/way"));
    EXPECT_THAT(real_places({root + "/way/none/there"}), ElementsAre(root + "/real/none/there"));
    fs::create_directories(folder / "far/inner");
    fs::create_symlink(folder / "far/inner", folder / "link");
    EXPECT_THAT(real_places({root + "/link/../x"}), ElementsAre(root + "/far/x"));
    EXPECT_THAT(real_places({root + "/link/.."}), ElementsAre(root + "/far"));
    EXPECT_THAT(real_places({"", "/"}), ElementsAre("/"));
    EXPECT_TRUE(lies_in("/a/b", "/a") && lies_in("/a", "/a") && lies_in("/a", "/"));
    EXPECT_FALSE(lies_in("/ab", "/a") || lies_in("/", "/a"));
}

}  // namespace
}  // namespace assent
