// Finding files by their paths, and texts in files.
#include "base/display.hpp"
#include "files/folder_path.hpp"
#include "policy/paths/path_pattern.hpp"
#include "tools/call_arguments.hpp"
#include "tools/file_work.hpp"

#include <algorithm>
#include <cstdint>

namespace assent {
namespace {

constexpr std::size_t shown_line_max = 500;
constexpr std::int64_t matches_usual = 1000;

// The paths that a search looks at: `a.txt` is any file of that name, `a/b` begins where the search
// does, `/a/b` at the workspace.
class PathFilter {
public:
    static Result<PathFilter> read(std::string_view text, const FolderPath& base) {
        if (text.empty()) return Failure{FailureKind::tool, "the pattern is empty"};
        PathFilter filter;
        auto pattern = PathPattern::read(text.contains('/') ? std::string(text) : "**/" + std::string(text));
        if (!pattern.ok())
            return Failure{FailureKind::tool,
                           "the pattern " + quoted_path(text) + " cannot be used: " + pattern.failure().message};
        filter.pattern_ = std::move(*pattern);
        if (text.starts_with('/')) filter.before_ = base.parts;
        return filter;
    }

    [[nodiscard]] bool matches(std::span<const std::string> parts) const {
        return pattern_.matches(whole(parts), NameMatch::no_dots);
    }
    [[nodiscard]] bool leads_below(std::span<const std::string> parts) const {
        return pattern_.leads_below(whole(parts), NameMatch::no_dots);
    }

private:
    [[nodiscard]] PathNames whole(std::span<const std::string> parts) const {
        auto all = before_;
        all.insert(all.end(), parts.begin(), parts.end());
        return exact_names(all);
    }

    PathPattern pattern_;
    std::vector<std::string> before_;
};

// What a search may still do, and why it ended early.
class SearchLimit {
public:
    explicit SearchLimit(const FileCall& given) : given_(given), end_(given.clock.monotonic() + search_ms_max) {}

    [[nodiscard]] bool reached() {
        if (given_.stop.stop_requested()) {
            stop("the search was told to stop");
        } else if (given_.clock.monotonic() > end_) {
            stop("the search took longer than " + std::to_string(search_ms_max / 1000) +
                 " s; give a narrower path or pattern");
        }
        return stopped_;
    }
    void stop(std::string why) {
        stopped_ = true;
        missed(std::move(why));
    }
    /// The search goes on, but its result is not all.
    void missed(std::string why) {
        if (why_.empty()) why_ = std::move(why);
    }
    [[nodiscard]] const std::string& why() const noexcept { return why_; }

private:
    const FileCall& given_;
    std::int64_t end_;
    bool stopped_ = false;
    std::string why_;
};

constexpr const char* result_full = "the result is full; give a narrower path or pattern";
constexpr const char* folder_unseen = "a folder could not be read, was too deep or had too many names";

ToolResult ended(std::string text, std::string_view nothing, const SearchLimit& limit, bool stopped) {
    ToolResult result;
    result.text = text.empty() ? std::string(nothing) : std::move(text);
    if (!limit.why().empty()) {
        if (!result.text.ends_with('\n')) result.text += '\n';
        result.text += "[not all: " + limit.why() + "]\n";
    }
    result.cancelled = stopped;
    return result;
}

ToolResult not_found(const Failure& failure, std::string_view path) {
    return error_result(failure.kind == FailureKind::not_found ? "Path " + quoted_path(path) + " not found"
                                                               : failure.message);
}

std::string shown_line(std::string_view line) {
    if (line.ends_with('\r')) line.remove_suffix(1);
    return capped(line, shown_line_max);
}

struct GrepWish {
    enum class Show { files, lines, counts } show = Show::files;
    std::string text;
    std::size_t matches_max = 0;
};

// What the matching lines of the files looked at so far come to.
class Findings {
public:
    Findings(GrepWish wish, SearchLimit& limit) : wish_(std::move(wish)), limit_(limit) {}

    void look_in(std::string_view bytes, const std::string& shown_path) {
        if (bytes.find('\0') != std::string_view::npos || !valid_utf8(bytes)) return;
        std::size_t number = 1;
        std::size_t counted = 0;
        std::size_t lines = 0;
        for (auto at = bytes.find(wish_.text); at != std::string_view::npos; at = bytes.find(wish_.text, at)) {
            if (found_ == wish_.matches_max || text_.size() > read_result_bytes_max) {
                limit_.stop(found_ == wish_.matches_max ? "there are more matches than max_count" : result_full);
                break;
            }
            const auto begin = bytes.rfind('\n', at) + 1;
            const auto end = std::min(bytes.find('\n', at), bytes.size());
            number += static_cast<std::size_t>(std::count(bytes.begin() + static_cast<std::ptrdiff_t>(counted),
                                                          bytes.begin() + static_cast<std::ptrdiff_t>(begin), '\n'));
            counted = begin;
            ++found_;
            if (++lines == 1 && wish_.show == GrepWish::Show::lines) text_ += shown_path + ":\n";
            if (wish_.show == GrepWish::Show::lines)
                text_ += "  " + std::to_string(number) + ": " + shown_line(bytes.substr(begin, end - begin)) + "\n";
            if (wish_.show == GrepWish::Show::files || end == bytes.size()) break;
            at = end;
        }
        if (lines == 0) return;
        if (wish_.show == GrepWish::Show::files) text_ += shown_path + "\n";
        if (wish_.show == GrepWish::Show::counts) text_ += shown_path + ": " + std::to_string(lines) + "\n";
    }

    [[nodiscard]] const std::string& text() const noexcept { return text_; }

private:
    GrepWish wish_;
    SearchLimit& limit_;
    std::string text_;
    std::size_t found_ = 0;
};

bool looks_like_a_regular_expression(std::string_view text) {
    return text.contains(".*") || text.contains(".+") || text.contains('|') || text.contains("\\") ||
           text.starts_with('^') || text.ends_with('$');
}

Result<GrepWish::Show> read_show(std::string_view name) {
    if (name == "files_with_matches") return GrepWish::Show::files;
    if (name == "content") return GrepWish::Show::lines;
    if (name == "count") return GrepWish::Show::counts;
    return Failure{FailureKind::tool, "argument 'output_mode' must be files_with_matches, content or count"};
}

}  // namespace

ToolResult find_files(const FileCall& given) {
    CallArguments call(given.arguments, {"pattern", "path"});
    const auto text = call.text("pattern");
    const auto path = call.text("path", "/");
    if (call.problem()) return *call.problem();
    PathKeeper keeper(given.rules, given.folder, {.use = PathUse::search, .path = path, .pattern = text});
    if (keeper.refusal()) return *keeper.refusal();
    const auto base = read_folder_path(path);
    if (!base.ok()) return error_result(base.failure().message);
    const auto filter = PathFilter::read(text, *base);
    if (!filter.ok()) return error_result(filter.failure().message);
    const auto prefix = safe_to_show(prefix_of(path)).text;
    SearchLimit limit(given);
    std::string found;
    const auto seen = given.folder.walk(
        path,
        [&](const TreeEntry& entry) {
            if (limit.reached()) return Walking::stop;
            if (entry.kind == EntryKind::folder) return filter->leads_below(entry.parts) ? Walking::on : Walking::past;
            if (!filter->matches(entry.parts) || !keeper.shows(entry.parts, entry.kind == EntryKind::link))
                return Walking::on;
            if (found.size() > read_result_bytes_max) {
                limit.stop(result_full);
                return Walking::stop;
            }
            found += prefix + safe_to_show(join_parts(entry.parts)).text + "\n";
            return Walking::on;
        },
        keeper.admit());
    if (!seen.ok()) return not_found(seen.failure(), path);
    if (!*seen) limit.missed(folder_unseen);
    return ended(std::move(found), "No files found", limit, given.stop.stop_requested());
}

ToolResult search_files(const FileCall& given) {
    CallArguments call(given.arguments, {"pattern", "path", "glob", "output_mode", "max_count"});
    GrepWish wish{.text = call.text("pattern")};
    const auto path = call.text("path", "/");
    const auto glob = call.text("glob", "");
    const auto show = read_show(call.text("output_mode", "files_with_matches"));
    const auto matches_max = call.whole_number("max_count", matches_usual);
    if (call.problem()) return *call.problem();
    if (!show.ok()) return error_result(show.failure().message);
    if (wish.text.empty() || wish.text.contains('\n'))
        return error_result("argument 'pattern' must be a text within one line");
    if (matches_max < 1) return error_result("argument 'max_count' must be 1 or more");
    wish.show = *show;
    wish.matches_max = static_cast<std::size_t>(matches_max);
    PathKeeper keeper(given.rules, given.folder, {.use = PathUse::search, .path = path, .pattern = glob});
    if (keeper.refusal()) return *keeper.refusal();
    const auto base = read_folder_path(path);
    if (!base.ok()) return error_result(base.failure().message);
    const auto filter = PathFilter::read(glob.empty() ? "**" : glob, *base);
    if (!filter.ok()) return error_result(filter.failure().message);
    SearchLimit limit(given);
    Findings findings(wish, limit);
    const auto prefix = safe_to_show(prefix_of(path)).text;
    bool hidden = false;
    const auto seen = given.folder.walk(
        path,
        [&](const TreeEntry& entry) {
            if (limit.reached()) return Walking::stop;
            if (entry.kind != EntryKind::file || (!glob.empty() && !filter->matches(entry.parts))) return Walking::on;
            if (!keeper.shows(entry.parts, false)) {
                hidden = true;
                return Walking::on;
            }
            if (const auto bytes = entry.read(); bytes.ok()) {
                findings.look_in(*bytes, prefix + safe_to_show(join_parts(entry.parts)).text);
            } else {
                limit.missed("a file could not be read or is too large");
            }
            return Walking::on;
        },
        keeper.admit());
    if (!seen.ok()) {
        // It may be a file.
        if (seen.failure().kind == FailureKind::not_found) return not_found(seen.failure(), path);
        const auto file = given.folder.read(path, keeper.admit());
        if (!file.ok()) return not_found(file.failure(), path);
        findings.look_in(file->bytes, safe_to_show(path).text);
    } else if (!*seen) {
        limit.missed(folder_unseen);
    }
    auto result = ended(findings.text(), "No matches found", limit, given.stop.stop_requested());
    // A hint beside hidden files would tell that they are there.
    if (findings.text().empty() && !hidden && looks_like_a_regular_expression(wish.text))
        result.text += "\nThe pattern is looked for as it is written; it looks like a regular expression.";
    return result;
}

}  // namespace assent
