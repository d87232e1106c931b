#include "policy/question_answers.hpp"

#include <algorithm>
#include <set>

namespace assent {
namespace {

using Kind = JsonNode::Kind;

const std::string& text_of(const JsonNode& node, std::string_view key) {
    static const std::string none;
    const auto* found = node.find(key);
    return found == nullptr ? none : found->string;
}

bool flag_of(const JsonNode& node, std::string_view key, bool otherwise) {
    const auto* found = node.find(key);
    return found == nullptr || found->kind != Kind::boolean ? otherwise : found->boolean;
}

Failure wrong(const std::string& key, const std::string& problem) {
    return {FailureKind::refused, "the question " + shown_briefly(key) + " " + problem};
}

Result<HitlOption> read_option(const std::string& key, const JsonNode& node) {
    HitlOption option{.label = text_of(node, "label"),
                      .value = text_of(node, "value"),
                      .description = text_of(node, "description"),
                      .allow_input = flag_of(node, "allow_input", false)};
    if (option.value.empty()) option.value = option.label;
    if (option.label.empty()) option.label = option.value;
    if (option.value.empty()) return wrong(key, "has an option without a label");
    return option;
}

Result<HitlQuestion> read_question(const JsonNode& node) {
    HitlQuestion question{.key = text_of(node, "key"),
                          .prompt = text_of(node, "prompt"),
                          .multi_select = flag_of(node, "multi_select", false),
                          .required = flag_of(node, "required", true)};
    if (question.key.empty()) return Failure{FailureKind::refused, "a question needs a key"};
    if (question.prompt.empty()) return wrong(question.key, "needs a prompt");
    std::set<std::string> values;
    const auto* options = node.find("options");
    for (const auto& item : options == nullptr ? std::vector<JsonNode>() : options->items) {
        auto option = read_option(question.key, item);
        if (!option) return option.failure();
        if (!values.insert(option->value).second) return wrong(question.key, "has two options of one value");
        question.options.push_back(std::move(option).value());
    }
    if (question.multi_select && question.options.empty()) return wrong(question.key, "has no options to select");
    return question;
}

std::string keys_of(const std::vector<HitlQuestion>& questions) {
    std::string keys;
    for (const auto& question : questions) keys += (keys.empty() ? "" : ", ") + shown_briefly(question.key);
    return keys;
}

AnswerRefusal refuse(const HitlQuestion& question, const std::string& problem) {
    return bad_shape("the answer to " + shown_briefly(question.key) + " " + problem);
}

bool takes(const HitlQuestion& question, const std::string& value) {
    if (question.options.empty()) return true;
    return std::ranges::any_of(question.options,
                               [&](const auto& option) { return option.allow_input || option.value == value; });
}

std::string values_of(const HitlQuestion& question) {
    std::string values;
    for (const auto& option : question.options) values += (values.empty() ? "" : ", ") + shown_briefly(option.value);
    return values;
}

// One answer as JSON text; empty if there is none, and none is needed.
std::variant<std::string, AnswerRefusal> read_answer(const HitlQuestion& question, const JsonNode* given) {
    const auto one_of = "must be one of: " + values_of(question);
    if (given == nullptr || given->kind == Kind::null) {
        if (question.required) return refuse(question, "is missing");
        return std::string();
    }
    if (!question.multi_select) {
        if (given->kind != Kind::string) return refuse(question, "must be a text");
        if (given->string.empty() && question.required) return refuse(question, "is empty");
        if (!given->string.empty() && !takes(question, given->string)) return refuse(question, one_of);
        return json_quote(given->string);
    }
    if (given->kind != Kind::array) return refuse(question, "must be a list of texts");
    if (given->items.empty() && question.required) return refuse(question, "is empty");
    std::string list;
    std::set<std::string> chosen;
    for (const auto& item : given->items) {
        if (item.kind != Kind::string) return refuse(question, "must be a list of texts");
        if (item.string.empty() || !takes(question, item.string)) return refuse(question, one_of);
        if (!chosen.insert(item.string).second) return refuse(question, "names an option twice");
        list += (list.empty() ? "" : ",") + json_quote(item.string);
    }
    return "[" + list + "]";
}

void write_indented(const JsonNode& node, std::string& out, std::string_view indent) {
    if (node.kind != Kind::array || node.items.empty()) {
        out += node.text;
        return;
    }
    const std::string_view step = "  ";
    out += "[\n";
    for (std::size_t i = 0; i < node.items.size(); ++i) {
        out += std::string(indent) + std::string(step) + std::string(node.items[i].text);
        out += i + 1 == node.items.size() ? "\n" : ",\n";
    }
    out += std::string(indent) + "]";
}

}  // namespace

Result<std::vector<HitlQuestion>> read_questions(const JsonNode& list) {
    std::vector<HitlQuestion> questions;
    for (const auto& item : list.items) {
        auto question = read_question(item);
        if (!question) return question.failure();
        const auto same = [&](const auto& known) { return known.key == question->key; };
        if (std::ranges::any_of(questions, same)) return wrong(question->key, "stands twice");
        questions.push_back(std::move(question).value());
    }
    if (questions.empty()) return Failure{FailureKind::refused, "there is no question to ask"};
    return questions;
}

std::variant<std::string, AnswerRefusal> read_answers(const std::vector<HitlQuestion>& questions,
                                                      const std::string& json) {
    const auto answers = Arguments::parse(json);
    if (!answers) return bad_shape("the answers must be an object with a text for each of: " + keys_of(questions));
    for (const auto& key : answers->root().keys) {
        if (std::ranges::none_of(questions, [&](const auto& question) { return question.key == key; }))
            return bad_shape("no question is called " + shown_briefly(key) + "; take one of: " + keys_of(questions));
    }
    std::string members;
    for (const auto& question : questions) {
        auto answer = read_answer(question, answers->find(question.key));
        if (auto* refusal = std::get_if<AnswerRefusal>(&answer)) return std::move(*refusal);
        const auto& text = std::get<std::string>(answer);
        if (!text.empty()) members += (members.empty() ? "" : ",") + json_quote(question.key) + ":" + text;
    }
    return "{" + members + "}";
}

std::variant<std::string, AnswerRefusal> read_free_text(const std::vector<HitlQuestion>& questions,
                                                        const std::string& text) {
    if (questions.size() != 1 || questions.front().multi_select)
        return bad_shape("one text does not answer this; give answers by key: " + keys_of(questions));
    return read_answers(questions, "{" + json_quote(questions.front().key) + ":" + json_quote(text) + "}");
}

std::string answers_text(const std::string& answers) {
    const auto read = Arguments::parse(answers);
    std::string text = "User answers:\n{";
    if (!read || read->root().keys.empty()) return text + "}";
    const auto& root = read->root();
    for (std::size_t i = 0; i < root.keys.size(); ++i) {
        text += (i == 0 ? "\n  " : ",\n  ") + json_quote(root.keys[i]) + ": ";
        write_indented(root.items[i], text, "  ");
    }
    return text + "\n}";
}

}  // namespace assent
