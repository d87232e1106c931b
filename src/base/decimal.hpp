// Numbers compared by the exact value of their digits, beyond what a double holds.
#pragma once

#include <string_view>

namespace assent {

/// -1, 0 or 1 as `a` is less than, equal to or greater than `b`. Both are JSON number texts, of any
/// length and exponent. Linear in their lengths.
[[nodiscard]] int compare_decimals(std::string_view a, std::string_view b) noexcept;

}  // namespace assent
