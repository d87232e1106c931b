// A pattern as steps for the matcher.
#pragma once

#include "policy/patterns/tree.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace assent {

struct Step {
    enum class Kind : std::uint8_t {
        character,       ///< The character `a`.
        test,            ///< A character that `test` takes.
        mark,            ///< Remember this place as mark `a`: two for each group, its start and its end.
        jump,            ///< Go on at `target`.
        choice,          ///< Followed by its options; the last is a `fail`.
        option,          ///< Followed by its body and a jump; the next option is at `target`.
        fail,            ///< No match on this way.
        success,         ///< The end of a pattern, or of a part that is matched by itself.
        repeat_one,      ///< `test` `a` to `b` times.
        repeat,          ///< What follows, up to its `until` at `target`, `a` to `b` times.
        until,           ///< The end of the body of the repeat at `target`.
        repeat_atomic,   ///< What follows, up to its `success`, `a` to `b` times; then `target`.
        atomic,          ///< What follows, up to its `success`; then `target`.
        look,            ///< Does what follows, up to its `success`, match `a` characters back? Then `target`.
        look_for_none,   ///< Does it not?
        back_reference,  ///< The text of group `a`.
        condition,       ///< If group `a` has not matched, go on at `target`.
        text_start,
        line_start,
        text_end,
        line_end,
        last_line_end,
        word_edge,  ///< By the characters that `test` takes.
        no_word_edge,
    };

    Kind kind = Kind::fail;
    Greed greed = Greed::greedy;
    LetterCase letters = LetterCase::exact;  ///< Of back references.
    std::uint32_t a = 0;
    std::uint32_t b = 0;
    std::uint32_t target = 0;
    const CharTest* test = nullptr;
};

/// Immutable once made.
struct Program {
    std::vector<Step> steps;
    std::vector<std::unique_ptr<const CharTest>> tests;
    std::uint32_t captures = 0;
    bool recalls = false;         ///< What groups have matched can matter later on.
    std::uint64_t width_min = 0;  ///< A shorter text has no match.
    /// A match may begin anywhere, as the dialect only looks for its first character. Else it begins
    /// where all but one of `width_min` characters are left: a group that has begun again can make a
    /// match shorter than it seems.
    bool begins_anywhere = false;
};

[[nodiscard]] Program make_program(const ParsedPattern& pattern);

}  // namespace assent
