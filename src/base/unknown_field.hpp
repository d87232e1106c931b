// Names of arguments that a tool does not have: what a person is told who mistyped one.
//
// Thread-safety: all functions.
#pragma once

#include <assent/arguments.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace assent {

/// Of the first top-level field of `changes` that neither `schema_text` nor `shown` has: its name, the nearest of
/// the tool's fields, and all of them. Nothing if there is none, or if the schema does not say which fields there
/// are: without `properties`, with `additionalProperties` that takes others, or with parts that may add some.
[[nodiscard]] std::optional<std::string> unknown_field(const std::string& schema_text, std::string_view tool,
                                                       const Arguments& changes, const Arguments& shown);

}  // namespace assent
