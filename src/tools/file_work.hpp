// What the file tools do, apart from the right to do it.
//
// Thread-safety: as ConfinedFolder.
#pragma once

#include "files/confined_folder.hpp"
#include "tools/path_keeper.hpp"

#include <assent/arguments.hpp>
#include <assent/clock.hpp>
#include <assent/tool.hpp>

#include <cstddef>
#include <stop_token>

namespace assent {

/// What one read gives at most: about 20,000 tokens.
inline constexpr std::size_t read_result_bytes_max = 80'000;
/// Larger files that are no text are not shown: their base64 would be longer than that.
inline constexpr std::size_t binary_bytes_max = 60'000;

/// A search takes no longer; what was found by then is the result.
inline constexpr std::int64_t search_ms_max = 10'000;

[[nodiscard]] ToolSpec read_file_spec();
[[nodiscard]] ToolSpec write_file_spec();
[[nodiscard]] ToolSpec edit_file_spec();
[[nodiscard]] ToolSpec delete_file_spec();
[[nodiscard]] ToolSpec ls_spec();
[[nodiscard]] ToolSpec glob_spec();
[[nodiscard]] ToolSpec grep_spec();

/// One call of a file tool.
struct FileCall {
    const ConfinedFolder& folder;
    const Arguments& arguments;
    std::stop_token stop;
    const Clock& clock = system_clock();
    PathKeeper::Rules rules;
};

[[nodiscard]] ToolResult read_file(const FileCall& given);
[[nodiscard]] ToolResult write_file(const FileCall& given);
[[nodiscard]] ToolResult edit_file(const FileCall& given);
[[nodiscard]] ToolResult delete_file(const FileCall& given);
[[nodiscard]] ToolResult list_folder(const FileCall& given);
[[nodiscard]] ToolResult find_files(const FileCall& given);
[[nodiscard]] ToolResult search_files(const FileCall& given);

/// What stands before the names in a folder, so that the other tools take what is shown: "src/" for "src".
[[nodiscard]] std::string prefix_of(std::string_view folder);

}  // namespace assent
