// Which characters one place of a pattern takes.
#pragma once

#include "policy/patterns/code_set.hpp"
#include "policy/patterns/letter_case.hpp"

#include <bitset>
#include <cstdint>
#include <vector>

namespace assent {

/// What is written between [ and ]: characters, ranges and kinds such as \d.
struct SetMember {
    enum class Kind { character, range, digit, no_digit, space, no_space, word, no_word };
    Kind kind = Kind::character;
    CodeRange range;  ///< Of a character or a range.

    bool operator==(const SetMember&) const = default;
};

struct CharSource {
    std::vector<SetMember> members;  ///< Each once.
    bool negated = false;

    bool operator==(const CharSource&) const = default;
};

/// How the members are meant.
struct CharFlags {
    LetterCase letters = LetterCase::exact;
    bool ascii = false;  ///< \d \w \s are those of ASCII.
};

class CharTest {
public:
    CharTest(const CharSource& source, CharFlags flags);

    [[nodiscard]] bool takes(char32_t c) const noexcept { return c < low_.size() ? low_[c] : looks_up(c); }

private:
    struct CharKind {
        const CodeSet* set = nullptr;
        bool outside = false;
    };

    [[nodiscard]] bool looks_up(char32_t c) const noexcept;

    CodeSet set_;
    std::vector<CharKind> kinds_;
    bool negated_;
    std::bitset<256> low_;  // the answers for the first characters
};

}  // namespace assent
