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
    }
    return "event";
}

void show_json(const Context& context, const AgentEvent& event) {
    // A turn comes whole, once it is stored.
    if (event.kind == AgentEvent::Kind::text || event.kind == AgentEvent::Kind::text_dropped) return;
    JsonObject json;
    json.text("event", event_name(event.kind));
    if (event.kind == AgentEvent::Kind::turn || event.kind == AgentEvent::Kind::finished) json.text("text", event.text);
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
            terminal.note(terminal.styled(Style::yellow, "? " + event.approval->id) + " " + event.approval->tool +
                          " needs a person");
            break;
        case AgentEvent::Kind::started:
            terminal.note(terminal.styled(Style::dim, "… " + event.call->tool + " runs"));
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
        default:
            break;
    }
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
    const auto go_on = "assent" + context.db_option() + " resume " + run.thread;
    if (run.interrupted) {
        terminal.note("interrupted; nothing is lost. To go on: " + go_on);
        return exit_interrupted;
    }
    switch (run.status) {
        case RunStatus::done:
            return exit_done;
        case RunStatus::waiting:
            for (const auto& approval : run.interrupts) {
                const bool unknown = approval.kind == ApprovalKind::unknown;
                terminal.note(approval.id + "  " + approval.tool + (unknown ? "  outcome unknown: " : "  waits: ") +
                              "assent" + context.db_option() + " show " + approval.id + ", then " +
                              (unknown ? "resolve" : "approve, deny, edit or respond") + " " + approval.id);
            }
            terminal.note("then go on: " + go_on);
            return exit_waiting;
        case RunStatus::aborted:
            return exit_failed;
        case RunStatus::failed:
            break;
    }
    if (terminal.json) return run.failure && run.failure->kind == FailureKind::usage ? exit_usage : exit_failed;
    return run.failure ? terminal.fail(*run.failure) : exit_failed;
}

}  // namespace assent::cli
