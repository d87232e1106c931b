// The person's own editor on a private file.
#pragma once

#include "cli/terminal.hpp"

#include <filesystem>
#include <string>

namespace assent::cli {

/// `$VISUAL`, else `$EDITOR`, else empty.
[[nodiscard]] std::string editor_command();

struct EditorJob {
    std::string command;           ///< Run by `sh -c` with the file's path added.
    std::string file_name;         ///< Its ending tells the editor what it holds.
    std::string text;              ///< What the file holds at first.
    std::filesystem::path folder;  ///< Where a private folder for it is made.
    int wake_fd = -1;              ///< When it becomes readable, the editor is ended.
};

struct Edited {
    enum class Status { saved, interrupted, failed };
    Status status = Status::failed;
    std::string text;     ///< Saved: what the file holds now.
    std::string message;  ///< Failed: why, one line.
};

/// Largest file that is read back.
inline constexpr std::size_t edited_bytes_max = std::size_t{4} * 1024 * 1024;

/// Runs the editor on the terminal's streams and waits for it. The file and its folder are removed,
/// whatever happens.
[[nodiscard]] Edited edit_text(const EditorJob& job, const Terminal& terminal);

}  // namespace assent::cli
