#include "base/display.hpp"
#include "files/folder_path.hpp"
#include "tools/call_arguments.hpp"
#include "tools/file_work.hpp"
#include "tools/number_lines.hpp"

#include <algorithm>
#include <cstdint>

namespace assent {
namespace {

constexpr std::int64_t read_limit_usual = 100;

std::string base64(std::string_view bytes) {
    constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string out;
    for (std::size_t at = 0; at < bytes.size(); at += 3) {
        const auto group = bytes.substr(at, 3);
        std::uint32_t bits = 0;
        for (std::size_t i = 0; i < 3; ++i)
            bits = bits << 8 | (i < group.size() ? static_cast<unsigned char>(group[i]) : 0U);
        for (std::size_t i = 0; i < 4; ++i) out += i <= group.size() ? letters[bits >> (18 - 6 * i) & 63U] : '=';
    }
    return out;
}

bool is_text(std::string_view bytes) noexcept {
    return bytes.find('\0') == std::string_view::npos && valid_utf8(bytes);
}

ToolResult show_binary(const std::string& path, std::string_view bytes) {
    const auto size = std::to_string(bytes.size());
    if (bytes.size() > binary_bytes_max)
        return error_result(quoted_path(path) + " is no text; it has " + size + " bytes, and at most " +
                            std::to_string(binary_bytes_max) + " can be shown as base64");
    ToolResult result;
    result.text = quoted_path(path) + " is no text; its " + size + " bytes in base64:\n" + base64(bytes);
    return result;
}

std::string lines_text(std::size_t count) {
    return std::to_string(count) + (count == 1 ? " line" : " lines");
}

ToolResult show_lines(std::string_view text, std::int64_t offset, std::int64_t limit) {
    ToolResult result;
    if (offset < 0) {
        result.text = "[offset " + std::to_string(offset) + " is before the beginning; read from 0]\n";
        offset = 0;
    }
    const auto lines = split_lines(text);
    const auto total = lines.size();
    if (static_cast<std::uint64_t>(offset) >= total)
        return error_result("Line offset " + std::to_string(offset) + " exceeds file length (" + std::to_string(total) +
                            " lines)");
    const auto first = static_cast<std::size_t>(offset);
    const auto wanted = std::span(lines).subspan(first).first(
        static_cast<std::size_t>(std::min<std::uint64_t>(static_cast<std::uint64_t>(limit), total - first)));
    const auto numbered = number_lines(wanted, first + 1, read_result_bytes_max);
    result.text += numbered.text;
    const auto next = first + numbered.lines;
    if (numbered.cut)
        result.text += "[line " + std::to_string(next) + " is longer than what can be shown; the rest is cut]\n";
    if (next < total)
        result.text += "[" + lines_text(total - next) + " more; go on with offset " + std::to_string(next) + "]\n";
    return result;
}

}  // namespace

std::string prefix_of(std::string_view path) {
    std::string prefix(path);
    while (prefix.ends_with('/')) prefix.pop_back();
    if (prefix == "." && path != "/") return {};
    return prefix + "/";
}

ToolResult read_file(const FileCall& given) {
    CallArguments call(given.arguments, {"file_path", "offset", "limit"});
    const auto path = call.text("file_path");
    const auto offset = call.whole_number("offset", 0);
    const auto limit = call.whole_number("limit", read_limit_usual);
    if (call.problem()) return *call.problem();
    PathKeeper keeper(given.rules, given.folder, {.use = PathUse::read, .path = path});
    if (keeper.refusal()) return *keeper.refusal();
    const auto content = given.folder.read(path, keeper.admit());
    if (!content.ok()) {
        const auto& failure = content.failure();
        return error_result(failure.kind == FailureKind::not_found ? "File " + quoted_path(path) + " not found"
                                                                   : failure.message);
    }
    ToolResult result;
    if (content->bytes.empty()) {
        result.text = "System reminder: the file " + quoted_path(path) + " exists, but it is empty.";
        return result;
    }
    if (!is_text(content->bytes)) return show_binary(path, content->bytes);
    if (limit <= 0) {
        result.text = "System reminder: with a limit of " + std::to_string(limit) +
                      " no lines are read; give a limit of 1 or more.";
        return result;
    }
    return show_lines(content->bytes, offset, limit);
}

ToolResult list_folder(const FileCall& given) {
    CallArguments call(given.arguments, {"path"});
    const auto path = call.text("path", "/");
    if (call.problem()) return *call.problem();
    PathKeeper keeper(given.rules, given.folder, {.use = PathUse::search, .path = path});
    if (keeper.refusal()) return *keeper.refusal();
    auto list = given.folder.list(path, keeper.admit());
    if (!list.ok()) {
        const auto& failure = list.failure();
        return error_result(failure.kind == FailureKind::not_found ? "Path " + quoted_path(path) + " not found"
                                                                   : failure.message);
    }
    std::erase_if(list->entries, [&](const FolderEntry& entry) { return !keeper.shows({&entry.name, 1}, entry.link); });
    ToolResult result;
    if (list->entries.empty()) {
        result.text = "No files found";
        return result;
    }
    // Names may hold line feeds: shown safely, none can pass for two.
    const auto prefix = safe_to_show(prefix_of(path)).text;
    std::size_t shown = 0;
    for (const auto& entry : list->entries) {
        if (result.text.size() > read_result_bytes_max) break;
        result.text += prefix + safe_to_show(entry.name).text + (entry.folder ? "/\n" : "\n");
        ++shown;
    }
    if (shown < list->entries.size() || !list->complete)
        result.text += "[not all: " + std::to_string(shown) + " of " + (list->complete ? "" : "more than ") +
                       std::to_string(list->entries.size()) + "]\n";
    return result;
}

}  // namespace assent
