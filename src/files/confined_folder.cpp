#include "files/confined_folder.hpp"

#include "files/atomic_write.hpp"
#include "files/folder_path.hpp"

#include <dirent.h>
#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>

namespace assent {
namespace {

Failure refuse(std::string message) {
    return {FailureKind::tool, std::move(message)};
}

std::optional<Failure> not_readable(const struct stat& facts, std::string_view path) {
    if (S_ISDIR(facts.st_mode)) return path_failure(path, EISDIR);
    if (!S_ISREG(facts.st_mode)) return refuse(quoted_path(path) + " is no regular file; only those are read");
    if (facts.st_size > static_cast<off_t>(file_bytes_max))
        return refuse(quoted_path(path) + " has " + std::to_string(facts.st_size) + " bytes; at most " +
                      std::to_string(file_bytes_max) + " are read");
    return std::nullopt;
}

bool same_inode(const struct stat& a, const struct stat& b) noexcept {
    return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

// Opens the very inode that was judged. Without /proc it is opened by its place and compared; a pipe
// or device swapped in would be opened for a moment, but not waited for and not read.
Result<UniqueFd> open_for_reading(const UniqueFd& judged, const struct stat& facts, std::string_view path,
                                  const Resolver& resolver, const FolderPath& parsed) {
    constexpr int flags = O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
    UniqueFd fd(open(("/proc/self/fd/" + std::to_string(judged.get())).c_str(), flags));
    if (fd.open()) return fd;
    if (errno != ENOENT) return path_failure(path, errno);
    auto place = resolver.place(parsed.parts);
    if (!place.ok()) return place.failure();
    fd.reset(openat(place->folder.get(), place->name.c_str(), flags | O_NOFOLLOW));
    if (!fd.open()) return path_failure(path, errno);
    struct stat now{};
    if (fstat(fd.get(), &now) != 0) return path_failure(path, errno);
    if (!same_inode(now, facts)) return refuse(quoted_path(path) + " was replaced while it was opened; try again");
    return fd;
}

Result<std::string> read_all(int fd, std::size_t size, std::string_view path) {
    std::string bytes;
    bytes.resize(size + 1);
    std::size_t done = 0;
    for (;;) {
        const auto got = ::read(fd, bytes.data() + done, bytes.size() - done);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return path_failure(path, errno);
        if (got == 0) break;
        done += static_cast<std::size_t>(got);
        if (done > file_bytes_max)
            return refuse(quoted_path(path) + " has more than " + std::to_string(file_bytes_max) + " bytes");
        if (done == bytes.size()) bytes.resize(std::min(2 * done, file_bytes_max + 1));
    }
    bytes.resize(done);
    return bytes;
}

}  // namespace

Result<std::string> read_regular_file(int fd, std::string_view path) {
    struct stat facts{};
    if (fstat(fd, &facts) != 0) return path_failure(path, errno);
    if (const auto problem = not_readable(facts, path)) return *problem;
    return read_all(fd, static_cast<std::size_t>(facts.st_size), path);
}

Result<std::shared_ptr<const ConfinedFolder>> ConfinedFolder::open(const std::string& path, PathWay way) {
    const auto shown = quoted_path(path);
    if (path.empty() || path.find('\0') != std::string::npos)
        return refuse("the folder's path is empty or has a NUL byte");
    UniqueFd root(::open(path.c_str(), O_PATH | O_CLOEXEC));
    if (!root.open() && errno == ENOENT) return refuse("the folder " + shown + " does not exist; create it first");
    if (!root.open()) return refuse(path_failure(path, errno).message);
    struct stat facts{};
    if (fstat(root.get(), &facts) != 0) return refuse(path_failure(path, errno).message);
    if (!S_ISDIR(facts.st_mode)) return refuse(shown + " is not a folder");
    struct stat named{};
    const std::unique_ptr<char, decltype(&std::free)> real(realpath(path.c_str(), nullptr), &std::free);
    if (real == nullptr || stat(real.get(), &named) != 0 || !same_inode(facts, named))
        return refuse("the folder " + shown + " was moved while it was opened");
    return std::shared_ptr<const ConfinedFolder>(new ConfinedFolder(std::move(root), real.get(), way));
}

// Opening by openat2 is quicker, the walk knows the names.
Result<ConfinedFolder::Reached> ConfinedFolder::reach(std::span<const std::string> parts, bool judged) const {
    if (!judged) {
        auto fd = resolver_.open(parts);
        if (!fd.ok()) return fd.failure();
        return Reached{std::move(*fd), {}};
    }
    auto place = resolver_.place(parts);
    if (!place.ok()) return place.failure();
    if (!place->target.open()) return path_failure(join_parts(parts), ENOENT);
    return Reached{std::move(place->target), std::move(place->parts)};
}

Result<ConfinedFolder::Reached> ConfinedFolder::reach_folder(std::span<const std::string> parts, bool judged,
                                                             std::span<const std::string> on_the_way_to) const {
    auto reached = reach(parts, judged);
    if (!reached.ok()) return reached;
    struct stat facts{};
    if (fstat(reached->fd.get(), &facts) != 0) return path_failure(join_parts(parts), errno);
    if (!S_ISDIR(facts.st_mode)) return path_failure(join_parts(on_the_way_to), ENOTDIR);
    return reached;
}

Result<PathFacts> ConfinedFolder::look(std::span<const std::string> parts, bool follow_last) const {
    auto place = resolver_.place(parts, {.follow_last = follow_last, .missing = true});
    if (!place.ok()) return place.failure();
    PathFacts found{.place = std::move(place->parts)};
    if (!place->target.open()) return found;
    struct stat facts{};
    if (fstat(place->target.get(), &facts) != 0) return path_failure(join_parts(parts), errno);
    found.kind = S_ISDIR(facts.st_mode) ? PathFacts::Kind::folder : PathFacts::Kind::file;
    return found;
}

Result<FileContent> ConfinedFolder::read(std::string_view path, const Admit& admit) const {
    const auto parsed = read_folder_path(path);
    if (!parsed.ok()) return parsed.failure();
    const auto file = reach(parsed->parts, admit != nullptr);
    if (!file.ok()) return file.failure();
    struct stat facts{};
    if (fstat(file->fd.get(), &facts) != 0) return path_failure(path, errno);
    if (admit != nullptr) {
        if (auto refused = admit(file->place, kind_of(facts))) return *refused;
    }
    if (const auto problem = not_readable(facts, path)) return *problem;
    if (parsed->names_folder) return refuse(quoted_path(path) + " is not a folder");
    const auto fd = open_for_reading(file->fd, facts, path, resolver_, *parsed);
    if (!fd.ok()) return fd.failure();
    // Stamped before the bytes are read: a write in between makes the stamp old, never the bytes.
    if (fstat(fd->get(), &facts) != 0) return path_failure(path, errno);
    auto bytes = read_all(fd->get(), static_cast<std::size_t>(facts.st_size), path);
    if (!bytes.ok()) return bytes.failure();
    return FileContent{std::move(*bytes), stamp_of(facts)};
}

Result<UniqueFd> ConfinedFolder::open_folder(std::string_view path, std::span<const std::string> parts,
                                             const Admit& admit) const {
    auto folder = reach(parts, admit != nullptr);
    if (!folder.ok()) return folder.failure();
    struct stat kind{};
    if (fstat(folder->fd.get(), &kind) != 0) return path_failure(path, errno);
    if (admit != nullptr) {
        if (auto refused = admit(folder->place, kind_of(kind))) return *refused;
    }
    if (!S_ISDIR(kind.st_mode)) return refuse(quoted_path(path) + " is not a folder");
    return std::move(folder->fd);
}

Result<FolderList> ConfinedFolder::list(std::string_view path, const Admit& admit) const {
    const auto parsed = read_folder_path(path);
    if (!parsed.ok()) return parsed.failure();
    const auto folder = open_folder(path, parsed->parts, admit);
    if (!folder.ok()) return folder.failure();
    UniqueFd fd(openat(folder->get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!fd.open()) return path_failure(path, errno);
    const std::unique_ptr<DIR, int (*)(DIR*)> stream(fdopendir(fd.get()), &closedir);
    if (stream == nullptr) return path_failure(path, errno);
    (void)fd.release();
    FolderList list;
    auto inside = parsed->parts;
    while (const dirent* entry = readdir(stream.get())) {
        const std::string_view name = entry->d_name;
        if (name == "." || name == ".." || name.starts_with(unfinished_prefix)) continue;
        if (list.entries.size() == entries_max) {
            list.complete = false;
            break;
        }
        struct stat facts{};
        bool is_folder =
            fstatat(folder->get(), entry->d_name, &facts, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(facts.st_mode);
        if (S_ISLNK(facts.st_mode)) {
            inside.emplace_back(name);
            is_folder = resolver_.open(inside, true).ok();
            inside.pop_back();
        }
        list.entries.push_back({std::string(name), is_folder, S_ISLNK(facts.st_mode)});
    }
    std::sort(list.entries.begin(), list.entries.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
    return list;
}

Result<ConfinedFolder::Reached> ConfinedFolder::make_folders(std::span<const std::string> parts,
                                                             const Admit& admit) const {
    const bool judged = admit != nullptr;
    const auto folders = parts.first(parts.size() - 1);
    auto folder = reach_folder(folders, judged, parts);
    if (folder.ok() || folder.failure().kind != FailureKind::not_found) return folder;
    auto above = reach_folder({}, judged, parts);
    if (!above.ok()) return above;
    for (std::size_t count = 1; count <= folders.size(); ++count) {
        const auto inside = folders.first(count);
        auto next = reach_folder(inside, judged, parts);
        if (!next.ok() && next.failure().kind == FailureKind::not_found) {
            if (judged) {
                // What counts is the file that the folders are made for.
                auto place = above->place;
                place.insert(place.end(), parts.begin() + static_cast<std::ptrdiff_t>(count) - 1, parts.end());
                if (auto refused = admit(place, EntryKind::file)) return *refused;
            }
            if (mkdirat(above->fd.get(), inside.back().c_str(), 0777) == 0) {
                const UniqueFd fd(openat(above->fd.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
                if (fd.open()) (void)fsync(fd.get());
            } else if (errno != EEXIST) {
                return path_failure(join_parts(inside), errno);
            }
            next = reach_folder(inside, judged, parts);
            if (!next.ok() && next.failure().kind == FailureKind::not_found)
                return refuse(quoted_path(join_parts(inside)) + " is a link that leads nowhere");
        }
        if (!next.ok()) return next;
        above = std::move(next);
    }
    return above;
}

bool ConfinedFolder::still_leads_to(int folder, bool link, const std::vector<std::string>& parts) const {
    UniqueFd now;
    if (link) {
        if (auto place = resolver_.place(parts); place.ok()) now = std::move(place->folder);
    } else if (auto parent = resolver_.open(std::span(parts).first(parts.size() - 1), true); parent.ok()) {
        now = std::move(*parent);
    }
    struct stat then_facts{};
    struct stat now_facts{};
    return fstat(folder, &then_facts) == 0 && fstat(now.get(), &now_facts) == 0 && same_inode(then_facts, now_facts);
}

void ConfinedFolder::sweep(int folder) const {
    struct stat facts{};
    if (fstat(folder, &facts) != 0) return;
    {
        const std::lock_guard lock(swept_lock_);
        if (!swept_.emplace(facts.st_dev, facts.st_ino).second) return;
    }
    remove_orphans(folder);
}

// Where the bytes go: beside the link if `path` ends in one, as it is written through.
Result<Place> ConfinedFolder::place_to_write(const FolderPath& path, std::string_view text, const Admit& admit,
                                             bool& link) const {
    auto folder = make_folders(path.parts, admit);
    if (!folder.ok()) return folder.failure();
    Place place{std::move(folder->fd), path.parts.back(), {}, std::move(folder->place)};
    place.parts.push_back(place.name);
    struct stat facts{};
    link = fstatat(place.folder.get(), place.name.c_str(), &facts, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(facts.st_mode);
    if (link) {
        auto real = resolver_.place(path.parts);
        if (!real.ok()) return real.failure();
        if (!real->folder.open()) return path_failure(text, EISDIR);
        if (real->name.starts_with(unfinished_prefix))
            return refuse(quoted_path(text) + " is a link to a name that is reserved for unfinished writes");
        place = std::move(*real);
    }
    if (admit != nullptr) {
        if (auto refused = admit(place.parts, EntryKind::file)) return *refused;
    }
    return place;
}

Result<void> ConfinedFolder::write(std::string_view path, std::string_view bytes,
                                   const std::optional<FileStamp>& expected, const Admit& admit) const {
    if (bytes.size() > file_bytes_max)
        return refuse("the content has " + std::to_string(bytes.size()) + " bytes; at most " +
                      std::to_string(file_bytes_max) + " are written");
    const auto parsed = read_folder_path(path);
    if (!parsed.ok()) return parsed.failure();
    if (parsed->names_folder) return refuse("the path " + quoted_path(path) + " names a folder; a file was expected");
    bool link = false;
    const auto to = place_to_write(*parsed, path, admit, link);
    if (!to.ok()) return to.failure();
    const auto& place = *to;
    sweep(place.folder.get());
    if (auto done = replace_file({place.folder.get(), place.name, path, bytes, expected}, replacing_); !done.ok())
        return done;

    // A folder moved out of here between looking and renaming took the file with it.
    if (!still_leads_to(place.folder.get(), link, parsed->parts))
        return refuse(quoted_path(path) +
                      " was written, but its folder was moved meanwhile and the path no longer leads there");
    return {};
}

Result<bool> ConfinedFolder::walk(std::string_view path, const Visit& visit, const Admit& admit) const {
    const auto parsed = read_folder_path(path);
    if (!parsed.ok()) return parsed.failure();
    const auto folder = open_folder(path, parsed->parts, admit);
    if (!folder.ok()) return folder.failure();
    return walk_tree(*folder, visit);
}

Result<void> ConfinedFolder::remove(std::string_view path, const std::stop_token& stop, const Admit& admit) const {
    const auto parsed = read_folder_path(path);
    if (!parsed.ok()) return parsed.failure();
    if (parsed->parts.empty()) return refuse("the folder itself cannot be deleted, only what is in it");
    auto parent =
        reach_folder(std::span(parsed->parts).first(parsed->parts.size() - 1), admit != nullptr, parsed->parts);
    if (!parent.ok()) return parent.failure();
    const auto& name = parsed->parts.back();
    struct stat facts{};
    if (fstatat(parent->fd.get(), name.c_str(), &facts, AT_SYMLINK_NOFOLLOW) != 0) return path_failure(path, errno);
    const bool folder = S_ISDIR(facts.st_mode);
    if (parsed->names_folder && !folder) return refuse(quoted_path(path) + " is not a folder");
    if (admit != nullptr) {
        parent->place.push_back(name);
        if (auto refused = admit(parent->place, kind_of(facts))) return *refused;
    }
    return remove_entry({parent->fd.get(), name, path, folder}, stop);
}

}  // namespace assent
