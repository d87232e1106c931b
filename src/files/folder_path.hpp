// Paths below a folder, as text.
//
// `/x` and `x` both mean FOLDER/x. `.` and `..` are taken out before anything is opened, so the file
// that is opened is the one a rule on the text of the path has judged, whatever links there are.
#pragma once

#include <assent/result.hpp>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace assent {

/// Names that begin so are our unfinished writes; no path may use them.
inline constexpr std::string_view unfinished_prefix = ".assent-tmp-";

struct FolderPath {
    std::vector<std::string> parts;  ///< Empty: the folder itself.
    bool names_folder = false;       ///< It ends in a slash.
};

/// Failure kind `tool`: empty, too long, with a NUL byte, or out of the folder by `..`.
Result<FolderPath> read_folder_path(std::string_view text);

/// `parts` as a path relative to the folder; "." if there are none.
[[nodiscard]] std::string join_parts(std::span<const std::string> parts);

/// `path` in single quotes, safe to show and not too long.
[[nodiscard]] std::string quoted_path(std::string_view path);

/// What an errno at `path` means: kind `not_found` if there is nothing, else `tool`.
[[nodiscard]] Failure path_failure(std::string_view path, int error);

}  // namespace assent
