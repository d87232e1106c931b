#include "tools/shell_work.hpp"

#include "base/sha256.hpp"
#include "exec/landlock_abi.hpp"
#include "exec/process.hpp"
#include "exec/receipts.hpp"
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

std::string end_text(const ShellEnd& end) {
    std::string out;
    if (end.timed_out) out += "stopped: the time limit of " + duration_text(end.time_limit) + " was over\n";
    if (end.cancelled) out += "stopped: the call was cancelled\n";
    if (end.runner_died) out += "stopped: the process that ran it died\n";
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
           std::to_string(end.out.cut_bytes() + end.err.cut_bytes()) +
           (end.runner_died ? R"(,"runner_died":true})" : "}");
}

ToolResult result_of(const Result<ShellEnd>& end) {
    if (!end.ok()) return error_result(end.failure().message);
    ToolResult result;
    add_stream(result.text, "stdout", end->out);
    add_stream(result.text, "stderr", end->err);
    if (result.text.empty()) result.text = end->output_lost ? "(the output is lost)\n" : "(no output)\n";
    result.text += end_text(*end);
    result.is_error = end->exit_status != 0 || end->timed_out || end->cancelled || end->runner_died || end->unknown;
    result.unknown = end->unknown;
    result.cancelled = end->cancelled;
    result.details = details_of(*end);
    return result;
}

Receipt receipt_of(HelperReport report) {
    using enum Receipt::Proof;
    const bool never_started = report.runner_died && !report.started && report.failed_step.empty();
    if (never_started) return {.proof = not_started};
    const bool runner_died = report.runner_died;
    const auto end = end_of(std::move(report));
    Receipt receipt{.proof = ended, .result = result_of(end)};
    if (receipt.result.unknown) receipt.known = "a process of the command could not be killed and may still run";
    if (runner_died) receipt.known = "the command was killed because that process died";
    if (!receipt.known.empty()) receipt.proof = nothing;
    return receipt;
}

}  // namespace

ToolSpec shell_spec() {
    return {.name = "shell",
            .description =
                "Runs a command line with /bin/sh in the workspace. It has no terminal and nothing to read. Standard "
                "output "
                "and standard error come apart, so their common order is lost. What it leaves running is killed.",
            .schema = R"({"type":"object","additionalProperties":false,"required":["command"],"properties":{)"
                      R"("command":{"type":"string","minLength":1,"description":"The command line."}}})",
            .runs_commands = true};
}

ToolResult run_command(const ShellOptions& options, const Arguments& arguments, std::string_view attempt,
                       const std::stop_token& stop) {
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
    run.receipts = options.receipts;
    run.attempt = attempt;
    // Also if the host forgets it: who writes receipts says what happened.
    if (!options.receipts.empty()) run.closed.push_back(options.receipts);
    return result_of(run_shell(run, stop));
}

Receipt command_receipt(const ShellOptions& options, const std::string& attempt, const Arguments& arguments) {
    if (options.receipts.empty()) return {};
    const auto receipts = Receipts::open(options.receipts);
    if (!receipts.ok()) return {.known = receipts.failure().message};
    auto found = receipts->find(attempt);
    CallArguments call(arguments, {"command"});
    const auto line = call.text("command");
    switch (found.state) {
        case FoundReceipt::State::none:
            return {};
        case FoundReceipt::State::unended:
            return {.known = "its shell helper left no receipt"};
        case FoundReceipt::State::alive:
            return {.known = "the shell helper still lives, and with it perhaps what it runs"};
        case FoundReceipt::State::doubtful:
            return {.known = found.why};
        case FoundReceipt::State::complete:
            break;
    }
    if (call.problem() || found.report.line_sha256 != hex(sha256(line)))
        return {.known = "its receipt is of another command"};
    return receipt_of(std::move(found.report));
}

void drop_command_receipt(const ShellOptions& options, const std::string& attempt) {
    if (options.receipts.empty()) return;
    if (const auto receipts = Receipts::open(options.receipts); receipts.ok()) receipts->remove(attempt);
}

void sweep_command_receipts(const ShellOptions& options, UnixMillis now) {
    if (options.receipts.empty()) return;
    if (const auto receipts = Receipts::open(options.receipts); receipts.ok()) receipts->remove_older(now);
}

Result<void> check_shell(const ShellOptions& options) {
    const auto helper = find_helper(options.helper);
    if (!helper.ok()) return helper.failure();
    if (options.receipts.empty()) return {};
    const auto receipts = Receipts::open(options.receipts);
    if (!receipts.ok()) return receipts.failure();
    return {};
}

bool shell_is_confined() {
    return landlock::abi() > 0;
}

}  // namespace assent
