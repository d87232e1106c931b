// The flags of a pattern or of a group.
#pragma once

#include "policy/patterns/reader.hpp"

namespace assent {

struct PatternFlags {
    bool ignore_case = false;
    bool multi_line = false;
    bool dot_all = false;
    bool verbose = false;
    bool ascii = false;
    bool unicode = false;  ///< Asked for; the same as not asking, unless `ascii` is wanted too.
    bool no_repeats = false;

    /// What letters and kinds of characters mean under these flags.
    [[nodiscard]] CharFlags characters() const noexcept {
        const auto without_case = ascii ? LetterCase::ascii : LetterCase::unicode;
        return {.letters = ignore_case ? without_case : LetterCase::exact, .ascii = ascii};
    }
};

struct ReadFlags {
    PatternFlags flags;
    bool of_group = false;  ///< Ended by a colon: for the group that follows only.
};

/// Reads flags whose first token, a letter or a minus, was taken, with the colon or bracket that ends
/// them. `now` are those around the group that began at `start`.
[[nodiscard]] ReadFlags read_flags(PatternReader& reader, Token token, const PatternFlags& now, std::size_t start);

}  // namespace assent
