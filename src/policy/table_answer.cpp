#include "policy/table_answer.hpp"

#include "policy/table_payload.hpp"
#include "policy/table_texts.hpp"

#include <algorithm>

namespace assent {
namespace {

using Kind = JsonNode::Kind;

constexpr std::string_view decisions_key = "decisions";

AnswerRefusal not_allowed(const Approval& approval, std::string_view type) {
    const auto tool = approval.tool.empty() ? std::string() : " for tool " + shown_briefly(approval.tool);
    return {.kind = Refusal::not_allowed,
            .message = "the decision " + shown_briefly(type) + " is not allowed" + tool +
                       "; take one of: " + table_words(approval.question.allowed)};
}

// The one key of `node` that is not in `known`; empty if there is none.
std::string unknown_key(const JsonNode& node, std::initializer_list<std::string_view> known) {
    const auto found =
        std::ranges::find_if(node.keys, [&](const auto& key) { return std::ranges::find(known, key) == known.end(); });
    return found == node.keys.end() ? std::string() : *found;
}

std::variant<Decision, AnswerRefusal> read_edit(const JsonNode& node, Decision decision) {
    const auto* action = node.find("edited_action");
    if (action == nullptr || action->kind != Kind::object)
        return bad_shape("an edit needs edited_action, an object with name and args");
    if (const auto key = unknown_key(*action, {"name", "args"}); !key.empty())
        return bad_shape("edited_action has the unknown key " + shown_briefly(key) + "; take name and args");
    const auto* name = action->find("name");
    const auto* args = action->find("args");
    if (name == nullptr || name->kind != Kind::string || name->string.empty())
        return bad_shape("edited_action needs name, the name of a tool");
    if (args == nullptr || args->kind != Kind::object)
        return bad_shape("edited_action needs args, an object with all arguments");
    decision.tool = name->string;
    decision.arguments = std::string(args->text);
    decision.mode = EditMode::replace;
    return decision;
}

std::variant<Decision, AnswerRefusal> read_decision(const Approval& approval, const JsonNode& node) {
    if (node.kind != Kind::object) return bad_shape("a decision must be an object with type");
    const auto* type = node.find("type");
    if (type == nullptr || type->kind != Kind::string)
        return bad_shape("a decision needs type, one of: " + table_words(approval.question.allowed));
    const auto kind = table_decision(type->string);
    if (!kind) return not_allowed(approval, type->string);
    Decision decision{.kind = *kind};
    if (auto refusal = table_refusal(approval, decision)) return std::move(*refusal);
    const bool edits = *kind == DecisionKind::edit;
    if (const auto key = unknown_key(node, {"type", "message", edits ? "edited_action" : "type"}); !key.empty())
        return bad_shape("the decision " + shown_briefly(type->string) + " has the unknown key " + shown_briefly(key));
    const auto* message = node.find("message");
    const bool has_message = message != nullptr && message->kind != Kind::null;
    if (has_message && message->kind != Kind::string) return bad_shape("message must be a text");
    if (*kind == DecisionKind::respond && !has_message)
        return bad_shape("the decision respond needs message, the result of the call");
    if (has_message) decision.message = message->string;
    return edits ? read_edit(node, std::move(decision)) : decision;
}

}  // namespace

std::variant<DecisionList, KeyedDecisions, AnswerRefusal> read_table_answer(std::string_view json) {
    const auto answer = JsonText::parse(std::string(json));
    if (!answer) return no_json(answer.failure().message);
    const auto& root = answer->root();
    if (root.kind != Kind::object)
        return bad_shape("an answer must be an object with decisions, or with decisions by id");
    const auto* list = root.find(decisions_key);
    if (list != nullptr) {
        if (root.keys.size() != 1) return bad_shape("beside decisions an answer takes no other keys");
        if (list->kind != Kind::array) return bad_shape("decisions must be a list, one for each call that waits");
        DecisionList decisions;
        for (const auto& item : list->items) {
            if (item.find(decisions_key) != nullptr) return bad_shape("a decision cannot be a list of decisions");
            decisions.emplace_back(item.text);
        }
        return decisions;
    }
    const bool keyed = !root.items.empty() &&
                       std::ranges::all_of(root.items, [](const auto& item) { return item.kind == Kind::object; });
    if (!keyed) {
        return AnswerRefusal{.kind = Refusal::missing_decisions,
                             .message = "the answer has no decisions; give a list as decisions, or decisions by id"};
    }
    KeyedDecisions decisions;
    for (std::size_t i = 0; i < root.keys.size(); ++i) {
        if (root.items[i].find(decisions_key) != nullptr) return bad_shape("a decision cannot be a list of decisions");
        decisions.emplace_back(root.keys[i], root.items[i].text);
    }
    return decisions;
}

std::variant<Decision, AnswerRefusal> read_table_decision(const Approval& approval, std::string_view json) {
    const auto text = JsonText::parse(std::string(json));
    if (!text) return no_json(text.failure().message);
    const auto* list = text->root().find(decisions_key);
    if (list == nullptr) return read_decision(approval, text->root());
    if (text->root().keys.size() != 1 || list->kind != Kind::array)
        return bad_shape("decisions must be a list and stand alone");
    if (list->items.size() != 1) {
        return AnswerRefusal{.kind = Refusal::count_mismatch,
                             .message = "the number of decisions (" + std::to_string(list->items.size()) +
                                        ") does not match the number of calls that wait (1)"};
    }
    return read_decision(approval, list->items.front());
}

std::optional<AnswerRefusal> table_refusal(const Approval& approval, const Decision& decision) {
    if (approval.question.style != Style::table) return std::nullopt;
    const auto& allowed = approval.question.allowed;
    if (std::ranges::find(allowed, decision.kind) == allowed.end())
        return not_allowed(approval, table_word(decision.kind));
    const bool other_tool = !decision.tool.empty() && decision.tool != approval.tool;
    if (other_tool && is_per_call(approval.question.payload)) {
        return AnswerRefusal{.kind = Refusal::not_allowed,
                             .message = "an edit of this approval keeps the tool " + shown_briefly(approval.tool)};
    }
    return std::nullopt;
}

}  // namespace assent
