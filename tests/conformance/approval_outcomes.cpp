#include "conformance/case.hpp"
#include "conformance/decision_world.hpp"

#include <assent/policy.hpp>

#include <algorithm>
#include <chrono>
#include <cstdlib>

namespace assent::conformance {
namespace {

using Kind = JsonNode::Kind;
using AnswerStatus = AnswerResult::Status;

constexpr std::string_view thread = "outcomes";
constexpr std::string_view own_text = "what the tool returned";
constexpr std::string_view tool_name = "gated";

void require(bool holds, const std::string& problem) {
    if (!holds) throw CaseFailed(problem);
}

// The text called `key`, or nothing.
std::optional<std::string> optional_text(const JsonNode& node, std::string_view key) {
    const auto* found = node.find(key);
    if (found == nullptr || found->kind == Kind::null) return std::nullopt;
    if (found->kind != Kind::string) throw CaseFailed("'" + std::string(key) + "' is no text");
    return found->string;
}

std::optional<std::chrono::duration<double>> seconds_of(const JsonNode& node, std::string_view key) {
    const auto* found = node.find(key);
    if (found == nullptr || found->kind != Kind::number) return std::nullopt;
    return std::chrono::duration<double>(std::strtod(std::string(found->text).c_str(), nullptr));
}

class OutcomeTool final : public Tool {
public:
    explicit OutcomeTool(std::string schema) : Tool({.name = std::string(tool_name), .schema = std::move(schema)}) {}
    std::vector<std::string> runs;

private:
    ToolResult run(const ApprovedCall& call) override {
        runs.push_back(call.arguments().text());
        return {.text = std::string(own_text)};
    }
};

Policy policy_of(const JsonNode& node) {
    require_known_keys(node,
                       {"result", "reason", "error", "value", "timeout_seconds", "channel_default_timeout_seconds"});
    const auto& result = text_of(node, "result");
    if (result == "approve") return [](const ToolCall<>&) { return Approve{}; };
    if (result == "deny") {
        return [reason = optional_text(node, "reason").value_or("")](const ToolCall<>&) { return Deny{reason}; };
    }
    if (result == "ask") {
        AskUser ask;
        if (const auto seconds = seconds_of(node, "timeout_seconds")) ask.timeout = *seconds;
        return [ask](const ToolCall<>&) { return ask; };
    }
    if (result == "raises") {
        return
            [error = text_of(node, "error")](const ToolCall<>&) -> PolicyDecision { throw std::runtime_error(error); };
    }
    if (result == "wrong_type") return [](const ToolCall<>&) { return PolicyDecision{}; };
    throw CaseFailed("unknown word \"" + result + "\"");
}

// What came of a case.
struct Outcomes {
    std::vector<std::string> runs;  // of the call that the case is about
    std::optional<CallReport> call;
    std::optional<CallReport> end_event;
    bool asked = false;
    std::optional<AnswerResult> told;
    std::optional<AnswerResult> told_second;
    bool stays_open = false;
    bool other_stays_open = false;
};

class OutcomeWorld {
public:
    explicit OutcomeWorld(const JsonNode& node)
        : node_(node),
          policy_(policy_of(member(node, "policy"))),
          tool_(std::make_shared<OutcomeTool>(std::string(member(node, "schema").text))),
          event_(text_of(node, "event")),
          position_(event_ == "asked_while_another_is_open" ? 1 : 0) {}

    Outcomes play() {
        propose();
        agent_ = make_agent();
        note(agent_->prompt("go"));
        happen();
        return seen();
    }

private:
    std::unique_ptr<Agent> make_agent() {
        AgentOptions options{.model = model_,
                             .tools = {tool_},
                             .middleware = {policy(policy_)},
                             .checkpointer = &store_,
                             .thread_id = std::string(thread),
                             .clock = &clock_,
                             .random = &random_};
        if (const auto seconds = seconds_of(member(node_, "policy"), "channel_default_timeout_seconds"))
            options.timeout = *seconds;
        options.listener = [this](const AgentEvent& event) {
            if (event.kind == AgentEvent::Kind::ended && event.call->position == position_) ended_ = *event.call;
            if (event.kind == AgentEvent::Kind::asked && event.approval->position == position_)
                asked_ = *event.approval;
        };
        return std::make_unique<Agent>(std::move(options));
    }

    void propose() {
        std::vector<ProposedCall> calls;
        if (position_ == 1) calls.push_back(call("call_0", std::string(member(node_, "other_arguments").text)));
        calls.push_back(call("call_1", std::string(member(node_, "arguments").text)));
        if (event_ == "unknown_tool") calls.back().tool = "no_such_tool";
        model_->propose(std::move(calls));
    }
    static ProposedCall call(std::string id, std::string arguments) {
        return {.tool = std::string(tool_name), .id = std::move(id), .arguments = std::move(arguments)};
    }

    Approvals approvals() { return Approvals(store_, clock_, random_); }
    std::vector<Approval> open() {
        auto open = approvals().pending(std::string(thread));
        if (!open) throw CaseFailed(open.failure().message);
        return std::move(open).value();
    }

    void note(const Run& run) {
        for (const auto& call : run.calls) {
            if (call.position == position_) call_ = call;
        }
    }

    AnswerResult answer(const std::string& id, std::string_view key) {
        auto told = approvals().answer_json(id, text_of(node_, key), {.name = "alice"}, std::string(thread));
        if (!told) throw CaseFailed(told.failure().message);
        return std::move(told).value();
    }
    void pass_deadline() {
        const auto& policy = member(node_, "policy");
        auto seconds = seconds_of(policy, "timeout_seconds");
        if (!seconds) seconds = seconds_of(policy, "channel_default_timeout_seconds");
        if (!seconds) throw CaseFailed("the case has no deadline");
        constexpr std::int64_t beyond_ms = 1;
        clock_.pass(std::chrono::ceil<std::chrono::milliseconds>(*seconds).count() + beyond_ms);
    }
    void resume() { note(agent_->resume()); }

    void happen() {
        if (event_ == "none" || event_ == "unknown_tool" || event_ == "invalid_arguments") return;
        require(asked_.has_value(), "nobody was asked");
        if (event_ == "answered_other_id") {
            told_ = answer(text_of(node_, "answer_id"), "answer");
        } else if (event_ == "cancel") {
            told_ = *approvals().cancel(asked_->id, optional_text(node_, "answer").value_or(""), {.name = "alice"});
        } else if (event_ == "abort") {
            require(agent_->abort_pending(optional_text(node_, "answer").value_or("")).ok(), "the abort failed");
        } else if (event_ == "timeout") {
            pass_deadline();
        } else if (event_ == "answered_after_timeout") {
            pass_deadline();
            told_ = answer(asked_->id, "answer");
        } else if (event_ == "answered_after_restart_and_deadline") {
            agent_.reset();
            pass_deadline();
            told_ = answer(asked_->id, "answer");
            agent_ = make_agent();
        } else if (event_ == "answered" || event_ == "answered_twice" || event_ == "asked_while_another_is_open") {
            if (node_.find("answer") != nullptr) told_ = answer(asked_->id, "answer");
        } else {
            throw CaseFailed("unknown word \"" + event_ + "\"");
        }
        resume();
        if (event_ == "answered_twice") told_second_ = answer(asked_->id, "second_answer");
    }

    Outcomes seen() {
        Outcomes outcomes{.runs = tool_->runs,
                          .call = call_,
                          .end_event = ended_,
                          .asked = asked_.has_value(),
                          .told = told_,
                          .told_second = told_second_};
        for (const auto& approval : open())
            (approval.position == position_ ? outcomes.stays_open : outcomes.other_stays_open) = true;
        return outcomes;
    }

    const JsonNode& node_;
    test::FakeClock clock_;
    test::FakeRandom random_;
    MemoryCheckpointer store_;
    Policy policy_;
    std::shared_ptr<OutcomeTool> tool_;
    std::shared_ptr<ToldModel> model_ = std::make_shared<ToldModel>();
    std::string event_;
    int position_;
    std::unique_ptr<Agent> agent_;
    std::optional<CallReport> call_;
    std::optional<CallReport> ended_;
    std::optional<Approval> asked_;
    std::optional<AnswerResult> told_;
    std::optional<AnswerResult> told_second_;
};

bool refused(const Outcomes& outcomes) {
    return outcomes.told && outcomes.told->status != AnswerStatus::decided &&
           outcomes.told->status != AnswerStatus::already;
}

std::string refused_as(const Outcomes& outcomes) {
    if (!refused(outcomes)) return "null";
    switch (outcomes.told->status) {
        case AnswerStatus::expired:
            return R"("expired")";
        case AnswerStatus::not_found:
            return R"("unknown_request")";
        case AnswerStatus::conflict:
            return R"("conflict")";
        default:
            return R"("refused")";
    }
}

std::string flag(bool value) {
    return value ? "true" : "false";
}

// `hitl` of the call's details; JSON null without one.
JsonText hitl_of(const Outcomes& outcomes) {
    if (!outcomes.call) return {};
    const auto details = Arguments::parse(outcomes.call->details);
    const auto* hitl = details ? details->find("hitl") : nullptr;
    return hitl == nullptr ? JsonText() : *JsonText::parse(std::string(hitl->text));
}

void check_hitl(const JsonNode& expect, const Outcomes& outcomes) {
    const auto trace = hitl_of(outcomes);
    const auto& hitl = trace.root();
    if (const auto* wanted = expect.find("hitl"); wanted != nullptr) {
        require((wanted->kind == Kind::null) == (hitl.kind == Kind::null), "expected another hitl: " + trace.text());
        for (std::size_t i = 0; i < wanted->keys.size(); ++i) {
            const auto* value = hitl.find(wanted->keys[i]);
            if (value == nullptr || !same_value(wanted->items[i], *value))
                fail("hitl." + wanted->keys[i], {&wanted->items[i]}, trace.text());
        }
    }
    if (const auto* keys = expect.find("hitl_keys"); keys != nullptr) {
        require(hitl.keys.size() == keys->items.size(), "expected other keys of hitl: " + trace.text());
        for (const auto& key : keys->items)
            require(hitl.find(key.string) != nullptr, "hitl has no " + key.string + ": " + trace.text());
        const auto* by = hitl.find("by");
        require(by == nullptr || by->string == "alice", "somebody else has decided: " + trace.text());
    }
    if (const auto* keys = expect.find("hitl_absent"); keys != nullptr) {
        for (const auto& key : keys->items)
            require(hitl.find(key.string) == nullptr, "hitl has " + key.string + ": " + trace.text());
    }
}

void check_end_event(const JsonNode& expect, const Outcomes& outcomes) {
    const auto* wanted = expect.find("end_event");
    if (wanted == nullptr) return;
    require((wanted->kind == Kind::null) == !outcomes.end_event, "expected another end event");
    if (wanted->kind == Kind::null) return;
    require_known_keys(*wanted, {"blocked", "block_reason"});
    expect_outcome(*wanted, "blocked", flag(outcomes.end_event->blocked));
    const auto& reason = outcomes.end_event->block_reason;
    expect_outcome(*wanted, "block_reason", reason ? json_quote(*reason) : "null");
}

void check_second(const JsonNode& expected, const Outcomes& outcomes) {
    if (expected.find("second") == nullptr) return;
    require(outcomes.told_second.has_value(), "nobody answered twice");
    const auto& second = *outcomes.told_second;
    expect(expected, "second",
           second.status == AnswerStatus::already    ? R"("already")"
           : second.status == AnswerStatus::conflict ? R"("conflict")"
                                                     : R"("other")");
    require(second.approval.decision.has_value(), "the second answer was told no decision");
    expect(expected, "second_names", json_quote(to_string(*second.approval.decision)));
}

void check_runs(const JsonNode& expected, const Outcomes& outcomes) {
    const auto runs = outcomes.runs.size();
    require(runs < 2, "the tool ran " + std::to_string(runs) + " times");
    expect(expected, "tool_runs", flag(runs == 1));
    const auto* used = expected.find("arguments_used");
    if (used == nullptr) return;
    const auto actual = JsonText::parse(runs == 1 ? outcomes.runs.front() : "null");
    if (!same_value(*used, actual->root())) fail("arguments_used", {used}, actual->text());
}

void check(const JsonNode& expected, const Outcomes& outcomes) {
    require_known_keys(expected, {"tool_runs", "arguments_used", "text", "is_error", "hitl", "hitl_keys", "hitl_absent",
                                  "end_event", "asked", "answer_refused", "refused_as", "request_stays_open",
                                  "other_stays_open", "second", "second_names"});
    check_runs(expected, outcomes);
    const bool ended = outcomes.call && outcomes.call->outcome;
    if (expected.find("text") != nullptr || expected.find("is_error") != nullptr)
        require(ended, "the call has no result");
    if (ended) {
        const auto text = outcomes.call->text == own_text ? "tool's own" : outcomes.call->text;
        expect(expected, "text", json_quote(text));
        expect(expected, "is_error", flag(outcomes.call->is_error));
    }
    check_hitl(expected, outcomes);
    check_end_event(expected, outcomes);
    expect(expected, "asked", flag(outcomes.asked));
    expect(expected, "answer_refused", flag(refused(outcomes)));
    expect(expected, "refused_as", refused_as(outcomes));
    expect(expected, "request_stays_open", flag(outcomes.stays_open));
    expect(expected, "other_stays_open", flag(outcomes.other_stays_open));
    check_second(expected, outcomes);
}

bool is_other_outcome(std::string_view word, const Outcomes& outcomes) {
    if (!outcomes.runs.empty()) return false;
    if (word == "answer_refused") return refused(outcomes) && outcomes.stays_open;
    if (word == "error_result") return !outcomes.stays_open && outcomes.call && outcomes.call->is_error;
    throw CaseFailed("unknown word \"" + std::string(word) + "\"");
}

}  // namespace

void run_approval_outcome_case(const JsonNode& node) {
    require_known_keys(node, {"policy", "event", "answer", "second_answer", "answer_id", "other_arguments", "arguments",
                              "schema", "expect"});
    const auto& policy = member(node, "policy");
    const auto* value = policy.find("value");
    // A policy in C++ cannot return another kind of value: the compiler refuses it.
    if (value != nullptr && value->kind != Kind::null) return;
    const auto outcomes = OutcomeWorld(node).play();
    try {
        check(member(node, "expect"), outcomes);
    } catch (const CaseFailed&) {
        const auto others = acceptable(node, "or");
        if (std::ranges::none_of(others, [&](const auto* word) { return is_other_outcome(word->string, outcomes); }))
            throw;
    }
}

}  // namespace assent::conformance
