#include "files/resolve.hpp"

#include "files/folder_path.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>

#include <array>
#include <cerrno>
#include <climits>
#include <vector>

namespace assent {
namespace {

// Unrelated renames make openat2 give EAGAIN now and then (two in a row at most were seen).
constexpr int tries_max = 16;
// As the kernel's own limit.
constexpr int links_max = 40;

int open_with_openat2(int root, const std::string& path, std::uint64_t flags) noexcept {
    open_how how{};
    how.flags = flags;
    how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
    for (int tries = 0; tries < tries_max; ++tries) {
        const long fd = syscall(SYS_openat2, root, path.c_str(), &how, sizeof how);
        if (fd >= 0) return static_cast<int>(fd);
        if (errno != EAGAIN && errno != EINTR) return -1;
    }
    return -1;
}

// One component at a time. `..` only occurs inside links and goes back to the folder we came from.
class Walk {
public:
    Walk(int root, std::span<const std::string> parts, PlaceOptions options)
        : root_(root), options_(options), path_(join_parts(parts)), rest_(parts.rbegin(), parts.rend()) {}

    Result<Place> run() {
        while (!rest_.empty()) {
            auto part = std::move(rest_.back());
            rest_.pop_back();
            if (part.empty() || part == ".") continue;
            if (part == "..") {
                if (above_.empty()) return refuse("leads out of the folder by the link " + quoted_path(link_));
                above_.pop_back();
                names_.pop_back();
                continue;
            }
            UniqueFd fd(openat(folder(), part.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
            if (!fd.open()) {
                const int error = errno;
                if (error == ENOENT && rest_.empty()) return ended(copy(folder()), std::move(part), {});
                if (error == ENOENT && options_.missing) return missing_from(std::move(part));
                return path_failure(path_, error);
            }
            struct stat facts{};
            if (fstat(fd.get(), &facts) != 0) return path_failure(path_, errno);
            if (S_ISLNK(facts.st_mode) && (options_.follow_last || !rest_.empty())) {
                if (auto followed = follow(fd.get(), part); !followed.ok()) return followed.failure();
            } else if (S_ISDIR(facts.st_mode)) {
                names_.push_back(std::move(part));
                above_.push_back(std::move(fd));
            } else if (rest_.empty()) {
                return ended(copy(folder()), std::move(part), std::move(fd));
            } else {
                return path_failure(path_, ENOTDIR);
            }
        }
        // A folder. Its name is only needed by those who want a file there, and they refuse it.
        auto name = names_.empty() ? std::string() : names_.back();
        return Place{{}, std::move(name), copy(folder()), std::move(names_)};
    }

private:
    [[nodiscard]] int folder() const noexcept { return above_.empty() ? root_ : above_.back().get(); }
    static UniqueFd copy(int fd) noexcept { return UniqueFd(fcntl(fd, F_DUPFD_CLOEXEC, 0)); }

    [[nodiscard]] Failure refuse(const std::string& why) const {
        return {FailureKind::tool, "the path " + quoted_path(path_) + " " + why};
    }

    Place ended(UniqueFd folder, std::string name, UniqueFd target) {
        names_.push_back(name);
        return {std::move(folder), std::move(name), std::move(target), std::move(names_)};
    }

    Result<Place> missing_from(std::string part) {
        names_.push_back(std::move(part));
        for (; !rest_.empty(); rest_.pop_back()) {
            if (rest_.back() == "..") return refuse("leads through a folder that does not exist");
            if (!rest_.back().empty() && rest_.back() != ".") names_.push_back(rest_.back());
        }
        return Place{{}, names_.back(), {}, std::move(names_)};
    }

    Result<void> follow(int link, const std::string& part) {
        link_ = part;
        struct statfs system{};
        // Links of /proc that lead elsewhere than their text says cannot be told from others there.
        if (fstatfs(link, &system) == 0 && system.f_type == PROC_SUPER_MAGIC)
            return refuse("leads through " + quoted_path(part) +
                          ", a magic link of the kernel, which is never followed");
        if (++links_ > links_max) return refuse("leads through too many links");
        std::array<char, PATH_MAX> text{};
        const auto size = readlinkat(link, "", text.data(), text.size());
        if (size < 0) return path_failure(path_, errno);
        const std::string_view target(text.data(), static_cast<std::size_t>(size));
        if (target.starts_with('/'))
            return refuse("leads through the link " + quoted_path(part) +
                          ", which is absolute; only relative links that stay in the folder are followed");
        for (std::size_t end = target.size(), begin = 0;; end = begin - 1) {
            const auto slash = end == 0 ? std::string_view::npos : target.rfind('/', end - 1);
            begin = slash == std::string_view::npos ? 0 : slash + 1;
            rest_.emplace_back(target.substr(begin, end - begin));
            if (begin == 0) return {};
        }
    }

    int root_;
    PlaceOptions options_;
    std::string path_;
    std::vector<std::string> rest_;  // next component last
    std::vector<UniqueFd> above_;
    std::vector<std::string> names_;  // of `above_`
    std::string link_;
    int links_ = 0;
};

}  // namespace

bool kernel_has_openat2() noexcept {
    static const bool works = [] {
        // A size of 0 is refused before anything else is looked at, by every kernel that has the call.
        open_how how{};
        return syscall(SYS_openat2, -1, ".", &how, std::size_t{0}) < 0 && (errno == EINVAL || errno == E2BIG);
    }();
    return works;
}

Resolver::Resolver(int root, PathWay way) noexcept
    : root_(root), openat2_(way == PathWay::openat2 || (way == PathWay::automatic && kernel_has_openat2())) {}

Result<Place> Resolver::place(std::span<const std::string> parts, PlaceOptions options) const {
    auto place = Walk(root_, parts, options).run();
    if (place.ok() && !place->folder.open() && !place->target.open() && !options.missing)
        return path_failure(join_parts(parts), EMFILE);
    return place;
}

Result<UniqueFd> Resolver::open(std::span<const std::string> parts, bool folder) const {
    const auto path = join_parts(parts);
    if (openat2_) {
        UniqueFd fd(open_with_openat2(root_, path, O_PATH | O_CLOEXEC | (folder ? O_DIRECTORY : 0)));
        if (fd.open()) return fd;
        const int error = errno;
        if (error != EXDEV && error != ELOOP) return path_failure(path, error);
        // The kernel does not say which link it refused; the walk does.
        if (auto why = place(parts); !why.ok()) return why.failure();
        return Failure{FailureKind::tool, "the path " + quoted_path(path) + " leads out of the folder by a link"};
    }
    auto found = place(parts);
    if (!found.ok()) return found.failure();
    if (!found->target.open()) return path_failure(path, ENOENT);
    if (folder) {
        struct stat facts{};
        if (fstat(found->target.get(), &facts) != 0) return path_failure(path, errno);
        if (!S_ISDIR(facts.st_mode)) return path_failure(path, ENOTDIR);
    }
    return std::move(found->target);
}

}  // namespace assent
