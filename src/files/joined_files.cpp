#include "files/joined_files.hpp"

#include "files/folder_path.hpp"

#include <algorithm>
#include <set>

namespace assent {
namespace {

using Names = std::vector<std::string>;

bool begins_with(std::span<const std::string> names, std::span<const std::string> first) {
    return names.size() >= first.size() && std::ranges::equal(names.first(first.size()), first);
}

Names joined(std::span<const std::string> first, std::span<const std::string> rest) {
    Names all(first.begin(), first.end());
    all.insert(all.end(), rest.begin(), rest.end());
    return all;
}

Admit from(std::span<const std::string> prefix, const Admit& admit) {
    if (admit == nullptr || prefix.empty()) return admit;
    return [prefix, &admit](std::span<const std::string> place, EntryKind kind) {
        return admit(joined(prefix, place), kind);
    };
}

// A walk of one part that is shown as one of the whole.
class Shown {
public:
    Shown(const Visit& visit, Names before) : visit_(visit), before_(std::move(before)) {}

    Walking operator()(const TreeEntry& entry, const std::set<Names>& hidden) {
        auto names = joined(before_, entry.parts);
        if (hidden.contains(names)) return Walking::past;
        return answer(visit_({.parts = names, .kind = entry.kind, .read = entry.read}));
    }
    /// Shows the folders from `known` names on, down to the part's own. False: it is not to be entered.
    bool enter(std::size_t known) {
        for (auto count = known; count <= before_.size(); ++count) {
            const auto names = std::span<const std::string>(before_).first(count);
            if (answer(visit_({.parts = names, .kind = EntryKind::folder, .read = {}})) != Walking::on) return false;
        }
        return true;
    }
    [[nodiscard]] bool stopped() const noexcept { return stopped_; }

private:
    Walking answer(Walking given) {
        stopped_ = stopped_ || given == Walking::stop;
        return given;
    }

    const Visit& visit_;
    Names before_;
    bool stopped_ = false;
};

}  // namespace

JoinedFiles::JoinedFiles(std::shared_ptr<const WorkspaceFiles> first, std::vector<Part> parts)
    : first_(std::move(first)), parts_(std::move(parts)) {
    std::ranges::sort(parts_, [](const Part& a, const Part& b) { return a.prefix.size() > b.prefix.size(); });
}

const JoinedFiles::Part* JoinedFiles::part_of(std::span<const std::string> parts) const {
    const auto found = std::ranges::find_if(parts_, [&](const Part& part) { return begins_with(parts, part.prefix); });
    return found == parts_.end() ? nullptr : &*found;
}

std::vector<const JoinedFiles::Part*> JoinedFiles::parts_below(std::span<const std::string> parts) const {
    std::vector<const Part*> below;
    for (const auto& part : parts_) {
        if (part.prefix.size() > parts.size() && begins_with(part.prefix, parts)) below.push_back(&part);
    }
    std::ranges::sort(below, {}, &Part::prefix);
    return below;
}

Result<JoinedFiles::Way> JoinedFiles::way_of(std::string_view path) const {
    auto parsed = read_folder_path(path);
    if (!parsed.ok()) return parsed.failure();
    const auto* part = part_of(parsed->parts);
    if (part == nullptr) return Way{first_.get(), {}, std::move(parsed->parts), std::string(path)};
    Way way{part->files.get(), part->prefix, std::move(parsed->parts), {}};
    way.path = "/";
    if (way.parts.size() > part->prefix.size())
        way.path += join_parts(std::span(way.parts).subspan(part->prefix.size())) + (parsed->names_folder ? "/" : "");
    return way;
}

Result<PathFacts> JoinedFiles::look(std::span<const std::string> parts, bool follow_last) const {
    const auto* part = part_of(parts);
    auto facts = part == nullptr ? first_->look(parts, follow_last)
                                 : part->files->look(parts.subspan(part->prefix.size()), follow_last);
    if (!facts.ok()) return facts;
    if (part != nullptr) facts->place = joined(part->prefix, facts->place);
    if (!parts_below(parts).empty()) facts->kind = PathFacts::Kind::folder;
    return facts;
}

Result<FileContent> JoinedFiles::read(std::string_view path, const Admit& admit) const {
    const auto way = way_of(path);
    if (!way.ok()) return way.failure();
    return way->files->read(way->path, from(way->prefix, admit));
}

Result<void> JoinedFiles::write(std::string_view path, std::string_view bytes, const std::optional<FileStamp>& expected,
                                const Admit& admit) const {
    const auto way = way_of(path);
    if (!way.ok()) return way.failure();
    if (!parts_below(way->parts).empty())
        return Failure{FailureKind::tool, quoted_path(path) + " is a folder that another workspace lies in"};
    return way->files->write(way->path, bytes, expected, from(way->prefix, admit));
}

Result<FolderList> JoinedFiles::list(std::string_view path, const Admit& admit) const {
    const auto way = way_of(path);
    if (!way.ok()) return way.failure();
    const auto below = parts_below(way->parts);
    auto list = way->files->list(way->path, from(way->prefix, admit));
    if (!list.ok()) {
        if (list.failure().kind != FailureKind::not_found || below.empty()) return list;
        if (admit != nullptr) {
            if (auto refused = admit(way->parts, EntryKind::folder)) return *refused;
        }
        list = FolderList{};
    }
    for (const auto* part : below) {
        const auto& name = part->prefix[way->parts.size()];
        std::erase_if(list->entries, [&](const FolderEntry& entry) { return entry.name == name; });
        list->entries.push_back({.name = name, .folder = true});
    }
    std::ranges::sort(list->entries, {}, &FolderEntry::name);
    return list;
}

Result<bool> JoinedFiles::walk(std::string_view path, const Visit& visit, const Admit& admit) const {
    const auto way = way_of(path);
    if (!way.ok()) return way.failure();
    const auto below = parts_below(way->parts);
    std::set<Names> hidden;
    const auto inside = [&](const Part& part) {
        return Names(part.prefix.begin() + static_cast<std::ptrdiff_t>(way->parts.size()), part.prefix.end());
    };
    for (const auto* part : below) hidden.insert(inside(*part));
    Shown own(visit, {});
    auto complete = way->files->walk(
        way->path, [&](const TreeEntry& entry) { return own(entry, hidden); }, from(way->prefix, admit));
    if (!complete.ok()) {
        if (complete.failure().kind != FailureKind::not_found || below.empty()) return complete;
        if (admit != nullptr) {
            if (auto refused = admit(way->parts, EntryKind::folder)) return *refused;
        }
        complete = true;
    }
    bool stopped = own.stopped();
    for (const auto* part : below) {
        if (stopped) break;
        Shown shown(visit, inside(*part));
        if (shown.enter(1)) {
            // What is in the part was not admitted by its place: whoever visits judges each entry.
            const auto all = part->files->walk("/", [&](const TreeEntry& entry) { return shown(entry, hidden); });
            if (!all.ok()) return all;
            complete = *complete && *all;
        }
        stopped = shown.stopped();
    }
    return complete;
}

Result<void> JoinedFiles::remove(std::string_view path, const std::stop_token& stop, const Admit& admit) const {
    const auto way = way_of(path);
    if (!way.ok()) return way.failure();
    if (way->path == "/" || !parts_below(way->parts).empty())
        return Failure{FailureKind::tool, quoted_path(path) + " holds a workspace of its own and cannot be deleted"};
    return way->files->remove(way->path, stop, from(way->prefix, admit));
}

}  // namespace assent
