#include <assent/interrupt_on.hpp>

#include <stdexcept>

namespace assent {
namespace {

using Kind = JsonNode::Kind;

[[noreturn]] void refuse(const std::string& tool, const std::string& problem) {
    throw ConfigError("interrupt_on: the tool " + tool + " " + problem);
}

std::string text_of(const std::string& tool, const std::string& key, const JsonNode& node) {
    if (node.kind != Kind::string) refuse(tool, "has a " + key + " that is no text");
    return node.string;
}

std::vector<std::string> read_allowed(const std::string& tool, const JsonNode& node) {
    if (node.kind != Kind::array) refuse(tool, "has allowed_decisions that are no list");
    std::vector<std::string> words;
    for (const auto& item : node.items) words.push_back(text_of(tool, "decision", item));
    return words;
}

Predicate make_condition(const std::string& tool, const std::string& field, const std::string& op,
                         const JsonNode& value) {
    if (op == "matches") return matches(field, text_of(tool, "pattern", value));
    const auto threshold = json_threshold(std::string(value.text));
    if (op == "eq") return eq(field, threshold);
    if (op == "gt") return gt(field, threshold);
    if (op == "ge") return ge(field, threshold);
    if (op == "lt") return lt(field, threshold);
    if (op == "le") return le(field, threshold);
    refuse(tool, "has a condition with op " + json_quote(op) + "; take eq, gt, ge, lt, le or matches");
}

Predicate read_condition(const std::string& tool, const JsonNode& node) {
    if (node.kind != Kind::object) refuse(tool, "has a when that is no object");
    for (const auto& key : node.keys) {
        if (key != "field" && key != "op" && key != "value")
            refuse(tool, "has the unknown key " + json_quote(key) + " in when; take field, op and value");
    }
    const auto* field = node.find("field");
    const auto* op = node.find("op");
    const auto* value = node.find("value");
    if (field == nullptr || op == nullptr || value == nullptr) refuse(tool, "has a when without field, op and value");
    try {
        return make_condition(tool, text_of(tool, "field", *field), text_of(tool, "op", *op), *value);
    } catch (const ConfigError&) {
        throw;
    } catch (const std::invalid_argument& error) {
        refuse(tool, "has a condition that cannot be used: " + std::string(error.what()));
    }
}

InterruptOnConfig read_config(const std::string& tool, const JsonNode& node) {
    InterruptOnConfig config;
    for (std::size_t i = 0; i < node.keys.size(); ++i) {
        const auto& key = node.keys[i];
        const auto& value = node.items[i];
        if (key == "allowed_decisions") {
            config.allowed_decisions = read_allowed(tool, value);
        } else if (key == "description") {
            config.description = text_of(tool, key, value);
        } else if (key == "args_schema") {
            if (value.kind != Kind::object) refuse(tool, "has an args_schema that is no object");
            config.args_schema = value.text;
        } else if (key == "when") {
            config.when = read_condition(tool, value);
        } else {
            refuse(tool, "has the unknown key " + json_quote(key) +
                             "; take allowed_decisions, description, args_schema and when");
        }
    }
    return config;
}

}  // namespace

InterruptOnTable interrupt_on_table(std::string_view json) {
    const auto text = Arguments::parse(std::string(json));
    if (!text) throw ConfigError("interrupt_on: the table cannot be read: " + text.failure().message);
    InterruptOnTable table;
    for (std::size_t i = 0; i < text->root().keys.size(); ++i) {
        const auto& tool = text->root().keys[i];
        const auto& setting = text->root().items[i];
        if (setting.kind == Kind::boolean) {
            table.emplace_back(tool, setting.boolean);
        } else if (setting.kind == Kind::object) {
            table.emplace_back(tool, read_config(tool, setting));
        } else {
            refuse(tool, "has a setting that is neither true, false nor an object");
        }
    }
    return table;
}

}  // namespace assent
