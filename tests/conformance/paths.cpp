#include "conformance/case.hpp"

#include <assent/agent.hpp>
#include <assent/memory.hpp>
#include <assent/tools.hpp>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace assent::conformance {
namespace {

namespace fs = std::filesystem;

// The workspace of one case, in a folder that holds nothing else.
class CaseFolder {
public:
    CaseFolder() {
        std::string name = (fs::temp_directory_path() / "assent-paths-XXXXXX").string();
        if (mkdtemp(name.data()) == nullptr) throw CaseFailed("no temporary folder");
        base_ = name;
        fs::create_directories(base_ / "outside");
        fs::create_directories(root());
    }
    CaseFolder(const CaseFolder&) = delete;
    CaseFolder& operator=(const CaseFolder&) = delete;
    ~CaseFolder() {
        std::error_code ignored;
        fs::remove_all(base_, ignored);
    }

    [[nodiscard]] fs::path root() const { return base_ / "workspace"; }

    void make(const JsonNode& entry) const {
        require_known_keys(entry, {"path", "text", "link", "dir"});
        const auto path = root() / text_of(entry, "path");
        fs::create_directories(path.parent_path());
        if (entry.find("dir") != nullptr) {
            fs::create_directories(path);
        } else if (entry.find("link") != nullptr) {
            fs::create_symlink(text_of(entry, "link"), path);
        } else {
            std::ofstream(path, std::ios::binary) << text_of(entry, "text");
        }
    }

private:
    fs::path base_;
};

struct Operation {
    std::string_view name;
    std::string_view tool;
    std::string_view argument;
    std::string_view more;
};
constexpr Operation operations[] = {
    {"read", "read_file", "file_path", ""},
    {"write", "write_file", "file_path", R"(,"content":"new")"},
    {"delete", "delete_file", "file_path", ""},
    {"ls", "ls", "path", ""},
    {"glob", "glob", "path", ""},
    {"grep", "grep", "path", ""},
};

std::string arguments_of(const JsonNode& node, const Operation& operation) {
    std::string json = "{";
    const auto* missing = node.find("path_missing");
    if (missing == nullptr || !missing->boolean)
        json += json_quote(operation.argument) + ":" + std::string(member(node, "path").text);
    if (const auto* pattern = node.find("pattern"))
        json += (json.size() > 1 ? ",\"pattern\":" : "\"pattern\":") + std::string(pattern->text);
    return json + std::string(operation.more) + "}";
}

struct Came {
    std::string what;
    std::string text;
};

Came call(const Workspace& workspace, const Operation& operation, const std::string& arguments) {
    const auto script = R"({"turns":[{"calls":[{"id":"c","name":)" + json_quote(operation.tool) + R"(,"arguments":)" +
                        arguments + R"(}]},{"text":"done"}]})";
    auto model = scripted_model("the case", script);
    if (!model) throw CaseFailed(model.failure().message);
    MemoryCheckpointer store;
    Agent agent({.model = *model,
                 .tools = {read_file_tool(workspace), write_file_tool(workspace), delete_file_tool(workspace),
                           ls_tool(workspace), glob_tool(workspace), grep_tool(workspace)},
                 .guards = {path_guard(workspace)},
                 .checkpointer = &store});
    const auto run = agent.prompt("go");
    if (run.calls.size() != 1) throw CaseFailed("there was no call");
    const auto& report = run.calls[0];
    if (run.status == RunStatus::waiting) return {"interrupt", {}};
    if (report.ran) return {"allow", report.text};
    if (report.outcome != OutcomeKind::denied) throw CaseFailed("the call could not be judged: " + report.text);
    if (!report.is_error) throw CaseFailed("a denial is no error: " + report.text);
    return {report.text.starts_with("Error: permission denied for ") ? "deny" : "invalid", report.text};
}

void check_texts(const JsonNode& node, const Came& came) {
    if (const auto* hidden = node.find("hidden")) {
        if (came.text.starts_with("Error") || came.text.starts_with("No "))
            throw CaseFailed("nothing was shown: " + came.text);
        for (const auto& entry : hidden->items) {
            if (came.text.contains(entry.string)) throw CaseFailed(entry.string + " was shown: " + came.text);
        }
    }
    if (const auto* patterns = node.find("denied_by")) {
        std::string wanted;
        for (const auto& pattern : patterns->items) wanted += (wanted.empty() ? "" : ", ") + pattern.string;
        if (!came.text.ends_with(" (matches deny rule(s): " + wanted + ")"))
            throw CaseFailed("expected the patterns " + wanted + ", got " + came.text);
    }
}

}  // namespace

void run_path_case(const JsonNode& node) {
    require_known_keys(node, {"rules", "operation", "path", "path_missing", "pattern", "workspace", "expect", "at",
                              "denied_by", "hidden", "remains"});
    require_known_words(acceptable(node, "at"), {"rules"});
    const auto expected = acceptable_outcomes(node, "expect");
    require_known_words(expected, {"allow", "deny", "interrupt", "invalid"});
    const auto* operation = std::ranges::find(operations, text_of(node, "operation"), &Operation::name);
    if (operation == std::end(operations)) throw CaseFailed("unknown operation");

    const CaseFolder folder;
    if (const auto* entries = node.find("workspace")) {
        for (const auto& entry : entries->items) folder.make(entry);
    }
    auto workspace = Workspace::open(folder.root().string());
    if (!workspace) throw CaseFailed(workspace.failure().message);
    const bool rules_only = node.find("at") != nullptr;
    const auto permissions = read_permissions(member(node, "rules").text);
    try {
        if (permissions) *workspace = workspace->with_permissions(*permissions);
    } catch (const ConfigError&) {
        return expect_outcome(node, "expect", json_quote("invalid"));
    }
    if (!permissions || rules_only)
        return expect_outcome(node, "expect", json_quote(permissions ? "allow" : "invalid"));

    const auto came = call(*workspace, *operation, arguments_of(node, *operation));
    expect_outcome(node, "expect", json_quote(came.what));
    check_texts(node, came);
    if (const auto* remains = node.find("remains")) {
        for (const auto& entry : remains->items) {
            if (!fs::exists(folder.root() / entry.string)) throw CaseFailed(entry.string + " is gone");
        }
    }
}

}  // namespace assent::conformance
