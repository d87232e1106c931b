#include "tools/shell_work.hpp"

#include "exec/landlock_abi.hpp"
#include "exec/process.hpp"
#include "tools/call_arguments.hpp"

namespace assent {
namespace {

std::string duration_text(std::chrono::milliseconds time) {
    const auto ms = time.count();
    return ms % 1000 == 0 ? std::to_string(ms / 1000) + " s" : std::to_string(ms) + " ms";
}

void add_stream(std::string& out, std::string_view label, const CapturedStream& stream) {
    if (stream.empty()) return;
    out += std::string(label) + ":\n" + stream.text();
    if (!out.ends_with('\n')) out += '\n';
}

std::string end_text(const ShellEnd& end, const ShellOptions& options) {
    std::string out;
    if (end.timed_out) out += "stopped: the time limit of " + duration_text(options.time_limit) + " was over\n";
    if (end.cancelled) out += "stopped: the call was cancelled\n";
    if (end.exit_status) {
        out += "exit status: " + std::to_string(*end.exit_status);
    } else if (end.signal) {
        out += "ended by signal: " + std::to_string(*end.signal);
    } else if (!end.unknown) {
        out += "the command was not started";
    }
    if (end.unknown) {
        if (!out.empty() && !out.ends_with('\n')) out += '\n';
        out += "unknown: a process of the command could not be watched to its end and may still run";
    }
    return out;
}

std::string details_of(const ShellEnd& end) {
    const auto number = [](const std::optional<int>& value) { return value ? std::to_string(*value) : "null"; };
    const auto flag = [](bool value) { return value ? "true" : "false"; };
    return R"({"exit_status":)" + number(end.exit_status) + R"(,"signal":)" + number(end.signal) + R"(,"timed_out":)" +
           flag(end.timed_out) + R"(,"cancelled":)" + flag(end.cancelled) + R"(,"cut_bytes":)" +
           std::to_string(end.out.cut_bytes() + end.err.cut_bytes()) + "}";
}

}  // namespace

ToolSpec shell_spec() {
    return {.name = "shell",
            .description =
                "Runs a command line with /bin/sh in the workspace. It has no terminal and nothing to read. Standard "
                "output "
                "and standard error come apart, so their common order is lost. What it leaves running is killed.",
            .schema = R"({"type":"object","additionalProperties":false,"required":["command"],"properties":{)"
                      R"("command":{"type":"string","minLength":1,"description":"The command line."}}})"};
}

ToolResult run_command(const ShellOptions& options, const Arguments& arguments, const std::stop_token& stop) {
    CallArguments call(arguments, {"command"});
    ShellRun run;
    run.line = call.text("command");
    if (call.problem()) return *call.problem();
    if (run.line.empty()) return error_result("the command is empty");
    run.folder = options.workspace.path();
    run.time_limit = options.time_limit;
    run.grace = options.grace;
    run.output_bytes_max = options.output_bytes_max;
    run.helper = options.helper;
    run.environment_names = options.environment_names;
    run.closed = options.closed;
    run.writable = options.writable;
    const auto end = run_shell(run, stop);
    if (!end.ok()) return error_result(end.failure().message);
    ToolResult result;
    add_stream(result.text, "stdout", end->out);
    add_stream(result.text, "stderr", end->err);
    if (result.text.empty()) result.text = "(no output)\n";
    result.text += end_text(*end, options);
    result.is_error = end->exit_status != 0 || end->timed_out || end->cancelled || end->unknown;
    result.unknown = end->unknown;
    result.details = details_of(*end);
    return result;
}

Result<void> check_shell(const ShellOptions& options) {
    const auto helper = find_helper(options.helper);
    if (!helper.ok()) return helper.failure();
    return {};
}

bool shell_is_confined() {
    return landlock::abi() > 0;
}

}  // namespace assent
