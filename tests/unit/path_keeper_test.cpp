// File tools under path permissions: what was swapped after it was judged is judged again once it is open.
#include "tools/path_keeper.hpp"
#include "files/workspace_files.hpp"
#include "tools/file_work.hpp"

#include "temp_folder.hpp"

#include <assent/tools.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

namespace assent {
namespace {

namespace fs = std::filesystem;

class Kept : public testing::Test {
protected:
    Kept() : workspace(*Workspace::open(base.path().string())) {
        base.put("secrets/key", "secret");
        base.put("secrets/sub/key", "secret");
        base.put("free/key", "free");
        base.put("free/sub/key", "free");
        fs::create_directory_symlink("free", base / "link");
    }
    void rule(PathMode mode, const char* pattern = "/secrets/**") {
        workspace = workspace.with_permissions(
            {{.operations = {PathOperation::read, PathOperation::write}, .paths = {pattern}, .mode = mode}});
    }
    void swap_link() const {
        fs::remove(base / "link");
        fs::create_directory_symlink("secrets", base / "link");
    }
    [[nodiscard]] FileCall with(const Arguments& arguments, bool approved = false) const {
        return {.files = *files, .arguments = arguments, .rules = {.rules = workspace.rules(), .approved = approved}};
    }

    TempFolder base;
    Workspace workspace;
    std::shared_ptr<const WorkspaceFiles> files = workspace.files(nullptr);
};

Arguments arguments(const std::string& json) {
    auto parsed = Arguments::parse(json);
    EXPECT_TRUE(parsed.ok()) << json;
    return parsed.ok() ? *parsed : Arguments();
}

TEST_F(Kept, ALinkThatIsSwappedAfterItWasJudgedOpensNothing) {
    using Use = std::function<Failure(const WorkspaceFiles&, const Admit&)>;
    const auto failure = [](const auto& result) { return result.ok() ? Failure{} : result.failure(); };
    struct Row {
        const char* name;
        PathUse use;
        const char* path;
        Use open;
    };
    const Row rows[] = {
        {"read", PathUse::read, "link/key",
         [&](const auto& folder, const auto& admit) { return failure(folder.read("link/key", admit)); }},
        {"list", PathUse::search, "link",
         [&](const auto& folder, const auto& admit) { return failure(folder.list("link", admit)); }},
        {"walk", PathUse::search, "link",
         [&](const auto& folder, const auto& admit) {
             return failure(folder.walk("link", [](const TreeEntry&) { return Walking::on; }, admit));
         }},
        {"write", PathUse::write, "link/key",
         [&](const auto& folder, const auto& admit) {
             return failure(folder.write("link/key", "evil", std::nullopt, admit));
         }},
        {"write a new file", PathUse::write, "link/new",
         [&](const auto& folder, const auto& admit) {
             return failure(folder.write("link/new", "evil", std::nullopt, admit));
         }},
        {"make folders", PathUse::write, "link/a/b/new",
         [&](const auto& folder, const auto& admit) {
             return failure(folder.write("link/a/b/new", "evil", std::nullopt, admit));
         }},
        {"remove a file", PathUse::remove, "link/key",
         [&](const auto& folder, const auto& admit) { return failure(folder.remove("link/key", {}, admit)); }},
        {"remove a folder", PathUse::remove, "link/sub",
         [&](const auto& folder, const auto& admit) { return failure(folder.remove("link/sub", {}, admit)); }},
    };
    for (const auto mode : {PathMode::deny, PathMode::interrupt}) {
        rule(mode);
        for (const auto& row : rows) {
            fs::remove(base / "link");
            fs::create_directory_symlink("free", base / "link");
            PathKeeper keeper({.rules = workspace.rules()}, *files, {.use = row.use, .path = row.path});
            ASSERT_FALSE(keeper.refusal()) << row.name;
            swap_link();
            const auto refused = row.open(*files, keeper.admit());
            EXPECT_THAT(refused.message, testing::HasSubstr(mode == PathMode::deny ? "permission denied for "
                                                                                   : "a person has to be asked about"))
                << row.name;
        }
    }
    EXPECT_EQ(base.get("secrets/key"), "secret");
    EXPECT_EQ(base.get("secrets/sub/key"), "secret");
    std::vector<std::string> there;
    for (const auto& entry : fs::directory_iterator(base / "secrets")) there.push_back(entry.path().filename());
    EXPECT_THAT(there, testing::UnorderedElementsAre("key", "sub"));
}

TEST_F(Kept, FurtherRulesHoldBesideTheOthers) {
    rule(PathMode::deny);
    const auto further = workspace.with_further_permissions(
        {{.operations = {PathOperation::read}, .paths = {"/secrets/**"}, .mode = PathMode::allow},
         {.operations = {PathOperation::read}, .paths = {"/free/sub/**"}, .mode = PathMode::deny}});
    ASSERT_EQ(further.all_rules().size(), 2U);
    const PathKeeper::Rules above{.rules = further.all_rules()[0].get()};
    const PathKeeper::Rules rules{.rules = further.all_rules()[1].get(), .besides = &above};
    const auto with_both = [&](auto work, const char* json) {
        const auto given = arguments(json);
        return work(FileCall{.files = *files, .arguments = given, .rules = rules}).text;
    };
    EXPECT_EQ(with_both(read_file, R"({"file_path":"secrets/key"})"),
              "Error: permission denied for read on secrets/key");
    EXPECT_EQ(with_both(read_file, R"({"file_path":"free/sub/key"})"),
              "Error: permission denied for read on free/sub/key");
    EXPECT_EQ(with_both(list_folder, "{}"), "/free/\n/link/\n");
    EXPECT_EQ(with_both(list_folder, R"({"path":"free"})"), "free/key\n");
    PathKeeper keeper(rules, *files, {.use = PathUse::read, .path = "link/key"});
    ASSERT_FALSE(keeper.refusal());
    swap_link();
    EXPECT_FALSE(files->read("link/key", keeper.admit()).ok()) << "the rules above judge what was opened, too";
}

TEST_F(Kept, ALinkThatIsMadeAtTheEndOfThePathIsNotWrittenThrough) {
    rule(PathMode::deny);
    PathKeeper keeper({.rules = workspace.rules()}, *files, {.use = PathUse::write, .path = "free/key"});
    ASSERT_FALSE(keeper.refusal());
    fs::remove(base / "free/key");
    fs::create_symlink("../secrets/key", base / "free/key");
    EXPECT_FALSE(files->write("free/key", "evil", std::nullopt, keeper.admit()).ok());
    EXPECT_EQ(base.get("secrets/key"), "secret");
}

TEST_F(Kept, AFileThatBecomesAFolderIsNotDeletedAsAFile) {
    workspace = workspace.with_permissions(
        {{.operations = {PathOperation::write}, .paths = {"/free/key"}, .mode = PathMode::allow},
         {.operations = {PathOperation::write}, .paths = {"/free/**"}, .mode = PathMode::deny}});
    PathKeeper keeper({.rules = workspace.rules()}, *files, {.use = PathUse::remove, .path = "free/key"});
    ASSERT_FALSE(keeper.refusal());
    fs::remove(base / "free/key");
    base.put("free/key/inner", "kept");
    EXPECT_FALSE(files->remove("free/key", {}, keeper.admit()).ok());
    EXPECT_EQ(base.get("free/key/inner"), "kept");
}

TEST_F(Kept, ResultsDoNotNameWhatMayNotBeRead) {
    rule(PathMode::deny);
    swap_link();
    fs::create_symlink("secrets/key", base / "file");
    base.put("text", "free and secret");
    EXPECT_EQ(list_folder(with(arguments("{}"))).text, "/free/\n/text\n");
    EXPECT_EQ(find_files(with(arguments(R"({"pattern":"*"})"))).text, "/free/key\n/free/sub/key\n/text\n");
    EXPECT_EQ(search_files(with(arguments(R"({"pattern":"secret"})"))).text, "/text\n");
    fs::remove(base / "text");
    EXPECT_EQ(search_files(with(arguments(R"({"pattern":"secret"})"))).text, "No matches found");
    // A hint would tell that files were passed over.
    EXPECT_EQ(search_files(with(arguments(R"({"pattern":"^secret.*"})"))).text, "No matches found");
    rule(PathMode::deny, "/**");
    workspace = workspace.with_permissions(
        {{.operations = {PathOperation::read}, .paths = {"/free", "/secrets/sub/**"}, .mode = PathMode::allow},
         {.operations = {PathOperation::read}, .paths = {"/free/**", "/secrets/**"}, .mode = PathMode::deny}});
    EXPECT_EQ(list_folder(with(arguments(R"({"path":"free"})"))).text, "No files found");
    EXPECT_EQ(find_files(with(arguments(R"({"pattern":"key"})"))).text, "/secrets/sub/key\n");
}

TEST_F(Kept, WithoutAnApprovalNothingIsDoneWhereARuleAsks) {
    rule(PathMode::interrupt);
    const auto write = arguments(R"({"file_path":"/secrets/key","content":"new"})");
    EXPECT_EQ(
        write_file(with(write)).text,
        "Error: a person has to be asked about '/secrets/key' and was not; nothing was done, call the tool again");
    EXPECT_EQ(base.get("secrets/key"), "secret");
    EXPECT_EQ(write_file(with(write, true)).text, "Updated file /secrets/key");
    EXPECT_EQ(base.get("secrets/key"), "new");
    EXPECT_TRUE(search_files(with(arguments(R"({"pattern":"new"})"))).is_error);
    EXPECT_EQ(search_files(with(arguments(R"({"pattern":"new"})"), true)).text, "/secrets/key\n");
}

TEST_F(Kept, FoldersAreMadeForAnAllowedFile) {
    workspace = workspace.with_permissions(
        {{.operations = {PathOperation::write}, .paths = {"/new/deep/a.txt"}, .mode = PathMode::allow},
         {.operations = {PathOperation::write}, .paths = {"/**"}, .mode = PathMode::deny}});
    EXPECT_TRUE(write_file(with(arguments(R"({"file_path":"new/deep/b.txt","content":""})"))).is_error);
    EXPECT_FALSE(fs::exists(base / "new"));
    EXPECT_EQ(write_file(with(arguments(R"({"file_path":"new/deep/a.txt","content":"x"})"))).text,
              "Updated file new/deep/a.txt");
}

TEST_F(Kept, EachToolKeepsTheRules) {
    rule(PathMode::deny);
    struct Row {
        ToolResult (*work)(const FileCall&);
        const char* arguments;
        const char* text;
    };
    for (const auto& row : {
             Row{read_file, R"({"file_path":"secrets/key"})", "Error: permission denied for read on secrets/key"},
             Row{write_file, R"({"file_path":"/secrets/x/y","content":""})",
                 "Error: permission denied for write on /secrets/x/y"},
             Row{edit_file, R"({"file_path":"/SECRETS/key","old_string":"s","new_string":"t"})",
                 "Error: permission denied for write on /SECRETS/key"},
             Row{delete_file, R"({"file_path":"/secrets"})",
                 "Error: permission denied for write on /secrets (matches deny rule(s): /secrets/**)"},
             Row{list_folder, R"({"path":"secrets/"})", "Error: permission denied for read on secrets/"},
             Row{find_files, R"({"path":"./secrets","pattern":"*"})", "Error: permission denied for read on ./secrets"},
             Row{search_files, R"({"path":"secrets/key","pattern":"s"})",
                 "Error: permission denied for read on secrets/key"},
         }) {
        const auto result = row.work(with(arguments(row.arguments)));
        EXPECT_EQ(result.text, row.text);
        EXPECT_TRUE(result.is_error);
    }
}

}  // namespace
}  // namespace assent
