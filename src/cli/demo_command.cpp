#include "cli/call_view.hpp"
#include "cli/demo_script.hpp"
#include "cli/list_commands.hpp"
#include "cli/run_command.hpp"

#include "base/display.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace assent::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* scripted_prompt = "Write a report on this week's orders and tidy up.";
// The same for a model that has to find out what is there.
constexpr const char* model_prompt =
    "Read orders.csv, write a short report on it to report.md, and then remove the folder old-invoices with a command.";

// A folder of its own with the demo's files; kept, so that the demo can be resumed after a kill.
Result<fs::path> make_workspace() {
    std::error_code error;
    std::string folder = (fs::temp_directory_path(error) / "assent-demo-XXXXXX").string();
    if (error || mkdtemp(folder.data()) == nullptr) {
        return Failure{FailureKind::tool, "no folder for the demo can be made in the temporary folder; check TMPDIR"};
    }
    for (const auto& file : demo_files) {
        const auto path = fs::path(folder) / file.path;
        fs::create_directories(path.parent_path(), error);
        if (!(std::ofstream(path) << file.text))
            return Failure{FailureKind::tool, "the demo's files cannot be written to " + folder};
    }
    return fs::path(folder);
}

std::string file_text(const fs::path& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
}

// What is really there now, so that nobody has to take the agent's word for it.
void show_workspace(const Terminal& terminal, const fs::path& workspace) {
    std::error_code error;
    terminal.note("\n" + terminal.styled(Style::bold, "The workspace afterwards") + "  " + workspace.string());
    for (const auto& entry : fs::recursive_directory_iterator(workspace, error)) {
        if (entry.is_regular_file(error)) terminal.note("  " + fs::relative(entry.path(), workspace, error).string());
    }
    const auto report = workspace / demo_report;
    if (fs::exists(report, error)) {
        terminal.note("\n" + terminal.styled(Style::bold, std::string(demo_report)));
        terminal.note(safe_to_show(file_text(report), Lines::keep).text);
    }
    const bool there = fs::exists(workspace / demo_folder, error);
    terminal.note(std::string(demo_folder) + (there ? " is still there" : " is gone"));
}

// A model that is no script may propose nothing.
bool asked_anybody(const Context& context, const std::string& thread) {
    const auto history = context.approvals().history(thread);
    return history && std::any_of(history->begin(), history->end(),
                                  [](const HistoryEntry& entry) { return entry.event == "asked"; });
}

}  // namespace

int demo_command(Context& context, const RunOptions& given) {
    const auto& terminal = context.terminal;
    // A demo that cannot begin leaves no folder behind.
    if (auto answers = read_answers(given.answers); !answers) return terminal.fail(answers.failure());
    if (auto opened = context.open_store(); !opened) return terminal.fail(opened.failure());
    auto workspace = make_workspace();
    if (!workspace) return terminal.fail(workspace.failure());
    auto options = given;
    options.model = given.model.value_or(std::string(demo_model));
    options.workspace = workspace->string();
    options.thread = workspace->filename().string().substr(sizeof("assent-") - 1);
    terminal.note("An agent is asked to report on the week's orders and to tidy up. Reading runs at once;");
    terminal.note("writing and commands wait for you. Whatever happens, it goes on with:");
    terminal.note("  assent" + context.db_option() + " resume " + options.thread + "\n");
    const bool scripted = options.model == demo_model;
    const int status = run_prompt(context, options, scripted ? scripted_prompt : model_prompt, true);
    if (terminal.json || status == exit_usage) return status;
    if (!scripted && !asked_anybody(context, options.thread)) {
        terminal.note("\nThe model proposed no call that needs a person, so there was nothing to decide.");
    }
    show_workspace(terminal, *workspace);
    terminal.note("\n" + terminal.styled(Style::bold, "What happened, as recorded") + "  (assent" +
                  context.db_option() + " history " + options.thread + ")");
    if (history_command(context, {.thread = options.thread}) != exit_done) return exit_failed;
    return status;
}

}  // namespace assent::cli
