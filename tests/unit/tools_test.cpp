#include "files/confined_folder.hpp"
#include "tools/call_arguments.hpp"
#include "tools/file_work.hpp"
#include "tools/number_lines.hpp"
#include "tools/replace_text.hpp"
#include "tools/shell_work.hpp"

#include "temp_folder.hpp"
#include "without.hpp"

#include <assent/tools.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/stat.h>

#include <filesystem>

namespace assent {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::StartsWith;

Arguments arguments(const std::string& json) {
    auto parsed = Arguments::parse(json);
    EXPECT_TRUE(parsed.ok()) << json;
    return parsed.ok() ? *parsed : Arguments();
}

class FileTools : public testing::Test {
protected:
    FileTools() : workspace(*Workspace::open(base.path().string())) {}

    [[nodiscard]] ToolResult read(const std::string& json) const {
        return read_file({.files = *workspace.files(nullptr), .arguments = arguments(json)});
    }
    [[nodiscard]] ToolResult write(const std::string& json) const {
        return write_file({.files = *workspace.files(nullptr), .arguments = arguments(json)});
    }
    [[nodiscard]] ToolResult edit(const std::string& json) const {
        return edit_file({.files = *workspace.files(nullptr), .arguments = arguments(json)});
    }
    [[nodiscard]] ToolResult ls(const std::string& json) const {
        return list_folder({.files = *workspace.files(nullptr), .arguments = arguments(json)});
    }

    TempFolder base;
    Workspace workspace;
};

TEST(WorkspaceOpen, KnowsItsRealPathOrSaysWhyNot) {
    const TempFolder base;
    base.put("file", "");
    std::filesystem::create_directory(base / "real");
    std::filesystem::create_directory_symlink("real", base / "link");
    EXPECT_EQ(Workspace::open((base / "link/.").string())->path(), (base / "real").string());
    EXPECT_EQ(Workspace::open((base / "none").string()).failure().kind, FailureKind::tool);
    EXPECT_THAT(Workspace::open((base / "file").string()).failure().message, HasSubstr("is not a folder"));
}

TEST_F(FileTools, ReadFileGivesNumberedLines) {
    base.put("a.txt", "one\ntwo\r\nthree\n\nfive");
    base.put("empty", "");
    base.put("binary", std::string("\0\x01\x02\xff", 4));
    base.put("nul", std::string("a\0b", 3));
    base.put("latin", "caf\xe9\n");
    struct Row {
        const char* call;
        const char* text;
        bool is_error;
    };
    for (const auto& row : {
             Row{R"({"file_path":"a.txt"})", "     1\tone\n     2\ttwo\n     3\tthree\n     4\t\n     5\tfive\n",
                 false},
             Row{R"({"file_path":"/a.txt","offset":1,"limit":2})",
                 "     2\ttwo\n     3\tthree\n[2 lines more; go on with offset 3]\n", false},
             Row{R"({"file_path":"a.txt","offset":3.0,"limit":1e0})", "     4\t\n[1 line more; go on with offset 4]\n",
                 false},
             Row{R"({"file_path":"a.txt","offset":-7,"limit":1})",
                 "[offset -7 is before the beginning; read from 0]\n     1\tone\n[4 lines more; go on with offset 1]\n",
                 false},
             Row{R"({"file_path":"a.txt","offset":5})", "Error: Line offset 5 exceeds file length (5 lines)", true},
             Row{R"({"file_path":"a.txt","offset":9007199254740993})",
                 "Error: Line offset 9007199254740993 exceeds file length (5 lines)", true},
             Row{R"({"file_path":"a.txt","limit":0})",
                 "System reminder: with a limit of 0 no lines are read; give a limit of 1 or more.", false},
             Row{R"({"file_path":"a.txt","limit":-3})",
                 "System reminder: with a limit of -3 no lines are read; give a limit of 1 or more.", false},
             Row{R"({"file_path":"empty"})", "System reminder: the file 'empty' exists, but it is empty.", false},
             Row{R"({"file_path":"binary"})", "'binary' is no text; its 4 bytes in base64:\nAAEC/w==", false},
             Row{R"({"file_path":"latin"})", "'latin' is no text; its 5 bytes in base64:\nY2Fm6Qo=", false},
             Row{R"({"file_path":"nul"})", "'nul' is no text; its 3 bytes in base64:\nYQBi", false},
             Row{R"({"file_path":"none"})", "Error: File 'none' not found", true},
             Row{R"({"file_path":"../x"})", "Error: the path '../x' leads out of the folder", true},
             Row{R"({"file_path":""})", "Error: the path is empty", true},
             Row{R"({"file_path":"."})", "Error: '.' is a folder", true},
             Row{R"({"file_path":5})", "Error: argument 'file_path' must be a text", true},
             Row{R"({})", "Error: argument 'file_path' is missing", true},
             Row{R"({"file_path":"a.txt","offset":"1"})", "Error: argument 'offset' must be a whole number", true},
             Row{R"({"file_path":"a.txt","offset":1.5})", "Error: argument 'offset' must be a whole number", true},
             Row{R"({"file_path":"a.txt","offset":1e300})", "Error: argument 'offset' must be a whole number", true},
             Row{R"({"file_path":"a.txt","limit":null})", "Error: argument 'limit' must be a whole number", true},
             Row{R"({"file_path":"a.txt","path":"b"})", "Error: argument 'path' is not known to this tool", true},
         }) {
        const auto result = read(row.call);
        EXPECT_EQ(result.text, row.text) << row.call;
        EXPECT_EQ(result.is_error, row.is_error) << row.call;
    }
}

TEST_F(FileTools, ReadFileStopsWhereTheResultWouldBeTooLong) {
    std::string many;
    for (int i = 0; i < 100; ++i) many += std::string(1990, 'x') + "\n";
    base.put("many", many);
    const auto result = read(R"({"file_path":"many"})");
    EXPECT_LT(result.text.size(), read_result_bytes_max + 100);
    EXPECT_THAT(result.text, testing::EndsWith("[60 lines more; go on with offset 40]\n"));
    base.put("long", std::string(200'000, 'x') + "\nend\n");
    const auto cut = read(R"({"file_path":"long"})");
    EXPECT_LT(cut.text.size(), read_result_bytes_max + 200);
    EXPECT_THAT(cut.text, HasSubstr("[line 1 is longer than what can be shown; the rest is cut]\n"
                                    "[1 line more; go on with offset 1]\n"));
    base.put("image", std::string(binary_bytes_max + 1, '\0'));
    EXPECT_THAT(read(R"({"file_path":"image"})").text, HasSubstr("at most 60000 can be shown"));
}

TEST(NumberLines, SplitsLongLinesBetweenCharactersWithMarkers) {
    std::string line;
    for (std::size_t i = 0; i < line_characters_max; ++i) line += "é";
    const std::string text = "a\n" + line + line + "z\nb\n";
    const auto lines = split_lines(text);
    const auto numbered = number_lines(lines, 4, 1'000'000);
    EXPECT_EQ(numbered.lines, 3U);
    EXPECT_EQ(numbered.text, "     4\ta\n     5\t" + line + "\n   5.1\t" + line + "\n   5.2\tz\n     6\tb\n");
    EXPECT_EQ(number_lines(lines, 1234567, 20).text, "1234567\ta\n");
    EXPECT_EQ(split_lines("\r\na\r\n\rb\r").size(), 3U);
    EXPECT_EQ(split_lines("a\r").front(), "a\r");
}

TEST_F(FileTools, WriteFileCreatesAndReplaces) {
    auto result = write(R"({"file_path":"/new/deep/a.txt","content":"one\r\ntwo\u0000"})");
    EXPECT_EQ(result.text, "Updated file /new/deep/a.txt");
    EXPECT_FALSE(result.is_error);
    EXPECT_EQ(base.get("new/deep/a.txt"), std::string("one\r\ntwo\0", 9));
    result = write(R"({"file_path":"new/deep/a.txt","content":""})");
    EXPECT_EQ(result.text, "Updated file new/deep/a.txt");
    EXPECT_EQ(result.details,
              R"({"bytes":0,"sha256":"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"})");
    EXPECT_EQ(base.get("new/deep/a.txt"), "");
    for (const char* call : {R"({"file_path":"new","content":""})", R"({"file_path":"../x","content":""})",
                             R"({"file_path":"a"})", R"({"file_path":"a","content":"","mode":"0777"})"}) {
        result = write(call);
        EXPECT_TRUE(result.is_error) << call;
        EXPECT_THAT(result.text, StartsWith("Error: ")) << call;
    }
    EXPECT_FALSE(std::filesystem::exists(base / "a"));
}

TEST_F(FileTools, EditFileReplacesOneOrAll) {
    struct Row {
        const char* before;
        const char* call;
        const char* text;
        const char* after;
    };
    for (const auto& row : {
             Row{"a b c", R"({"file_path":"f","old_string":"b","new_string":"x"})",
                 "Successfully replaced 1 instance(s) of the string in 'f'", "a x c"},
             Row{"a b a", R"({"file_path":"f","old_string":"a","new_string":"aa","replace_all":true})",
                 "Successfully replaced 2 instance(s) of the string in 'f'", "aa b aa"},
             Row{"a b a", R"({"file_path":"f","old_string":"a","new_string":"x"})",
                 "Error: String 'a' appears 2 times in file; give more of the text around it, or set replace_all to "
                 "true",
                 "a b a"},
             Row{"abc", R"({"file_path":"f","old_string":"x","new_string":"y"})",
                 "Error: String not found in file: 'x'", "abc"},
             Row{"abc", R"({"file_path":"f","old_string":"c\n","new_string":"y"})",
                 "Error: String not found in file: 'c\n'\nWithout the line feed at its end it is there.", "abc"},
             Row{"abc", R"({"file_path":"f","old_string":"","new_string":"y"})",
                 "Error: old_string is empty; use write_file to create a file", "abc"},
             Row{"a.c", R"({"file_path":"f","old_string":".","new_string":"$0\\1"})",
                 "Successfully replaced 1 instance(s) of the string in 'f'", "a$0\\1c"},
             Row{"abc", R"({"file_path":"f","old_string":"abc","new_string":""})",
                 "Successfully replaced 1 instance(s) of the string in 'f'", ""},
             Row{"caf\xe9", R"({"file_path":"f","old_string":"c","new_string":"x"})",
                 "Error: 'f' is no UTF-8 text and cannot be edited", "caf\xe9"},
             Row{"abc", R"({"file_path":"g","old_string":"b","new_string":"x"})", "Error: File 'g' not found", "abc"},
             Row{"abc", R"({"file_path":"f","old_string":"b","new_string":"x","replace_all":"true"})",
                 "Error: argument 'replace_all' must be true or false", "abc"},
         }) {
        base.put("f", row.before);
        EXPECT_EQ(edit(row.call).text, row.text) << row.call;
        EXPECT_EQ(base.get("f"), row.after) << row.call;
    }
}

TEST(ReplaceText, KeepsTheLineEndsOfThePlace) {
    struct Row {
        const char* name;
        const char* file;
        const char* old_text;
        const char* new_text;
        bool all;
        std::size_t count;
        const char* after;
    };
    for (const auto& row : {
             Row{"lf pattern", "a\r\nb\r\nc\r\n", "a\nb", "x\ny", false, 1, "x\r\ny\r\nc\r\n"},
             Row{"crlf pattern", "a\r\nb\r\nc\r\n", "a\r\nb", "x\r\ny", false, 1, "x\r\ny\r\nc\r\n"},
             Row{"more lines", "a\r\nb\r\n", "b", "b\nc\nd", false, 1, "a\r\nb\r\nc\r\nd\r\n"},
             Row{"fewer lines", "a\r\nb\r\nc", "a\nb\n", "", false, 1, "c"},
             Row{"last line", "a\r\nb", "b", "b\nc", false, 1, "a\r\nb\r\nc"},
             Row{"one line end", "a\r\nb\r\n", "a\n", "a\n\n", false, 1, "a\r\n\r\nb\r\n"},
             Row{"mixed, lf place", "a\nb\r\nc\n", "a", "a\nx", false, 1, "a\nx\nb\r\nc\n"},
             Row{"mixed, crlf place", "a\nb\r\nc\n", "b", "b\nx", false, 1, "a\nb\r\nx\r\nc\n"},
             Row{"mixed, two places", "a\nb\r\na\r\nb\n", "a\nb", "x\ny", true, 2, "x\ny\r\nx\r\ny\n"},
             Row{"mixed, which one", "a\nb\r\na\r\nb\n", "a\nb", "x", false, 2, ""},
             Row{"lf file, lf stays", "a\nb\n", "b", "b\nc", false, 1, "a\nb\nc\n"},
             Row{"lf file, crlf pattern", "a\nb\n", "a\r\nb", "x", false, 0, ""},
             Row{"lf file, crlf wanted", "a\nb\n", "b", "b\r\nc", false, 1, "a\nb\r\nc\n"},
             Row{"lone cr", "a\rb\r\nc", "a\rb", "x", false, 1, "x\r\nc"},
             Row{"half a crlf", "a\r\nb", "a\r", "x", false, 1, "x\nb"},
             Row{"cr before crlf", "a\r\r\nb", "a\r\nb", "x", false, 0, ""},
             Row{"not overlapping", "aaa", "aa", "x", true, 1, "xa"},
             Row{"grows in place", "aXaXa", "X", "XX", true, 2, "aXXaXXa"},
             Row{"whole", "a\r\n", "a\n", "", false, 1, ""},
         }) {
        const auto replaced = replace_text(row.file, row.old_text, row.new_text, row.all);
        EXPECT_EQ(replaced.count, row.count) << row.name;
        EXPECT_EQ(replaced.text, row.after) << row.name;
    }
}

TEST(ReplaceText, IsQuickOnOneVeryLongLine) {
    std::string file = "first\r\n";
    for (int i = 0; i < 1'000'000; ++i) file += "ab";
    const auto replaced = replace_text(file, "a", "c", true);
    EXPECT_EQ(replaced.count, 1'000'000U);
    EXPECT_EQ(replaced.text.size(), file.size());
}

TEST_F(FileTools, LsGivesPathsThatTheOtherToolsTake) {
    EXPECT_EQ(ls("{}").text, "No files found");
    base.put("src/b.cpp", "");
    base.put("src/.hidden", "");
    base.put("src/sub/x", "");
    base.put("a\nb", "");
    struct Row {
        const char* call;
        const char* text;
        bool is_error;
    };
    for (const auto& row : {
             Row{"{}", "/a\\nb\n/src/\n", false},
             Row{R"({"path":"/"})", "/a\\nb\n/src/\n", false},
             Row{R"({"path":"."})", "a\\nb\nsrc/\n", false},
             Row{R"({"path":"src"})", "src/.hidden\nsrc/b.cpp\nsrc/sub/\n", false},
             Row{R"({"path":"/src/"})", "/src/.hidden\n/src/b.cpp\n/src/sub/\n", false},
             Row{R"({"path":"none"})", "Error: Path 'none' not found", true},
             Row{R"({"path":"src/b.cpp"})", "Error: 'src/b.cpp' is not a folder", true},
             Row{R"({"path":"/.."})", "Error: the path '/..' leads out of the folder", true},
         }) {
        const auto result = ls(row.call);
        EXPECT_EQ(result.text, row.text) << row.call;
        EXPECT_EQ(result.is_error, row.is_error) << row.call;
    }
}

TEST(ToolSpecs, HaveSchemasThatAreClosedAndNameTheirArguments) {
    struct Row {
        ToolSpec spec;
        const char* name;
        bool read_only;
        std::vector<std::string> required;
    };
    for (const auto& row : {
             Row{read_file_spec(), "read_file", true, {"file_path"}},
             Row{write_file_spec(), "write_file", false, {"file_path", "content"}},
             Row{edit_file_spec(), "edit_file", false, {"file_path", "old_string", "new_string"}},
             Row{delete_file_spec(), "delete_file", false, {"file_path"}},
             Row{ls_spec(), "ls", true, {}},
             Row{glob_spec(), "glob", true, {"pattern"}},
             Row{grep_spec(), "grep", true, {"pattern"}},
             Row{shell_spec(), "shell", false, {"command"}},
         }) {
        EXPECT_EQ(row.spec.name, row.name);
        EXPECT_EQ(row.spec.read_only, row.read_only);
        EXPECT_FALSE(row.spec.description.empty());
        const auto schema = JsonText::parse(row.spec.schema);
        ASSERT_TRUE(schema.ok()) << row.name << ": " << schema.failure().message;
        EXPECT_EQ(schema->root().find("additionalProperties")->text, "false");
        const auto* properties = schema->root().find("properties");
        ASSERT_NE(properties, nullptr);
        for (const auto& property : properties->items) EXPECT_NE(property.find("description"), nullptr) << row.name;
        std::vector<std::string> required;
        if (const auto* node = schema->root().find("required"))
            for (const auto& item : node->items) required.push_back(item.string);
        EXPECT_EQ(required, row.required);
    }
}

class ShellTool : public testing::Test {
protected:
    [[nodiscard]] ToolResult run(const std::string& command) const {
        return run_command(options, arguments(R"({"command":)" + json_quote(command) + "}"), "", {});
    }

    TempFolder base;
    ShellOptions options{.workspace = *Workspace::open(base.path().string()), .helper = ASSENT_EXEC_HELPER};
};

TEST_F(ShellTool, LabelsTheStreamsAndTellsTheStatus) {
    struct Row {
        const char* command;
        std::string text;
        bool is_error;
        const char* details;
    };
    for (const auto& row : {
             Row{"echo out; printf err >&2; exit 3", "stdout:\nout\nstderr:\nerr\nexit status: 3", true,
                 R"({"exit_status":3,"signal":null,"timed_out":false,"cancelled":false,"cut_bytes":0})"},
             Row{"true", "(no output)\nexit status: 0", false,
                 R"({"exit_status":0,"signal":null,"timed_out":false,"cancelled":false,"cut_bytes":0})"},
             Row{"pwd", "stdout:\n" + base.path().string() + "\nexit status: 0", false,
                 R"({"exit_status":0,"signal":null,"timed_out":false,"cancelled":false,"cut_bytes":0})"},
             Row{"kill -9 $$", "(no output)\nended by signal: 9", true,
                 R"({"exit_status":null,"signal":9,"timed_out":false,"cancelled":false,"cut_bytes":0})"},
             Row{"printf 'a\\377b'", "stdout:\na\\xffb\nexit status: 0", false,
                 R"({"exit_status":0,"signal":null,"timed_out":false,"cancelled":false,"cut_bytes":0})"},
         }) {
        const auto result = run(row.command);
        EXPECT_EQ(result.text, row.text) << row.command;
        EXPECT_EQ(result.is_error, row.is_error) << row.command;
        EXPECT_EQ(result.details, row.details) << row.command;
        EXPECT_FALSE(result.unknown) << row.command;
    }
}

TEST_F(ShellTool, TellsWhatWasCutStoppedOrNotWatched) {
    options.output_bytes_max = 10;
    options.time_limit = 300ms;
    auto result = run("printf 01234567890123456789");
    EXPECT_EQ(result.text, "stdout:\n01234\n[… 10 bytes cut …]\n56789\nexit status: 0");
    EXPECT_THAT(result.details, HasSubstr(R"("cut_bytes":10)"));
    result = run("sleep 1000");
    EXPECT_EQ(result.text, "(no output)\nstopped: the time limit of 300 ms was over\nended by signal: 15");
    EXPECT_THAT(result.details, HasSubstr(R"("timed_out":true)"));
    EXPECT_TRUE(result.is_error);
    if (test_switches_compiled) {
        const Without landlock("landlock");                        // which would not let the command kill its helper
        const Variable temporary("TMPDIR", base.path().string());  // where what it leaves is removed
        result = run("kill -9 $PPID; exec sleep 1000");
        EXPECT_TRUE(result.unknown);
        EXPECT_THAT(result.text, StartsWith("(the output is lost)\nunknown: "));
    }
    std::stop_source stop;
    stop.request_stop();
    result = run_command(options, arguments(R"({"command":"true"})"), "", stop.get_token());
    EXPECT_EQ(result.text, "(no output)\nstopped: the call was cancelled\nthe command was not started");
    EXPECT_TRUE(result.is_error);
}

TEST_F(ShellTool, ItsReceiptHoldsTheResultThatWasReturned) {
    const std::string attempt = "0123456789abcdef";
    const auto call = [](const std::string& command) {
        return arguments(R"({"command":)" + json_quote(command) + "}");
    };
    options.receipts = (base / "receipts").string();
    options.time_limit = 300ms;
    for (const auto* command : {"echo out; echo err >&2", "exit 3", "kill -9 $$", "sleep 1000", "printf 'a\\377b'"}) {
        const auto result = run_command(options, call(command), attempt, {});
        // Whatever the limits of whoever asks are.
        auto others = options;
        others.time_limit = 5s;
        others.output_bytes_max = 1;
        EXPECT_EQ(command_receipt(others, attempt, call(command)),
                  (Receipt{.proof = Receipt::Proof::ended, .result = result}))
            << command;
        // Believed of this command alone.
        EXPECT_EQ(command_receipt(options, attempt, call("true")),
                  Receipt{.known = "its receipt is of another command"});
        drop_command_receipt(options, attempt);
        EXPECT_EQ(command_receipt(options, attempt, call(command)), Receipt{});
    }
    // Nothing ran, and that is known too.
    auto gone = options;
    std::filesystem::create_directory(base / "gone");
    gone.workspace = *Workspace::open((base / "gone").string());
    std::filesystem::remove(base / "gone");
    const auto none = run_command(gone, call("true"), attempt, {});
    EXPECT_THAT(none.text, HasSubstr("the shell cannot be started (folder)"));
    EXPECT_EQ(command_receipt(gone, attempt, call("true")), (Receipt{.proof = Receipt::Proof::ended, .result = none}));

    std::filesystem::permissions(base / "receipts", std::filesystem::perms::group_read,
                                 std::filesystem::perm_options::add);
    const auto refused = run_command(options, call("true"), attempt, {});
    EXPECT_TRUE(refused.is_error);
    EXPECT_THAT(refused.text, HasSubstr("is open to others"));
    EXPECT_EQ(command_receipt(options, attempt, call("true")).proof, Receipt::Proof::nothing);
    EXPECT_THAT(check_shell(options).failure().message, HasSubstr("is open to others"));
}

TEST_F(ShellTool, SaysWhyItCannotRun) {
    EXPECT_EQ(run("").text, "Error: the command is empty");
    EXPECT_EQ(run_command(options, arguments("{}"), "", {}).text, "Error: argument 'command' is missing");
    EXPECT_EQ(run_command(options, arguments(R"({"command":"true","timeout":9})"), "", {}).text,
              "Error: argument 'timeout' is not known to this tool");
    EXPECT_TRUE(check_shell(options).ok());
    options.helper = (base / "none").string();
    EXPECT_THAT(run("true").text, StartsWith("Error: the shell helper"));
    EXPECT_EQ(check_shell(options).failure().kind, FailureKind::tool);
}

}  // namespace
}  // namespace assent
