#include "base/json_schema.hpp"
#include "conformance/case.hpp"
#include "support/fakes.hpp"

#include <assent/agent.hpp>
#include <assent/memory.hpp>

#include <algorithm>
#include <optional>

namespace assent::conformance {
namespace {

// What came of one answer.
struct Decided {
    std::string outcome;
    std::string reason;
    std::string message;
    std::string arguments_used = "null";
};

// One agent whose model calls the tool once; every call of it waits for a person.
class OneCall {
public:
    OneCall(const std::string& name, const Arguments& requested, const std::string& schema) {
        tool_ = std::make_shared<test::FakeTool>(ToolSpec{.name = name, .schema = schema});
        const auto script = R"({"turns":[{"calls":[{"id":"call_1","name":)" + json_quote(name) + R"(,"arguments":)" +
                            requested.text() + R"(}]},{"text":"done"}]})";
        auto model = scripted_model("the case", script);
        if (!model) throw CaseFailed(model.failure().message);
        agent_.emplace(AgentOptions{
            .model = *model,
            .tools = {tool_},
            .middleware = {std::make_shared<ToolInterruptMiddleware>(std::vector{InterruptRule("*")})},
            .checkpointer = &store_,
        });
        run_ = agent_->prompt("go");
        if (run_.interrupts.size() != 1 || !tool_->runs.empty())
            throw CaseFailed("the call was not asked about before it ran");
    }

    Decided answer(const std::string& text) {
        const auto id = run_.interrupts[0].id;
        run_ = agent_->resume({{id, Answer::json(text)}});
        if (run_.answers.size() != 1) throw CaseFailed("the answer was not looked at");
        if (run_.answers[0].status == AnswerResult::Status::refused) return refused(id, text);
        if (run_.status != RunStatus::done || run_.calls.size() != 1)
            throw CaseFailed("the run did not come to its end");
        if (tool_->runs.size() > 1) throw CaseFailed("the tool ran twice");
        if (tool_->runs.size() == 1) {
            return {.outcome = run_.calls[0].edited ? "run_edited" : "run", .arguments_used = tool_->runs[0]};
        }
        const auto message = run_.calls[0].text;
        const auto prefix = tool_denied_text(tool_->spec().name, "") + ": ";
        if (!message.starts_with(prefix)) throw CaseFailed("the model was told: " + message);
        return {.outcome = "deny", .reason = message.substr(prefix.size()), .message = message};
    }

private:
    Decided refused(const std::string& id, const std::string& text) {
        if (run_.interrupts.size() != 1 || run_.interrupts[0].id != id)
            throw CaseFailed("the approval did not stay open");
        if (!tool_->runs.empty()) throw CaseFailed("the tool ran after a refused answer");
        // Text that could be read was refused for what it wants.
        return {.outcome = JsonText::parse(text).ok() ? "invalid_edit" : "refused"};
    }

    MemoryCheckpointer store_;
    std::shared_ptr<test::FakeTool> tool_;
    std::optional<Agent> agent_;
    Run run_;
};

// The kinds that a reason is. A reviewer may write the standard reason, so it can be two.
std::vector<std::string> reason_kinds(const Decided& decided, const std::string& answer_text) {
    if (decided.outcome != "deny") return {"none"};
    std::vector<std::string> kinds;
    const auto answer = JsonText::parse(answer_text);
    const auto* message = answer ? answer->root().find("message") : nullptr;
    if (message != nullptr && message->string == decided.reason) kinds.emplace_back("message");
    if (decided.reason == "denied by reviewer") kinds.emplace_back("default");
    if (decided.reason.starts_with("invalid approval response")) kinds.emplace_back("invalid_response");
    return kinds;
}

void check_reason(const JsonNode& node, const Decided& decided) {
    const auto wanted = acceptable(node, "reason_kind");
    require_known_words(wanted, {"none", "default", "message", "invalid_response"});
    const auto kinds = reason_kinds(decided, text_of(node, "answer"));
    if (!wanted.empty() && std::ranges::none_of(kinds, [&](const auto& kind) { return names(wanted, kind); })) {
        fail("reason_kind", wanted, kinds.empty() ? "unknown" : kinds.front());
    }
    const bool denied = decided.outcome == "deny";
    expect(node, "reason", denied ? json_quote(decided.reason) : "null");
    expect(node, "message", denied ? json_quote(decided.message) : "null");
    const auto prefixes = acceptable(node, "reason_prefix");
    const auto begins = [&](const auto* prefix) { return decided.reason.starts_with(prefix->string); };
    if (!prefixes.empty() && std::ranges::none_of(prefixes, begins)) fail("reason_prefix", prefixes, decided.reason);
}

}  // namespace

void run_tool_decision_case(const JsonNode& node) {
    require_known_keys(node, {"tool", "requested", "schema", "answer", "outcome", "reason_kind", "reason",
                              "reason_prefix", "message", "arguments_used"});
    const auto outcomes = acceptable_outcomes(node, "outcome");
    require_known_words(outcomes, {"run", "run_edited", "deny", "invalid_edit", "refused"});
    const auto requested = Arguments::parse(std::string(member(node, "requested").text));
    if (!requested) throw CaseFailed("'requested' cannot be used: " + requested.failure().message);
    const auto* schema = node.find("schema");
    const std::string schema_text(schema == nullptr || schema->kind == JsonNode::Kind::null ? "" : schema->text);
    if (const auto usable = check_schema_text(schema_text); !usable) throw CaseFailed(usable.failure().message);
    const auto decided = OneCall(text_of(node, "tool"), *requested, schema_text).answer(text_of(node, "answer"));
    if (!outcomes.empty() && !names(outcomes, decided.outcome)) fail("outcome", outcomes, decided.outcome);
    expect(node, "arguments_used", decided.arguments_used);
    // The reason belongs to the main outcome, not to the one more that is acceptable.
    const auto main_outcomes = acceptable(node, "outcome");
    if (main_outcomes.empty() || names(main_outcomes, decided.outcome)) check_reason(node, decided);
}

}  // namespace assent::conformance
