// Text files as a model reads them. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace assent {

/// Longer lines are split; the parts after the first are numbered 5.1, 5.2 and so on.
inline constexpr std::size_t line_characters_max = 5000;

/// The lines of `text` without their ends, LF or CR LF; an end at the end of the text begins no other.
[[nodiscard]] std::vector<std::string_view> split_lines(std::string_view text);

struct NumberedLines {
    std::string text;
    std::size_t lines = 0;  ///< How many are shown.
    bool cut = false;       ///< The last one of these not to its end.
};

/// Each line after its number, right-aligned in 6 columns, and a tab. Ends before the first line that
/// would go over `bytes_max`, but shows something of one line at least.
[[nodiscard]] NumberedLines number_lines(std::span<const std::string_view> lines, std::size_t first_number,
                                         std::size_t bytes_max);

}  // namespace assent
