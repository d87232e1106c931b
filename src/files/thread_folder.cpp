#include "files/thread_folder.hpp"

#include "files/folder_path.hpp"

#include <algorithm>
#include <cerrno>

namespace assent {
namespace {

Failure refuse(std::string message) {
    return {FailureKind::tool, std::move(message)};
}

std::string key_of(std::span<const std::string> parts) {
    std::string key;
    for (const auto& part : parts) key += "/" + part;
    return key;
}

std::vector<std::string> names_of(std::string_view key) {
    std::vector<std::string> names;
    for (std::size_t begin = 1; begin <= key.size();) {
        const auto end = std::min(key.find('/', begin), key.size());
        names.emplace_back(key.substr(begin, end - begin));
        begin = end + 1;
    }
    return names;
}

std::optional<Failure> asked(const Admit& admit, std::span<const std::string> parts, EntryKind kind) {
    return admit == nullptr ? std::nullopt : admit(parts, kind);
}

// Shows names in their order, and each folder when its first file comes.
class Tour {
public:
    explicit Tour(const ThreadFiles& files, std::span<const std::string> top, const Visit& visit)
        : files_(files), top_(top), visit_(visit) {}

    void show(const std::vector<std::string>& names) {
        const std::span all(names);
        std::size_t known = 0;
        while (known < folders_.size() && known + 1 < names.size() && folders_[known] == names[known]) ++known;
        folders_.resize(known);
        if (past_ > known) past_ = 0;
        while (!stopped_ && past_ == 0 && folders_.size() + 1 < names.size()) {
            folders_.push_back(names[folders_.size()]);
            const auto answer = visit_({.parts = all.first(folders_.size()), .kind = EntryKind::folder, .read = {}});
            if (answer == Walking::past) past_ = folders_.size();
            stopped_ = answer == Walking::stop;
        }
        if (stopped_ || past_ != 0) return;
        const auto read = [&]() -> Result<std::string> {
            const auto file = files_.read(key_of(top_) + key_of(all));
            if (!file) return path_failure(names.back(), ENOENT);
            return *file->text;
        };
        stopped_ = visit_({.parts = all, .kind = EntryKind::file, .read = read}) == Walking::stop;
    }
    [[nodiscard]] bool stopped() const noexcept { return stopped_; }

private:
    const ThreadFiles& files_;
    std::span<const std::string> top_;
    const Visit& visit_;
    std::vector<std::string> folders_;  // that the last names lie in
    std::size_t past_ = 0;              // so many of them: one that is not entered
    bool stopped_ = false;
};

}  // namespace

std::optional<ThreadFiles::File> ThreadFolder::find(std::span<const std::string> parts) const {
    return files_ == nullptr ? std::nullopt : files_->read(key_of(parts));
}

std::vector<ThreadFolder::Names> ThreadFolder::below(std::span<const std::string> parts) const {
    std::vector<Names> all;
    if (files_ == nullptr) return all;
    const auto folder = key_of(parts) + "/";
    for (const auto& path : files_->paths()) {
        if (path.starts_with(folder)) all.push_back(names_of(std::string_view(path).substr(folder.size() - 1)));
    }
    std::sort(all.begin(), all.end());
    return all;
}

Result<EntryKind> ThreadFolder::kind_at(std::span<const std::string> parts, std::string_view path) const {
    if (parts.empty() || !below(parts).empty()) return EntryKind::folder;
    if (find(parts)) return EntryKind::file;
    for (auto above = parts.first(parts.size() - 1); !above.empty(); above = above.first(above.size() - 1)) {
        if (find(above)) return path_failure(path, ENOTDIR);
    }
    return path_failure(path, ENOENT);
}

Result<PathFacts> ThreadFolder::look(std::span<const std::string> parts, bool /*follow_last*/) const {
    PathFacts facts{.place = Names(parts.begin(), parts.end())};
    const auto kind = kind_at(parts, join_parts(parts));
    if (!kind.ok() && kind.failure().kind != FailureKind::not_found) return kind.failure();
    if (kind.ok()) facts.kind = *kind == EntryKind::folder ? PathFacts::Kind::folder : PathFacts::Kind::file;
    return facts;
}

Result<FileContent> ThreadFolder::read(std::string_view path, const Admit& admit) const {
    const auto parsed = read_folder_path(path);
    if (!parsed.ok()) return parsed.failure();
    const auto kind = kind_at(parsed->parts, path);
    if (!kind.ok()) return kind.failure();
    if (auto refused = asked(admit, parsed->parts, *kind)) return *refused;
    if (*kind == EntryKind::folder) return path_failure(path, EISDIR);
    if (parsed->names_folder) return refuse(quoted_path(path) + " is not a folder");
    const auto file = find(parsed->parts);
    if (!file) return path_failure(path, ENOENT);
    return FileContent{*file->text, {.revision = file->revision}};
}

Result<std::vector<ThreadFolder::Names>> ThreadFolder::open_folder(std::string_view path, const Admit& admit) const {
    const auto parsed = read_folder_path(path);
    if (!parsed.ok()) return parsed.failure();
    const auto kind = kind_at(parsed->parts, path);
    if (!kind.ok()) return kind.failure();
    if (auto refused = asked(admit, parsed->parts, *kind)) return *refused;
    if (*kind != EntryKind::folder) return refuse(quoted_path(path) + " is not a folder");
    return below(parsed->parts);
}

Result<FolderList> ThreadFolder::list(std::string_view path, const Admit& admit) const {
    const auto names = open_folder(path, admit);
    if (!names.ok()) return names.failure();
    FolderList list;
    for (const auto& parts : *names) {
        if (!list.entries.empty() && list.entries.back().name == parts.front()) continue;
        if (list.entries.size() == entries_max) {
            list.complete = false;
            break;
        }
        list.entries.push_back({.name = parts.front(), .folder = parts.size() > 1});
    }
    return list;
}

Result<void> ThreadFolder::write(std::string_view path, std::string_view bytes,
                                 const std::optional<FileStamp>& expected, const Admit& admit) const {
    const auto parsed = read_folder_path(path);
    if (!parsed.ok()) return parsed.failure();
    if (parsed->names_folder) return refuse("the path " + quoted_path(path) + " names a folder; a file was expected");
    if (files_ == nullptr) return refuse("the files of the thread are not known here");
    const auto kind = kind_at(parsed->parts, path);
    if (!kind.ok() && kind.failure().kind != FailureKind::not_found) return kind.failure();
    if (auto refused = asked(admit, parsed->parts, kind.ok() ? *kind : EntryKind::file)) return *refused;
    if (kind.ok() && *kind == EntryKind::folder) return path_failure(path, EISDIR);
    std::optional<std::uint64_t> revision;
    if (expected) revision = expected->revision;
    return files_->write(key_of(parsed->parts), std::string(bytes), revision);
}

Result<bool> ThreadFolder::walk(std::string_view path, const Visit& visit, const Admit& admit) const {
    const auto names = open_folder(path, admit);
    if (!names.ok()) return names.failure();
    if (names->empty()) return true;
    const auto top = read_folder_path(path);
    Tour tour(*files_, top->parts, visit);
    for (const auto& parts : *names) {
        if (tour.stopped()) break;
        tour.show(parts);
    }
    return true;
}

Result<void> ThreadFolder::remove(std::string_view path, const std::stop_token& /*stop*/, const Admit& admit) const {
    const auto parsed = read_folder_path(path);
    if (!parsed.ok()) return parsed.failure();
    if (parsed->parts.empty()) return refuse("the folder itself cannot be deleted, only what is in it");
    const auto kind = kind_at(parsed->parts, path);
    if (!kind.ok()) return kind.failure();
    if (auto refused = asked(admit, parsed->parts, *kind)) return *refused;
    const auto key = key_of(parsed->parts);
    if (*kind == EntryKind::file) {
        if (parsed->names_folder) return refuse(quoted_path(path) + " is not a folder");
        return files_->remove(key);
    }
    for (const auto& names : below(parsed->parts)) {
        // Another call may have deleted it meanwhile.
        auto removed = files_->remove(key + key_of(names));
        if (!removed.ok() && removed.failure().kind != FailureKind::not_found) return removed;
    }
    return {};
}

}  // namespace assent
