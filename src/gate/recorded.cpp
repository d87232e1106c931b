#include "gate/recorded.hpp"

#include "base/display.hpp"
#include "base/sha256.hpp"
#include "base/time_text.hpp"
#include "gate/binding.hpp"
#include "journal/trace.hpp"
#include "policy/policy_texts.hpp"

namespace assent {

using journal::Asked;
using journal::Call;
using journal::CallStage;
using journal::ModelSaid;
using journal::RecordedCall;
using journal::TimedOut;

namespace {

// A person reads it; the whole of it is not needed to say how a call ended.
constexpr std::size_t seen_bytes_max = std::size_t{16} * 1024;

}  // namespace

RecordedCall recorded(const ProposedCall& call) {
    RecordedCall out{.tool = repaired_utf8(call.tool), .arguments = repaired_utf8(call.arguments)};
    if (call.id) out.id = repaired_utf8(*call.id);
    if (!valid_utf8(call.arguments)) {
        out.arguments_hex = hex({reinterpret_cast<const std::uint8_t*>(call.arguments.data()), call.arguments.size()});
    }
    return out;
}

ModelSaid recorded(const ModelTurn& turn, int number) {
    ModelSaid said{.turn = number,
                   .text = repaired_utf8(turn.text),
                   .stop_reason = repaired_utf8(turn.stop_reason),
                   .provider_content = repaired_utf8(turn.provider_content),
                   .input_tokens = turn.input_tokens,
                   .output_tokens = turn.output_tokens};
    for (const auto& call : turn.calls) said.calls.push_back(recorded(call));
    return said;
}

OutcomeKind outcome_of(const ToolResult& result) noexcept {
    if (result.unknown) return OutcomeKind::unknown;
    if (result.cancelled) return OutcomeKind::cancelled;
    return result.is_error ? OutcomeKind::failed : OutcomeKind::done;
}

Asked doubt_question(const std::string& thread_id, const Call& call, const std::string& reason,
                     const ToolResult& seen) {
    Question question{.description = capped(repaired_utf8(seen.text), seen_bytes_max), .allowed = {}};
    if (seen.details.size() <= seen_bytes_max && Arguments::parse(seen.details)) question.details = seen.details;
    journal::Asked asked{.call = call.ref,
                         .ask_no = call.asks + 1,
                         .kind = ApprovalKind::unknown,
                         .tool = call.tool,
                         .arguments = call.arguments,
                         .guard = "unknown outcome",
                         .guard_version = "1",
                         .reason = reason,
                         .question = question,
                         .attempt = call.attempts.back().id};
    asked.binding = binding_of(thread_id, call, asked);
    return asked;
}

TimedOut timed_out(std::int64_t number, const std::string& tool, const Question& question, ApprovalKind kind) {
    if (kind == ApprovalKind::confirm || kind == ApprovalKind::ask)
        return {.number = number,
                .text = "timed out after " + seconds_text(question.timeout_ms.value_or(0)) + " seconds"};
    if (question.style == Style::policy) return {.number = number, .text = std::string(policy_timeout_text)};
    return {.number = number, .text = "Nobody approved the call of `" + tool + "` in time. It did not run."};
}

std::string new_attempt_id(Random& random) {
    std::vector<std::uint8_t> raw(16);
    random.fill(raw);
    return hex(raw);
}

std::optional<ChildEnd> end_of(const journal::ThreadState& state) {
    ChildEnd end{.turns = state.run_turns, .calls = state.run_calls};
    if (state.seq > 0 && !state.running) {
        end.outcome = state.aborted ? OutcomeKind::cancelled : OutcomeKind::done;
        end.text = state.aborted ? journal::aborted_text(state.aborted->reason) : state.last_text;
        return end;
    }
    // Asked again it would most likely fail again; who delegated the call can do something else.
    const bool failed = state.status == ThreadStatus::failed && state.finished.has_value();
    if (!failed || state.finished->failure_kind != to_string(FailureKind::model)) return std::nullopt;
    end.text = "The sub-agent failed: " + state.finished->message + ". What it had done before stays done.";
    return end;
}

CallReport report_of(const Call& call) {
    CallReport report{.turn = call.ref.turn,
                      .position = call.ref.position,
                      .tool = call.tool,
                      .tool_call_id = call.proposed.id,
                      .arguments = call.arguments.empty() ? call.proposed.arguments : call.arguments,
                      .ran = call.ran,
                      .running = call.stage == CallStage::claimed,
                      .waiting = call.stage == CallStage::asked || call.stage == CallStage::unknown ||
                                 call.stage == CallStage::delegated,
                      .edited = call.edited,
                      .child = journal::child_of(call)};
    if (call.stage == CallStage::ended) {
        report.outcome = call.outcome;
        report.text = call.result.text;
        report.is_error = call.result.is_error;
        report.details = journal::traced_details(call);
        report.blocked = call.blocked;
        report.block_reason = call.block_reason;
    }
    if (call.outcome == OutcomeKind::denied && report.outcome) {
        for (const auto& verdict : call.verdicts) {
            if (verdict.verdict == Verdict::deny) report.denied_by = "guard " + verdict.guard;
        }
        for (const auto& ask : call.approvals) {
            if (ask.state == ApprovalState::denied) report.denied_by = ask.decided_by;
        }
    }
    return report;
}

}  // namespace assent
