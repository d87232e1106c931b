#include "gate/inherited.hpp"

#include "base/display.hpp"
#include "base/mutation.hpp"
#include "gate/process.hpp"
#include "gate/recorded.hpp"

namespace assent {
namespace {

using journal::Call;
using journal::CallStage;
using journal::Doubted;
using journal::Event;
using journal::Finished;
using journal::Released;

const std::string process_ended = "its process ended before the outcome was recorded";

// The same as for an outcome that its own process records: hooks may have to take something out of it.
Inherited ask(const Judge& judge, const Call& call) {
    Inherited found{.tool = call.tool, .receipt = judge.receipt(call)};
    auto& result = found.receipt.result;
    const bool ended = found.receipt.proof == Receipt::Proof::ended;
    if (ended) found.outcome = outcome_of(result);
    if (ended || !result.text.empty()) result = judge.after(call, std::move(result));
    result.text = capped(repaired_utf8(result.text), result_text_max);
    return found;
}

void add_doubt(const std::string& thread_id, const Judge& judge, const journal::ThreadState& state, const Call& call,
               const Receipt& receipt, std::vector<Event>& events) {
    const auto tool = judge.tool(call.tool);
    const bool harmless = tool != nullptr && (tool->spec().idempotent || mutated(Rule::at_most_once));
    const bool again = receipt.proof == Receipt::Proof::no_effect || harmless;
    const auto reason = process_ended + (receipt.known.empty() ? "" : "; " + safe_to_show(receipt.known).text);
    events.emplace_back(Doubted{.attempt = call.attempts.back().id, .reason = reason, .may_run_again = again});
    if (!again && !state.aborted) events.emplace_back(doubt_question(thread_id, call, reason, receipt.result));
}

}  // namespace

std::set<std::string> claimed_attempts(const journal::ThreadState& state) {
    std::set<std::string> attempts;
    for (const auto& call : state.calls) {
        if (call.stage == CallStage::claimed) attempts.insert(call.attempts.back().id);
    }
    return attempts;
}

std::map<std::string, Inherited> inherit(const Judge& judge, const journal::ThreadState& state,
                                         const std::set<std::string>& attempts) {
    std::map<std::string, Inherited> all;
    for (const auto& call : state.calls) {
        if (call.stage != CallStage::claimed) continue;
        const auto& attempt = call.attempts.back();
        if (!attempts.contains(attempt.id)) continue;
        const bool dead = life_of(attempt.process) == ProcessLife::dead;
        all.emplace(attempt.id, dead ? ask(judge, call) : Inherited{.tool = call.tool});
    }
    return all;
}

std::vector<Event> settle(const std::string& thread_id, const Judge& judge, const journal::ThreadState& state,
                          const std::map<std::string, Inherited>& inherited) {
    std::vector<Event> events;
    for (const auto& call : state.calls) {
        if (call.stage != CallStage::claimed) continue;
        const auto& attempt = call.attempts.back().id;
        const auto found = inherited.find(attempt);
        if (found == inherited.end()) continue;
        const auto& [tool, receipt, outcome] = found->second;
        if (receipt.proof == Receipt::Proof::not_started) {
            events.emplace_back(Released{.attempt = attempt, .reason = "its process ended before the tool started"});
        } else if (receipt.proof == Receipt::Proof::ended && outcome != OutcomeKind::unknown) {
            events.emplace_back(Finished{.attempt = attempt, .outcome = outcome, .result = receipt.result});
        } else {
            add_doubt(thread_id, judge, state, call, receipt, events);
        }
    }
    return events;
}

}  // namespace assent
