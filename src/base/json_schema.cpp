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
#include <unordered_map>

namespace assent {
namespace {

using Adapter = valijson::adapters::BoostJsonAdapter;
using Patterns = std::unordered_map<std::string, std::regex>;

constexpr std::size_t schemas_kept = 256;
constexpr std::size_t shown_bytes_max = 200;

struct CompiledSchema {
    valijson::Schema schema;
    Patterns patterns;
};
using SharedSchema = std::shared_ptr<const CompiledSchema>;

boost::json::value parsed(const std::string& text) {
    boost::json::parse_options options;
    options.max_depth = JsonLimits{}.depth_max;
    return boost::json::parse(text, {}, options);
}

// The library's own matching takes one stack frame for each character, and the characters come from a
// model. So patterns are compiled here, for the matcher that needs no stack, and what would be matched
// the other way (names by pattern, formats) is refused or left out.
void prepare(boost::json::value& schema, Patterns& patterns) {
    if (auto* list = schema.if_array()) {
        for (auto& item : *list) prepare(item, patterns);
    }
    auto* object = schema.if_object();
    if (object == nullptr) return;
    if (object->contains("patternProperties")) throw std::runtime_error("patternProperties is not supported");
    if (const auto* format = object->if_contains("format"); format != nullptr && format->is_string()) {
        object->erase("format");
    }
    for (auto& [name, value] : *object) {
        if (name == "const" || name == "enum" || name == "default" || name == "examples") continue;
        if (name == "pattern" && value.is_string()) {
            const std::string text(value.as_string());
            patterns.try_emplace(text, text, std::regex::ECMAScript | std::regex_constants::__polynomial);
        }
        prepare(value, patterns);
    }
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
        prepare(json, compiled->patterns);
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
