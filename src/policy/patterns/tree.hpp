// The tree of a pattern. Flags are resolved while parsing: each node says all that it means.
#pragma once

#include "policy/patterns/code_set.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace assent {

inline constexpr std::uint32_t no_maximum = std::numeric_limits<std::uint32_t>::max();

struct PatternNode {
    enum class Kind {
        set,             ///< One character of `set`.
        sequence,        ///< All `items`, one after the other.
        choice,          ///< The first of `items` with which the rest matches.
        capture,         ///< items[0], remembered as group `number`.
        repeat,          ///< items[0], `min` to `max` times.
        back_reference,  ///< The text of group `number` again.
        text_start,
        line_start,
        text_end,
        line_end,
        last_line_end,  ///< The end, or before a line feed that ends the text.
        word_edge,
        no_word_edge,
    };

    Kind kind = Kind::sequence;
    std::size_t position = 0;  ///< Where it begins in the pattern, in characters.
    SharedCodeSet set;
    std::vector<PatternNode> items;
    std::uint32_t number = 0;
    std::uint32_t min = 0;
    std::uint32_t max = 0;
    bool lazy = false;
};

struct ParsedPattern {
    PatternNode root;
    std::uint32_t captures = 0;
};

/// Is this a position rather than something that takes characters? Such a node cannot be repeated.
[[nodiscard]] inline bool is_position(const PatternNode& node) noexcept {
    return node.kind >= PatternNode::Kind::text_start;
}

}  // namespace assent
