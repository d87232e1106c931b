#include "files/confined_folder.hpp"
#include "policy/paths/path_rules.hpp"

#include <assent/tools.hpp>

namespace assent {

Result<Workspace> Workspace::open(const std::string& path) {
    auto folder = ConfinedFolder::open(path);
    if (!folder.ok()) return folder.failure();
    return Workspace(std::move(*folder));
}

const std::string& Workspace::path() const noexcept {
    return folder_->real_path();
}

Workspace Workspace::with_permissions(std::vector<FilesystemPermission> permissions) const {
    auto copy = *this;
    copy.rules_ = permissions.empty() ? nullptr : std::make_shared<PathRules>(std::move(permissions));
    return copy;
}

}  // namespace assent
