// The files that a thread keeps in its journal: texts by absolute path, such as "/notes/a.md".
//
// A call sees what was stored and what other calls of its turn have changed so far. What it changes itself is
// stored together with its outcome, in one step: a call whose outcome is lost has changed nothing. There are
// no folders but those that files lie in.
//
// Thread-safety: all functions may be called from several threads.
#pragma once

#include <assent/result.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assent {

/// The most that one file, and all of them together, may have.
inline constexpr std::size_t thread_file_bytes_max = std::size_t{4} * 1024 * 1024;
inline constexpr std::size_t thread_files_bytes_max = std::size_t{64} * 1024 * 1024;
inline constexpr std::size_t thread_files_max = 10'000;

class ThreadFiles {
public:
    struct File {
        std::shared_ptr<const std::string> text;  ///< Never null.
        std::uint64_t revision = 0;               ///< Another number: it was changed meanwhile.
    };

    virtual ~ThreadFiles() = default;

    [[nodiscard]] virtual std::optional<File> read(std::string_view path) const = 0;
    /// All paths, by their bytes. Cost: all names.
    [[nodiscard]] virtual std::vector<std::string> paths() const = 0;
    /// Creates or replaces a file. With `expected`, only if that is still its revision. Failure kind `tool`: the
    /// path is not absolute or has empty names, `.` or `..`; it leads through a file or names a folder; the text
    /// is no UTF-8; a limit is reached; it has changed; a guard cannot change files.
    virtual Result<void> write(std::string_view path, std::string text,
                               std::optional<std::uint64_t> expected = std::nullopt) = 0;
    /// Removes a file. Failure kind `not_found`, or `tool` for a guard.
    virtual Result<void> remove(std::string_view path) = 0;
};

}  // namespace assent
