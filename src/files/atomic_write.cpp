#include "files/atomic_write.hpp"

#include "base/sha256.hpp"
#include "base/test_point.hpp"
#include "files/folder_path.hpp"
#include "files/tree.hpp"

#include <assent/clock.hpp>

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/xattr.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace assent {
namespace {

constexpr std::size_t random_bytes = 8;
constexpr int name_tries = 8;

bool is_unfinished_name(std::string_view name) noexcept {
    return name.size() == unfinished_prefix.size() + 2 * random_bytes && name.starts_with(unfinished_prefix) &&
           name.find_first_not_of("0123456789abcdef", unfinished_prefix.size()) == std::string_view::npos;
}

// A new file under a name of its own, removed again unless it was renamed.
class Unfinished {
public:
    Unfinished() = default;
    Unfinished(const Unfinished&) = delete;
    Unfinished& operator=(const Unfinished&) = delete;
    ~Unfinished() {
        if (fd_.open() && !renamed_) unlinkat(folder_, name_.c_str(), 0);
    }

    bool create(int folder, mode_t mode) {
        folder_ = folder;
        for (int tries = 0; tries < name_tries; ++tries) {
            name_ = unfinished_name();
            fd_.reset(openat(folder, name_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode));
            if (!fd_.open()) {
                if (errno == EEXIST) continue;
                return false;
            }
            // The lock tells a sweep that somebody still writes here. Without locks (some network file
            // systems) there is no sweep either, as that needs one.
            struct stat facts{};
            if (flock(fd_.get(), LOCK_EX | LOCK_NB) != 0) return true;
            if (fstat(fd_.get(), &facts) == 0 && facts.st_nlink > 0) return true;
            fd_.reset();  // swept between creation and lock
        }
        errno = EEXIST;
        return false;
    }

    bool fill(std::string_view bytes) const {
        while (!bytes.empty()) {
            const auto done = ::write(fd_.get(), bytes.data(), bytes.size());
            if (done < 0 && errno == EINTR) continue;
            if (done < 0) return false;
            bytes.remove_prefix(static_cast<std::size_t>(done));
        }
        return true;
    }

    bool rename_to(const std::string& name) {
        renamed_ = renameat(folder_, name_.c_str(), folder_, name.c_str()) == 0;
        return renamed_;
    }

    [[nodiscard]] int fd() const noexcept { return fd_.get(); }

private:
    int folder_ = -1;
    std::string name_;
    UniqueFd fd_;
    bool renamed_ = false;
};

// Without the access list, the group bits of the mode would mean something else: rights could grow.
void copy_attributes(int from, int to) {
    std::array<char, 4096> names{};
    const auto size = flistxattr(from, names.data(), names.size());
    for (std::size_t at = 0; size > 0 && at < static_cast<std::size_t>(size);) {
        const std::string name = names.data() + at;
        at += name.size() + 1;
        if (name != "system.posix_acl_access" && !name.starts_with("user.")) continue;
        std::array<char, 4096> value{};
        const auto length = fgetxattr(from, name.c_str(), value.data(), value.size());
        if (length >= 0) (void)fsetxattr(to, name.c_str(), value.data(), static_cast<std::size_t>(length), 0);
    }
}

// Set-user-id bits are dropped, as the kernel does when a file is written to.
bool take_over(int folder, const std::string& name, const struct stat& old, int to) {
    struct stat now{};
    if (fstat(to, &now) != 0) return false;
    if ((now.st_uid != old.st_uid || now.st_gid != old.st_gid) && fchown(to, old.st_uid, old.st_gid) != 0) {
        // Not ours to give away: at least the group, if we are in it.
        (void)(fchown(to, static_cast<uid_t>(-1), old.st_gid) == 0);
    }
    if (fchmod(to, old.st_mode & 01777) != 0) return false;
    const UniqueFd from(openat(folder, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (from.open()) copy_attributes(from.get(), to);
    return true;
}

Failure refuse(std::string message) {
    return {FailureKind::tool, std::move(message)};
}

std::optional<Failure> unchanged(const Replacement& wanted) {
    if (!wanted.expected) return std::nullopt;
    struct stat facts{};
    if (fstatat(wanted.folder, wanted.name.c_str(), &facts, AT_SYMLINK_NOFOLLOW) == 0 &&
        stamp_of(facts) == *wanted.expected)
        return std::nullopt;
    return refuse(quoted_path(wanted.path) + " was changed by somebody else meanwhile; read it again");
}

}  // namespace

std::string unfinished_name() {
    std::array<std::uint8_t, random_bytes> bytes{};
    system_random().fill(bytes);
    return std::string(unfinished_prefix) + hex(bytes);
}

bool sync_folder(int folder) {
    const UniqueFd fd(openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    return fd.open() ? fsync(fd.get()) == 0 || errno == EINVAL : errno == EACCES;
}

FileStamp stamp_of(const struct stat& facts) noexcept {
    const auto ns = [](const timespec& time) { return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec; };
    return {facts.st_dev, facts.st_ino, facts.st_size, ns(facts.st_mtim), ns(facts.st_ctim)};
}

Result<void> replace_file(const Replacement& wanted, std::mutex& replacing) {
    struct stat old{};
    const bool exists = fstatat(wanted.folder, wanted.name.c_str(), &old, AT_SYMLINK_NOFOLLOW) == 0;
    if (!exists && errno != ENOENT) return path_failure(wanted.path, errno);
    if (exists && S_ISDIR(old.st_mode)) return path_failure(wanted.path, EISDIR);
    if (exists && !S_ISREG(old.st_mode))
        return refuse(quoted_path(wanted.path) + " is no regular file; only those are written");
    // A rename would replace what its owner has protected from writing.
    if (exists && faccessat(wanted.folder, wanted.name.c_str(), W_OK, AT_EACCESS | AT_SYMLINK_NOFOLLOW) != 0)
        return path_failure(wanted.path, errno);

    Unfinished file;
    // Closed to others until it has the mode of the old one; a new one has what the umask leaves.
    if (!file.create(wanted.folder, exists ? 0600 : 0666)) return path_failure(wanted.path, errno);
    test_point("file.created");
    if (!file.fill(wanted.bytes)) return path_failure(wanted.path, errno);
    if (exists && !take_over(wanted.folder, wanted.name, old, file.fd())) return path_failure(wanted.path, errno);
    if (fsync(file.fd()) != 0) return path_failure(wanted.path, errno);
    test_point("file.synced");
    {
        const std::lock_guard lock(replacing);
        if (const auto changed = unchanged(wanted)) return *changed;
        if (!file.rename_to(wanted.name)) return path_failure(wanted.path, errno);
    }
    test_point("file.renamed");
    if (!sync_folder(wanted.folder))
        return refuse(quoted_path(wanted.path) + " was written, but is not yet safe from a power cut");
    return {};
}

void remove_orphans(int folder) {
    const int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return;
    DIR* stream = fdopendir(fd);
    if (stream == nullptr) {
        close(fd);
        return;
    }
    while (const dirent* entry = readdir(stream)) {
        const std::string name = entry->d_name;
        if (!is_unfinished_name(name)) continue;
        const UniqueFd file(openat(folder, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
        struct stat facts{};
        if (!file.open() || fstat(file.get(), &facts) != 0) continue;
        if (!S_ISREG(facts.st_mode) && !S_ISDIR(facts.st_mode)) continue;
        if (flock(file.get(), LOCK_EX | LOCK_NB) != 0) continue;
        // A folder got its name when it was to be deleted.
        if (S_ISDIR(facts.st_mode)) finish_removal(file);
        unlinkat(folder, name.c_str(), S_ISDIR(facts.st_mode) ? AT_REMOVEDIR : 0);
    }
    closedir(stream);
}

}  // namespace assent
