// Text that came from a model or a tool, made safe to show to a person.
//
// One function for every field and every surface. Control, format (bidi, zero-width), separator,
// private-use and other invisible characters are written as \n, \t or \u{…}; bytes
// that are not UTF-8 as \x... Ordinary letters of any script, emoji sequences and CJK stay.
#pragma once

#include <string>
#include <string_view>

namespace assent {

struct Shown {
    std::string text;
    bool hidden_characters = false;  ///< Something invisible or misleading was made visible.
};

enum class Lines { keep, escape };

/// `text` for a terminal or a page; with `Lines::keep`, line feeds and tabs stay as they are.
[[nodiscard]] Shown safe_to_show(std::string_view text, Lines lines = Lines::escape);

/// True if `text` is well-formed UTF-8.
[[nodiscard]] bool valid_utf8(std::string_view text) noexcept;
/// The same with each bad byte replaced by U+FFFD.
[[nodiscard]] std::string repaired_utf8(std::string_view text);

/// At most `bytes_max` bytes, cut between characters; says how many were cut.
[[nodiscard]] std::string capped(std::string_view text, std::size_t bytes_max);

}  // namespace assent
