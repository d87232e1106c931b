// Braces of a pattern, written out.
#pragma once

#include <assent/result.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace assent {

/// Where the class that begins at `at` (a `[`) ends: behind its `]`, or npos if it does not end in its name.
[[nodiscard]] std::size_t end_of_class(std::string_view text, std::size_t at) noexcept;

/// Every text that `text` stands for, in order; at most `texts_max`. Failure kind `usage`.
Result<std::vector<std::string>> without_braces(std::string_view text, std::size_t texts_max);

}  // namespace assent
