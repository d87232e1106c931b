#include "base/display.hpp"
#include "files/confined_folder.hpp"
#include "files/joined_files.hpp"
#include "files/thread_folder.hpp"
#include "policy/paths/path_rules.hpp"

#include <assent/tools.hpp>

#include <algorithm>

namespace assent {

struct Workspace::Part {
    std::vector<std::string> prefix;
    Workspace workspace;
};

Result<Workspace> Workspace::open(const std::string& path) {
    auto folder = ConfinedFolder::open(path);
    if (!folder.ok()) return folder.failure();
    return Workspace(std::move(*folder));
}

Workspace Workspace::in_thread() {
    return Workspace(nullptr);
}

const std::string& Workspace::path() const noexcept {
    static const std::string none;
    return folder_ == nullptr ? none : folder_->real_path();
}

Workspace Workspace::with(const std::string& prefix, Workspace other) const {
    const auto shown = quoted_path(prefix);
    const auto parsed = read_folder_path(prefix);
    const bool good = parsed.ok() && prefix.starts_with('/') && !parsed->parts.empty() && !prefix.contains("..");
    if (!good) throw ConfigError("the prefix of a workspace must be a path such as /memories: " + shown);
    if (!other.rules_.empty())
        throw ConfigError("the workspace at " + shown + " has permissions; give them to the whole instead");
    const auto taken = [&](const auto& part) { return part->prefix == parsed->parts; };
    if (std::ranges::any_of(parts_, taken)) throw ConfigError("two workspaces are at " + shown);
    auto copy = *this;
    copy.parts_.push_back(std::make_shared<const Part>(Part{parsed->parts, std::move(other)}));
    return copy;
}

Workspace Workspace::with_permissions(std::vector<FilesystemPermission> permissions) const {
    auto copy = *this;
    copy.rules_.clear();
    return copy.with_further_permissions(std::move(permissions));
}

Workspace Workspace::with_further_permissions(std::vector<FilesystemPermission> permissions) const {
    auto copy = *this;
    if (!permissions.empty()) copy.rules_.push_back(std::make_shared<PathRules>(std::move(permissions)));
    return copy;
}

std::shared_ptr<const WorkspaceFiles> Workspace::files(ThreadFiles* thread) const {
    std::shared_ptr<const WorkspaceFiles> first = folder_;
    if (first == nullptr) first = std::make_shared<ThreadFolder>(thread);
    if (parts_.empty()) return first;
    std::vector<JoinedFiles::Part> parts;
    for (const auto& part : parts_) parts.push_back({part->prefix, part->workspace.files(thread)});
    return std::make_shared<JoinedFiles>(std::move(first), std::move(parts));
}

bool Workspace::keeps_in_thread(std::string_view path) const {
    const auto parsed = read_folder_path(path);
    if (!parsed.ok()) return false;
    const Part* longest = nullptr;
    for (const auto& part : parts_) {
        const auto& prefix = part->prefix;
        const bool inside =
            parsed->parts.size() >= prefix.size() && std::equal(prefix.begin(), prefix.end(), parsed->parts.begin());
        if (inside && (longest == nullptr || prefix.size() > longest->prefix.size())) longest = part.get();
    }
    if (longest == nullptr) return folder_ == nullptr;
    return longest->workspace.keeps_in_thread("/" +
                                              join_parts(std::span(parsed->parts).subspan(longest->prefix.size())));
}

}  // namespace assent
