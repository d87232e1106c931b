#include "files/folder_path.hpp"

#include "base/display.hpp"

#include <cerrno>
#include <climits>
#include <system_error>

namespace assent {
namespace {

constexpr std::size_t shown_path_max = 300;

Failure refuse(std::string message) {
    return {FailureKind::tool, std::move(message)};
}

}  // namespace

std::string quoted_path(std::string_view path) {
    return "'" + capped(safe_to_show(path).text, shown_path_max) + "'";
}

std::string join_parts(std::span<const std::string> parts) {
    std::string out;
    for (const auto& part : parts) {
        if (!out.empty()) out += '/';
        out += part;
    }
    return out.empty() ? "." : out;
}

Failure path_failure(std::string_view path, int error) {
    const auto shown = quoted_path(path);
    switch (error) {
        case ENOENT:
            return {FailureKind::not_found, shown + " does not exist"};
        case ENOTDIR:
            return refuse(shown + " leads through a file");
        case EISDIR:
            return refuse(shown + " is a folder");
        case EACCES:
        case EPERM:
            return refuse("permission denied for " + shown);
        case ENAMETOOLONG:
            return refuse("a name in " + shown + " is too long");
        case EBUSY:
            return refuse(shown + " is in use by the system (mounted on its own, perhaps) and cannot be replaced");
        case EAGAIN:
            return refuse("folders on the way to " + shown + " are being moved; try again");
        default:
            return refuse(shown + " cannot be used: " + std::generic_category().message(error));
    }
}

Result<FolderPath> read_folder_path(std::string_view text) {
    if (text.empty()) return refuse("the path is empty");
    if (text.size() >= PATH_MAX)
        return refuse("the path has " + std::to_string(text.size()) + " bytes; that is too long");
    if (text.find('\0') != std::string_view::npos) return refuse("the path " + quoted_path(text) + " has a NUL byte");
    FolderPath path;
    std::string_view last;
    for (std::size_t at = 0; at <= text.size();) {
        const auto end = std::min(text.find('/', at), text.size());
        last = text.substr(at, end - at);
        at = end + 1;
        if (last == "..") {
            if (path.parts.empty()) return refuse("the path " + quoted_path(text) + " leads out of the folder");
            path.parts.pop_back();
        } else if (!last.empty() && last != ".") {
            path.parts.emplace_back(last);
        }
    }
    for (const auto& part : path.parts) {
        if (part.starts_with(unfinished_prefix))
            return refuse("names that begin with " + std::string(unfinished_prefix) +
                          " are reserved for unfinished writes");
    }
    path.names_folder = path.parts.empty() || last.empty() || last == "." || last == "..";
    return path;
}

}  // namespace assent
