#include "exec/helper/landlock.hpp"

#include "base/real_places.hpp"
#include "exec/landlock_abi.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>

namespace assent {
namespace {

// The kernel's structures. A longer one than it knows must end in zeros, so each is passed whole.
struct RulesetAttributes {
    std::uint64_t files = 0;
    std::uint64_t ports = 0;
    std::uint64_t scoped = 0;
};
struct [[gnu::packed]] PathBeneath {
    std::uint64_t rights = 0;
    std::int32_t fd = -1;
};

constexpr int path_beneath = 1;

// Reading /dev as a whole would give a tool the terminal of the person who answers, and the disks.
constexpr const char* device_folder = "/dev";
constexpr std::array<const char*, 5> harmless_devices{"/dev/null", "/dev/zero", "/dev/full", "/dev/random",
                                                      "/dev/urandom"};

class Ruleset {
public:
    explicit Ruleset(int fd, int abi) : fd_(fd), rights_(landlock::file_rights(abi)) {}

    /// Opens `path` and all below it but `closed`.
    void open_tree(const std::string& path, std::uint64_t rights, const std::vector<std::string>& closed) const {
        const auto closes = [&](const auto& place) { return lies_in(path, place); };
        const auto is_below = [&](const auto& place) { return lies_in(place, path); };
        if (std::any_of(closed.begin(), closed.end(), closes)) return;
        if (std::none_of(closed.begin(), closed.end(), is_below)) return add(path, rights);
        DIR* folder = opendir(path.c_str());
        if (folder == nullptr) return;
        while (const dirent* entry = readdir(folder)) {
            const std::string_view name = entry->d_name;
            if (name == "." || name == "..") continue;
            open_tree((path == "/" ? "" : path) + "/" + std::string(name), rights, closed);
        }
        closedir(folder);
    }

    /// What cannot be opened, or went away, stays closed. A link gives no right to what it leads to.
    void add(const std::string& path, std::uint64_t rights) const {
        const int fd = open(path.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC);
        if (fd < 0) return;
        struct stat facts{};
        if (fstat(fd, &facts) == 0 && !S_ISLNK(facts.st_mode)) {
            if (!S_ISDIR(facts.st_mode)) rights &= rights_of_files;
            const PathBeneath rule{.rights = rights & rights_, .fd = fd};
            syscall(SYS_landlock_add_rule, fd_, path_beneath, &rule, 0);
        }
        close(fd);
    }

private:
    static constexpr std::uint64_t rights_of_files =
        landlock::execute | landlock::write_file | landlock::read_file | landlock::truncate | landlock::ioctl_dev;
    int fd_;
    std::uint64_t rights_;
};

}  // namespace

std::optional<int> make_ruleset(const Reach& reach) {
    const int abi = landlock::abi();
    if (abi == 0) return std::nullopt;
    const RulesetAttributes attributes{.files = landlock::file_rights(abi), .scoped = landlock::scopes(abi)};
    const auto fd = static_cast<int>(syscall(SYS_landlock_create_ruleset, &attributes, sizeof attributes, 0));
    if (fd < 0) return -1;
    const Ruleset ruleset(fd, abi);
    constexpr auto reading = landlock::execute | landlock::read_file | landlock::read_dir;
    auto unread = reach.closed;
    unread.emplace_back(device_folder);
    ruleset.open_tree("/", reading, unread);
    for (const auto* device : harmless_devices) {
        ruleset.add(device, landlock::read_file | landlock::write_file | landlock::truncate);
    }
    // No devices are made: one of a disk would show every file on it.
    constexpr auto made_by_nobody = landlock::make_char | landlock::make_block | landlock::ioctl_dev;
    for (const auto& folder : reach.writable) ruleset.open_tree(folder, ~made_by_nobody, reach.closed);
    return fd;
}

bool enter_domain(int ruleset) {
    return syscall(SYS_landlock_restrict_self, ruleset, 0) == 0;
}

}  // namespace assent
