#include "exec/helper/temporary_folder.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <memory>

namespace assent {
namespace {

// Each level holds a descriptor; deeper than this nobody nests by accident.
constexpr int levels_max = 200;

struct Close {
    void operator()(DIR* folder) const noexcept { closedir(folder); }
};

DIR* open_folder(int parent, const char* name) {
    constexpr int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    int fd = openat(parent, name, flags);
    // A tool may have locked its own folder: modules that are not to be changed, for one.
    if (fd < 0 && errno == EACCES && fchmodat(parent, name, S_IRWXU, 0) == 0) fd = openat(parent, name, flags);
    if (fd < 0) return nullptr;
    fchmod(fd, S_IRWXU);
    DIR* folder = fdopendir(fd);
    if (folder == nullptr) close(fd);
    return folder;
}

void remove_below(int parent, const char* name, int levels) {
    if (unlinkat(parent, name, 0) == 0 || levels == 0) return;
    const std::unique_ptr<DIR, Close> folder(open_folder(parent, name));
    if (folder == nullptr) return;
    while (const dirent* entry = readdir(folder.get())) {
        if (std::strcmp(entry->d_name, ".") == 0 || std::strcmp(entry->d_name, "..") == 0) continue;
        remove_below(dirfd(folder.get()), entry->d_name, levels - 1);
    }
    unlinkat(parent, name, AT_REMOVEDIR);
}

}  // namespace

std::string make_temporary_folder() {
    const char* given = std::getenv("TMPDIR");
    for (const char* folder : {given, "/tmp"}) {
        if (folder == nullptr || *folder == '\0') continue;
        const std::unique_ptr<char, decltype(&std::free)> real(realpath(folder, nullptr), &std::free);
        if (real == nullptr) continue;
        std::string path = std::string(real.get()) + "/assent-tool-XXXXXX";
        if (mkdtemp(path.data()) != nullptr) return path;
    }
    return {};
}

void remove_temporary_folder(const std::string& path) {
    remove_below(AT_FDCWD, path.c_str(), levels_max);
}

}  // namespace assent
