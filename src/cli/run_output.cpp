#include "cli/run_output.hpp"

#include "base/display.hpp"
#include "cli/approval_json.hpp"

namespace assent::cli {
namespace {

constexpr std::size_t brief_bytes_max = 100;

std::string_view event_name(AgentEvent::Kind kind) {
    switch (kind) {
        case AgentEvent::Kind::text:
            return "text";
        case AgentEvent::Kind::text_dropped:
            return "text_dropped";
        case AgentEvent::Kind::turn:
            return "turn";
        case AgentEvent::Kind::asked:
            return "asked";
        case AgentEvent::Kind::started:
            return "started";
        case AgentEvent::Kind::ended:
            return "ended";
        case AgentEvent::Kind::waiting:
            return "waiting";
        case AgentEvent::Kind::finished:
            return "finished";
        case AgentEvent::Kind::hitl:
            return "hitl";
        case AgentEvent::Kind::not_stored:
            return "not_stored";
    }
    return "event";
}

void show_json(const Context& context, const AgentEvent& event) {
    // A turn comes whole, once it is stored.
    if (event.kind == AgentEvent::Kind::text || event.kind == AgentEvent::Kind::text_dropped) return;
    // The program has no channel; that it was aborted stands in the result.
    if (event.kind == AgentEvent::Kind::hitl) return;
    JsonObject json;
    json.text("event", event_name(event.kind));
    if (event.kind == AgentEvent::Kind::turn || event.kind == AgentEvent::Kind::finished) json.text("text", event.text);
    if (event.kind == AgentEvent::Kind::not_stored) json.text("message", safe_to_show(event.text).text);
    if (event.approval) json.raw("approval", approval_json(*event.approval).str());
    if (event.call) json.raw("call", call_json(*event.call).str());
    context.terminal.out(json.str());
}

Style style_of(OutcomeKind outcome) {
    switch (outcome) {
        case OutcomeKind::done:
        case OutcomeKind::answered:
            return Style::green;
        case OutcomeKind::denied:
        case OutcomeKind::failed:
            return Style::red;
        default:
            return Style::yellow;
    }
}

void show_text(const Context& context, const AgentEvent& event) {
    const auto& terminal = context.terminal;
    switch (event.kind) {
        case AgentEvent::Kind::turn:
            if (!event.text.empty()) terminal.note("• " + safe_to_show(event.text, Lines::keep).text);
            break;
        case AgentEvent::Kind::asked:
            terminal.note(terminal.styled(Style::yellow, "? " + event.approval->id) + " " +
                          safe_to_show(event.approval->tool).text + " needs a person");
            break;
        case AgentEvent::Kind::started:
            terminal.note(terminal.styled(Style::dim, "… " + safe_to_show(event.call->tool).text + " runs"));
            break;
        case AgentEvent::Kind::ended: {
            const auto& call = *event.call;
            auto line = terminal.styled(style_of(*call.outcome),
                                        safe_to_show(call.tool).text + " " + std::string(to_string(*call.outcome)));
            if (!call.denied_by.empty()) line += " by " + safe_to_show(call.denied_by).text;
            if (call.outcome == OutcomeKind::answered) line += " by a person, it did not run";
            terminal.note("• " + line + ": " + brief(call.text));
            break;
        }
        case AgentEvent::Kind::not_stored:
            terminal.note(terminal.styled(Style::yellow, "! what came of a tool cannot be stored: ") +
                          safe_to_show(event.text).text + "; trying again");
            break;
        default:
            break;
    }
}

// The rest of a command that answers it.
std::string how_to_answer(const Approval& approval) {
    switch (approval.kind) {
        case ApprovalKind::unknown:
            return "resolve " + approval.id + " --done (or --retry, --fail)";
        case ApprovalKind::confirm:
            return "approve " + approval.id + " for yes, deny " + approval.id + " for no";
        case ApprovalKind::ask:
            return "respond " + approval.id + " --args JSON (or --message TEXT for one free text)";
        case ApprovalKind::approve:
            break;
    }
    return "approve " + approval.id + " (or deny, edit, respond)";
}

// What is open, and what to type about it; the first of them stands for all.
void tell_open(const Context& context, const Run& run) {
    const auto& terminal = context.terminal;
    if (!context.durable()) {
        terminal.note("a person is needed, but this database ends with the program: use --db sqlite:PATH");
        return;
    }
    const auto command = "assent" + context.db_option();
    terminal.note("\nA person is needed:");
    for (const auto& approval : run.interrupts) {
        const bool unknown = approval.kind == ApprovalKind::unknown;
        terminal.note("  " + approval.id + "  " + safe_to_show(approval.tool).text +
                      (unknown ? ", whose outcome is unknown" : ""));
    }
    if (!run.interrupts.empty()) {
        const auto& first = run.interrupts.front();
        terminal.note("look at it:  " + command + " show " + first.id);
        terminal.note("answer it:   " + command + " " + how_to_answer(first));
    }
    terminal.note("then go on:  " + command + " resume " + shell_word(run.thread));
}

// Tells a failure, which the result line holds already with --json; the exit status.
int finished(const Terminal& terminal, const Run& run, int status) {
    if (!run.failure) return status;
    if (!terminal.json) return terminal.fail(*run.failure);
    return run.failure->kind == FailureKind::usage ? exit_usage : exit_failed;
}

}  // namespace

std::string brief(const std::string& text) {
    return safe_to_show(capped(text, brief_bytes_max)).text;
}

std::function<void(const AgentEvent&)> show_events(const Context& context) {
    return [&context](const AgentEvent& event) {
        if (context.terminal.json) {
            show_json(context, event);
        } else {
            show_text(context, event);
        }
    };
}

int show_result(const Context& context, const Run& run) {
    const auto& terminal = context.terminal;
    if (terminal.json) {
        terminal.out(run_json(run).str());
    } else if (run.status == RunStatus::done || run.status == RunStatus::aborted) {
        if (!run.text.empty()) terminal.out(safe_to_show(run.text, Lines::keep).text);
    }
    const auto go_on = "assent" + context.db_option() + " resume " + shell_word(run.thread);
    if (run.interrupted) {
        terminal.note(context.durable() ? "interrupted; nothing is lost. To go on: " + go_on : "interrupted");
        return exit_interrupted;
    }
    switch (run.status) {
        case RunStatus::done:
            return finished(terminal, run, exit_done);
        case RunStatus::waiting:
            if (run.prompt == PromptTaken::queued) terminal.note("queued; it is taken when the turn in hand has ended");
            // Queued behind a run in another process, and nobody needs to do anything.
            if (run.interrupts.empty()) return finished(terminal, run, exit_done);
            tell_open(context, run);
            return finished(terminal, run, exit_waiting);
        case RunStatus::aborted:
            return exit_failed;
        case RunStatus::failed:
            break;
    }
    return finished(terminal, run, exit_failed);
}

}  // namespace assent::cli
