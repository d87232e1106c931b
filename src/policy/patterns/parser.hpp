// The grammar of Python's `re` module (3.11), as far as we take it.
#pragma once

#include "policy/patterns/tree.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace assent {

/// Parses a pattern in UTF-8. What Python refuses and what we do not take is refused too:
/// std::invalid_argument with the position in characters, from 0.
[[nodiscard]] ParsedPattern parse_pattern(std::string_view pattern);

/// Throws std::invalid_argument: `pattern refused at character N: PROBLEM`.
[[noreturn]] void refuse_pattern(std::size_t position, const std::string& problem);

}  // namespace assent
