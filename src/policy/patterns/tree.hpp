// The tree of a pattern. Flags are resolved while parsing: each node says all that it means.
#pragma once

#include "policy/patterns/char_test.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace assent {

inline constexpr std::uint32_t no_maximum = std::numeric_limits<std::uint32_t>::max();

/// How many characters a part of a pattern takes. Ends at `width_end`: as good as without bound.
struct PatternWidth {
    std::uint64_t least = 0;
    std::uint64_t most = 0;

    bool operator==(const PatternWidth&) const = default;
};
inline constexpr std::uint64_t width_end = std::uint64_t{1} << 62U;

enum class Greed {
    greedy,      ///< As often as possible, then less.
    lazy,        ///< As seldom as possible, then more.
    possessive,  ///< As often as possible, and that is that.
};

struct PatternNode {
    enum class Kind {
        set,             ///< One character of `characters`.
        any,             ///< One character, not a line feed.
        any_at_all,      ///< One character.
        sequence,        ///< All `items`, one after the other.
        scope,           ///< The same, for a group with flags of its own.
        choice,          ///< The first of `items` with which the rest matches.
        capture,         ///< All `items`, remembered as group `number`.
        repeat,          ///< All `items`, `min` to `max` times.
        atomic,          ///< All `items`; where they matched is not tried otherwise.
        back_reference,  ///< The text of group `number` again.
        condition,       ///< items[0] if group `number` has matched, else items[1].
        look_ahead,      ///< Do all `items` follow? Takes nothing.
        look_behind,     ///< Do all `items`, of one fixed width, precede? Takes nothing.
        text_start,
        line_start,
        text_end,
        line_end,
        last_line_end,  ///< The end, or before a line feed that ends the text.
        word_edge,
        no_word_edge,
    };

    Kind kind = Kind::sequence;
    Greed greed = Greed::greedy;
    bool negated = false;  ///< Of what looks ahead or behind.
    bool ascii = false;    ///< Which characters make words, for edges.
    LetterCase letters = LetterCase::exact;
    std::size_t position = 0;  ///< Where it begins in the pattern, in characters.
    std::uint32_t number = 0;
    std::uint32_t min = 0;
    std::uint32_t max = 0;
    PatternWidth width;
    CharSource characters;
    std::vector<PatternNode> items;
};

struct ParsedPattern {
    PatternNode root;
    std::uint32_t captures = 0;
};

/// A position that cannot be repeated, unless it is in a group.
[[nodiscard]] inline bool is_position(const PatternNode& node) noexcept {
    return node.kind >= PatternNode::Kind::text_start;
}

/// Takes exactly one character, whichever way it is written.
[[nodiscard]] inline bool is_character(const PatternNode& node) noexcept {
    return node.kind <= PatternNode::Kind::any_at_all;
}

}  // namespace assent
