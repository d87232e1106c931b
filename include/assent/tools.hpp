// Ready-made tools: files of one folder, and a shell in it.
//
// File paths are relative to the workspace (`/x` and `x` are the same) and never leave it: a folder, the thread
// itself, or several of these as one. The shell starts in a folder, writes only there where the kernel has Landlock,
// and reads what the user reads: let a guard ask.
//
// Thread-safety: all of these tools may be started from several threads.
// Errors: what goes wrong is a ToolResult with `is_error` and a text for the model.
#pragma once

#include <assent/guard.hpp>
#include <assent/permissions.hpp>
#include <assent/result.hpp>
#include <assent/tool.hpp>

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assent {

class ConfinedFolder;
class PathRules;
class WorkspaceFiles;

/// Where file tools work; copies share it.
class Workspace {
public:
    /// A folder, opened once: if its path is given to another folder later, the file tools go on in this one.
    /// Failure kind `tool`: it does not exist, is no folder or is not accessible.
    static Result<Workspace> open(const std::string& path);
    /// No folder: texts that are kept in the thread, each thread its own (`Run::files`, `thread_files.hpp`).
    [[nodiscard]] static Workspace in_thread();

    /// Absolute and without links, as it was when opened; empty: the files are kept in the thread.
    [[nodiscard]] const std::string& path() const noexcept;
    /// The same, but what is at `prefix` (such as "/memories") and below it is in `other`, whose root is there;
    /// what this one has there is hidden. Searches show this one's files first. Throws ConfigError: the prefix
    /// is no such path or is taken, or `other` has permissions, which belong to the whole.
    [[nodiscard]] Workspace with(const std::string& prefix, Workspace other) const;
    /// The same folder with these rules instead of those it had: its file tools keep them whatever guards
    /// there are. Where a rule asks they refuse unless `path_guard` has asked. Throws ConfigError.
    [[nodiscard]] Workspace with_permissions(std::vector<FilesystemPermission> permissions) const;
    /// The same with these rules besides those it has, for one who works for another: a path must be allowed by
    /// both. `path_guard` of it asks for these rules alone, that of this workspace for the others.
    [[nodiscard]] Workspace with_further_permissions(std::vector<FilesystemPermission> permissions) const;

    /// For the tools themselves: the files as they are in a thread, whose files live longer. Null: it has none.
    [[nodiscard]] std::shared_ptr<const WorkspaceFiles> files(ThreadFiles* thread) const;
    /// For the tools themselves: whether what is at this path is kept in the thread.
    [[nodiscard]] bool keeps_in_thread(std::string_view path) const;
    /// For the tools themselves: the rules that were given last; null: there are none.
    [[nodiscard]] const PathRules* rules() const noexcept { return rules_.empty() ? nullptr : rules_.back().get(); }
    /// For the tools themselves: all that hold, in the order in which they were given.
    [[nodiscard]] const std::vector<std::shared_ptr<const PathRules>>& all_rules() const noexcept { return rules_; }

private:
    struct Part;
    explicit Workspace(std::shared_ptr<const ConfinedFolder> folder) noexcept : folder_(std::move(folder)) {}
    std::shared_ptr<const ConfinedFolder> folder_;  // null: the thread
    std::vector<std::shared_ptr<const Part>> parts_;
    std::vector<std::shared_ptr<const PathRules>> rules_;
};

/// The guard `permissions`: judges the paths that tools name, as `ToolSpec::paths` says, by the permissions
/// of `workspace`, and asks people where a rule says so. Also for tools of your own; what those open after
/// it has judged is theirs to check. Refuses paths with `..`, with `~` in front and with drives.
[[nodiscard]] std::shared_ptr<Guard> path_guard(Workspace workspace);

/// `read_file {file_path, offset, limit}`: numbered lines of a text file, base64 of any other.
[[nodiscard]] std::shared_ptr<Tool> read_file_tool(Workspace workspace);
/// `write_file {file_path, content}`: creates or replaces a file, with the folders it needs.
[[nodiscard]] std::shared_ptr<Tool> write_file_tool(Workspace workspace);
/// `edit_file {file_path, old_string, new_string, replace_all}`: replaces a text that occurs once, or
/// everywhere. Line feeds in it also stand for the CR LF of a file that has them.
[[nodiscard]] std::shared_ptr<Tool> edit_file_tool(Workspace workspace);
/// `delete_file {file_path}`: deletes a file, a link or a folder with all that is in it.
[[nodiscard]] std::shared_ptr<Tool> delete_file_tool(Workspace workspace);
/// `ls {path}`: the paths in a folder, sorted; folders end in `/`.
[[nodiscard]] std::shared_ptr<Tool> ls_tool(Workspace workspace);
/// `glob {pattern, path}`: the paths of files that match, sorted. Follows no link below `path`.
[[nodiscard]] std::shared_ptr<Tool> glob_tool(Workspace workspace);
/// `grep {pattern, path, glob, output_mode, max_count}`: files, lines or counts of a text, in files that are
/// text. Follows no link below `path`. Both searches end after 10 seconds with what they have.
[[nodiscard]] std::shared_ptr<Tool> grep_tool(Workspace workspace);

struct ShellOptions {
    Workspace workspace;
    std::chrono::milliseconds time_limit{120'000};
    /// Between being asked to end and being killed.
    std::chrono::milliseconds grace{2'000};
    std::size_t output_bytes_max = std::size_t{64} * 1024;  ///< Of each stream; the middle is cut.
    /// Path of the program `assent-exec`; empty: beside this program, in ../libexec/assent/ from it, or
    /// where Assent was installed.
    std::string helper;
    /// Environment variables the command may see besides PATH, HOME, LANG, LC_*, TZ, TERM, USER,
    /// LOGNAME, SHELL and TMPDIR.
    std::vector<std::string> environment_names;
    /// Files and folders that decide about the agent: the database with its side files
    /// (`SqliteCheckpointer::files`), rules, configuration, keys. Where the kernel has Landlock the command
    /// can neither open, replace nor remove them, nor list the folders on the way to them. They need not
    /// exist; at most 200. One inside the workspace keeps new files out of every folder above it.
    std::vector<std::string> closed;
    /// Folders besides the workspace where the command may write, such as caches of a compiler; at most 200.
    /// What is in `closed` stays closed.
    std::vector<std::string> writable;
    /// A folder for receipts, of this user alone and for nothing else; made if only it is missing. With
    /// them the outcome of a command that ended by itself is known after this process died. Place it
    /// beside the database, outside every workspace, and give it to all processes that may run the
    /// thread. Empty: none are kept, as suits a store in memory.
    std::string receipts;
};

/// `shell {command}`: a line for /bin/sh in the workspace, without terminal and input. Everything it
/// started is dead when it has ended. Where the kernel has Landlock it writes only in the workspace and in
/// a temporary folder of its own (TMPDIR), and reads everything but `closed` and devices; without it
/// nothing of this holds, and a guard should ask. Throws ConfigError: the workspace is no folder. Part of
/// `assent::shell`.
[[nodiscard]] std::shared_ptr<Tool> shell_tool(ShellOptions options);
/// Whether the helper program is there and the folder of receipts can be used; worth asking before the
/// first call. Failure kind `tool`.
Result<void> check_shell(const ShellOptions& options);
/// Whether commands of this machine's shell tool are confined by Landlock.
[[nodiscard]] bool shell_is_confined();
/// Whether this process was started by a command of the shell tool, at whatever remove, also by one that
/// detached itself. What runs there must not decide about the agent. Does not see what a command had
/// started by somebody else, such as a service manager.
[[nodiscard]] bool inside_shell_tool();

}  // namespace assent
