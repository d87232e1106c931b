// The files that a thread keeps in its journal, and how they change. Pure.
//
// A change says what of a file differs, so many small edits of a large file stay small in the journal.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace assent::journal {

/// By path, such as "/notes/a.md". Texts are shared, so a copy costs no more than the names.
using Files = std::map<std::string, std::shared_ptr<const std::string>, std::less<>>;

/// The bytes from `at` on, `cut` of them, are replaced by `text`; a file that is not there counts as empty.
struct FileChange {
    std::string path;
    bool removed = false;  ///< The file goes; the rest says nothing.
    std::int64_t at = 0;
    std::int64_t cut = 0;
    std::string text;

    bool operator==(const FileChange&) const = default;
};

/// What makes `after` of `before`, null being no file. Never begins or ends within a character, so that
/// each part of a change is UTF-8 if both texts are.
[[nodiscard]] FileChange change_of(std::string_view path, const std::string* before, const std::string* after);

/// Takes one change into the files. A place beyond the end of a file is its end.
void apply(Files& files, const FileChange& change);

}  // namespace assent::journal
