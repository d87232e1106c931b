// The grammar of Python's `re` module (3.11).
#pragma once

#include "policy/patterns/tree.hpp"

#include <string_view>

namespace assent {

/// Parses a pattern in UTF-8. What Python refuses is refused too, and so are groups nested too deep:
/// std::invalid_argument with the position in characters, from 0.
[[nodiscard]] ParsedPattern parse_pattern(std::string_view pattern);

}  // namespace assent
