// glob, grep and delete_file: what they find and take away, and what they leave.
#include "files/confined_folder.hpp"
#include "files/folder_path.hpp"
#include "tools/file_work.hpp"

#include "support/fakes.hpp"
#include "temp_folder.hpp"

#include <assent/tools.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/stat.h>

namespace assent {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::StartsWith;

Arguments arguments(const std::string& json) {
    auto parsed = Arguments::parse(json);
    EXPECT_TRUE(parsed.ok()) << json;
    return parsed.ok() ? *parsed : Arguments();
}

struct Row {
    const char* call;
    std::string text;
    bool is_error = false;
};

class Search : public testing::Test {
protected:
    Search() : workspace(*Workspace::open(base.path().string())) {}

    [[nodiscard]] ToolResult glob(const std::string& json) const {
        return find_files({.files = *workspace.files(nullptr), .arguments = arguments(json)});
    }
    [[nodiscard]] ToolResult grep(const std::string& json) const {
        return search_files({.files = *workspace.files(nullptr), .arguments = arguments(json)});
    }
    [[nodiscard]] ToolResult remove(const std::string& json, std::stop_token stop = {}) const {
        return delete_file({.files = *workspace.files(nullptr), .arguments = arguments(json), .stop = std::move(stop)});
    }

    TempFolder base;
    Workspace workspace;
};

// The time passes with each look at it.
class HurryingClock final : public Clock {
public:
    UnixMillis now() const override { return 0; }
    std::int64_t monotonic() const override { return time_ += 1'000; }

private:
    mutable std::int64_t time_ = 0;
};

TEST_F(Search, GlobFindsFilesByTheirPaths) {
    for (const auto* name : {"a.txt", "b.md", "src/a.txt", "src/deep/er/a.txt", "src/x1.cpp", "src/x2.hpp",
                             ".hidden/a.txt", "src/.dot.txt", "src/\n.txt"})
        base.put(name, "x");
    fs::create_directory(base / "empty");
    fs::create_directory_symlink("src", base / "link");
    for (const auto& row : {
             Row{R"({"pattern":"a.txt"})", "/a.txt\n/src/a.txt\n/src/deep/er/a.txt\n"},
             Row{R"({"pattern":"*.txt","path":"src"})", "src/\\n.txt\nsrc/a.txt\nsrc/deep/er/a.txt\n"},
             Row{R"({"pattern":"*.txt","path":"."})", "a.txt\nsrc/\\n.txt\nsrc/a.txt\nsrc/deep/er/a.txt\n"},
             Row{R"({"pattern":"src/*.txt"})", "/src/\\n.txt\n/src/a.txt\n"},
             Row{R"({"pattern":"/src/**/a.txt"})", "/src/a.txt\n/src/deep/er/a.txt\n"},
             Row{R"({"pattern":"/src/**/a.txt","path":"/src/deep"})", "/src/deep/er/a.txt\n"},
             Row{R"({"pattern":"/a.txt","path":"/src"})", "No files found"},
             Row{R"({"pattern":"deep/*/a.txt","path":"/src/"})", "/src/deep/er/a.txt\n"},
             Row{R"({"pattern":"x[0-9].{cpp,hpp}"})", "/src/x1.cpp\n/src/x2.hpp\n"},
             Row{R"({"pattern":".*.txt"})", "/src/.dot.txt\n"},
             Row{R"({"pattern":".hidden/*"})", "/.hidden/a.txt\n"},
             Row{R"({"pattern":"link"})", "/link\n"},
             Row{R"({"pattern":"link/*"})", "No files found"},
             Row{R"({"pattern":"*.txt","path":"link/deep"})", "link/deep/er/a.txt\n"},
             Row{R"({"pattern":"*","path":null})",
                 "/a.txt\n/b.md\n/link\n/src/\\n.txt\n/src/a.txt\n/src/deep/er/a.txt\n"
                 "/src/x1.cpp\n/src/x2.hpp\n"},
             Row{R"({"pattern":"*","path":"empty"})", "No files found"},
             Row{R"({"pattern":"*","path":"none"})", "Error: Path 'none' not found", true},
             Row{R"({"pattern":"*","path":"a.txt"})", "Error: 'a.txt' is not a folder", true},
             Row{R"({"pattern":"*","path":"/.."})", "Error: the path '/..' leads out of the folder", true},
             Row{R"({"pattern":"../*"})", "Error: the pattern '../*' cannot be used: must not contain '..'", true},
             Row{R"({"pattern":"[a"})",
                 "Error: the pattern '[a' cannot be used: a [ has no ] behind it in its name; write [[] for the "
                 "character",
                 true},
             Row{R"({"pattern":""})", "Error: the pattern is empty", true},
             Row{R"({})", "Error: argument 'pattern' is missing", true},
         }) {
        const auto result = glob(row.call);
        EXPECT_EQ(result.text, row.text) << row.call;
        EXPECT_EQ(result.is_error, row.is_error) << row.call;
    }
}

TEST_F(Search, GrepFindsTextAsItIsWritten) {
    base.put("a.txt", "one\r\ntwo one one\nthree\n");
    base.put("src/b.txt", "no\n\n\none.*");
    base.put("src/.env", "ONE=one");
    base.put("binary", std::string("one\0one", 7));
    base.put("latin", "one \xe9");
    fs::create_symlink("a.txt", base / "link.txt");
    for (const auto& row : {
             Row{R"({"pattern":"one"})", "/a.txt\n/src/.env\n/src/b.txt\n"},
             Row{R"({"pattern":"one","output_mode":"content"})",
                 "/a.txt:\n  1: one\n  2: two one one\n/src/.env:\n  1: ONE=one\n/src/b.txt:\n  4: one.*\n"},
             Row{R"({"pattern":"one","output_mode":"count","path":"/"})", "/a.txt: 2\n/src/.env: 1\n/src/b.txt: 1\n"},
             Row{R"({"pattern":"one","glob":"*.txt"})", "/a.txt\n/src/b.txt\n"},
             Row{R"({"pattern":"one","glob":"src/*"})", "/src/b.txt\n"},
             Row{R"({"pattern":"one","path":"src","glob":null})", "src/.env\nsrc/b.txt\n"},
             Row{R"({"pattern":"one","path":"a.txt","output_mode":"count"})", "a.txt: 2\n"},
             Row{R"({"pattern":"one","path":"link.txt"})", "link.txt\n"},
             Row{R"({"pattern":"one.*"})", "/src/b.txt\n"},
             Row{R"({"pattern":"One"})", "No matches found"},
             Row{R"({"pattern":"fo+.*"})",
                 "No matches found\nThe pattern is looked for as it is written; it looks like a "
                 "regular expression."},
             Row{R"({"pattern":"one","output_mode":"content","max_count":1})",
                 "/a.txt:\n  1: one\n[not all: there are more matches than max_count]\n"},
             Row{R"({"pattern":"one","max_count":3})", "/a.txt\n/src/.env\n/src/b.txt\n"},
             Row{R"({"pattern":"one","path":"none"})", "Error: Path 'none' not found", true},
             Row{R"({"pattern":"one","path":"a.txt/x"})", "Error: 'a.txt/x' leads through a file", true},
             Row{R"({"pattern":"a\nb"})", "Error: argument 'pattern' must be a text within one line", true},
             Row{R"({"pattern":"one","max_count":0})", "Error: argument 'max_count' must be 1 or more", true},
             Row{R"({"pattern":"one","output_mode":"x"})",
                 "Error: argument 'output_mode' must be files_with_matches, content or count", true},
         }) {
        const auto result = grep(row.call);
        EXPECT_EQ(result.text, row.text) << row.call;
        EXPECT_EQ(result.is_error, row.is_error) << row.call;
    }
}

TEST_F(Search, UnfinishedWritesAreNeverFound) {
    base.put(std::string(unfinished_prefix) + "0123456789abcdef/x.txt", "one");
    base.put(std::string(unfinished_prefix) + "0123456789abcdee", "one");
    EXPECT_EQ(glob(R"({"pattern":".*"})").text, "No files found");
    EXPECT_EQ(grep(R"({"pattern":"one"})").text, "No matches found");
}

TEST_F(Search, LinksBelowAreNotFollowed) {
    const TempFolder outside;
    outside.put("secret.txt", "secret");
    fs::create_directory_symlink(outside.path(), base / "out");
    base.put("in/a.txt", "secret");
    fs::create_directory_symlink("..", base / "in/up");
    EXPECT_EQ(glob(R"({"pattern":"*.txt"})").text, "/in/a.txt\n");
    EXPECT_EQ(grep(R"({"pattern":"secret"})").text, "/in/a.txt\n");
    EXPECT_THAT(glob(R"({"pattern":"*","path":"out"})").text, HasSubstr("which is absolute"));
}

TEST_F(Search, EndsWithWhatItHas) {
    for (int i = 0; i < 20; ++i) base.put("f" + std::to_string(i), "one\n");
    const auto late = arguments(R"({"pattern":"*"})");
    HurryingClock clock;
    auto result = find_files({.files = *workspace.files(nullptr), .arguments = late, .clock = clock});
    EXPECT_THAT(result.text, StartsWith("/f0\n/f1\n"));
    EXPECT_THAT(result.text,
                HasSubstr("[not all: the search took longer than 10 s; give a narrower path or pattern]\n"));
    EXPECT_THAT(result.text, testing::Not(HasSubstr("/f9\n")));
    std::stop_source stop;
    stop.request_stop();
    result = search_files({.files = *workspace.files(nullptr), .arguments = late, .stop = stop.get_token()});
    EXPECT_EQ(result.text, "No matches found\n[not all: the search was told to stop]\n");
    EXPECT_TRUE(result.cancelled);
}

TEST_F(Search, ResultsAreNoLongerThanAModelReads) {
    base.put("long", std::string(2000, 'x') + "\n");
    EXPECT_LT(grep(R"({"pattern":"xx","output_mode":"content"})").text.size(), 600U);
    std::string many;
    for (int i = 0; i < 10'000; ++i) many += "a line with some text\n";
    base.put("many", many);
    const auto lines = grep(R"({"pattern":"some","output_mode":"content","max_count":100000})");
    EXPECT_LT(lines.text.size(), read_result_bytes_max + 1000);
    EXPECT_THAT(lines.text, HasSubstr("[not all: the result is full; give a narrower path or pattern]"));
    for (int i = 0; i < 500; ++i) base.put("d/" + std::string(200, 'n') + std::to_string(i), "");
    const auto files = glob(R"({"pattern":"n*"})");
    EXPECT_LT(files.text.size(), read_result_bytes_max + 1000);
    EXPECT_THAT(files.text, HasSubstr("[not all: the result is full; give a narrower path or pattern]"));
}

TEST_F(Search, DeleteTakesAFileALinkOrAFolderWithAllInIt) {
    base.put("a.txt", "");
    base.put("tree/x/y/z", "");
    base.put("tree/.hidden", "");
    base.put("kept/k", "");
    fs::create_directory_symlink("../kept", base / "tree/link");
    fs::create_directory_symlink("kept", base / "link");
    fs::create_symlink("nowhere", base / "dangling");
    for (const auto& row : {
             Row{R"({"file_path":"a.txt"})", "Deleted a.txt"},
             Row{R"({"file_path":"/tree"})", "Deleted /tree"},
             Row{R"({"file_path":"link"})", "Deleted link"},
             Row{R"({"file_path":"dangling"})", "Deleted dangling"},
             Row{R"({"file_path":"a.txt"})", "Error: File 'a.txt' not found", true},
             Row{R"({"file_path":"none/x"})", "Error: File 'none/x' not found", true},
             Row{R"({"file_path":"kept/k/"})", "Error: 'kept/k/' is not a folder", true},
             Row{R"({"file_path":"/"})", "Error: the folder itself cannot be deleted, only what is in it", true},
             Row{R"({"file_path":"../x"})", "Error: the path '../x' leads out of the folder", true},
         }) {
        const auto result = remove(row.call);
        EXPECT_EQ(result.text, row.text) << row.call;
        EXPECT_EQ(result.is_error, row.is_error) << row.call;
    }
    EXPECT_TRUE(fs::exists(base / "kept/k"));
    std::vector<std::string> left;
    for (const auto& entry : fs::directory_iterator(base.path())) left.push_back(entry.path().filename());
    EXPECT_EQ(left, std::vector<std::string>{"kept"});
}

TEST_F(Search, DeleteToldToStopPutsBackWhatIsLeft) {
    base.put("tree/a", "");
    base.put("tree/b", "");
    std::stop_source stop;
    stop.request_stop();
    const auto result = remove(R"({"file_path":"tree"})", stop.get_token());
    EXPECT_EQ(result.text, "Error: 'tree' was not deleted, or only in part: it was told to stop");
    EXPECT_TRUE(result.cancelled);
    EXPECT_TRUE(fs::exists(base / "tree/a"));
}

TEST_F(Search, DeleteOfTooDeepFoldersSaysSo) {
    std::string deep = "tree";
    for (int i = 0; i < 140; ++i) deep += "/d";
    base.put(deep + "/f", "");
    const auto result = remove(R"({"file_path":"tree"})");
    EXPECT_EQ(result.text, "Error: 'tree' was not deleted, or only in part: its folders are too deep");
    EXPECT_TRUE(fs::exists(base / (deep + "/f")));
    EXPECT_THAT(glob(R"({"pattern":"*"})").text, HasSubstr("No files found\n[not all: a folder could not be read"));
}

}  // namespace
}  // namespace assent
