#include "gate/open_files.hpp"

#include "base/display.hpp"

#include <algorithm>

namespace assent {
namespace {

constexpr std::size_t path_bytes_max = 4096;
constexpr std::size_t shown_path_max = 300;

Failure refuse(std::string_view path, const std::string& why) {
    return {FailureKind::tool, "'" + capped(safe_to_show(path).text, shown_path_max) + "' " + why};
}

Result<void> check_path(std::string_view path) {
    if (!path.starts_with('/') || path.size() > path_bytes_max || !valid_utf8(path) || path.contains('\0'))
        return refuse(path, "is no absolute path of at most " + std::to_string(path_bytes_max) + " bytes of UTF-8");
    for (std::size_t begin = 1; begin <= path.size();) {
        const auto end = std::min(path.find('/', begin), path.size());
        const auto name = path.substr(begin, end - begin);
        if (name.empty() || name == "." || name == "..") return refuse(path, "has a name that is empty, . or ..");
        begin = end + 1;
    }
    return {};
}

// A name is a file or a folder.
Result<void> check_place(const journal::Files& files, std::string_view path) {
    const auto folder = std::string(path) + "/";
    const auto below = files.lower_bound(folder);
    if (below != files.end() && below->first.starts_with(folder)) return refuse(path, "is a folder");
    for (auto slash = path.find('/', 1); slash != std::string_view::npos; slash = path.find('/', slash + 1)) {
        if (files.contains(path.substr(0, slash))) return refuse(path, "leads through a file");
    }
    return {};
}

}  // namespace

Result<void> OpenFiles::check_limits(const journal::Files& files, std::string_view path, std::size_t bytes) {
    if (bytes > thread_file_bytes_max)
        return Failure{FailureKind::tool, "the content has " + std::to_string(bytes) +
                                              " bytes; a file of the thread has at most " +
                                              std::to_string(thread_file_bytes_max)};
    std::size_t total = bytes;
    for (const auto& [name, text] : files) total += name == path ? 0 : text->size();
    if (total > thread_files_bytes_max)
        return Failure{FailureKind::tool, "the files of the thread would have " + std::to_string(total) +
                                              " bytes; at most " + std::to_string(thread_files_bytes_max) +
                                              " are kept; delete some"};
    if (files.size() >= thread_files_max && !files.contains(path))
        return Failure{FailureKind::tool, "the thread has " + std::to_string(thread_files_max) +
                                              " files, as many as are kept; delete some"};
    return {};
}

void OpenFiles::update(const journal::ThreadState& state) {
    const std::lock_guard lock(mutex_);
    stored_ = state.files;
    std::erase_if(pending_, [&](const Pending& change) {
        const auto* call = state.find_attempt(change.attempt);
        return call == nullptr || call->stage == journal::CallStage::ended;
    });
}

void OpenFiles::settle(const std::string& attempt, const journal::ThreadState& state, Changes changes) {
    const std::lock_guard lock(mutex_);
    for (const auto& change : pending_) {
        if (changes == Changes::stored && change.attempt == attempt && counts(change))
            revisions_[change.path] = change.number;
    }
    std::erase_if(pending_, [&](const Pending& change) { return change.attempt == attempt; });
    stored_ = state.files;
}

std::vector<journal::FileChange> OpenFiles::changes(const std::string& attempt, const journal::Files& stored) const {
    const std::lock_guard lock(mutex_);
    std::map<std::string, const Pending*> last;
    for (const auto& change : pending_) {
        if (change.attempt == attempt && counts(change)) last[change.path] = &change;
    }
    std::vector<journal::FileChange> all;
    for (const auto& [path, change] : last) {
        const auto known = stored.find(path);
        const auto* before = known == stored.end() ? nullptr : known->second.get();
        if (before == nullptr && change->text == nullptr) continue;
        all.push_back(journal::change_of(path, before, change->text.get()));
    }
    return all;
}

bool OpenFiles::counts(const Pending& change) const {
    const auto known = revisions_.find(change.path);
    return known == revisions_.end() || known->second < change.number;
}

journal::Files OpenFiles::all() const {
    auto files = stored_;
    for (const auto& change : pending_) {
        if (!counts(change)) continue;
        if (change.text == nullptr) {
            files.erase(change.path);
        } else {
            files.insert_or_assign(change.path, change.text);
        }
    }
    return files;
}

std::uint64_t OpenFiles::revision(std::string_view path) const {
    const auto known = revisions_.find(path);
    auto number = known == revisions_.end() ? 0 : known->second;
    for (const auto& change : pending_) {
        if (change.path == path) number = std::max(number, change.number);
    }
    return number;
}

std::optional<ThreadFiles::File> OpenFiles::read(std::string_view path) const {
    const std::lock_guard lock(mutex_);
    const auto found = stored_.find(path);
    auto text = found == stored_.end() ? nullptr : found->second;
    for (const auto& change : pending_) {
        if (change.path == path && counts(change)) text = change.text;
    }
    if (text == nullptr) return std::nullopt;
    return ThreadFiles::File{std::move(text), revision(path)};
}

std::vector<std::string> OpenFiles::paths() const {
    const std::lock_guard lock(mutex_);
    std::vector<std::string> names;
    for (const auto& [path, text] : all()) names.push_back(path);
    return names;
}

Result<void> OpenFiles::write(const std::string& attempt, std::string_view path, std::string text,
                              std::optional<std::uint64_t> expected) {
    if (auto good = check_path(path); !good) return good;
    if (!valid_utf8(text)) return refuse(path, "was not written: only UTF-8 text is kept in the thread");
    const std::lock_guard lock(mutex_);
    const auto files = all();
    if (auto good = check_place(files, path); !good) return good;
    if (auto good = check_limits(files, path, text.size()); !good) return good;
    if (expected && (!files.contains(path) || revision(path) != *expected))
        return refuse(path, "was changed meanwhile; read it again");
    pending_.push_back(
        {attempt, std::string(path), ++last_number_, std::make_shared<const std::string>(std::move(text))});
    return {};
}

Result<void> OpenFiles::remove(const std::string& attempt, std::string_view path) {
    const std::lock_guard lock(mutex_);
    if (!all().contains(path)) {
        auto failure = refuse(path, "does not exist");
        failure.kind = FailureKind::not_found;
        return failure;
    }
    pending_.push_back({attempt, std::string(path), ++last_number_, nullptr});
    return {};
}

Result<void> FilesOfCall::write(std::string_view path, std::string text, std::optional<std::uint64_t> expected) {
    if (attempt_.empty()) return refuse(path, "was not written: a guard changes nothing");
    return files_->write(attempt_, path, std::move(text), expected);
}

Result<void> FilesOfCall::remove(std::string_view path) {
    if (attempt_.empty()) return refuse(path, "was not deleted: a guard changes nothing");
    return files_->remove(attempt_, path);
}

}  // namespace assent
