// What is below a folder, looked at and removed by descriptors: no link is followed, so nothing that is
// swapped meanwhile leads elsewhere.
#pragma once

#include "base/unique_fd.hpp"

#include <assent/result.hpp>

#include <sys/stat.h>

#include <cstddef>
#include <functional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>

namespace assent {

/// Deeper folders are not entered.
inline constexpr std::size_t depth_max = 128;

enum class EntryKind { file, folder, link, other };
[[nodiscard]] EntryKind kind_of(const struct stat& facts) noexcept;

/// Something below the walked folder; lives until the visitor returns.
struct TreeEntry {
    std::span<const std::string> parts;  ///< Its names below the walked folder.
    EntryKind kind = EntryKind::other;
    int folder = -1;  ///< Where it is.

    /// The bytes of a regular file. Failure kind `tool`.
    [[nodiscard]] Result<std::string> read() const;
};

enum class Walking {
    on,
    past,  ///< Do not enter this folder.
    stop,
};

/// Shows everything below `top` but unfinished writes, each folder before what is in it, sorted by the
/// bytes of the names. False: not everything was seen, as a folder could not be opened, was too deep or
/// too large.
bool walk_tree(const UniqueFd& top, const std::function<Walking(const TreeEntry&)>& visit);

/// Removes `name` in `parent` with all below it. A folder is renamed first, so that it goes at once; what
/// cannot be removed is put back. Another file system that is mounted inside is not entered.
struct Removal {
    int parent = -1;
    std::string name;       ///< One component; a link goes, not what it leads to.
    std::string_view path;  ///< For messages.
    bool folder = false;    ///< What it was when it was judged; anything else is not removed.
};
Result<void> remove_entry(const Removal& wanted, const std::stop_token& stop);

/// Finishes a removal that a dead process left unfinished: everything below the open `folder`.
void finish_removal(const UniqueFd& folder);

}  // namespace assent
