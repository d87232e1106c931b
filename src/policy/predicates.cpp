#include "base/decimal.hpp"
#include "base/display.hpp"
#include "policy/patterns/python_pattern.hpp"

#include <assent/rules.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <compare>

namespace assent {
namespace {

using Kind = JsonNode::Kind;

enum class Comparison { gt, ge, lt, le, eq };

std::string_view kind_name(Kind kind) noexcept {
    switch (kind) {
        case Kind::null:
            return "null";
        case Kind::boolean:
            return "a boolean";
        case Kind::number:
            return "a number";
        case Kind::string:
            return "a text";
        case Kind::array:
            return "a list";
        case Kind::object:
            return "an object";
    }
    return "unknown";
}

// Values that cannot be put in order; the message says why, without the values.
struct NoOrder {
    std::string why;
};

bool numeric(const JsonNode& node) noexcept {
    return node.kind == Kind::number || node.kind == Kind::boolean;
}

std::string_view digits_of(const JsonNode& node) noexcept {
    if (node.kind == Kind::boolean) return node.boolean ? "1" : "0";
    return node.text;
}

// Equality as people of the rules style know it: inside lists and objects a boolean equals the number
// of the same value. Asking too often is the safe side.
bool equal(const JsonNode& a, const JsonNode& b) {
    if (numeric(a) && numeric(b)) return compare_decimals(digits_of(a), digits_of(b)) == 0;
    if (a.kind != b.kind) return false;
    switch (a.kind) {
        case Kind::string:
            return a.string == b.string;
        case Kind::array:
            return std::equal(a.items.begin(), a.items.end(), b.items.begin(), b.items.end(), equal);
        case Kind::object:
            if (a.keys.size() != b.keys.size()) return false;
            for (std::size_t i = 0; i < a.keys.size(); ++i) {
                const auto* other = b.find(a.keys[i]);
                if (other == nullptr || !equal(a.items[i], *other)) return false;
            }
            return true;
        default:
            return true;
    }
}

// The order of two values; lists by their first elements that differ, texts by code point (which is
// the order of their UTF-8 bytes). Throws NoOrder.
std::strong_ordering order(const JsonNode& a, const JsonNode& b) {
    if (numeric(a) && numeric(b)) return compare_decimals(digits_of(a), digits_of(b)) <=> 0;
    if (a.kind != b.kind) {
        throw NoOrder{std::string(kind_name(a.kind)) + " and " + std::string(kind_name(b.kind)) + " have no order"};
    }
    if (a.kind == Kind::string) return a.string.compare(b.string) <=> 0;
    if (a.kind != Kind::array) throw NoOrder{std::string(kind_name(a.kind)) + " has no order"};
    const auto common = std::min(a.items.size(), b.items.size());
    for (std::size_t i = 0; i < common; ++i) {
        if (!equal(a.items[i], b.items[i])) return order(a.items[i], b.items[i]);
    }
    return a.items.size() <=> b.items.size();
}

bool holds(Comparison comparison, std::strong_ordering ordering) noexcept {
    switch (comparison) {
        case Comparison::gt:
            return ordering > 0;
        case Comparison::ge:
            return ordering >= 0;
        case Comparison::lt:
            return ordering < 0;
        case Comparison::le:
            return ordering <= 0;
        case Comparison::eq:
            return ordering == 0;
    }
    return true;
}

const JsonNode& look_up(const JsonText& arguments, const std::string& field) {
    if (arguments.root().kind != Kind::object) {
        throw PredicateError(PredicateError::Kind::lookup, field,
                             "the arguments are no object, so '" + field + "' is missing");
    }
    const auto* node = arguments.root().find(field);
    if (node == nullptr) {
        throw PredicateError(PredicateError::Kind::lookup, field, "the argument '" + field + "' is missing");
    }
    return *node;
}

bool compare_field(Comparison comparison, const JsonText& arguments, const std::string& field,
                   const Threshold& threshold) {
    const auto& value = look_up(arguments, field);
    const auto& limit = threshold.node();
    if (value.kind != limit.kind) {
        throw PredicateError(PredicateError::Kind::type, field,
                             "the argument '" + field + "' is " + std::string(kind_name(value.kind)) + ", not " +
                                 std::string(kind_name(limit.kind)));
    }
    if (threshold.infinite() != 0) return holds(comparison, 0 <=> threshold.infinite());
    if (comparison == Comparison::eq) return equal(value, limit);
    try {
        return holds(comparison, order(value, limit));
    } catch (const NoOrder& problem) {
        throw PredicateError(PredicateError::Kind::type, field,
                             "the argument '" + field + "' cannot be compared: " + problem.why);
    }
}

Predicate comparing(Comparison comparison, std::string field, Threshold value) {
    return [comparison, field = std::move(field), value = std::move(value)](const JsonText& arguments) {
        return compare_field(comparison, arguments, field, value);
    };
}

bool search_field(const JsonText& arguments, const std::string& field, const PythonPattern& pattern) {
    const auto& value = look_up(arguments, field);
    if (value.kind != Kind::string) {
        throw PredicateError(PredicateError::Kind::type, field,
                             "the argument '" + field + "' is " + std::string(kind_name(value.kind)) + ", not a text");
    }
    const auto found = pattern.search(value.string);
    if (found == PythonPattern::Found::cannot_say) {
        throw PredicateError(PredicateError::Kind::limit, field,
                             "the pattern for the argument '" + field + "' took more steps than allowed");
    }
    return found == PythonPattern::Found::yes;
}

struct FieldPattern {
    std::string field;
    PythonPattern pattern;
};

std::vector<FieldPattern> compiled(const FieldPatterns& patterns, std::string_view condition) {
    if (patterns.empty()) throw std::invalid_argument(std::string(condition) + " needs at least one pattern");
    std::vector<FieldPattern> all;
    all.reserve(patterns.size());
    for (const auto& [field, pattern] : patterns) all.push_back({field, PythonPattern(pattern)});
    return all;
}

// How many fields match. Every field is searched: one that is missing must be an error even when an
// earlier one has already decided.
std::size_t count_matches(const JsonText& arguments, const std::vector<FieldPattern>& patterns) {
    std::size_t matching = 0;
    for (const auto& [field, pattern] : patterns) {
        if (search_field(arguments, field, pattern)) ++matching;
    }
    return matching;
}

JsonText parsed(std::string text) {
    auto json = JsonText::parse(std::move(text));
    if (!json) throw std::invalid_argument("the value to compare with cannot be used: " + json.failure().message);
    return std::move(json).value();
}

// The shortest digits that give this double again: what its author wrote.
std::string shortest_digits(double value) {
    if (std::isnan(value)) throw std::invalid_argument("nothing compares with NaN; give a number");
    if (std::isinf(value)) return value > 0 ? "1e9999999999999999999" : "-1e9999999999999999999";
    std::array<char, 32> buffer{};
    const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
    return {buffer.data(), end};
}

std::string quoted_utf8(const std::string& text) {
    if (!valid_utf8(text)) throw std::invalid_argument("the text to compare with is not valid utf-8");
    return json_quote(text);
}

}  // namespace

PredicateError::PredicateError(Kind kind, std::string field, const std::string& message)
    : std::runtime_error(message), kind_(kind), field_(std::move(field)) {}

Threshold::Threshold(std::nullptr_t) {}
Threshold::Threshold(bool value) : json_(parsed(value ? "true" : "false")) {}
Threshold::Threshold(std::int64_t value) : json_(parsed(std::to_string(value))) {}
Threshold::Threshold(double value) : json_(parsed(shortest_digits(value))) {
    if (std::isinf(value)) infinite_ = value > 0 ? 1 : -1;
}
Threshold::Threshold(const std::string& value) : json_(parsed(quoted_utf8(value))) {}

Threshold json_threshold(std::string text) {
    return parsed(std::move(text));
}

Predicate gt(std::string field, Threshold value) {
    return comparing(Comparison::gt, std::move(field), std::move(value));
}
Predicate ge(std::string field, Threshold value) {
    return comparing(Comparison::ge, std::move(field), std::move(value));
}
Predicate lt(std::string field, Threshold value) {
    return comparing(Comparison::lt, std::move(field), std::move(value));
}
Predicate le(std::string field, Threshold value) {
    return comparing(Comparison::le, std::move(field), std::move(value));
}
Predicate eq(std::string field, Threshold value) {
    return comparing(Comparison::eq, std::move(field), std::move(value));
}

Predicate matches(std::string field, std::string_view pattern) {
    return [field = std::move(field), compiled_pattern = PythonPattern(pattern)](const JsonText& arguments) {
        return search_field(arguments, field, compiled_pattern);
    };
}

Predicate all_fields(const FieldPatterns& patterns) {
    return [all = compiled(patterns, "all_fields")](const JsonText& arguments) {
        return count_matches(arguments, all) == all.size();
    };
}

Predicate any_field(const FieldPatterns& patterns) {
    return [all = compiled(patterns, "any_field")](const JsonText& arguments) {
        return count_matches(arguments, all) > 0;
    };
}

}  // namespace assent
