#include "base/display.hpp"
#include "base/sha256.hpp"
#include "files/folder_path.hpp"
#include "tools/call_arguments.hpp"
#include "tools/file_work.hpp"
#include "tools/replace_text.hpp"

namespace assent {
namespace {

constexpr std::size_t shown_text_max = 2000;

// What was written, for the record: the history then tells whether a file is still as it was left.
std::string written_details(std::string_view bytes) {
    return R"({"bytes":)" + std::to_string(bytes.size()) + R"(,"sha256":")" + hex(sha256(bytes)) + R"("})";
}

}  // namespace

ToolResult write_file(const FileCall& given) {
    CallArguments call(given.arguments, {"file_path", "content"});
    const auto path = call.text("file_path");
    const auto content = call.text("content");
    if (call.problem()) return *call.problem();
    PathKeeper keeper(given.rules, given.folder, {.use = PathUse::write, .path = path});
    if (keeper.refusal()) return *keeper.refusal();
    if (const auto done = given.folder.write(path, content, std::nullopt, keeper.admit()); !done.ok())
        return error_result(done.failure().message);
    ToolResult result;
    result.text = "Updated file " + path;
    result.details = written_details(content);
    return result;
}

ToolResult edit_file(const FileCall& given) {
    CallArguments call(given.arguments, {"file_path", "old_string", "new_string", "replace_all"});
    const auto path = call.text("file_path");
    const auto old_text = call.text("old_string");
    const auto new_text = call.text("new_string");
    const bool all = call.flag("replace_all", false);
    if (call.problem()) return *call.problem();
    if (old_text.empty()) return error_result("old_string is empty; use write_file to create a file");
    PathKeeper keeper(given.rules, given.folder, {.use = PathUse::write, .path = path});
    if (keeper.refusal()) return *keeper.refusal();
    const auto content = given.folder.read(path, keeper.admit());
    if (!content.ok()) {
        const auto& failure = content.failure();
        return error_result(failure.kind == FailureKind::not_found ? "File " + quoted_path(path) + " not found"
                                                                   : failure.message);
    }
    if (!valid_utf8(content->bytes)) return error_result(quoted_path(path) + " is no UTF-8 text and cannot be edited");
    const auto shown = "'" + capped(old_text, shown_text_max) + "'";
    const auto replaced = replace_text(content->bytes, old_text, new_text, all);
    if (replaced.count == 0) {
        std::string text = "String not found in file: " + shown;
        if (old_text.size() > 1 && old_text.ends_with('\n') &&
            replace_text(content->bytes, old_text.substr(0, old_text.size() - 1), {}, false).count > 0)
            text += "\nWithout the line feed at its end it is there.";
        return error_result(text);
    }
    if (replaced.count > 1 && !all)
        return error_result("String " + shown + " appears " + std::to_string(replaced.count) +
                            " times in file; give more of the text around it, or set replace_all to true");
    if (const auto done = given.folder.write(path, replaced.text, content->stamp, keeper.admit()); !done.ok())
        return error_result(done.failure().message);
    ToolResult result;
    result.text =
        "Successfully replaced " + std::to_string(replaced.count) + " instance(s) of the string in '" + path + "'";
    result.details = written_details(replaced.text);
    return result;
}

ToolResult delete_file(const FileCall& given) {
    CallArguments call(given.arguments, {"file_path"});
    const auto path = call.text("file_path");
    if (call.problem()) return *call.problem();
    PathKeeper keeper(given.rules, given.folder, {.use = PathUse::remove, .path = path});
    if (keeper.refusal()) return *keeper.refusal();
    const auto removed = given.folder.remove(path, given.stop, keeper.admit());
    if (removed.ok()) return {.text = "Deleted " + path};
    const auto& failure = removed.failure();
    auto result = error_result(failure.kind == FailureKind::not_found ? "File " + quoted_path(path) + " not found"
                                                                      : failure.message);
    result.cancelled = given.stop.stop_requested();
    return result;
}

}  // namespace assent
