// Workspaces: a folder, the thread, several as one. The file tools say and do the same in each.
#include "files/workspace_files.hpp"
#include "gate/open_files.hpp"
#include "temp_folder.hpp"
#include "tools/file_work.hpp"

#include <assent/agent.hpp>
#include <assent/memory.hpp>
#include <assent/tools.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assent {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

struct Step {
    ToolResult (*work)(const FileCall&);
    const char* arguments;
};

// A story that meets every tool; what each says is compared between kinds of workspace.
constexpr Step story[] = {
    {list_folder, "{}"},
    {read_file, R"({"file_path":"a.txt"})"},
    {write_file, R"({"file_path":"a.txt","content":"one\ntwo\n"})"},
    {write_file, R"({"file_path":"/dir/b.txt","content":"two"})"},
    {write_file, R"({"file_path":"dir/sub/c.md","content":""})"},
    {write_file, R"({"file_path":"dir-x/d.txt","content":"two"})"},
    {write_file, R"({"file_path":"dir/.hidden","content":"two"})"},
    {write_file, R"({"file_path":"dir","content":"x"})"},
    {write_file, R"({"file_path":"dir/","content":"x"})"},
    {write_file, R"({"file_path":"a.txt/x","content":"x"})"},
    {write_file, R"({"file_path":"../x","content":"x"})"},
    {write_file, R"({"file_path":"","content":"x"})"},
    {write_file, R"({"file_path":"a.txt","content":"one\ntwo\nthree\n"})"},
    {read_file, R"({"file_path":"/a.txt"})"},
    {read_file, R"({"file_path":"./dir/../a.txt","offset":1,"limit":1})"},
    {read_file, R"({"file_path":"dir/sub/c.md"})"},
    {read_file, R"({"file_path":"dir"})"},
    {read_file, R"({"file_path":"a.txt/"})"},
    {read_file, R"({"file_path":"a.txt/b"})"},
    {read_file, R"({"file_path":"none/b"})"},
    {list_folder, "{}"},
    {list_folder, R"({"path":"dir"})"},
    {list_folder, R"({"path":"/dir/"})"},
    {list_folder, R"({"path":"a.txt"})"},
    {list_folder, R"({"path":"none"})"},
    {find_files, R"({"pattern":"**"})"},
    {find_files, R"({"pattern":"*.txt"})"},
    {find_files, R"({"pattern":"sub/*","path":"dir"})"},
    {find_files, R"({"pattern":"/dir/*","path":"dir"})"},
    {find_files, R"({"pattern":"*","path":"none"})"},
    {search_files, R"({"pattern":"two"})"},
    {search_files, R"({"pattern":"two","output_mode":"content","glob":"*.txt"})"},
    {search_files, R"({"pattern":"two","path":"dir/b.txt","output_mode":"count"})"},
    {search_files, R"({"pattern":"four"})"},
    {edit_file, R"({"file_path":"a.txt","old_string":"two","new_string":"2"})"},
    {edit_file, R"({"file_path":"a.txt","old_string":"two","new_string":"2"})"},
    {edit_file, R"({"file_path":"none","old_string":"two","new_string":"2"})"},
    {edit_file, R"({"file_path":"dir","old_string":"two","new_string":"2"})"},
    {read_file, R"({"file_path":"a.txt"})"},
    {delete_file, R"({"file_path":"none"})"},
    {delete_file, R"({"file_path":"dir/sub"})"},
    {delete_file, R"({"file_path":"dir/b.txt/"})"},
    {delete_file, R"({"file_path":"dir/b.txt"})"},
    {find_files, R"({"pattern":"**/*"})"},
    {delete_file, R"({"file_path":"dir"})"},
    {delete_file, R"({"file_path":"/"})"},
    {find_files, R"({"pattern":"**"})"},
};

Arguments arguments(const std::string& json) {
    auto parsed = Arguments::parse(json);
    EXPECT_TRUE(parsed.ok()) << json;
    return parsed.ok() ? *parsed : Arguments();
}

class Told {
public:
    explicit Told(Workspace workspace) : workspace_(std::move(workspace)) {}

    ToolResult operator()(const Step& step) {
        FilesOfCall thread(files_, "attempt");
        const auto files = workspace_.files(&thread);
        return step.work(
            {.files = *files, .arguments = arguments(step.arguments), .rules = {.rules = workspace_.rules()}});
    }
    [[nodiscard]] std::vector<std::string> in_thread() const { return files_->paths(); }

private:
    Workspace workspace_;
    std::shared_ptr<OpenFiles> files_ = std::make_shared<OpenFiles>();
};

TEST(WorkspaceKinds, SayAndDoTheSame) {
    const TempFolder base;
    base.put("beside/x", "");
    fs::create_directory(base / "folder");
    fs::create_directory(base / "first");
    const auto folder = *Workspace::open((base / "folder").string());
    Told in_folder(folder);
    Told in_thread(Workspace::in_thread());
    int errors = 0;
    for (const auto& step : story) {
        const auto wanted = in_folder(step);
        errors += wanted.is_error ? 1 : 0;
        const auto told = in_thread(step);
        EXPECT_EQ(told.text, wanted.text) << step.arguments;
        EXPECT_EQ(told, wanted) << step.arguments;
    }
    EXPECT_GT(errors, 15);
    EXPECT_EQ(in_thread.in_thread(), (std::vector<std::string>{"/a.txt", "/dir-x/d.txt"}));
    EXPECT_EQ(base.get("folder/a.txt"), "one\n2\nthree\n");
}

TEST(WorkspaceKinds, TheThreadKeepsTextsOnly) {
    Told in_thread(Workspace::in_thread());
    EXPECT_THAT(in_thread({write_file, R"({"file_path":"/a\u0000","content":""})"}).text, HasSubstr("NUL"));
    EXPECT_EQ(in_thread({write_file, R"({"file_path":"a","content":"nul \u0000"})"}).text, "Updated file a");
    EXPECT_THAT(in_thread({read_file, R"({"file_path":"a"})"}).text, HasSubstr("its 5 bytes in base64"));
    const auto nobody = Workspace::in_thread().files(nullptr);
    EXPECT_EQ(nobody->write("a", "x").failure().message, "the files of the thread are not known here");
    EXPECT_EQ(nobody->read("a").failure().kind, FailureKind::not_found);
    EXPECT_TRUE(nobody->list("/")->entries.empty());
}

class Joined : public testing::Test {
protected:
    Joined() {
        base.put("first/a.txt", "in the first");
        base.put("first/memories/hidden.txt", "in the first");
        base.put("second/b.txt", "in the second");
        base.put("second/deep/c.txt", "in the second");
        whole = open("first").with("/memories", Workspace::in_thread()).with("/shared/docs", open("second"));
    }
    [[nodiscard]] Workspace open(const std::string& name) const { return *Workspace::open((base / name).string()); }

    TempFolder base;
    Workspace whole = Workspace::in_thread();
};

TEST_F(Joined, EachPathGoesToItsPart) {
    Told told(whole);
    EXPECT_EQ(told({write_file, R"({"file_path":"/memories/m.txt","content":"in the thread"})"}).text,
              "Updated file /memories/m.txt");
    EXPECT_EQ(told.in_thread(), std::vector<std::string>{"/m.txt"});
    EXPECT_EQ(told({write_file, R"({"file_path":"shared/docs/new/d.txt","content":"in the second"})"}).text,
              "Updated file shared/docs/new/d.txt");
    EXPECT_EQ(base.get("second/new/d.txt"), "in the second");
    EXPECT_EQ(told({write_file, R"({"file_path":"memories-x/a","content":"in the first"})"}).text,
              "Updated file memories-x/a");
    EXPECT_EQ(base.get("first/memories-x/a"), "in the first");
    EXPECT_EQ(told({read_file, R"({"file_path":"/memories/m.txt"})"}).text, "     1\tin the thread\n");
    EXPECT_TRUE(told({read_file, R"({"file_path":"/memories/hidden.txt"})"}).is_error);
    EXPECT_EQ(told({list_folder, "{}"}).text, "/a.txt\n/memories/\n/memories-x/\n/shared/\n");
    EXPECT_EQ(told({list_folder, R"({"path":"/shared"})"}).text, "/shared/docs/\n");
    EXPECT_EQ(told({list_folder, R"({"path":"/shared/docs"})"}).text,
              "/shared/docs/b.txt\n/shared/docs/deep/\n/shared/docs/new/\n");
    EXPECT_EQ(told({find_files, R"({"pattern":"*"})"}).text,
              "/a.txt\n/memories-x/a\n/memories/m.txt\n/shared/docs/b.txt\n/shared/docs/deep/c.txt\n"
              "/shared/docs/new/d.txt\n");
    EXPECT_EQ(told({find_files, R"({"pattern":"*","path":"shared"})"}).text,
              "shared/docs/b.txt\nshared/docs/deep/c.txt\nshared/docs/new/d.txt\n");
    EXPECT_EQ(told({find_files, R"({"pattern":"/*.txt"})"}).text, "/a.txt\n");
    EXPECT_EQ(told({search_files, R"({"pattern":"in the thread"})"}).text, "/memories/m.txt\n");
    EXPECT_EQ(told({search_files, R"({"pattern":"in the second","path":"shared/docs/deep"})"}).text,
              "shared/docs/deep/c.txt\n");
    EXPECT_EQ(told({delete_file, R"({"file_path":"/shared/docs/deep"})"}).text, "Deleted /shared/docs/deep");
    EXPECT_FALSE(fs::exists(base / "second/deep"));
}

TEST_F(Joined, AFolderThatHoldsAWorkspaceStays) {
    Told told(whole);
    for (const auto* path : {"/memories", "/shared", "/shared/docs/", "/"}) {
        const auto result = told({delete_file, (R"({"file_path":")" + std::string(path) + R"("})").c_str()});
        EXPECT_EQ(result.text, "Error: '" + std::string(path) + "' holds a workspace of its own and cannot be deleted");
    }
    EXPECT_TRUE(told({write_file, R"({"file_path":"shared","content":""})"}).is_error);
    EXPECT_TRUE(fs::exists(base / "second/b.txt"));
}

TEST_F(Joined, PermissionsSpeakOfTheWhole) {
    fs::create_symlink("deep", base / "second/link");
    whole = whole.with_permissions(
        {{.operations = {PathOperation::read, PathOperation::write},
          .paths = {"/shared/docs/deep/**"},
          .mode = PathMode::deny},
         {.operations = {PathOperation::write}, .paths = {"/memories/**"}, .mode = PathMode::deny}});
    Told told(whole);
    EXPECT_EQ(told({read_file, R"({"file_path":"/shared/docs/deep/c.txt"})"}).text,
              "Error: permission denied for read on /shared/docs/deep/c.txt");
    EXPECT_EQ(told({read_file, R"({"file_path":"/shared/docs/link/c.txt"})"}).text,
              "Error: permission denied for read on /shared/docs/link/c.txt");
    EXPECT_EQ(told({write_file, R"({"file_path":"/memories/m","content":""})"}).text,
              "Error: permission denied for write on /memories/m");
    EXPECT_EQ(told({find_files, R"({"pattern":"*"})"}).text, "/a.txt\n/shared/docs/b.txt\n");
    EXPECT_EQ(told({list_folder, R"({"path":"/shared/docs"})"}).text, "/shared/docs/b.txt\n");
}

TEST_F(Joined, IsOnlyMadeOfWhatCanBeJoined) {
    const auto first = open("first");
    const auto refusal = [&](const std::string& prefix, const Workspace& other) -> std::string {
        try {
            (void)first.with("/taken", other).with(prefix, other);
            return "made";
        } catch (const ConfigError& error) {
            return error.what();
        }
    };
    const auto thread = Workspace::in_thread();
    for (const auto* prefix : {"", "/", "memories", "/../x", "/a/../b"}) {
        EXPECT_EQ(refusal(prefix, thread),
                  "the prefix of a workspace must be a path such as /memories: '" + std::string(prefix) + "'");
    }
    EXPECT_EQ(refusal("/taken/", thread), "two workspaces are at '/taken/'");
    EXPECT_EQ(refusal("/taken/below", thread), "made");
    EXPECT_EQ(refusal("/x", first), "made");
    const auto ruled =
        first.with_permissions({{.operations = {PathOperation::read}, .paths = {"/x"}, .mode = PathMode::deny}});
    try {
        (void)first.with("/x", ruled);
        ADD_FAILURE() << "permissions were lost";
    } catch (const ConfigError& error) {
        EXPECT_STREQ(error.what(), "the workspace at '/x' has permissions; give them to the whole instead");
    }
    EXPECT_TRUE(whole.keeps_in_thread("/memories/x"));
    EXPECT_TRUE(whole.keeps_in_thread("memories/./x"));
    EXPECT_FALSE(whole.keeps_in_thread("/memories-x"));
    EXPECT_FALSE(whole.keeps_in_thread("/memories/../a"));
    EXPECT_FALSE(whole.keeps_in_thread("/../memories"));
    EXPECT_TRUE(thread.keeps_in_thread("/a"));
}

class InThread : public testing::Test {
protected:
    using Files = std::map<std::string, std::string>;

    static std::string turn(const std::string& tool, const std::string& arguments) {
        return R"({"calls":[{"id":"c","name":")" + tool + R"(","arguments":)" + arguments + "}]},";
    }
    Agent agent(const std::string& turns, const Workspace& workspace = Workspace::in_thread()) {
        return Agent({.model = *scripted_model("the test", R"({"turns":[)" + turns + R"({"text":"done"}]})"),
                      .tools = {read_file_tool(workspace), write_file_tool(workspace), edit_file_tool(workspace),
                                delete_file_tool(workspace)},
                      .guards = {path_guard(workspace)},
                      .checkpointer = &store,
                      .thread_id = "t"});
    }
    static Workspace asking() {
        return Workspace::in_thread().with_permissions(
            {{.operations = {PathOperation::write}, .paths = {"/asked/**"}, .mode = PathMode::interrupt},
             {.operations = {PathOperation::write}, .paths = {"/logs/*"}, .mode = PathMode::allow},
             {.operations = {PathOperation::write}, .paths = {"/logs/**", "/secrets/**"}, .mode = PathMode::deny}});
    }

    MemoryCheckpointer store;
};

TEST_F(InThread, ARunGivesItsFiles) {
    auto agent = this->agent(turn("write_file", R"({"file_path":"/a.txt","content":"one"})") +
                             turn("edit_file", R"({"file_path":"a.txt","old_string":"one","new_string":"two"})") +
                             turn("write_file", R"({"file_path":"b/c.txt","content":"x"})"));
    const auto run = agent.prompt("go");
    EXPECT_EQ(run.status, RunStatus::done);
    EXPECT_EQ(run.files, (Files{{"/a.txt", "two"}, {"/b/c.txt", "x"}}));
    EXPECT_EQ(*agent.files(), run.files);
    EXPECT_EQ(*this->agent("").files(), Files{}) << "nothing was read yet";
    auto other = this->agent(turn("read_file", R"({"file_path":"/a.txt"})"));
    // Turns 1 to 4 are behind it.
    EXPECT_EQ(other.resume().files, run.files);
}

TEST_F(InThread, AFileIsThereOnceItIsApprovedAndNotIfItIsRejected) {
    const auto write = turn("write_file", R"({"file_path":"/asked/a","content":"x"})");
    auto agent = this->agent(write + write, asking());
    auto run = agent.prompt("go");
    ASSERT_EQ(run.interrupts.size(), 1U);
    EXPECT_TRUE(run.files.empty());
    run = agent.resume({{run.interrupts[0].id, deny("no")}});
    ASSERT_EQ(run.interrupts.size(), 1U);
    EXPECT_TRUE(run.files.empty());
    // Somebody else goes on.
    auto other = this->agent(write + write, asking());
    run = other.resume({{run.interrupts[0].id, edit(R"({"file_path":"/free/b","content":"y"})")}});
    EXPECT_EQ(run.status, RunStatus::done);
    EXPECT_EQ(run.files, (Files{{"/free/b", "y"}}));
}

TEST_F(InThread, AKnownFileIsDeletedByTheFirstRuleAndAFolderByNone) {
    auto agent = this->agent(turn("write_file", R"({"file_path":"/logs/a","content":"x"})") +
                                 turn("write_file", R"({"file_path":"/secrets/a","content":"x"})") +
                                 turn("delete_file", R"({"file_path":"/logs"})") +
                                 turn("delete_file", R"({"file_path":"/logs/a"})"),
                             asking());
    const auto run = agent.prompt("go");
    ASSERT_EQ(run.calls.size(), 4U);
    EXPECT_EQ(run.calls[0].text, "Updated file /logs/a");
    EXPECT_EQ(run.calls[1].text, "Error: permission denied for write on /secrets/a");
    EXPECT_EQ(run.calls[2].text, "Error: permission denied for write on /logs (matches deny rule(s): /logs/**)");
    EXPECT_EQ(run.calls[3].text, "Deleted /logs/a");
    EXPECT_TRUE(run.files.empty());
}

TEST_F(InThread, WhatAnEditCostsDoesNotGrowWithTheFile) {
    const auto line = [](int n) { return "line " + std::to_string(n); };
    std::string content;
    for (int n = 100; n < 900; ++n) content += line(n) + "\\n";
    std::string turns = turn("write_file", R"({"file_path":"/a","content":")" + content + R"("})");
    for (int n = 100; n < 140; ++n)
        turns += turn("edit_file", R"({"file_path":"/a","old_string":")" + line(n) + R"(","new_string":"edited"})");
    auto agent = this->agent(turns);
    const auto run = agent.prompt("go");
    ASSERT_EQ(run.status, RunStatus::done);
    EXPECT_TRUE(run.files.at("/a").starts_with("edited\nedited\n"));
    std::size_t bytes = 0;
    for (const auto& row : *store.load("t", 0)) bytes += row.body.size();
    // What was written stands in the model's turn, in the prepared call and in the change.
    EXPECT_LT(bytes, 4 * content.size() + 40 * std::size_t{1500});
}

}  // namespace
}  // namespace assent
