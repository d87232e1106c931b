// Replacing a text in a file. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace assent {

struct Replaced {
    std::size_t count = 0;  ///< How often the text occurs.
    std::string text;       ///< The new content; only if something was replaced.
};

/// Replaces `old_text` if it occurs once, or everywhere with `all`. Where the file has CR LF, models
/// see LF and answer so: a line feed in `old_text` stands for either, and those in `new_text` become
/// what the place has. All other bytes stay. `old_text` is not empty.
[[nodiscard]] Replaced replace_text(std::string_view file, std::string_view old_text, std::string_view new_text,
                                    bool all);

}  // namespace assent
