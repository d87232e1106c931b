// JSON texts written anew without touching what they say: numbers keep their digits, strings their bytes.
#pragma once

#include <assent/arguments.hpp>

#include <string>

namespace assent::cli {

/// Without blanks and line feeds.
[[nodiscard]] std::string compact_json(const JsonNode& node);
/// Indented, one member or element a line.
[[nodiscard]] std::string pretty_json(const JsonNode& node);
/// The same with invisible and misleading characters written as \u escapes, so that an editor shows
/// them and a person may remove them. The value is the same.
[[nodiscard]] std::string editable_json(const JsonNode& node);

}  // namespace assent::cli
