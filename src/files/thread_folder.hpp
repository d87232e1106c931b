// The files of a thread as a workspace: texts in its journal, and the folders that they lie in.
//
// Only texts can be kept there, and there are no links. A change becomes durable with the outcome of its call.
#pragma once

#include "files/workspace_files.hpp"

#include <assent/thread_files.hpp>

namespace assent {

class ThreadFolder final : public WorkspaceFiles {
public:
    /// `files` must live as long as this; null: there are none, and nothing can be written.
    explicit ThreadFolder(ThreadFiles* files) : files_(files) {}

    [[nodiscard]] Result<PathFacts> look(std::span<const std::string> parts, bool follow_last) const override;
    [[nodiscard]] Result<FileContent> read(std::string_view path, const Admit& admit = {}) const override;
    [[nodiscard]] Result<FolderList> list(std::string_view path, const Admit& admit = {}) const override;
    Result<void> write(std::string_view path, std::string_view bytes,
                       const std::optional<FileStamp>& expected = std::nullopt, const Admit& admit = {}) const override;
    Result<bool> walk(std::string_view path, const Visit& visit, const Admit& admit = {}) const override;
    Result<void> remove(std::string_view path, const std::stop_token& stop = {},
                        const Admit& admit = {}) const override;

private:
    using Names = std::vector<std::string>;
    [[nodiscard]] std::optional<ThreadFiles::File> find(std::span<const std::string> parts) const;
    /// The names, below the folder at `parts`, of every file in it; folders come before what is in them.
    [[nodiscard]] std::vector<Names> below(std::span<const std::string> parts) const;
    /// What is at `parts`. Failure kind `not_found` if nothing is, `tool` if a file is on the way.
    [[nodiscard]] Result<EntryKind> kind_at(std::span<const std::string> parts, std::string_view path) const;
    /// The names below the folder at `path`, once it is admitted.
    [[nodiscard]] Result<std::vector<Names>> open_folder(std::string_view path, const Admit& admit) const;

    ThreadFiles* files_;
};

}  // namespace assent
