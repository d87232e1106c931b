#include "base/unknown_field.hpp"

#include "base/display.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

namespace assent {
namespace {

constexpr std::size_t name_bytes_max = 100;
constexpr std::size_t list_bytes_max = 1000;

std::string shown_name(std::string_view name) {
    return safe_to_show(capped(name, name_bytes_max)).text;
}

// The names of the fields, if the schema lists them all.
std::optional<std::vector<std::string>> listed_fields(const JsonNode& schema) {
    for (const auto* part : {"allOf", "anyOf", "oneOf", "if", "then", "else", "$ref", "dependencies"}) {
        if (schema.find(part) != nullptr) return std::nullopt;
    }
    const auto* others = schema.find("additionalProperties");
    if (others != nullptr && (others->kind != JsonNode::Kind::boolean || others->boolean)) return std::nullopt;
    const auto* properties = schema.find("properties");
    if (properties == nullptr || properties->keys.empty()) return std::nullopt;
    return properties->keys;
}

// How many bytes must be put in, taken out or replaced to make `b` of `a`.
std::size_t distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 0; i < a.size(); ++i) {
        std::size_t diagonal = row[0];
        row[0] = i + 1;
        for (std::size_t j = 0; j < b.size(); ++j) {
            const auto replaced = diagonal + (a[i] == b[j] ? 0 : 1);
            diagonal = row[j + 1];
            row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
        }
    }
    return row.back();
}

const std::string& nearest_to(std::string_view name, const std::vector<std::string>& fields) {
    const auto key = name.substr(0, name_bytes_max);
    return *std::ranges::min_element(
        fields, {}, [&](std::string_view field) { return distance(key, field.substr(0, name_bytes_max)); });
}

}  // namespace

std::optional<std::string> unknown_field(const std::string& schema_text, std::string_view tool,
                                         const Arguments& changes, const Arguments& shown) {
    const auto schema = JsonText::parse(schema_text);
    if (!schema) return std::nullopt;
    const auto fields = listed_fields(schema->root());
    if (!fields) return std::nullopt;
    const auto& names = changes.root().keys;
    const auto unknown = std::ranges::find_if(names, [&](const auto& name) {
        return std::ranges::find(*fields, name) == fields->end() && shown.find(name) == nullptr;
    });
    if (unknown == names.end()) return std::nullopt;
    std::string list;
    for (const auto& field : *fields) list += (list.empty() ? "" : ", ") + shown_name(field);
    return "tool " + shown_name(tool) + " has no field " + shown_name(*unknown) +
           " (nearest: " + shown_name(nearest_to(*unknown, *fields)) + "); it takes " + capped(list, list_bytes_max);
}

}  // namespace assent
