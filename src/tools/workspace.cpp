#include "files/confined_folder.hpp"

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

}  // namespace assent
