// Sets of characters as explicit ranges of code points.
//
// The tables are those of Unicode 14, the version of the dialect: characters that later versions
// added count as unassigned, whatever ICU is installed. So a verdict does not depend on the machine.
#pragma once

#include <memory>
#include <vector>

namespace assent {

struct CodeRange {
    char32_t first = 0;
    char32_t last = 0;

    bool operator==(const CodeRange&) const = default;
};

inline constexpr char32_t last_code_point = 0x10ffff;

/// Immutable; ranges are sorted, disjoint and not adjacent.
class CodeSet {
public:
    CodeSet() = default;
    explicit CodeSet(std::vector<CodeRange> ranges);

    [[nodiscard]] const std::vector<CodeRange>& ranges() const noexcept { return ranges_; }
    [[nodiscard]] bool contains(char32_t point) const noexcept;
    /// Every code point that is not in this set, surrogates included.
    [[nodiscard]] CodeSet complement() const;

private:
    std::vector<CodeRange> ranges_;
};

using SharedCodeSet = std::shared_ptr<const CodeSet>;

/// `\d`: decimal digits of every script.
[[nodiscard]] const CodeSet& digit_set();
/// `\w`: letters and numbers of every script and the underscore.
[[nodiscard]] const SharedCodeSet& word_set();
/// `\s`: white space, with the separators U+001C to U+001F and U+0085.
[[nodiscard]] const CodeSet& space_set();

/// The characters that match one of `set` without regard to case: those with the same lower-case
/// form, and lower-case characters that share an upper-case form (such as s and U+017F).
[[nodiscard]] CodeSet without_case(const CodeSet& set);

}  // namespace assent
