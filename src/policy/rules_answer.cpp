#include "policy/rules_answer.hpp"

#include <algorithm>

namespace assent {
namespace {

using Kind = JsonNode::Kind;

constexpr std::string_view default_reason = "denied by reviewer";
// Never with the answer's text: it would reach the model.
constexpr std::string_view invalid_reason = "invalid approval response";

RulesAnswer runs() {
    return {.kind = RulesAnswer::Kind::run, .changes = std::nullopt, .reason = {}};
}

RulesAnswer denies(std::string_view reason) {
    return {.kind = RulesAnswer::Kind::deny, .changes = std::nullopt, .reason = std::string(reason)};
}

// The members of a decision object; nothing if it has another form.
struct DecisionObject {
    std::string_view action;
    const JsonNode* arguments = nullptr;
    std::string_view message;
};

std::optional<DecisionObject> read_decision(const JsonNode& root) {
    DecisionObject decision;
    if (root.kind != Kind::object) return std::nullopt;
    for (std::size_t i = 0; i < root.keys.size(); ++i) {
        const auto& key = root.keys[i];
        const auto& value = root.items[i];
        if (key == "action" && value.kind == Kind::string) {
            decision.action = value.string;
        } else if (key == "arguments" && (value.kind == Kind::object || value.kind == Kind::null)) {
            if (value.kind == Kind::object) decision.arguments = &value;
        } else if (key == "message" && (value.kind == Kind::string || value.kind == Kind::null)) {
            decision.message = value.string;
        } else {
            return std::nullopt;
        }
    }
    static constexpr std::string_view actions[] = {"approve", "deny", "edit"};
    if (std::ranges::find(actions, decision.action) == std::end(actions)) return std::nullopt;
    return decision;
}

}  // namespace

Result<RulesAnswer> read_rules_answer(std::string_view json) {
    const auto answer = JsonText::parse(std::string(json));
    if (!answer) {
        return Failure{FailureKind::refused,
                       "the answer is no json, give true, false or a decision: " + answer.failure().message};
    }
    const auto& root = answer->root();
    if (root.kind == Kind::boolean) return root.boolean ? runs() : denies(default_reason);
    const auto decision = read_decision(root);
    if (!decision) return denies(invalid_reason);
    if (decision->action == "approve") return runs();
    if (decision->action == "edit" && decision->arguments != nullptr) {
        auto changes = Arguments::parse(std::string(decision->arguments->text));
        if (!changes) return changes.failure();
        return RulesAnswer{.kind = RulesAnswer::Kind::run_edited, .changes = std::move(changes).value(), .reason = {}};
    }
    return denies(decision->message.empty() ? default_reason : decision->message);
}

Decision decision_of(const RulesAnswer& answer) {
    switch (answer.kind) {
        case RulesAnswer::Kind::run:
            return approve();
        case RulesAnswer::Kind::run_edited:
            return edit_keys(answer.changes->text());
        case RulesAnswer::Kind::deny:
            break;
    }
    return deny(answer.reason);
}

}  // namespace assent
