#include "policy/policy_answer.hpp"

#include <assent/arguments.hpp>

#include <string>

namespace assent {
namespace {

using Kind = JsonNode::Kind;

constexpr std::string_view decision_words = "approve, deny, edit";

}  // namespace

std::variant<Decision, AnswerRefusal> read_policy_answer(std::string_view json) {
    const auto answer = JsonText::parse(std::string(json));
    if (!answer) return no_json(answer.failure().message);
    const auto& root = answer->root();
    if (root.kind != Kind::object)
        return bad_shape("an answer must be an object with decision, one of: " + std::string(decision_words));
    const auto* word = root.find("decision");
    if (word == nullptr || word->kind != Kind::string)
        return bad_shape("an answer needs decision, one of: " + std::string(decision_words));
    const auto kind = decision_kind(word->string);
    if (!kind || *kind == DecisionKind::respond) {
        return AnswerRefusal{.kind = Refusal::not_allowed,
                             .message = "the decision " + shown_briefly(word->string) +
                                        " is unknown; take one of: " + std::string(decision_words)};
    }
    Decision decision{.kind = *kind};
    const auto* reason = root.find("reason");
    if (reason != nullptr && reason->kind != Kind::null) {
        if (reason->kind != Kind::string) return bad_shape("reason must be a text or null");
        decision.message = reason->string;
    }
    if (*kind != DecisionKind::edit) return decision;
    const auto* edited = root.find("edited_args");
    if (edited == nullptr || edited->kind != Kind::object)
        return bad_shape("the decision edit needs edited_args, an object with all arguments");
    decision.arguments = std::string(edited->text);
    decision.mode = EditMode::replace;
    return decision;
}

}  // namespace assent
