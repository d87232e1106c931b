// Replacing a file in one step that survives a crash: all of the old or all of the new content.
#pragma once

#include "files/confined_folder.hpp"

namespace assent {

[[nodiscard]] FileStamp stamp_of(const struct stat& facts) noexcept;

struct Replacement {
    int folder = -1;        ///< Where `name` is.
    std::string name;       ///< One component; never followed if it is a link.
    std::string_view path;  ///< For messages.
    std::string_view bytes;
    const std::optional<FileStamp>& expected;
};

/// `replacing` is locked for the last step.
Result<void> replace_file(const Replacement& wanted, std::mutex& replacing);

/// A new name that no tool shows and that a sweep knows.
[[nodiscard]] std::string unfinished_name();

/// Makes names in `folder` durable. Folders without the right to list them can be written to, but not synced.
[[nodiscard]] bool sync_folder(int folder);

/// Removes unfinished writes and removals of dead processes from `folder`.
void remove_orphans(int folder);

}  // namespace assent
