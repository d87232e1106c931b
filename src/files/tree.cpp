#include "files/tree.hpp"

#include "files/atomic_write.hpp"
#include "files/confined_folder.hpp"
#include "files/folder_path.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <optional>

namespace assent {
namespace {

constexpr int folder_flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

Failure refuse(std::string message) {
    return {FailureKind::tool, std::move(message)};
}

struct Names {
    std::vector<std::string> names;
    bool complete = true;
};

/// All names in a folder but `.` and `..`; nothing if it cannot be read.
std::optional<Names> names_in(const UniqueFd& folder, std::size_t names_max) {
    const int own = openat(folder.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (own < 0) return std::nullopt;
    const std::unique_ptr<DIR, int (*)(DIR*)> stream(fdopendir(own), &closedir);
    if (stream == nullptr) {
        close(own);
        return std::nullopt;
    }
    Names found;
    while (const dirent* entry = readdir(stream.get())) {
        std::string name = entry->d_name;
        if (name == "." || name == "..") continue;
        if (found.names.size() == names_max) {
            found.complete = false;
            break;
        }
        found.names.push_back(std::move(name));
    }
    std::sort(found.names.begin(), found.names.end());
    return found;
}

class Walker {
public:
    explicit Walker(const std::function<Walking(const TreeEntry&)>& visit) : visit_(visit) {}

    bool walk(const UniqueFd& top) {
        enter(top);
        return complete_;
    }

private:
    void enter(const UniqueFd& folder) {
        const auto found = names_in(folder, entries_max);
        complete_ = complete_ && found && found->complete;
        if (!found) return;
        for (const auto& name : found->names) {
            if (stopped_) return;
            if (!name.starts_with(unfinished_prefix)) look_at(folder, name);
        }
    }

    void look_at(const UniqueFd& folder, const std::string& name) {
        struct stat facts{};
        if (fstatat(folder.get(), name.c_str(), &facts, AT_SYMLINK_NOFOLLOW) != 0) return;  // gone meanwhile
        parts_.push_back(name);
        const auto kind = kind_of(facts);
        const auto answer = visit_({.parts = parts_, .kind = kind, .folder = folder.get()});
        stopped_ = answer == Walking::stop;
        if (answer == Walking::on && kind == EntryKind::folder) {
            const UniqueFd below(parts_.size() < depth_max ? openat(folder.get(), name.c_str(), folder_flags) : -1);
            if (below.open()) {
                enter(below);
            } else {
                complete_ = false;
            }
        }
        parts_.pop_back();
    }

    const std::function<Walking(const TreeEntry&)>& visit_;
    std::vector<std::string> parts_;
    bool complete_ = true;
    bool stopped_ = false;
};

// Removes what is in a folder. Why it could not, if so.
class Emptying {
public:
    explicit Emptying(std::stop_token stop) : stop_(std::move(stop)) {}

    std::string empty(const UniqueFd& folder, std::size_t depth = 0) {
        struct stat facts{};
        if (fstat(folder.get(), &facts) != 0) return "it cannot be looked at";
        if (depth == 0) device_ = facts.st_dev;
        if (facts.st_dev != device_) return "another file system is mounted in it";
        if (depth == depth_max) return "its folders are too deep";
        for (;;) {
            const auto found = names_in(folder, entries_max);
            if (!found) return "a folder in it cannot be read";
            for (const auto& name : found->names) {
                if (auto why = remove(folder, name, depth); !why.empty()) return why;
            }
            if (found->complete) return {};
        }
    }

private:
    std::string remove(const UniqueFd& folder, const std::string& name, std::size_t depth) {
        if (stop_.stop_requested()) return "it was told to stop";
        if (unlinkat(folder.get(), name.c_str(), 0) == 0 || errno == ENOENT) return {};
        if (errno != EISDIR && errno != EPERM) return why_not(errno);
        const UniqueFd below(openat(folder.get(), name.c_str(), folder_flags));
        if (!below.open()) return errno == ENOENT ? std::string() : why_not(errno);
        if (auto why = empty(below, depth + 1); !why.empty()) return why;
        if (unlinkat(folder.get(), name.c_str(), AT_REMOVEDIR) == 0 || errno == ENOENT) return {};
        return why_not(errno);
    }

    static std::string why_not(int error) { return path_failure("something in it", error).message; }

    std::stop_token stop_;
    dev_t device_ = 0;
};

bool is_at(int parent, const std::string& name, const struct stat& known) {
    struct stat now{};
    return fstatat(parent, name.c_str(), &now, AT_SYMLINK_NOFOLLOW) == 0 && now.st_dev == known.st_dev &&
           now.st_ino == known.st_ino;
}

Result<void> remove_folder(const Removal& wanted, const std::stop_token& stop) {
    const UniqueFd folder(openat(wanted.parent, wanted.name.c_str(), folder_flags));
    if (!folder.open()) return path_failure(wanted.path, errno);
    struct stat facts{};
    struct stat above{};
    if (fstat(folder.get(), &facts) != 0 || fstat(wanted.parent, &above) != 0) return path_failure(wanted.path, errno);
    if (facts.st_dev != above.st_dev) return path_failure(wanted.path, EBUSY);
    // Tells a sweep that somebody still removes it.
    if (flock(folder.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        return refuse(quoted_path(wanted.path) + " is being deleted by somebody else");
    const auto hidden = unfinished_name();
    if (renameat(wanted.parent, wanted.name.c_str(), wanted.parent, hidden.c_str()) != 0)
        return path_failure(wanted.path, errno);
    const bool same = is_at(wanted.parent, hidden, facts);
    auto why = same ? Emptying(stop).empty(folder) : std::string("it was replaced meanwhile");
    if (why.empty() && unlinkat(wanted.parent, hidden.c_str(), AT_REMOVEDIR) != 0)
        why = path_failure("it", errno).message;
    if (why.empty()) return {};
    std::string where;
    // A folder replaces nothing but an empty folder.
    if (renameat(wanted.parent, hidden.c_str(), wanted.parent, wanted.name.c_str()) != 0)
        where = "; what is left of it is in " + hidden + " beside it";
    return refuse(quoted_path(wanted.path) + " was not deleted" + (same ? ", or only in part" : "") + ": " + why +
                  where);
}

}  // namespace

EntryKind kind_of(const struct stat& facts) noexcept {
    if (S_ISDIR(facts.st_mode)) return EntryKind::folder;
    if (S_ISREG(facts.st_mode)) return EntryKind::file;
    return S_ISLNK(facts.st_mode) ? EntryKind::link : EntryKind::other;
}

Result<std::string> TreeEntry::read() const {
    const auto& name = parts.back();
    const UniqueFd fd(openat(folder, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
    if (!fd.open()) return path_failure(name, errno);
    return read_regular_file(fd.get(), name);
}

bool walk_tree(const UniqueFd& top, const std::function<Walking(const TreeEntry&)>& visit) {
    return Walker(visit).walk(top);
}

Result<void> remove_entry(const Removal& wanted, const std::stop_token& stop) {
    if (wanted.folder) {
        if (auto removed = remove_folder(wanted, stop); !removed.ok()) return removed;
    } else if (unlinkat(wanted.parent, wanted.name.c_str(), 0) != 0) {
        return path_failure(wanted.path, errno);
    }
    if (!sync_folder(wanted.parent))
        return refuse(quoted_path(wanted.path) + " was deleted, but a power cut may still bring it back");
    return {};
}

void finish_removal(const UniqueFd& folder) {
    (void)Emptying({}).empty(folder);
}

}  // namespace assent
