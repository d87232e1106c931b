// Several workspaces as one: what lies below the prefix of a part is in that part, the rest in the first.
//
// A prefix hides what the first has there. No link leads from one part into another.
#pragma once

#include "files/workspace_files.hpp"

#include <memory>

namespace assent {

class JoinedFiles final : public WorkspaceFiles {
public:
    struct Part {
        std::vector<std::string> prefix;  ///< Not empty, and no other part has it.
        std::shared_ptr<const WorkspaceFiles> files;
    };
    JoinedFiles(std::shared_ptr<const WorkspaceFiles> first, std::vector<Part> parts);

    [[nodiscard]] Result<PathFacts> look(std::span<const std::string> parts, bool follow_last) const override;
    [[nodiscard]] Result<FileContent> read(std::string_view path, const Admit& admit = {}) const override;
    [[nodiscard]] Result<FolderList> list(std::string_view path, const Admit& admit = {}) const override;
    Result<void> write(std::string_view path, std::string_view bytes,
                       const std::optional<FileStamp>& expected = std::nullopt, const Admit& admit = {}) const override;
    /// The first one's entries come before those of the parts in it.
    Result<bool> walk(std::string_view path, const Visit& visit, const Admit& admit = {}) const override;
    Result<void> remove(std::string_view path, const std::stop_token& stop = {},
                        const Admit& admit = {}) const override;

private:
    /// Where a path goes: the part, and the path in it.
    struct Way {
        const WorkspaceFiles* files = nullptr;
        std::span<const std::string> prefix;
        std::vector<std::string> parts;  ///< Of the whole.
        std::string path;
    };
    [[nodiscard]] Result<Way> way_of(std::string_view path) const;
    [[nodiscard]] const Part* part_of(std::span<const std::string> parts) const;
    /// Those whose prefix lies below `parts`.
    [[nodiscard]] std::vector<const Part*> parts_below(std::span<const std::string> parts) const;

    std::shared_ptr<const WorkspaceFiles> first_;
    std::vector<Part> parts_;  // longer prefixes first
};

}  // namespace assent
