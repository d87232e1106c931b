// The characters of a pattern, and its escapes.
#pragma once

#include "policy/patterns/char_test.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace assent {

/// Throws std::invalid_argument: `pattern refused at character N: PROBLEM`.
[[noreturn]] void refuse_pattern(std::size_t position, const std::string& problem);

/// A character of a pattern. A backslash and what follows it are one, even in a comment.
struct Token {
    char32_t point = 0;
    bool escaped = false;
    std::size_t position = 0;  ///< In characters; of an escape its backslash.

    [[nodiscard]] bool is(char32_t c) const noexcept { return !escaped && point == c; }
};

/// A cursor over the tokens of a pattern.
class PatternReader {
public:
    /// Refuses what is too long, no UTF-8, or ends within an escape.
    explicit PatternReader(std::string_view utf8);

    /// Where the next token begins, in characters.
    [[nodiscard]] std::size_t position() const noexcept { return at_end() ? end_ : tokens_[at_].position; }
    [[nodiscard]] bool at_end() const noexcept { return at_ == tokens_.size(); }
    [[nodiscard]] bool next_is(char32_t c) const noexcept { return !at_end() && tokens_[at_].is(c); }
    [[nodiscard]] bool next_is_digit(int base) const noexcept;
    /// Not at the end.
    Token get() noexcept { return tokens_[at_++]; }
    bool take(char32_t c) noexcept;

    /// For a second look at the same tokens.
    [[nodiscard]] std::size_t index() const noexcept { return at_; }
    void go_back_to(std::size_t index) noexcept { at_ = index; }

    /// Up to `count` characters that are digits of `base` (8, 10 or 16).
    std::u32string digits(std::size_t count, int base);
    /// Everything up to `end`, which is taken too, escapes with their backslash. `what` names it in
    /// the error if it is empty or does not end.
    std::u32string until(char32_t end, const std::string& what, std::size_t opened_at);

private:
    std::vector<Token> tokens_;
    std::size_t at_ = 0;
    std::size_t end_ = 0;
};

/// What an escape stands for.
struct Escape {
    enum class Kind { member, reference, text_start, text_end, word_edge, no_word_edge };
    Kind kind = Kind::member;
    SetMember member;         ///< A character or a kind of characters.
    std::uint32_t group = 0;  ///< Of a reference.
};

/// Reads the rest of an escape whose token was taken.
[[nodiscard]] Escape read_escape(PatternReader& reader, const Token& token);
/// The same within a set, where it is always a member.
[[nodiscard]] SetMember read_set_escape(PatternReader& reader, const Token& token);

}  // namespace assent
