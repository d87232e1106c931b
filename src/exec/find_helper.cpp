#include "exec/process.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

namespace assent {
namespace {

bool is_program(const std::filesystem::path& path) noexcept {
    struct stat facts{};
    return stat(path.c_str(), &facts) == 0 && S_ISREG(facts.st_mode) && access(path.c_str(), X_OK) == 0;
}

}  // namespace

Result<std::string> find_helper(const std::string& given) {
    if (!given.empty()) {
        if (is_program(given)) return given;
        return Failure{FailureKind::tool, "the shell helper '" + given + "' is no program; correct its path"};
    }
    std::error_code error;
    const auto folder = std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
    std::string looked;
    for (const auto& path : {folder / "assent-exec", folder.parent_path() / "libexec/assent/assent-exec",
                             std::filesystem::path(ASSENT_EXEC_INSTALLED)}) {
        if (is_program(path)) return path.string();
        looked += (looked.empty() ? "" : ", ") + path.string();
    }
    return Failure{FailureKind::tool,
                   "the shell helper assent-exec was not found (" + looked + "); install it or give its path"};
}

}  // namespace assent
