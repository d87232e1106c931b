// Names of files as rules compare them: exactly, or without regard to letter case and Unicode form.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace assent {

/// The characters of `text`. A byte that is not UTF-8 becomes a lone surrogate of its own, so that two
/// names are never taken for one.
[[nodiscard]] std::u32string characters_of(std::string_view text);

/// `text` with letter case folded and in one Unicode form (NFC): what a file system that ignores
/// either would take for the same name.
[[nodiscard]] std::u32string loose_form(std::u32string_view text);

/// The names of a path below a folder, ready to be compared.
struct PathNames {
    std::vector<std::u32string> exact;
    std::vector<std::u32string> loose;  ///< Empty if only `exact_names` were made.
};
[[nodiscard]] PathNames exact_names(std::span<const std::string> parts);
[[nodiscard]] PathNames path_names(std::span<const std::string> parts);

}  // namespace assent
