#include "cli/answer_commands.hpp"

#include "base/display.hpp"
#include "cli/approval_json.hpp"

#include <assent/gate.hpp>
#include <assent/memory.hpp>

namespace assent::cli {
namespace {

// key=JSON pairs as one object.
Result<std::string> object_of(const std::vector<std::string>& pairs) {
    std::string members;
    for (const auto& pair : pairs) {
        const auto equals = pair.find('=');
        if (equals == std::string::npos || equals == 0)
            return Failure{FailureKind::usage, "--set takes key=JSON, not " + pair};
        const auto value = pair.substr(equals + 1);
        if (auto good = JsonText::parse(value); !good) {
            return Failure{FailureKind::usage,
                           "--set " + pair.substr(0, equals) +
                               ": the value is no json (texts need quotes): " + good.failure().message};
        }
        members += (members.empty() ? "" : ",") + json_quote(pair.substr(0, equals)) + ":" + value;
    }
    return "{" + members + "}";
}

Result<Decision> decision_of(DecisionKind kind, const AnswerOptions& options) {
    Decision decision{.kind = kind, .tool = options.tool, .message = options.message, .digest = options.digest};
    if (kind == DecisionKind::respond) {
        if (options.message.empty() == !options.args.has_value()) {
            return Failure{FailureKind::usage,
                           "respond needs either --message TEXT, the result for the model, or, to questions, --args "
                           "JSON with the answers by key"};
        }
        decision.arguments = options.args;
        return decision;
    }
    if (kind != DecisionKind::edit) return decision;
    if (options.args.has_value() == !options.set.empty()) {
        return Failure{FailureKind::usage, "edit needs either --set key=JSON or --args JSON"};
    }
    if (options.args) {
        decision.arguments = options.args;
        decision.mode = EditMode::replace;
        return decision;
    }
    auto changes = object_of(options.set);
    if (!changes) return changes.failure();
    decision.arguments = std::move(changes).value();
    decision.mode = EditMode::merge;
    return decision;
}

int show(const Context& context, const Result<AnswerResult>& result, std::string_view decision) {
    const auto& terminal = context.terminal;
    if (!result) return terminal.fail(result.failure());
    const bool counts =
        result->status == AnswerResult::Status::decided || result->status == AnswerResult::Status::already;
    if (!counts) return terminal.fail(failure_of(*result), conflict_members(*result));
    if (terminal.json) {
        terminal.out(answer_json(*result, decision).str());
        return exit_done;
    }
    const bool already = result->status == AnswerResult::Status::already;
    terminal.out(result->approval.id + (already ? " was already " : " ") +
                 std::string(to_string(result->approval.state)));
    if (result->still_judged) terminal.note("recorded; the edited call is judged again before it runs");
    terminal.note("the thread goes on with: assent" + context.db_option() + " resume " +
                  shell_word(result->approval.thread));
    return exit_done;
}

}  // namespace

int answer_command(Context& context, DecisionKind kind, const AnswerOptions& options) {
    auto decision = decision_of(kind, options);
    if (!decision) return context.terminal.fail(decision.failure());
    if (auto opened = context.open_store(); !opened) return context.terminal.fail(opened.failure());
    return show(context, context.approvals().answer(options.id, *decision, current_user(), options.thread),
                to_string(kind));
}

int resolve_command(Context& context, const ResolveOptions& options) {
    const int given = (options.done ? 1 : 0) + (options.retry ? 1 : 0) + (options.fail ? 1 : 0);
    if (given != 1)
        return context.terminal.fail(
            {FailureKind::usage, "resolve needs one of --done [TEXT], --retry and --fail [TEXT]"});
    if (auto opened = context.open_store(); !opened) return context.terminal.fail(opened.failure());
    const auto how = options.done ? Resolution::done : options.retry ? Resolution::retry : Resolution::fail;
    const auto text = options.done.value_or(options.fail.value_or(""));
    return show(context, context.approvals().resolve(options.id, how, text, current_user(), options.thread),
                to_string(how));
}

int abort_command(Context& context, const std::string& thread, const std::string& reason) {
    if (auto opened = context.open_store(); !opened) return context.terminal.fail(opened.failure());
    auto result = context.approvals().abort(thread, reason, current_user().name);
    if (!result) return context.terminal.fail(result.failure());
    if (!result->aborted) {
        const std::string_view end = result->status == ThreadStatus::aborted ? "aborted" : "ended";
        return context.terminal.fail({FailureKind::conflict, "thread " + thread + " had already " +
                                                                 (end == "ended" ? "ended" : "been aborted")});
    }
    if (context.terminal.json) {
        context.terminal.out(
            JsonObject().text("thread", thread).text("state", "aborted").number("running", result->running).str());
    } else {
        context.terminal.out("thread " + thread + " aborted");
        if (result->running > 0)
            context.terminal.note(std::to_string(result->running) + " call(s) had been started and are waited for");
    }
    return exit_done;
}

int judge_command(Context& context, const RunOptions& options, const std::string& tool, const std::string& arguments) {
    auto given = options;
    given.model = "demo";  // never asked: nothing runs here
    auto settings = lay_options_over({}, given);
    if (!settings) return context.terminal.fail(settings.failure());
    if (auto located = context.locate_store(); !located) return context.terminal.fail(located.failure());
    context.keep_nothing();
    auto agent = agent_options(context, *settings);
    if (!agent) return context.terminal.fail(agent.failure());
    try {
        const Gate gate(
            {.checkpointer = &context.store(), .thread_id = "judge", .tools = agent->tools, .guards = agent->guards});
        const auto preview = gate.preview({.tool = tool, .id = "call", .arguments = arguments});
        const std::string verdict = preview.refusal.empty() ? std::string(to_string(preview.verdict)) : "reject";
        if (context.terminal.json) {
            std::vector<std::string> guards;
            for (const auto& said : preview.guards) {
                guards.push_back(JsonObject()
                                     .text("guard", said.guard)
                                     .text("verdict", to_string(said.verdict))
                                     .text("reason", said.reason)
                                     .str());
            }
            JsonObject json;
            json.text("tool", tool).text("verdict", verdict).raw("arguments", preview.arguments);
            json.text_or_null("refusal", preview.refusal).raw("guards", json_array(guards));
            context.terminal.out(json.str());
            return exit_done;
        }
        context.terminal.out(verdict);
        if (!preview.refusal.empty()) context.terminal.note(safe_to_show(preview.refusal).text);
        for (const auto& said : preview.guards) {
            context.terminal.note("guard " + said.guard + ": " + std::string(to_string(said.verdict)) +
                                  (said.reason.empty() ? "" : ", " + safe_to_show(said.reason).text));
        }
        return exit_done;
    } catch (const ConfigError& error) {
        return context.terminal.fail({FailureKind::usage, error.what()});
    }
}

}  // namespace assent::cli
