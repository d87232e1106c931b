#include "files/confined_folder.hpp"
#include "files/folder_path.hpp"

#include "temp_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <atomic>
#include <thread>

namespace assent {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

// Every test runs with both ways of resolving: they must mean the same.
class Confined : public testing::TestWithParam<PathWay> {
protected:
    Confined() {
        fs::create_directory(base / "in");
        fs::create_directory(base / "out");
        base.put("out/secret", "secret");
        auto opened = ConfinedFolder::open((base / "in").string(), GetParam());
        EXPECT_TRUE(opened.ok());
        folder = *opened;
    }

    void put(const std::string& name, const std::string& bytes) const { base.put("in/" + name, bytes); }
    [[nodiscard]] std::string get(const std::string& name) const { return base.get("in/" + name); }
    void link(const std::string& target, const std::string& name) const {
        fs::create_directories((base / "in" / name).parent_path());
        fs::create_symlink(target, base / "in" / name);
    }
    [[nodiscard]] std::vector<std::string> names(const std::string& path = "in") const {
        std::vector<std::string> out;
        for (const auto& entry : fs::directory_iterator(base / path)) out.push_back(entry.path().filename());
        std::sort(out.begin(), out.end());
        return out;
    }
    [[nodiscard]] mode_t mode(const std::string& name) const {
        struct stat facts{};
        stat((base / "in" / name).c_str(), &facts);
        return facts.st_mode & 07777;
    }

    TempFolder base;
    std::shared_ptr<const ConfinedFolder> folder;
};

INSTANTIATE_TEST_SUITE_P(BothWays, Confined, testing::Values(PathWay::openat2, PathWay::walk),
                         [](const auto& row) { return row.param == PathWay::openat2 ? "Openat2" : "Walk"; });

TEST_P(Confined, SlashAndNoSlashAreTheSamePlace) {
    put("a/b.txt", "text");
    for (const char* path : {"a/b.txt", "/a/b.txt", "//a//b.txt", "./a/./b.txt", "a/x/../b.txt", "x/../a/b.txt"}) {
        const auto read = folder->read(path);
        ASSERT_TRUE(read.ok()) << path << ": " << read.failure().message;
        EXPECT_EQ(read->bytes, "text") << path;
    }
}

TEST_P(Confined, RefusesPathsThatMeanNothingInside) {
    put("file", "x");
    struct Row {
        std::string path;
        const char* problem;
    };
    for (const auto& row : {
             Row{"", "the path is empty"},
             Row{"..", "leads out of the folder"},
             Row{"../out/secret", "leads out of the folder"},
             Row{"/../out/secret", "leads out of the folder"},
             Row{"a/../../out/secret", "leads out of the folder"},
             Row{std::string("file\0x", 6), "has a NUL byte"},
             Row{std::string(5000, 'x'), "too long"},
             Row{std::string(300, 'x'), "too long"},
             Row{".assent-tmp-x", "reserved"},
             Row{"file/x", "leads through a file"},
             Row{"file/", "is not a folder"},
             Row{"nothing", "'nothing' does not exist"},
             Row{"/", "is a folder"},
         }) {
        const auto read = folder->read(row.path);
        ASSERT_FALSE(read.ok()) << row.path;
        EXPECT_THAT(read.failure().message, HasSubstr(row.problem));
    }
    EXPECT_EQ(folder->read("nothing").failure().kind, FailureKind::not_found);
    EXPECT_THAT(folder->write("a/", "x").failure().message, HasSubstr("names a folder"));
    EXPECT_THAT(folder->write("../x", "x").failure().message, HasSubstr("leads out"));
    EXPECT_THAT(folder->write("file/x", "x").failure().message, HasSubstr("leads through a file"));
    EXPECT_FALSE(fs::exists(base / "x"));
}

TEST_P(Confined, FollowsRelativeLinksThatStayInside) {
    put("a/b.txt", "text");
    link("a/b.txt", "file");
    link("a", "folder");
    link("../a/./b.txt", "c/up");
    link("file", "twice");
    link("folder/../a//b.txt", "around");
    for (const char* path : {"file", "folder/b.txt", "c/up", "twice", "around"}) {
        const auto read = folder->read(path);
        ASSERT_TRUE(read.ok()) << path << ": " << read.failure().message;
        EXPECT_EQ(read->bytes, "text") << path;
    }
}

TEST_P(Confined, RefusesLinksThatLeadOutAndSaysWhichKind) {
    put("d/file", "x");
    link("../out/secret", "out");
    link("../out", "folder");
    link("../../out/secret", "d/up");
    link((base / "in/d/file").string(), "absolute_inside");
    link((base / "out").string(), "absolute");
    link("loop", "loop");
    link("nothing", "dangling");
    struct Row {
        const char* path;
        const char* problem;
    };
    for (const auto& row : {
             Row{"out", "leads out of the folder by the link 'out'"},
             Row{"folder/secret", "leads out of the folder by the link 'folder'"},
             Row{"d/up", "leads out of the folder by the link 'up'"},
             Row{"absolute/secret", "leads through the link 'absolute', which is absolute"},
             Row{"absolute_inside", "which is absolute"},
             Row{"loop", "too many links"},
             Row{"dangling", "does not exist"},
         }) {
        const auto read = folder->read(row.path);
        ASSERT_FALSE(read.ok()) << row.path;
        EXPECT_THAT(read.failure().message, HasSubstr(row.problem)) << row.path;
    }
    EXPECT_THAT(folder->list("folder").failure().message, HasSubstr("leads out"));
}

TEST_P(Confined, RefusesMagicLinks) {
    const auto self = ConfinedFolder::open("/proc/self", GetParam());
    ASSERT_TRUE(self.ok());
    EXPECT_THAT((*self)->read("exe").failure().message, HasSubstr("a magic link of the kernel"));
    EXPECT_THAT((*self)->read("cwd/x").failure().message, HasSubstr("a magic link of the kernel"));
    EXPECT_TRUE((*self)->read("stat").ok());
}

TEST_P(Confined, ReadsRegularFilesOnly) {
    ASSERT_EQ(mkfifo((base / "in/fifo").c_str(), 0600), 0);
    link("fifo", "to_fifo");
    for (const char* path : {"fifo", "to_fifo"})
        EXPECT_THAT(folder->read(path).failure().message, HasSubstr("no regular file"));
    EXPECT_THAT(folder->write("fifo", "x").failure().message, HasSubstr("no regular file"));
    EXPECT_THAT(folder->write("to_fifo", "x").failure().message, HasSubstr("no regular file"));
    const auto devices = ConfinedFolder::open("/dev", GetParam());
    ASSERT_TRUE(devices.ok());
    EXPECT_THAT((*devices)->read("null").failure().message, HasSubstr("no regular file"));
}

TEST_P(Confined, ReadsUpToTheLimitAndNoFurther) {
    put("big", "");
    fs::resize_file(base / "in/big", file_bytes_max);
    EXPECT_EQ(folder->read("big")->bytes.size(), file_bytes_max);
    fs::resize_file(base / "in/big", file_bytes_max + 1);
    EXPECT_THAT(folder->read("big").failure().message, HasSubstr("at most 16777216 are read"));
    EXPECT_THAT(folder->write("big", std::string(file_bytes_max + 1, 'x')).failure().message,
                HasSubstr("at most 16777216 are written"));
}

TEST_P(Confined, ListsSortedWithDotFilesAndWithoutUnfinishedWrites) {
    put("b", "");
    put("a/x", "");
    put(".dot", "");
    put("B", "");
    put(".assent-tmp-0123456789abcdef", "");
    link("a", "link");
    link("../out", "out");
    link("nothing", "dangling");
    const auto list = folder->list("/");
    ASSERT_TRUE(list.ok());
    EXPECT_EQ(list->entries, (std::vector<FolderEntry>{{".dot", false},
                                                       {"B", false},
                                                       {"a", true},
                                                       {"b", false},
                                                       {"dangling", false, true},
                                                       {"link", true, true},
                                                       {"out", false, true}}));
    EXPECT_EQ(folder->list("link")->entries, (std::vector<FolderEntry>{{"x", false}}));
    EXPECT_EQ(folder->list("nothing").failure().kind, FailureKind::not_found);
    EXPECT_THAT(folder->list("b").failure().message, HasSubstr("'b' is not a folder"));
}

TEST_P(Confined, WritesNewFilesAndTheirFolders) {
    ASSERT_TRUE(folder->write("/a/b/c.txt", "one").ok());
    EXPECT_EQ(get("a/b/c.txt"), "one");
    ASSERT_TRUE(folder->write("a/b/c.txt", "two").ok());
    EXPECT_EQ(get("a/b/c.txt"), "two");
    EXPECT_EQ(names("in/a/b"), std::vector<std::string>{"c.txt"});
    const auto mask = umask(0);
    umask(mask);
    EXPECT_EQ(mode("a/b/c.txt"), 0666 & ~mask);
    EXPECT_THAT(folder->write("a/b", "x").failure().message, HasSubstr("is a folder"));
    EXPECT_EQ(names("in/a"), std::vector<std::string>{"b"});
}

TEST_P(Confined, KeepsTheModeOfAReplacedFile) {
    for (const mode_t kept : {0600, 0640, 0755, 0666}) {
        put("file", "old");
        ASSERT_EQ(chmod((base / "in/file").c_str(), kept), 0);
        ASSERT_TRUE(folder->write("file", "new").ok());
        EXPECT_EQ(get("file"), "new");
        EXPECT_EQ(mode("file"), kept);
    }
    ASSERT_EQ(chmod((base / "in/file").c_str(), 04755), 0);
    ASSERT_TRUE(folder->write("file", "new").ok());
    EXPECT_EQ(mode("file"), 0755U);
}

TEST_P(Confined, KeepsTheOwnersMarksOfAReplacedFile) {
    put("file", "old");
    const auto path = (base / "in/file").string();
    const bool marks = setxattr(path.c_str(), "user.mark", "m", 1, 0) == 0;
    ASSERT_EQ(chown(path.c_str(), geteuid() == 0 ? 4321 : geteuid(), getegid()), 0);
    ASSERT_TRUE(folder->write("file", "new").ok());
    struct stat facts{};
    ASSERT_EQ(stat(path.c_str(), &facts), 0);
    EXPECT_EQ(facts.st_uid, geteuid() == 0 ? 4321U : geteuid());
    char value = 0;
    EXPECT_EQ(getxattr(path.c_str(), "user.mark", &value, 1), marks ? 1 : -1);
}

TEST_P(Confined, DoesNotReplaceAWriteProtectedFile) {
    put("file", "old");
    ASSERT_EQ(chmod((base / "in/file").c_str(), 0444), 0);
    const auto done = folder->write("file", "new");
    // The mode does not bind root, here as for any other program.
    EXPECT_EQ(done.ok(), geteuid() == 0);
    EXPECT_EQ(get("file"), geteuid() == 0 ? "new" : "old");
}

TEST_P(Confined, WritesThroughALinkOnlyIfItsRealPlaceIsInside) {
    put("a/file", "old");
    link("a/file", "inside");
    link("../a/new", "b/create");
    link("../out/secret", "outside");
    link((base / "out/secret").string(), "absolute");
    link("a", "to_folder");
    link("../out", "d");
    ASSERT_TRUE(folder->write("inside", "new").ok());
    EXPECT_EQ(get("a/file"), "new");
    EXPECT_TRUE(fs::is_symlink(base / "in/inside"));
    ASSERT_TRUE(folder->write("b/create", "made").ok());
    EXPECT_EQ(get("a/new"), "made");
    EXPECT_THAT(folder->write("outside", "x").failure().message, HasSubstr("leads out of the folder"));
    EXPECT_THAT(folder->write("absolute", "x").failure().message, HasSubstr("absolute"));
    EXPECT_THAT(folder->write("to_folder", "x").failure().message, HasSubstr("is a folder"));
    EXPECT_THAT(folder->write("d/new", "x").failure().message, HasSubstr("leads out of the folder"));
    EXPECT_THAT(folder->write("d/new/deep", "x").failure().message, HasSubstr("leads out of the folder"));
    EXPECT_EQ(base.get("out/secret"), "secret");
    EXPECT_EQ(names("out"), std::vector<std::string>{"secret"});
}

TEST_P(Confined, NeverWritesOutsideWhileFoldersAndLinksAreSwapped) {
    fs::create_directory(base / "in/d");
    link("../out", "link");
    std::atomic<bool> stop = false;
    std::thread swapper([&] {
        const auto d = (base / "in/d").string();
        const auto other = (base / "in/link").string();
        while (!stop) renameat2(AT_FDCWD, d.c_str(), AT_FDCWD, other.c_str(), RENAME_EXCHANGE);
    });
    int written = 0;
    int refused = 0;
    for (int i = 0; i < 20'000 && (i < 400 || written == 0 || refused == 0); ++i) {
        (folder->write("d/f" + std::to_string(i % 3), "inside").ok() ? written : refused) += 1;
        const auto read = folder->read("d/secret");
        EXPECT_FALSE(read.ok());
    }
    stop = true;
    swapper.join();
    EXPECT_GT(written, 0);
    EXPECT_GT(refused, 0);
    EXPECT_EQ(names("out"), std::vector<std::string>{"secret"});
    for (const char* place : {"in/d", "in/link"})
        for (const auto& name : names(place)) EXPECT_THAT(name, testing::Not(testing::StartsWith(".assent")));
}

TEST_P(Confined, RefusesAWriteOverAStateThatWasNotRead) {
    put("file", "one");
    const auto read = folder->read("file");
    ASSERT_TRUE(read.ok());
    put("file", "other");
    EXPECT_THAT(folder->write("file", "two", read->stamp).failure().message, HasSubstr("changed by somebody else"));
    EXPECT_EQ(get("file"), "other");
    ASSERT_TRUE(folder->write("file", "two", folder->read("file")->stamp).ok());
    EXPECT_EQ(get("file"), "two");
    EXPECT_EQ(names(), std::vector<std::string>{"file"});
}

TEST_P(Confined, SweepsUnfinishedWritesOfTheDeadOnly) {
    put(".assent-tmp-0000000000000000", "orphan");
    put(".assent-tmp-1111111111111111", "being written");
    put(".assent-tmp-notes", "not ours");
    const int held = open((base / "in/.assent-tmp-1111111111111111").c_str(), O_WRONLY | O_CLOEXEC);
    ASSERT_EQ(flock(held, LOCK_EX | LOCK_NB), 0);
    ASSERT_TRUE(folder->write("file", "x").ok());
    EXPECT_EQ(names(), (std::vector<std::string>{".assent-tmp-1111111111111111", ".assent-tmp-notes", "file"}));
    close(held);
}

TEST_P(Confined, SweepsUnfinishedRemovalsOfTheDeadOnly) {
    put(".assent-tmp-0000000000000000/a/b", "orphan");
    put(".assent-tmp-1111111111111111/a", "being removed");
    const int held = open((base / "in/.assent-tmp-1111111111111111").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    ASSERT_EQ(flock(held, LOCK_EX | LOCK_NB), 0);
    ASSERT_TRUE(folder->write("file", "x").ok());
    EXPECT_EQ(names(), (std::vector<std::string>{".assent-tmp-1111111111111111", "file"}));
    close(held);
}

TEST_P(Confined, RemovesThroughLinksThatStayInsideOnly) {
    put("real/a", "");
    put("real/tree/b", "");
    link("real", "link");
    link("../out", "away");
    EXPECT_TRUE(folder->remove("link/a").ok());
    EXPECT_TRUE(folder->remove("link/tree/").ok());
    EXPECT_THAT(folder->remove("away/secret").failure().message, HasSubstr("leads out of the folder"));
    EXPECT_EQ(folder->remove("real/none").failure().kind, FailureKind::not_found);
    EXPECT_TRUE(folder->remove("away").ok());
    EXPECT_EQ(names(), (std::vector<std::string>{"link", "real"}));
    EXPECT_EQ(names("in/real"), std::vector<std::string>{});
    EXPECT_EQ(base.get("out/secret"), "secret");
}

TEST(ConfinedFolderOpen, SaysWhyAFolderCannotBeUsed) {
    const TempFolder base;
    base.put("file", "x");
    fs::create_directory(base / "real");
    fs::create_directory_symlink("real", base / "link");
    EXPECT_EQ((*ConfinedFolder::open((base / "link").string()))->real_path(), (base / "real").string());
    const auto missing = ConfinedFolder::open((base / "missing").string());
    EXPECT_EQ(missing.failure().kind, FailureKind::tool);
    EXPECT_THAT(missing.failure().message, HasSubstr("does not exist; create it first"));
    EXPECT_THAT(ConfinedFolder::open((base / "file").string()).failure().message, HasSubstr("is not a folder"));
    EXPECT_THAT(ConfinedFolder::open("").failure().message, HasSubstr("empty"));
}

TEST(ConfinedFolderOpen, UsesOpenat2WhereTheKernelHasIt) {
    // The suite for openat2 above means something only then.
    EXPECT_TRUE(kernel_has_openat2());
}

}  // namespace
}  // namespace assent
