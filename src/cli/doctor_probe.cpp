// The denied calls of `doctor`: not what should hold, but what happens when something tries.
#include "cli/closed_places.hpp"
#include "cli/doctor_command.hpp"
#include "exec/process.hpp"

#include <assent/built_in_guard.hpp>

#include <stdlib.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

namespace assent::cli {
namespace {

namespace fs = std::filesystem;

// A folder with a workspace, something closed beside it, and something outside of both.
class ProbeFolder {
public:
    ProbeFolder() {
        std::error_code error;
        std::string name = (fs::temp_directory_path(error) / "assent-doctor-XXXXXX").string();
        if (error || mkdtemp(name.data()) == nullptr) return;
        root_ = fs::canonical(name, error);
        for (const auto* inner : {"workspace", "closed", "outside"}) fs::create_directory(root_ / inner, error);
        std::ofstream(root_ / "closed/secret") << "secret\n";
    }
    ProbeFolder(const ProbeFolder&) = delete;
    ProbeFolder& operator=(const ProbeFolder&) = delete;
    ~ProbeFolder() {
        std::error_code error;
        if (made()) fs::remove_all(root_, error);
    }

    [[nodiscard]] bool made() const {
        std::error_code error;
        return !root_.empty() && fs::exists(root_ / "closed/secret", error);
    }
    [[nodiscard]] std::string at(const std::string& inner) const { return (root_ / inner).string(); }
    [[nodiscard]] bool holds(const std::string& inner) const { return !text(inner).empty(); }
    [[nodiscard]] std::string text(const std::string& inner) const {
        std::ostringstream text;
        text << std::ifstream(root_ / inner).rdbuf();
        return text.str();
    }

private:
    fs::path root_;
};

// Each try leaves something in the workspace if it works.
std::string probe_line(const Context& context, const ProbeFolder& folder) {
    std::error_code error;
    const auto program = fs::read_symlink("/proc/self/exe", error);
    const auto self = std::to_string(getpid());
    std::string line = "echo yes >ran\n";
    line += "head -c 16 " + shell_word(folder.at("closed/secret")) + " >opened\n";
    if (!context.db_path().empty()) line += "head -c 16 " + shell_word(context.db_path().string()) + " >>opened\n";
    line += "echo yes >" + shell_word(folder.at("closed/secret")) + "\n";
    line += "echo yes >" + shell_word(folder.at("outside/written")) + "\n";
    line += "head -c 1 /proc/" + self + "/environ >environment\n";
    line += "kill -0 " + self + " && echo yes >signalled\n";
    line += shell_word(program.string()) + " --db memory: --json deny none >decided\n";
    return line;
}

// What the program said to `deny` with --json.
bool was_refused(const std::string& said) {
    const auto json = JsonText::parse(said);
    const auto* error = json.ok() ? json->root().find("error") : nullptr;
    const auto* kind = error != nullptr ? error->find("kind") : nullptr;
    return kind != nullptr && kind->string == to_string(FailureKind::refused);
}

Check tried(const std::string& name, bool worked, const std::string& denied, const std::string& done) {
    return {name, worked ? Standing::missing : Standing::ok, worked ? done : denied,
            worked ? "see the lines above for what is missing" : ""};
}

std::vector<Check> run_probe(const Context& context) {
    const ProbeFolder folder;
    if (!folder.made())
        return {{"try", Standing::missing, "no folder for it can be made in the temporary folder", "check TMPDIR"}};
    ShellRun run{.line = probe_line(context, folder), .folder = folder.at("workspace")};
    run.closed = closed_paths(context);
    run.closed.push_back(folder.at("closed"));
    const auto end = run_shell(run, {});
    if (!end.ok()) return {{"try", Standing::missing, end.failure().message, ""}};
    if (!folder.holds("workspace/ran"))
        return {{"try", Standing::missing, "the command that tries did not run", "run assent-exec's tests"}};
    const bool written = folder.holds("outside/written") || folder.text("closed/secret") != "secret\n";
    const bool refused = was_refused(folder.text("workspace/decided"));
    std::vector<Check> checks;
    checks.push_back(tried("try: open", folder.holds("workspace/opened"), "a command could not open the database",
                           "a command opened what is closed to it"));
    checks.push_back(tried("try: write", written, "a command could not write outside of its workspace",
                           "a command wrote outside of its workspace"));
    checks.push_back(tried("try: look", folder.holds("workspace/environment"),
                           "a command could not read this program's environment",
                           "a command read this program's environment"));
    auto signalled =
        tried("try: signal", folder.holds("workspace/signalled"), "a command could not signal this program",
              "a command can end this program; what it was doing is then unknown, not decided");
    if (signalled.standing == Standing::missing) signalled.standing = Standing::weak;
    checks.push_back(signalled);
    checks.push_back(tried("try: decide", !refused, "assent refused to decide below a tool",
                           "assent did not notice that it ran below a tool"));
    return checks;
}

Check ask_guard(const Context& context) {
    const auto closed = closed_paths(context);
    const auto guard = built_in_guard({.workspace = "/", .home = home_folder().string(), .closed = closed});
    for (const auto& line : {std::string("assent approve 1"), "cat " + shell_word(closed.front())}) {
        const auto arguments = Arguments::parse("{\"command\":" + json_quote(line) + "}");
        if (!arguments.ok()) return {"guard", Standing::missing, arguments.failure().message, ""};
        const auto verdict = guard->judge({.tool_name = "shell", .arguments = &*arguments}).verdict;
        if (verdict != Verdict::deny)
            return {"guard", Standing::missing, "the built-in guard does not deny: " + line, ""};
    }
    return {"guard", Standing::ok, "the built-in guard denies deciding commands and closed paths", ""};
}

}  // namespace

std::vector<Check> denied_calls(const Context& context) {
    auto checks = run_probe(context);
    checks.insert(checks.begin(), ask_guard(context));
    return checks;
}

}  // namespace assent::cli
