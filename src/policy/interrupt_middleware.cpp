#include <assent/rules.hpp>

#include "policy/rules_by_tool.hpp"
#include "policy/tool_interrupt.hpp"

#include <algorithm>

namespace assent {
namespace {

constexpr std::string_view no_id = "needs a person but has no tool_call_id; give each call an id";

std::string about(std::string_view tool, std::string_view problem) {
    return "the call of " + std::string(tool) + " " + std::string(problem);
}

}  // namespace

ToolInterruptMiddleware::ToolInterruptMiddleware(std::vector<InterruptRule> rules, std::string version,
                                                 std::string name)
    : rules_(std::make_shared<RulesByTool>(std::move(rules))), version_(std::move(version)), name_(std::move(name)) {}

std::optional<Arguments> ToolInterruptMiddleware::before_tool(const ToolContext& context) {
    if (!rules_->ask(context.tool_name, context.arguments.json())) return std::nullopt;
    if (!context.tool_call_id) throw std::invalid_argument(about(context.tool_name, no_id));
    const auto id = interrupt_id(*context.tool_call_id);
    // Inside an agent nobody is asked here: every guard judges after the last replacement.
    if (!context.interrupt) return std::nullopt;
    const auto answer = read_rules_answer(
        context.interrupt(tool_interrupt_json(context.tool_name, context.tool_call_id, context.arguments.text()), id));
    if (!answer) throw std::invalid_argument(answer.failure().message);
    switch (answer->kind) {
        case RulesAnswer::Kind::run:
            return std::nullopt;
        case RulesAnswer::Kind::run_edited: {
            auto edited = lay_over(context.arguments, *answer->changes);
            if (!edited) throw std::invalid_argument(edited.failure().message);
            return std::move(edited).value();
        }
        case RulesAnswer::Kind::deny:
            break;
    }
    throw ToolDeniedError(std::string(context.tool_name), answer->reason);
}

bool ToolInterruptMiddleware::can_ask() const {
    return !rules_->all().empty();
}

std::vector<std::string> ToolInterruptMiddleware::tools_named() const {
    std::vector<std::string> names;
    for (const auto& rule : rules_->all()) {
        if (rule.tool != "*") names.push_back(rule.tool);
    }
    return names;
}

bool ToolInterruptMiddleware::covers(std::string_view tool) const {
    return std::ranges::any_of(rules_->all(), [&](const InterruptRule& rule) {
        return rule.tool == tool || (rule.tool == "*" && !rule.match);
    });
}

Judgement ToolInterruptMiddleware::judge(const GuardedCall& call) {
    if (!rules_->ask(call.tool_name, call.arguments->json())) {
        return {.verdict = Verdict::allow, .reason = {}, .question = std::nullopt};
    }
    if (!call.tool_call_id) {
        return {.verdict = Verdict::deny, .reason = about(call.tool_name, no_id), .question = std::nullopt};
    }
    Question question;
    question.style = Style::rules;
    question.payload = tool_interrupt_json(call.tool_name, call.tool_call_id, call.arguments->text());
    question.interrupt_id = interrupt_id(*call.tool_call_id);
    question.allowed = {DecisionKind::approve, DecisionKind::deny, DecisionKind::edit};
    return {.verdict = Verdict::ask,
            .reason = "a rule for " + std::string(call.tool_name) + " asks",
            .question = std::move(question)};
}

}  // namespace assent
