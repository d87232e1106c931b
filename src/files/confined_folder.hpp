// A folder opened once; everything happens beneath it.
//
// Paths are relative to the folder (`/x` and `x` are the same). No link leads out. Somebody with the
// same rights who moves folders away while we write cannot be stopped, only noticed (`write`).
// A hard link to a file outside reads as what it is, a file of the folder.
//
// Thread-safety: all functions may be called from several threads.
// Errors: Failure kind `not_found` when nothing has that path, else `tool`.
#pragma once

#include "base/unique_fd.hpp"
#include "files/folder_path.hpp"
#include "files/resolve.hpp"
#include "files/tree.hpp"
#include "files/workspace_files.hpp"

#include <assent/result.hpp>

#include <sys/stat.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assent {

/// No larger file is read, and none is written.
inline constexpr std::size_t file_bytes_max = std::size_t{16} * 1024 * 1024;
/// The bytes behind `fd`, if they are those of a regular file that is not too large.
Result<std::string> read_regular_file(int fd, std::string_view path);

class ConfinedFolder final : public WorkspaceFiles {
public:
    /// Failure kind `tool`: missing, not a folder, not accessible.
    static Result<std::shared_ptr<const ConfinedFolder>> open(const std::string& path,
                                                              PathWay way = PathWay::automatic);

    /// Absolute and without links, as it was when opened.
    [[nodiscard]] const std::string& real_path() const noexcept { return real_path_; }

    [[nodiscard]] Result<FileContent> read(std::string_view path, const Admit& admit = {}) const override;
    [[nodiscard]] Result<FolderList> list(std::string_view path, const Admit& admit = {}) const override;
    [[nodiscard]] Result<PathFacts> look(std::span<const std::string> parts, bool follow_last) const override;

    /// Durable. The mode and owner of a replaced file are kept; a link at the end of the path is written
    /// through if its real place is inside.
    Result<void> write(std::string_view path, std::string_view bytes,
                       const std::optional<FileStamp>& expected = std::nullopt, const Admit& admit = {}) const override;

    /// `walk_tree` of the folder at `path`, which itself may be behind links that stay inside.
    Result<bool> walk(std::string_view path, const Visit& visit, const Admit& admit = {}) const override;

    /// Told to stop, it puts back what is left.
    Result<void> remove(std::string_view path, const std::stop_token& stop = {},
                        const Admit& admit = {}) const override;

private:
    ConfinedFolder(UniqueFd root, std::string real_path, PathWay way)
        : root_(std::move(root)), real_path_(std::move(real_path)), resolver_(root_.get(), way) {}

    struct Reached {
        UniqueFd fd;
        std::vector<std::string> place;  ///< Only if somebody wants to judge it.
    };
    [[nodiscard]] Result<Reached> reach(std::span<const std::string> parts, bool judged) const;
    /// Messages name what it is `on_the_way_to`.
    [[nodiscard]] Result<Reached> reach_folder(std::span<const std::string> parts, bool judged,
                                               std::span<const std::string> on_the_way_to) const;
    /// The folder at `parts`, to look into; a file is refused. Messages name `path`.
    [[nodiscard]] Result<UniqueFd> open_folder(std::string_view path, std::span<const std::string> parts,
                                               const Admit& admit) const;
    /// The folders on the way to the file at `parts`.
    [[nodiscard]] Result<Reached> make_folders(std::span<const std::string> parts, const Admit& admit) const;
    [[nodiscard]] Result<Place> place_to_write(const FolderPath& path, std::string_view text, const Admit& admit,
                                               bool& link) const;
    [[nodiscard]] bool still_leads_to(int folder, bool link, const std::vector<std::string>& parts) const;
    void sweep(int folder) const;

    UniqueFd root_;
    std::string real_path_;
    Resolver resolver_;
    // Held from the last look at a file to its replacement, so that our own edits never lose one another.
    mutable std::mutex replacing_;
    mutable std::mutex swept_lock_;
    mutable std::set<std::pair<dev_t, ino_t>> swept_;
};

}  // namespace assent
