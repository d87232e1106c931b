// A shell's line as plain words, for who looks for names in it. No shell: what a variable or a pattern
// would become is not known here.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace assent {

/// `line` without quotes and backslashes, with `home` in the place of `~/`, `$HOME` and `${HOME}`, and
/// without what changes nothing in a path (`//`, `/./`).
[[nodiscard]] std::string plain_line(std::string_view line, std::string_view home);

/// The words of a plain line, command by command as `;`, `|`, `&` and line feeds part them. A word also
/// ends at `<>()=,:{}` and back quotes.
[[nodiscard]] std::vector<std::vector<std::string_view>> line_words(std::string_view plain);

}  // namespace assent
