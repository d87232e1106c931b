// The characters of a pattern, and its escapes.
#pragma once

#include "policy/patterns/code_set.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace assent {

/// A cursor over the characters of a pattern.
class PatternReader {
public:
    explicit PatternReader(std::string_view utf8);

    [[nodiscard]] std::size_t position() const noexcept { return at_; }
    [[nodiscard]] bool at_end() const noexcept { return at_ == text_.size(); }
    /// The next character; U+0000 at the end too, so ask `at_end` where that matters.
    [[nodiscard]] char32_t peek() const noexcept { return at_end() ? U'\0' : text_[at_]; }
    [[nodiscard]] bool next_is(char32_t c) const noexcept { return !at_end() && text_[at_] == c; }
    char32_t get() noexcept { return text_[at_++]; }
    bool take(char32_t c) noexcept;
    void go_back_to(std::size_t position) noexcept { at_ = position; }

    /// Up to `count` characters that are digits of `base` (8, 10 or 16).
    std::u32string digits(std::size_t count, int base);
    /// Everything up to `end`, which is taken too. `what` names it in the error if it is missing.
    std::u32string until(char32_t end, const std::string& what, std::size_t opened_at);

private:
    std::u32string text_;
    std::size_t at_ = 0;
};

/// What an escape stands for, with its backslash taken.
struct Escape {
    enum class Kind { character, set, reference, text_start, text_end, word_edge, no_word_edge };
    Kind kind = Kind::character;
    char32_t point = 0;
    SharedCodeSet set;
    std::uint32_t group = 0;
};

/// Reads the escape whose backslash stood at `start`.
[[nodiscard]] Escape read_escape(PatternReader& reader, std::size_t start);
[[nodiscard]] Escape read_set_escape(PatternReader& reader, std::size_t start);

}  // namespace assent
