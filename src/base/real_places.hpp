// Where paths really are, for who has to recognise a file under each of its names.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace assent {

/// Whether `path` is `folder` or below it; both absolute and without links.
[[nodiscard]] inline bool lies_in(std::string_view path, std::string_view folder) noexcept {
    if (folder == "/") return true;
    return path.starts_with(folder) && (path.size() == folder.size() || path[folder.size()] == '/');
}

/// Absolute places of `paths`, without doubles: each with all links resolved, and, when it is a link
/// itself, where that link lies. They need not exist.
[[nodiscard]] std::vector<std::string> real_places(const std::vector<std::string>& paths);

}  // namespace assent
