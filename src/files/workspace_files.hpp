// What the file tools work on: the files of a workspace, wherever they are kept.
//
// Paths are relative to the workspace (`/x` and `x` are the same).
// Errors: Failure kind `not_found` when nothing has that path, else `tool`.
#pragma once

#include <assent/permissions.hpp>
#include <assent/result.hpp>

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace assent {

/// At most this many names of one folder are listed.
inline constexpr std::size_t entries_max = 20'000;

/// Which state of a file was read: another one means that it changed since.
struct FileStamp {
    dev_t device = 0;
    ino_t inode = 0;
    off_t size = 0;
    std::int64_t modified_ns = 0;
    std::int64_t changed_ns = 0;
    std::uint64_t revision = 0;  ///< Of a file that is kept in the thread; then nothing else is set.

    bool operator==(const FileStamp&) const = default;
};

struct FileContent {
    std::string bytes;
    FileStamp stamp;
};

struct FolderEntry {
    std::string name;
    bool folder = false;  ///< Also for a link that leads to a folder inside.
    bool link = false;

    bool operator==(const FolderEntry&) const = default;
};

struct FolderList {
    std::vector<FolderEntry> entries;  ///< Sorted by the bytes of their names.
    bool complete = true;              ///< False: there are more than `entries_max`.
};

enum class EntryKind { file, folder, link, other };

/// Something below the walked folder; lives until the visitor returns.
struct TreeEntry {
    std::span<const std::string> parts;  ///< Its names below the walked folder.
    EntryKind kind = EntryKind::other;
    std::function<Result<std::string>()> read;  ///< The bytes of a regular file. Failure kind `tool`.
};

enum class Walking {
    on,
    past,  ///< Do not enter this folder.
    stop,
};
using Visit = std::function<Walking(const TreeEntry&)>;

/// Whether what is about to be used may be: the names by which it was just reached, links taken out, and
/// what it is (a file if there is nothing yet). Asked after opening, so nobody can swap it in between.
using Admit = std::function<std::optional<Failure>(std::span<const std::string> place, EntryKind kind)>;

class WorkspaceFiles : public PathOracle {
public:
    /// The bytes of a regular file.
    [[nodiscard]] virtual Result<FileContent> read(std::string_view path, const Admit& admit = {}) const = 0;
    [[nodiscard]] virtual Result<FolderList> list(std::string_view path, const Admit& admit = {}) const = 0;
    /// Creates or replaces a regular file, at once; missing folders are made. With `expected`, only if the
    /// file is still in that state.
    virtual Result<void> write(std::string_view path, std::string_view bytes,
                               const std::optional<FileStamp>& expected = std::nullopt,
                               const Admit& admit = {}) const = 0;
    /// Shows everything below the folder at `path`, each folder before what is in it, sorted by the bytes of
    /// the names. False: not everything was seen.
    virtual Result<bool> walk(std::string_view path, const Visit& visit, const Admit& admit = {}) const = 0;
    /// Deletes a file, a link (not what it leads to) or a folder with all below it.
    virtual Result<void> remove(std::string_view path, const std::stop_token& stop = {},
                                const Admit& admit = {}) const = 0;
};

}  // namespace assent
