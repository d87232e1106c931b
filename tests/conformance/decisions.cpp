#include "conformance/case.hpp"
#include "conformance/decision_world.hpp"
#include "policy/table_texts.hpp"

#include <algorithm>
#include <set>

namespace assent::conformance {
namespace {

using Kind = JsonNode::Kind;

bool has(const JsonNode& node, std::string_view key) {
    return node.find(key) != nullptr;
}

std::vector<ProposedCall> read_calls(const JsonNode& list) {
    std::vector<ProposedCall> calls;
    for (const auto& call : list.items) {
        calls.push_back({.tool = text_of(call, "name"),
                         .id = text_of(call, "id"),
                         .arguments = std::string(member(call, "args").text)});
    }
    return calls;
}

std::vector<ProposedCall> calls_of(const JsonNode& node) {
    return read_calls(member(node, "calls"));
}

// The tasks of `start_children`, of which a case has at most one.
Workers workers_of(const JsonNode& node) {
    Workers workers;
    for (const auto& step : member(node, "steps").items) {
        if (text_of(step, "do") != "start_children") continue;
        for (const auto& list : member(step, "children").items) {
            const auto task = "child-" + std::to_string(workers.tasks.size() + 1);
            workers.calls.emplace(task, read_calls(list));
            workers.tasks.push_back({.tool = "task",
                                     .id = task,
                                     .arguments = R"({"description":")" + task + R"(","subagent_type":"worker"})"});
        }
    }
    return workers;
}

std::string word_of(Refusal refusal) {
    switch (refusal) {
        case Refusal::bad_shape:
            return "bad_shape";
        case Refusal::missing_decisions:
            return "missing_decisions";
        case Refusal::count_mismatch:
            return "count_mismatch";
        case Refusal::not_allowed:
            return "not_allowed";
        case Refusal::unknown_tool:
            return "unknown_tool";
        case Refusal::bad_args:
            return "bad_args";
        case Refusal::other:
            break;
    }
    return "refused";
}

std::string word_of(const AnswerResult& result) {
    switch (result.status) {
        case AnswerResult::Status::decided:
            return "accepted";
        case AnswerResult::Status::already:
            return "already";
        case AnswerResult::Status::conflict:
            return "conflict";
        case AnswerResult::Status::expired:
            return "expired";
        case AnswerResult::Status::not_found:
            return "unknown_request";
        case AnswerResult::Status::ambiguous:
            return "ambiguous";
        case AnswerResult::Status::refused:
            return word_of(result.refusal);
    }
    return "refused";
}

// The kind of error that a run ended with, and its text. Empty: none.
struct Error {
    std::string kind;
    std::string text;
};

Error error_of(const Run& run) {
    for (const auto& answer : run.answers) {
        const auto word = word_of(answer);
        if (word != "accepted" && word != "already") return {word, answer.message};
    }
    if (!run.failure) return {};
    switch (run.failure->kind) {
        case FailureKind::unknown_thread:
            return {"unknown_thread", run.failure->message};
        case FailureKind::no_checkpointer:
            return {"no_checkpointer", run.failure->message};
        case FailureKind::waiting:
            return {"thread_waits", run.failure->message};
        default:
            throw CaseFailed("the run failed: " + run.failure->message);
    }
}

void require(bool holds, const std::string& problem) {
    if (!holds) throw CaseFailed(problem);
}

void require_equal(std::string_view what, const JsonNode& expected, const std::string& got) {
    const auto actual = JsonText::parse(got);
    if (!actual || !same_value(expected, actual->root())) fail(what, {&expected}, got);
}

void require_contains(const JsonNode* parts, const std::string& text) {
    if (parts == nullptr) return;
    for (const auto& part : parts->items)
        require(text.contains(part.string), "expected a text with " + part.string + ", got " + text);
}

void check_pause(const JsonNode& pause, const std::vector<Approval>& open) {
    require_known_keys(pause, {"action_requests", "review_configs"});
    const auto shown = JsonText::parse(action_requests(open));
    require(shown.ok(), "the payload is no json");
    const auto& requests = member(shown->root(), "action_requests").items;
    const auto& wanted = member(pause, "action_requests").items;
    require(requests.size() == wanted.size(),
            "expected " + std::to_string(wanted.size()) + " action requests, got " + std::to_string(requests.size()));
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        require_known_keys(wanted[i], {"args", "description", "description_contains"});
        expect(wanted[i], "name", std::string(member(requests[i], "name").text));
        require_equal("args", member(wanted[i], "args"), std::string(member(requests[i], "args").text));
        expect(wanted[i], "description", std::string(member(requests[i], "description").text));
        require_contains(wanted[i].find("description_contains"), text_of(requests[i], "description"));
        require(text_of(requests[i], "id") == open.at(i).id, "an action request has another id than its approval");
    }
    require_equal("review_configs", member(pause, "review_configs"),
                  std::string(member(shown->root(), "review_configs").text));
}

void check_runs(const JsonNode& wanted, const Step& step, const std::set<std::string>& left_out) {
    std::vector<const JsonNode*> calls;
    for (const auto& call : wanted.items) {
        require_known_keys(call, {"id", "args"});
        if (!left_out.contains(text_of(call, "id"))) calls.push_back(&call);
    }
    require(calls.size() == step.runs.size(),
            "expected " + std::to_string(calls.size()) + " runs, got " + std::to_string(step.runs.size()));
    for (std::size_t i = 0; i < calls.size(); ++i) {
        expect(*calls[i], "id", json_quote(step.run_ids[i]));
        expect(*calls[i], "name", json_quote(step.runs[i].tool));
        require_equal("args", member(*calls[i], "args"), step.runs[i].arguments);
    }
}

std::size_t count_of(const std::string& text, const std::string& part) {
    std::size_t count = 0;
    for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) ++count;
    return count;
}

void check_result(const JsonNode& wanted, const Message& result) {
    require_known_keys(wanted,
                       {"id", "status", "text", "text_contains", "text_excludes", "text_starts", "text_ends", "count"});
    expect(wanted, "id", json_quote(result.tool_call_id.value_or("")));
    expect(wanted, "status", result.is_error ? R"("error")" : R"("success")");
    expect(wanted, "text", json_quote(result.text));
    require_contains(wanted.find("text_contains"), result.text);
    if (const auto* parts = wanted.find("text_excludes"); parts != nullptr) {
        for (const auto& part : parts->items)
            require(!result.text.contains(part.string),
                    "expected a text without " + part.string + ", got " + result.text);
    }
    if (has(wanted, "text_starts"))
        require(result.text.starts_with(text_of(wanted, "text_starts")), "the text starts otherwise: " + result.text);
    if (has(wanted, "text_ends"))
        require(result.text.ends_with(text_of(wanted, "text_ends")), "the text ends otherwise: " + result.text);
    const auto* counted = wanted.find("count");
    for (std::size_t i = 0; counted != nullptr && i < counted->keys.size(); ++i) {
        require_equal("count", counted->items[i], std::to_string(count_of(result.text, counted->keys[i])));
    }
}

void check_results(const JsonNode& wanted, const std::vector<Message>& results) {
    require(wanted.items.size() == results.size(),
            "expected " + std::to_string(wanted.items.size()) + " results, got " + std::to_string(results.size()));
    for (std::size_t i = 0; i < results.size(); ++i) check_result(wanted.items[i], results[i]);
}

// The part of an expectation that a step of any kind may have.
class Expectation {
public:
    Expectation(DecisionWorld& world, std::string thread, const JsonNode& expect)
        : world_(world), thread_(std::move(thread)), expect_(expect) {
        require_known_keys(expect, {"runs",
                                    "results",
                                    "error",
                                    "error_contains",
                                    "request_open",
                                    "pause_again",
                                    "paused",
                                    "outcome",
                                    "decision",
                                    "outcomes",
                                    "open",
                                    "open_list",
                                    "different_id",
                                    "same_interrupt_id",
                                    "before_count",
                                    "model_call_kept",
                                    "runs_total",
                                    "runs_total_max",
                                    "results_per_call",
                                    "winners",
                                    "losers_told"});
    }

    void check(const Step& step, const std::set<std::string>& left_out = {}) const {
        const auto error = error_of(step.run);
        // One more acceptable end: the answer is refused and stays open.
        const auto more = acceptable(expect_, "or");
        require_known_words(more, {"refused", "config_error"});
        if (names(more, "refused") && !error.kind.empty() && !step.run.interrupts.empty() && step.runs.empty()) return;
        check_error(error, step);
        if (has(expect_, "runs")) check_runs(member(expect_, "runs"), step, left_out);
        if (has(expect_, "results")) check_results(member(expect_, "results"), step.results);
        if (has(expect_, "request_open"))
            expect(expect_, "request_open", step.run.interrupts.empty() ? "false" : "true");
        if (has(expect_, "pause_again")) check_pause(member(expect_, "pause_again"), step.run.interrupts);
        if (has(expect_, "paused")) {
            const bool ended = step.run.status == RunStatus::waiting || step.run.status == RunStatus::done;
            require(ended, "the prompt neither waits nor ended: " + std::string(to_string(step.run.status)));
            expect(expect_, "paused", step.run.status == RunStatus::waiting ? "true" : "false");
        }
        check_decision(step);
        check_open();
        check_ids();
        expect(expect_, "before_count", std::to_string(world_.before_count()));
    }

    void check_model_call(const Step& step, const std::vector<ProposedCall>& proposed) const {
        if (has(expect_, "model_call_kept"))
            expect(expect_, "model_call_kept", step.model_calls == proposed ? "true" : "false");
    }

private:
    void check_error(const Error& error, const Step& step) const {
        if (!has(expect_, "error")) {
            if (!has(expect_, "outcomes"))
                require(error.kind.empty(), "unexpected error " + error.kind + ": " + error.text);
            return;
        }
        expect(expect_, "error", json_quote(error.kind));
        require_contains(expect_.find("error_contains"), error.text);
        require(step.runs.empty(), "a tool ran although there was an error");
        // A late answer is what ends an approval whose time is over.
        require(error.kind == "expired" || step.events_added == 0, "something was stored although there was an error");
    }

    void check_decision(const Step& step) const {
        if (has(expect_, "outcome")) {
            require(step.run.answers.size() == 1, "the answer was not looked at");
            expect(expect_, "outcome", json_quote(word_of(step.run.answers[0])));
        }
        if (has(expect_, "decision")) {
            require(step.run.answers.size() == 1 && step.run.answers[0].approval.decision, "no decision is named");
            expect(expect_, "decision", json_quote(table_word(*step.run.answers[0].approval.decision)));
        }
        const auto* outcomes = expect_.find("outcomes");
        if (outcomes == nullptr) return;
        require(outcomes->keys.size() == step.run.answers.size(), "not every answer has an outcome");
        for (std::size_t i = 0; i < outcomes->keys.size(); ++i)
            require_equal(outcomes->keys[i], outcomes->items[i], json_quote(word_of(step.run.answers[i])));
    }

    void check_open() const {
        if (!has(expect_, "open") && !has(expect_, "open_list")) return;
        const auto open = world_.pending(thread_);
        expect(expect_, "open", std::to_string(open.size()));
        const auto* wanted = expect_.find("open_list");
        if (wanted == nullptr) return;
        std::string list;
        for (const auto& approval : open)
            list += (list.empty() ? "" : ",") + json_quote(world_.name_of(thread_, approval.id));
        require_equal("open_list", *wanted, "[" + list + "]");
    }

    void check_ids() const {
        const auto pair_of = [&](std::string_view key) {
            const auto& names = member(expect_, key).items;
            require(names.size() == 2, "two approvals are compared");
            return std::pair(world_.approval(thread_, names[0].string), world_.approval(thread_, names[1].string));
        };
        if (has(expect_, "different_id")) {
            const auto [a, b] = pair_of("different_id");
            require(a.id != b.id, "two approvals have one id");
        }
        if (has(expect_, "same_interrupt_id")) {
            const auto [a, b] = pair_of("same_interrupt_id");
            require(a.question.interrupt_id == b.question.interrupt_id && !a.question.interrupt_id.empty(),
                    "the interrupt ids differ");
        }
    }

    DecisionWorld& world_;
    std::string thread_;
    const JsonNode& expect_;
};

void run_config_case(const JsonNode& node) {
    require_known_keys(node, {"tools", "interrupt_on", "permissions", "options", "expect"});
    const auto& wanted = member(node, "expect");
    require_known_keys(wanted, {"error", "error_contains"});
    require(text_of(wanted, "error") == "config_error", "unknown error of a config case");
    try {
        DecisionWorld world(node, false);
    } catch (const ConfigError& error) {
        require_contains(wanted.find("error_contains"), error.what());
        return;
    }
    throw CaseFailed("the agent could be built");
}

// A turn that may also be refused as a whole, or of which only the first call runs.
void check_one_of(const JsonNode& wanted, const Step& step, const std::vector<ProposedCall>& calls) {
    const auto words = acceptable(wanted, "one_of");
    require_known_words(words, {"refused", "first_only"});
    const bool refused = step.runs.empty() && !error_of(step.run).kind.empty();
    const bool first_only = step.runs.size() == 1 && step.runs[0].arguments == calls.front().arguments;
    require((refused && names(words, "refused")) || (first_only && names(words, "first_only")),
            "the turn was neither refused nor did its first call alone run");
}

void run_batch(const JsonNode& node, bool hold_batch) {
    const std::string thread = "T";
    DecisionWorld world(node, hold_batch);
    const auto calls = calls_of(node);
    const auto& pause = member(node, "pause");
    const auto begun = world.prompt(thread, calls);
    if (pause.kind == Kind::null) {
        require(begun.run.interrupts.empty(), "somebody was asked");
        Expectation(world, thread, member(node, "expect")).check(begun);
        return;
    }
    std::set<std::string> ran;
    if (const auto* ungated = node.find("ungated"); ungated != nullptr && !hold_batch) {
        for (const auto& id : ungated->items) ran.insert(id.string);
    }
    require(std::set(begun.run_ids.begin(), begun.run_ids.end()) == ran && begun.runs.size() == ran.size(),
            "other calls than the ungated ones ran at the pause");
    const auto& attempts = member(node, "attempts").items;
    const bool may_be_refused = !attempts.empty() && has(member(attempts[0], "expect"), "one_of");
    if (!may_be_refused) check_pause(pause, begun.run.interrupts);
    for (const auto& attempt : attempts) {
        require_known_keys(attempt, {"decisions", "answer", "expect"});
        const auto json = has(attempt, "answer")
                              ? std::string(member(attempt, "answer").text)
                              : R"({"decisions":)" + std::string(member(attempt, "decisions").text) + "}";
        const auto step = world.answer(thread, json);
        const auto& wanted = member(attempt, "expect");
        if (has(wanted, "one_of")) {
            check_one_of(wanted, step, calls);
            continue;
        }
        const Expectation expectation(world, thread, wanted);
        expectation.check(step, ran);
        expectation.check_model_call(step, calls);
    }
}

void run_batch_case(const JsonNode& node) {
    require_known_keys(node, {"tools", "schemas", "interrupt_on", "permissions", "options", "calls", "pause", "ungated",
                              "attempts", "expect"});
    run_batch(node, true);
    if (member(node, "pause").kind != Kind::null) run_batch(node, false);
}

class Flow {
public:
    explicit Flow(const JsonNode& node) : world_(node, hold_batch(node), workers_of(node)) {}

    void step(const JsonNode& node) {
        require_known_keys(node, {"do", "thread", "calls", "before", "expect", "caller_options", "text", "request",
                                  "request_thread", "decisions", "answers", "seconds", "children", "live_answer"});
        const auto& word = text_of(node, "do");
        const auto& wanted = member(node, "expect");
        const auto* named = node.find("thread");
        const std::string thread = named == nullptr ? "" : named->string;
        if (word == "counts") return counts(wanted);
        if (word == "advance") return world_.pass(std::stoll(std::string(member(node, "seconds").text)));
        if (word == "restart") return world_.restart();
        if (word == "answer_parallel") return answer_at_once(node, thread, wanted);
        const Expectation expectation(world_, thread, has(wanted, "one_of") ? nothing() : wanted);
        if (word == "pending") return expectation.check({});
        const auto done = act(word, node, thread);
        if (has(wanted, "one_of")) return no_thread(wanted, done);
        expectation.check(done);
    }

private:
    static bool hold_batch(const JsonNode& node) {
        const auto* options = node.find("options");
        const auto* hold = options == nullptr ? nullptr : options->find("hold_batch");
        return hold != nullptr && hold->boolean;
    }

    static const JsonNode& nothing() {
        static const Arguments none;
        return none.root();
    }

    Step act(const std::string& word, const JsonNode& node, const std::string& thread) {
        if (const auto* live = node.find("live_answer"); live != nullptr) {
            std::vector<std::string> decisions;
            for (const auto& decision : live->items) decisions.emplace_back(decision.text);
            world_.answer_live(std::move(decisions));
        }
        // A prompt takes no options, so `caller_options` has nothing to loosen.
        if (word == "start" || word == "next_turn") return world_.prompt(thread, calls_of(node));
        if (word == "prompt") return world_.prompt(thread, {});
        if (word == "start_children") return world_.prompt_workers(thread);
        if (word == "resume") return world_.resume(thread);
        if (word == "answer") return world_.answer(thread, answer_json(node, thread));
        if (word == "answer_keyed") return world_.answer(thread, keyed_json(member(node, "decisions"), thread));
        throw CaseFailed("unknown word '" + word + "'");
    }

    std::string answer_json(const JsonNode& node, const std::string& thread) const {
        const auto& decisions = member(node, "decisions");
        const auto& request = member(node, "request");
        if (request.kind == Kind::null) return R"({"decisions":)" + std::string(decisions.text) + "}";
        const auto& asked_in = has(node, "request_thread") ? text_of(node, "request_thread") : thread;
        require(decisions.items.size() == 1, "one request takes one decision");
        return keyed(world_.id_of(asked_in, request.string), decisions.items[0]);
    }

    static std::string keyed(const std::string& id, const JsonNode& decision) {
        return "{" + json_quote(id) + ":" + std::string(decision.text) + "}";
    }

    std::string keyed_json(const JsonNode& decisions, const std::string& thread) const {
        std::string members;
        for (std::size_t i = 0; i < decisions.keys.size(); ++i) {
            members += (i == 0 ? "" : ",") + json_quote(world_.id_of(thread, decisions.keys[i])) + ":" +
                       std::string(decisions.items[i].text);
        }
        return "{" + members + "}";
    }

    void answer_at_once(const JsonNode& node, const std::string& thread, const JsonNode& wanted) {
        std::vector<std::string> answers;
        for (const auto& list : member(node, "answers").items) {
            require(list.items.size() == 1, "one request takes one decision");
            answers.push_back(keyed(world_.id_of(thread, text_of(node, "request")), list.items[0]));
        }
        std::vector<Run> told;
        const auto step = world_.answer_at_once(thread, answers, told);
        int winners = 0;
        bool losers_told = true;
        for (const auto& run : told) {
            require(run.answers.size() == 1, "somebody was told nothing");
            const auto word = word_of(run.answers[0]);
            winners += word == "accepted" ? 1 : 0;
            const bool names_decision = run.answers[0].approval.decision.has_value();
            if (word != "accepted")
                losers_told = losers_told && (word == "already" || word == "conflict") && names_decision;
        }
        const auto runs = static_cast<int>(step.runs.size());
        expect(wanted, "winners", std::to_string(winners));
        expect(wanted, "losers_told", losers_told ? "true" : "false");
        expect(wanted, "runs_total", std::to_string(runs));
        if (has(wanted, "runs_total_max"))
            require(runs <= std::stoi(std::string(member(wanted, "runs_total_max").text)), "a tool ran too often");
        expect(wanted, "results_per_call", std::to_string(step.results.size() / step.model_calls.size()));
    }

    void counts(const JsonNode& wanted) const {
        const auto counts = world_.counts();
        for (std::size_t i = 0; i < wanted.keys.size(); ++i) {
            const auto found = counts.find(wanted.keys[i]);
            require_equal("count of " + wanted.keys[i], wanted.items[i],
                          std::to_string(found == counts.end() ? 0 : found->second));
        }
    }

    static void no_thread(const JsonNode& wanted, const Step& step) {
        const auto words = acceptable(wanted, "one_of");
        require_known_words(words, {"no_thread", "asked_on_a_new_thread"});
        const bool asked = step.run.status == RunStatus::waiting && !step.run.thread.empty();
        require(asked && names(words, "asked_on_a_new_thread"), "nobody was asked on a new thread");
        check_runs(member(wanted, "runs"), step, {});
    }

    DecisionWorld world_;
};

void run_flow_case(const JsonNode& node) {
    require_known_keys(node, {"tools", "schemas", "interrupt_on", "permissions", "options", "steps"});
    Flow flow(node);
    for (const auto& step : member(node, "steps").items) flow.step(step);
}

}  // namespace

void run_decision_case(const JsonNode& node) {
    const auto& kind = text_of(node, "kind");
    if (kind == "config") return run_config_case(node);
    if (kind == "batch") return run_batch_case(node);
    if (kind == "flow") return run_flow_case(node);
    throw CaseFailed("unknown kind '" + kind + "'");
}

}  // namespace assent::conformance
