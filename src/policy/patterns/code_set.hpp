// Sets of characters as explicit ranges of code points.
//
// The tables are those of Unicode 14, the version of the dialect: characters that later versions
// added count as unassigned, whatever ICU is installed. So a verdict does not depend on the machine.
#pragma once

#include <vector>

namespace assent {

struct CodeRange {
    char32_t first = 0;
    char32_t last = 0;

    bool operator==(const CodeRange&) const = default;
};

inline constexpr char32_t last_code_point = 0x10ffff;
inline constexpr char32_t last_of_first_plane = 0xffff;

/// Immutable; ranges are sorted, disjoint and not adjacent.
class CodeSet {
public:
    CodeSet() = default;
    explicit CodeSet(std::vector<CodeRange> ranges);

    [[nodiscard]] const std::vector<CodeRange>& ranges() const noexcept { return ranges_; }
    [[nodiscard]] bool contains(char32_t point) const noexcept;
    /// Is any character of `range` in this set?
    [[nodiscard]] bool meets(CodeRange range) const noexcept;
    /// Appends what this set has of `range`; the cost is that of what is appended.
    void append_within(CodeRange range, std::vector<CodeRange>& out) const;
    /// Every code point that is not in this set, surrogates included.
    [[nodiscard]] CodeSet complement() const;

private:
    std::vector<CodeRange> ranges_;
};

/// Was this character assigned in Unicode 14 or before?
[[nodiscard]] bool assigned(char32_t point) noexcept;

/// `\d`, `\w` and `\s`: over all scripts, or over ASCII only.
[[nodiscard]] const CodeSet& digit_set(bool ascii);
[[nodiscard]] const CodeSet& word_set(bool ascii);
[[nodiscard]] const CodeSet& space_set(bool ascii);

}  // namespace assent
