#include "tools/call_arguments.hpp"

#include "base/display.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace assent {
namespace {

constexpr std::size_t shown_name_max = 100;

// Also 5.0 and 1e2, which JSON does not tell from 5 and 100.
std::optional<std::int64_t> read_whole(std::string_view text) {
    std::int64_t whole = 0;
    const auto* end = text.data() + text.size();
    if (const auto read = std::from_chars(text.data(), end, whole); read.ec == std::errc{} && read.ptr == end)
        return whole;
    double number = 0;
    constexpr double exact_max = 9007199254740992.0;
    const auto read = std::from_chars(text.data(), end, number);
    if (read.ec != std::errc{} || read.ptr != end || std::abs(number) > exact_max || number != std::floor(number))
        return std::nullopt;
    return static_cast<std::int64_t>(number);
}

}  // namespace

ToolResult error_result(std::string_view text) {
    ToolResult result;
    result.text = "Error: " + std::string(text);
    result.is_error = true;
    return result;
}

CallArguments::CallArguments(const Arguments& arguments, std::initializer_list<std::string_view> known)
    : arguments_(arguments) {
    for (const auto& key : arguments.root().keys) {
        if (std::find(known.begin(), known.end(), key) == known.end()) refuse(key, "is not known to this tool");
    }
}

void CallArguments::refuse(std::string_view name, std::string_view what) {
    if (problem_) return;
    problem_ = error_result("argument '" + capped(safe_to_show(name).text, shown_name_max) + "' " + std::string(what));
}

std::string CallArguments::text(std::string_view name) {
    const auto* node = arguments_.find(name);
    if (node == nullptr || node->kind == JsonNode::Kind::null) refuse(name, "is missing");
    return text(name, {});
}

std::string CallArguments::text(std::string_view name, std::string_view otherwise) {
    const auto* node = arguments_.find(name);
    if (node == nullptr || node->kind == JsonNode::Kind::null) return std::string(otherwise);
    if (node->kind != JsonNode::Kind::string) refuse(name, "must be a text");
    return node->string;
}

std::int64_t CallArguments::whole_number(std::string_view name, std::int64_t otherwise) {
    const auto* node = arguments_.find(name);
    if (node == nullptr) return otherwise;
    const auto whole = node->kind == JsonNode::Kind::number ? read_whole(node->text) : std::nullopt;
    if (!whole) refuse(name, "must be a whole number");
    return whole.value_or(otherwise);
}

bool CallArguments::flag(std::string_view name, bool otherwise) {
    const auto* node = arguments_.find(name);
    if (node == nullptr) return otherwise;
    if (node->kind != JsonNode::Kind::boolean) refuse(name, "must be true or false");
    return node->boolean;
}

}  // namespace assent
