// Words that a person would read as other words than the machine does: a Cyrillic letter in a Latin
// word, a path whose slash is none. They are not invisible, so `safe_to_show` leaves them alone.
//
// What looks like what: the confusables of Unicode's UTS #39, by ICU.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace assent {

struct LookAlike {
    std::string word;     ///< As it stands in the text.
    std::string escaped;  ///< The same with the misleading characters as \u{…}.
    std::string reads;    ///< What a person would take it for.
    bool operator==(const LookAlike&) const = default;
};

/// The first `words_max` different words of `text` that look like ASCII text and are not. A word counts
/// if it mixes ASCII letters with letters of another script that look like them, or if all its letters do;
/// a single such letter of another script alone does not ("а" and "с" are Russian words). Characters
/// that look like one of `/ \ . | & $` count alone. Ordinary words of any language do not.
/// Costs a few ns a byte of ASCII text, about 100 ns a character of other text.
[[nodiscard]] std::vector<LookAlike> look_alikes(std::string_view text, std::size_t words_max);

}  // namespace assent
