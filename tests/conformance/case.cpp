#include "conformance/case.hpp"

#include <algorithm>

namespace assent::conformance {
namespace {

using Kind = JsonNode::Kind;

bool among(std::initializer_list<std::string_view> known, std::string_view word) {
    return std::ranges::find(known, word) != known.end();
}

void add_values(const JsonNode* node, std::vector<const JsonNode*>& values) {
    if (node == nullptr) return;
    if (node->kind != Kind::array) {
        values.push_back(node);
        return;
    }
    for (const auto& item : node->items) values.push_back(&item);
}

void require_one_of(std::string_view key, const std::vector<const JsonNode*>& values, const std::string& got) {
    const auto actual = JsonText::parse(got);
    const auto same = [&](const auto* value) { return actual.ok() && same_value(*value, actual->root()); };
    if (!std::ranges::any_of(values, same)) fail(key, values, got);
}

void require_kind(const JsonNode& node, std::string_view key, Kind kind) {
    const auto* value = node.find(key);
    if (value != nullptr && value->kind != kind) throw CaseFailed("unknown value of '" + std::string(key) + "'");
}

}  // namespace

void require_known_keys(const JsonNode& node, std::initializer_list<std::string_view> known) {
    if (node.kind != Kind::object) throw CaseFailed("the case is no object");
    for (const auto& key : node.keys) {
        if (!among(known, key) &&
            !among({"name", "kind", "source", "note", "stricter", "upstream", "one_of", "or"}, key))
            throw CaseFailed("unknown word '" + key + "'");
    }
    for (const auto key : {"name", "kind", "source", "note"}) require_kind(node, key, Kind::string);
    require_kind(node, "stricter", Kind::boolean);
}

const JsonNode& member(const JsonNode& node, std::string_view key) {
    const auto* found = node.find(key);
    if (found == nullptr) throw CaseFailed("the case has no '" + std::string(key) + "'");
    return *found;
}

const std::string& text_of(const JsonNode& node, std::string_view key) {
    const auto& found = member(node, key);
    if (found.kind != Kind::string) throw CaseFailed("'" + std::string(key) + "' is no text");
    return found.string;
}

std::vector<const JsonNode*> acceptable(const JsonNode& node, std::string_view key) {
    std::vector<const JsonNode*> values;
    add_values(node.find(key), values);
    return values;
}

std::vector<const JsonNode*> acceptable_outcomes(const JsonNode& node, std::string_view key) {
    auto values = acceptable(node, key);
    add_values(node.find("or"), values);
    add_values(node.find("one_of"), values);
    return values;
}

void require_known_words(const std::vector<const JsonNode*>& words, std::initializer_list<std::string_view> known) {
    for (const auto* word : words) {
        if (word->kind != Kind::string || !among(known, word->string)) {
            throw CaseFailed("unknown word " + std::string(word->text));
        }
    }
}

bool names(const std::vector<const JsonNode*>& words, std::string_view word) {
    return std::ranges::any_of(words, [&](const auto* node) { return node->string == word; });
}

void expect(const JsonNode& node, std::string_view key, const std::string& got) {
    if (node.find(key) != nullptr) require_one_of(key, acceptable(node, key), got);
}

void expect_outcome(const JsonNode& node, std::string_view key, const std::string& got) {
    const auto values = acceptable_outcomes(node, key);
    if (!values.empty()) require_one_of(key, values, got);
}

void fail(std::string_view what, const std::vector<const JsonNode*>& expected, std::string_view got) {
    std::string text = "expected " + std::string(what);
    for (std::size_t i = 0; i < expected.size(); ++i) {
        text += (i == 0 ? " " : " or ") + std::string(expected[i]->text);
    }
    throw CaseFailed(text + ", got " + std::string(got));
}

}  // namespace assent::conformance
