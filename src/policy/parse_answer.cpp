#include <assent/parse_answer.hpp>

#include "policy/policy_answer.hpp"
#include "policy/rules_answer.hpp"
#include "policy/table_answer.hpp"

#include <optional>

namespace assent {
namespace {

using Kind = JsonNode::Kind;

Result<Decision> result_of(std::variant<Decision, AnswerRefusal> read) {
    if (auto* refusal = std::get_if<AnswerRefusal>(&read))
        return Failure{FailureKind::refused, std::move(refusal->message)};
    return std::get<Decision>(std::move(read));
}

Result<ParsedAnswer> parsed(Result<Decision> decision) {
    if (!decision) return decision.failure();
    return ParsedAnswer(std::move(decision).value());
}

// The text, or the texts of a list; nothing if it is something else.
std::optional<QuestionAnswer> read_question_answer(const std::string& key, const JsonNode& value) {
    if (value.kind == Kind::string) return QuestionAnswer{.key = key, .values = {value.string}};
    if (value.kind != Kind::array) return std::nullopt;
    QuestionAnswer answer{.key = key, .is_list = true};
    for (const auto& item : value.items) {
        if (item.kind != Kind::string) return std::nullopt;
        answer.values.push_back(item.string);
    }
    return answer;
}

Result<ParsedAnswer> parse_question_answers(const JsonNode& root) {
    QuestionAnswers answers;
    for (std::size_t i = 0; i < root.keys.size(); ++i) {
        auto answer = read_question_answer(root.keys[i], root.items[i]);
        if (!answer) {
            return Failure{FailureKind::refused, "the answer to " + shown_briefly(root.keys[i]) +
                                                     " must be a text or a list of texts; a decision needs decision"};
        }
        answers.push_back(std::move(*answer));
    }
    return ParsedAnswer(std::move(answers));
}

Result<ParsedAnswer> parse_policy_answer(std::string_view json) {
    if (const auto text = JsonText::parse(std::string(json))) {
        const auto& root = text->root();
        if (root.kind == Kind::boolean) return ParsedAnswer(Confirmation{.yes = root.boolean});
        if (!root.keys.empty() && root.find("decision") == nullptr) return parse_question_answers(root);
    }
    return parsed(result_of(read_policy_answer(json)));
}

// One decision, whatever its approval takes.
Result<Decision> parse_table_decision(std::string_view json) {
    return result_of(read_table_decision(Approval{}, json));
}

Result<ParsedAnswer> parse_table_answer(std::string_view json) {
    const auto text = JsonText::parse(std::string(json));
    const auto* type = text ? text->root().find("type") : nullptr;
    if (type != nullptr && type->kind != Kind::object) return parsed(parse_table_decision(json));
    const auto read = read_table_answer(json);
    if (const auto* refusal = std::get_if<AnswerRefusal>(&read)) return Failure{FailureKind::refused, refusal->message};
    if (const auto* list = std::get_if<DecisionList>(&read)) {
        DecisionsInOrder decisions;
        for (const auto& item : *list) {
            auto decision = parse_table_decision(item);
            if (!decision) return decision.failure();
            decisions.push_back(std::move(decision).value());
        }
        return ParsedAnswer(std::move(decisions));
    }
    DecisionsById decisions;
    for (const auto& [id, item] : std::get<KeyedDecisions>(read)) {
        auto decision = parse_table_decision(item);
        if (!decision) return decision.failure();
        decisions.emplace_back(id, std::move(decision).value());
    }
    return ParsedAnswer(std::move(decisions));
}

}  // namespace

Result<ParsedAnswer> parse_answer(Style style, std::string_view json) {
    switch (style) {
        case Style::rules: {
            const auto read = read_rules_answer(json);
            if (!read) return read.failure();
            return ParsedAnswer(decision_of(*read));
        }
        case Style::policy:
            return parse_policy_answer(json);
        case Style::table:
        case Style::assent:
            break;
    }
    return parse_table_answer(json);
}

}  // namespace assent
