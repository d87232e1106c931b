// JSON Schema (draft 7) of tool arguments.
//
// `format` is an annotation and is not checked. Numbers are compared as doubles.
// Thread-safety: all functions; compiled schemas are shared and kept by their text.
#pragma once

#include <assent/arguments.hpp>

#include <string>

namespace assent {

/// Failure `usage` if `schema_text` is no usable schema: what is wrong. The empty text is usable.
Result<void> check_schema_text(const std::string& schema_text);

/// Failure `refused` if the arguments do not fit: the path of the field and what is wrong, never its
/// value. The empty text fits any object. Failure `usage` as above.
Result<void> check_schema(const std::string& schema_text, const Arguments& arguments);

}  // namespace assent
