// What changed between two texts, line by line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace assent::cli {

enum class LineChange : std::uint8_t { same, removed, added };

struct DiffLine {
    LineChange change = LineChange::same;
    std::string_view text;  ///< Without its line feed; points into the text it came from.

    bool operator==(const DiffLine&) const = default;
};

/// The largest table that is looked through: lines that differ before times lines that differ after.
inline constexpr std::size_t diff_cells_max = std::size_t{4} * 1024 * 1024;

/// `text` in lines, without their line feeds. A line feed at the end begins no further line.
[[nodiscard]] std::vector<std::string_view> lines_of(std::string_view text);

/// The shortest way from `before` to `after`. Above `cells_max` everything between the common
/// beginning and end is removed and added again: longer to read, never wrong.
[[nodiscard]] std::vector<DiffLine> line_diff(std::string_view before, std::string_view after,
                                              std::size_t cells_max = diff_cells_max);

}  // namespace assent::cli
