// What the file tools do, apart from the right to do it.
//
// Thread-safety: as ConfinedFolder.
#pragma once

#include "files/confined_folder.hpp"

#include <assent/arguments.hpp>
#include <assent/tool.hpp>

#include <cstddef>

namespace assent {

/// What one read gives at most: about 20,000 tokens.
inline constexpr std::size_t read_result_bytes_max = 80'000;
/// Larger files that are no text are not shown: their base64 would be longer than that.
inline constexpr std::size_t binary_bytes_max = 60'000;

[[nodiscard]] ToolSpec read_file_spec();
[[nodiscard]] ToolSpec write_file_spec();
[[nodiscard]] ToolSpec edit_file_spec();
[[nodiscard]] ToolSpec ls_spec();

[[nodiscard]] ToolResult read_file(const ConfinedFolder& folder, const Arguments& arguments);
[[nodiscard]] ToolResult write_file(const ConfinedFolder& folder, const Arguments& arguments);
[[nodiscard]] ToolResult edit_file(const ConfinedFolder& folder, const Arguments& arguments);
[[nodiscard]] ToolResult list_folder(const ConfinedFolder& folder, const Arguments& arguments);

}  // namespace assent
