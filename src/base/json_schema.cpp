#include "base/json_schema.hpp"

#include "base/display.hpp"

#include <boost/json.hpp>

#define VALIJSON_USE_EXCEPTIONS 1
#include <valijson/adapters/boost_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_results.hpp>
#include <valijson/validation_visitor.hpp>

#include <algorithm>
#include <cctype>
#include <memory>
#include <mutex>
#include <regex>
#include <set>
#include <stdexcept>
#include <unordered_map>

namespace assent {
namespace {

using Adapter = valijson::adapters::BoostJsonAdapter;
using Patterns = std::unordered_map<std::string, std::regex>;

constexpr std::size_t schemas_kept = 256;
constexpr std::size_t shown_bytes_max = 200;
// Whether items are unique is found by comparing all pairs.
constexpr std::size_t unique_items_max = 1000;
// To compile a pattern takes a stack frame for each of its characters.
constexpr std::size_t pattern_bytes_max = 2000;
constexpr std::size_t schemas_for_one_value_max = 10'000;

struct CompiledSchema {
    valijson::Schema schema;
    Patterns patterns;
    bool unique_items = false;
};
using SharedSchema = std::shared_ptr<const CompiledSchema>;

boost::json::value parsed(const std::string& text) {
    boost::json::parse_options options;
    options.max_depth = JsonLimits{}.depth_max;
    return boost::json::parse(text, {}, options);
}

// Makes a schema safe to give to the library, or throws.
class Preparation {
public:
    Preparation(boost::json::value& root, CompiledSchema& compiled) : root_(root), compiled_(compiled) {}

    void run() {
        prepare(root_);
        walk(root_);
    }

private:
    // The library matches texts with one stack frame for each character, and the characters come from a
    // model. So patterns are compiled here, for the matcher that needs no stack, and what would be
    // matched the other way (names by pattern, formats) is refused or left out.
    void prepare(boost::json::value& node) {
        if (auto* list = node.if_array()) {
            for (auto& item : *list) prepare(item);
        }
        auto* object = node.if_object();
        if (object == nullptr) return;
        if (object->contains("patternProperties")) throw std::runtime_error("patternProperties is not supported");
        if (const auto* format = object->if_contains("format"); format != nullptr && format->is_string()) {
            object->erase("format");
        }
        for (auto& [name, value] : *object) {
            if (name == "const" || name == "enum" || name == "default" || name == "examples") continue;
            keyword(name, value);
            prepare(value);
        }
    }

    void keyword(std::string_view name, boost::json::value& value) {
        if (name == "pattern" && value.is_string()) {
            const std::string text(value.as_string());
            if (text.size() > pattern_bytes_max) {
                throw std::runtime_error("a pattern has more than " + std::to_string(pattern_bytes_max) + " bytes");
            }
            compiled_.patterns.try_emplace(text, text, std::regex::ECMAScript | std::regex_constants::__polynomial);
        } else if (name == "uniqueItems" && value.is_bool()) {
            compiled_.unique_items = true;
        } else if (name == "multipleOf" && value.is_number()) {
            // As a whole number the library would divide by 0 and cut the argument's fraction off.
            value = value.to_number<double>();
            if (!(value.as_double() > 0)) throw std::runtime_error("multipleOf is not above 0");
        }
    }

    // A schema that comes back to itself for the same value would never be done.
    void walk(const boost::json::value& node) {
        if (node.is_array()) {
            for (const auto& item : node.as_array()) walk(item);
        } else if (node.is_object()) {
            follow(node);
            for (const auto& [name, value] : node.as_object()) walk(value);
        }
    }

    // How many schemas one value is checked against because of this one. Each that refers twice to the
    // next doubles it, so a small text can stand for more than ever ends.
    std::size_t follow(const boost::json::value& node) {
        if (!node.is_object()) return 1;
        if (const auto known = costs_.find(&node); known != costs_.end()) return known->second;
        if (!open_.insert(&node).second) throw std::runtime_error("a $ref leads back to itself");
        const auto& object = node.as_object();
        std::size_t cost = 1;
        if (const auto* reference = object.if_contains("$ref"); reference != nullptr && reference->is_string()) {
            cost += follow(target(reference->as_string()));
        } else {
            for (const auto* name : {"allOf", "anyOf", "oneOf", "not", "if", "then", "else"}) {
                if (const auto* part = object.if_contains(name)) cost += follow_all(*part);
            }
            if (const auto* names = object.if_contains("dependencies"); names != nullptr && names->is_object()) {
                for (const auto& [name, schema] : names->as_object()) cost += follow(schema);
            }
        }
        if (cost > schemas_for_one_value_max) {
            throw std::runtime_error("it has more than " + std::to_string(schemas_for_one_value_max) +
                                     " schemas for one value");
        }
        open_.erase(&node);
        costs_.emplace(&node, cost);
        return cost;
    }

    std::size_t follow_all(const boost::json::value& node) {
        if (!node.is_array()) return follow(node);
        std::size_t cost = 0;
        for (const auto& item : node.as_array()) cost += follow(item);
        return cost;
    }

    const boost::json::value& target(std::string_view reference) const {
        if (!reference.starts_with('#') || reference.contains('%')) {
            throw std::runtime_error("a $ref is taken only within the schema, as # or #/...");
        }
        boost::system::error_code error;
        const auto* found = root_.find_pointer(reference.substr(1), error);
        if (found == nullptr) throw std::runtime_error("a $ref leads nowhere");
        return *found;
    }

    boost::json::value& root_;
    CompiledSchema& compiled_;
    std::set<const boost::json::value*> open_;
    std::unordered_map<const boost::json::value*, std::size_t> costs_;
};

bool longest_list_is_above(const JsonNode& node, std::size_t items) {
    if (node.kind == JsonNode::Kind::array && node.items.size() > items) return true;
    return std::ranges::any_of(node.items, [&](const auto& item) { return longest_list_is_above(item, items); });
}

Failure unusable(std::string_view why) {
    return {FailureKind::usage, "the schema cannot be used: " + capped(safe_to_show(why).text, shown_bytes_max)};
}

Result<SharedSchema> compile(const std::string& text) {
    const auto exact = JsonText::parse(text);
    if (!exact) return unusable(exact.failure().message);
    if (exact->root().kind != JsonNode::Kind::object) return unusable("it is no json object");
    try {
        auto compiled = std::make_shared<CompiledSchema>();
        auto json = parsed(text);
        Preparation(json, *compiled).run();
        valijson::SchemaParser(valijson::SchemaParser::kDraft7).populateSchema(Adapter(json), compiled->schema);
        return SharedSchema(std::move(compiled));
    } catch (const std::exception& problem) {
        return unusable(problem.what());
    }
}

Result<SharedSchema> compiled_schema(const std::string& text) {
    static std::mutex mutex;
    static std::unordered_map<std::string, SharedSchema> kept;
    const std::lock_guard lock(mutex);
    if (const auto known = kept.find(text); known != kept.end()) return known->second;
    auto fresh = compile(text);
    if (!fresh) return fresh;
    if (kept.size() >= schemas_kept) kept.clear();
    kept.emplace(text, *fresh);
    return fresh;
}

// The library writes the way to a field as <root> and then each step in brackets.
std::string path_of(const std::vector<std::string>& steps) {
    std::string path;
    for (std::size_t i = 1; i < steps.size(); ++i) {
        if (!path.empty()) path += '.';
        path += steps[i].substr(1, steps[i].size() - 2);
    }
    return path;
}

Failure misfit(valijson::ValidationResults& results) {
    valijson::ValidationResults::Error first;
    // The first is about the innermost field; those after it say that its parents do not fit either.
    (void)results.popError(first);
    auto what = first.description;
    if (what.ends_with('.')) what.pop_back();
    if (!what.empty()) what[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(what[0])));
    const auto path = path_of(first.context);
    const auto subject = path.empty() ? std::string("the arguments do") : "the argument '" + path + "' does";
    return {FailureKind::refused, capped(safe_to_show(subject).text, shown_bytes_max) +
                                      " not fit the schema: " + capped(safe_to_show(what).text, shown_bytes_max)};
}

}  // namespace

Result<void> check_schema_text(const std::string& schema_text) {
    if (schema_text.empty()) return {};
    const auto schema = compiled_schema(schema_text);
    if (!schema) return schema.failure();
    return {};
}

Result<void> check_schema(const std::string& schema_text, const Arguments& arguments) {
    if (schema_text.empty()) return {};
    const auto schema = compiled_schema(schema_text);
    if (!schema) return schema.failure();
    if ((*schema)->unique_items && longest_list_is_above(arguments.root(), unique_items_max)) {
        return Failure{FailureKind::refused, "a list has more than " + std::to_string(unique_items_max) +
                                                 " items, too many to see whether they are unique"};
    }
    try {
        const auto json = parsed(arguments.text());
        auto patterns = (*schema)->patterns;
        valijson::ValidationResults results;
        valijson::ValidationVisitor<Adapter> visitor(Adapter(json), {"<root>"}, true, &results, patterns);
        if (visitor.validateSchema((*schema)->schema)) return {};
        return misfit(results);
    } catch (const std::exception&) {
        return Failure{FailureKind::refused, "the arguments cannot be checked against the schema"};
    }
}

}  // namespace assent
