// Upper and lower case as the dialect sees them (Unicode 14).
#pragma once

#include "policy/patterns/code_set.hpp"

#include <vector>

namespace assent {

/// Which letters count as the same.
enum class LetterCase {
    exact,    ///< None.
    ascii,    ///< A to Z and a to z.
    unicode,  ///< All of the same lower case, and some of the same upper case.
};

/// The lower-case form of one character; of U+0130 the i without its dot above.
[[nodiscard]] char32_t lower_case(char32_t point, LetterCase letters) noexcept;

/// Has the character another case? An eszett has: its upper case begins with S.
[[nodiscard]] bool has_case(char32_t point, LetterCase letters) noexcept;
[[nodiscard]] bool has_case(CodeRange range, LetterCase letters) noexcept;

/// Appends the lower case of every character of `range`.
void append_lower_case(CodeRange range, LetterCase letters, std::vector<CodeRange>& out);

/// Appends the characters whose upper case begins in `range`.
void append_upper_case_in(CodeRange range, std::vector<CodeRange>& out);

/// `set` and the lower-case characters that share their upper case with one of it: of s the long s,
/// of the sigma that ends words the other one.
[[nodiscard]] CodeSet with_same_upper_case(const CodeSet& set);

/// The characters whose lower case is in `set`.
[[nodiscard]] CodeSet with_lower_case_in(const CodeSet& set, LetterCase letters);

}  // namespace assent
