// Runs a shell line so that nothing of it is left afterwards, and however it ends.
//
// The line runs below the helper program `assent-exec`: in a session of its own, without a terminal,
// with nothing to read, with a cleaned environment. Where the kernel has Landlock it writes only in its
// folder, in a temporary folder of its own (TMPDIR, removed afterwards) and to devices like /dev/null,
// and cannot open what is closed to it, devices of terminals and disks, or memory of processes that
// are not its own. All its descendants are killed when it has ended,
// when its time is over, when it is cancelled, and when this process dies in whatever way. Not
// reached are processes that others start for it (a service manager, a container daemon), and a line
// that kills the helper itself leaves what it put in the background.
//
// Thread-safety: `run_shell` may be called from several threads; it needs no signal handler, does not
// rely on SIGCHLD and waits for no other child than its own.
#pragma once

#include "exec/captured_stream.hpp"
#include "exec/helper_report.hpp"

#include <assent/result.hpp>

#include <chrono>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace assent {

/// Longer lines are refused: the kernel takes no argument over 128 KiB.
inline constexpr std::size_t shell_line_bytes_max = std::size_t{100} * 1024;

/// Of paths that are closed to a line, and of those where it may write.
inline constexpr std::size_t reach_paths_max = 200;

struct ShellRun {
    std::string line;
    std::string folder;
    std::chrono::milliseconds time_limit{120'000};
    /// Between being asked to end and being killed.
    std::chrono::milliseconds grace{2'000};
    /// For what the line left running, once the shell itself has ended.
    std::chrono::milliseconds linger{200};
    std::size_t output_bytes_max = std::size_t{64} * 1024;  ///< Of each stream.
    std::string helper;                                     ///< Empty: where `find_helper` finds it.
    std::vector<std::string> environment_names;             ///< Passed on besides the usual ones.
    std::vector<std::string> closed;                        ///< Files and folders that the line must not open.
    std::vector<std::string> writable;                      ///< Folders to write in besides `folder`.
    std::string receipts;  ///< The folder of receipts (exec/receipts.hpp); empty: none is kept.
    std::string attempt;   ///< With `receipts`: whose receipt it is.
};

struct ShellEnd {
    std::optional<int> exit_status;
    std::optional<int> signal;
    bool timed_out = false;
    bool cancelled = false;
    bool runner_died = false;  ///< Only in a receipt: something was killed because of that.
    /// Something cannot be killed, or the helper died: nobody knows what still happens.
    bool unknown = false;
    bool output_lost = false;  ///< With the helper; `out` and `err` hold nothing.
    std::chrono::milliseconds time_limit{};
    CapturedStream out;
    CapturedStream err;
};

/// What a report says. Failure kind `tool` if nothing was run.
Result<ShellEnd> end_of(HelperReport report);

/// Blocks until everything has ended. Failure kind `tool` if nothing was run. If the helper died, the end
/// is unknown and the output lost.
Result<ShellEnd> run_shell(const ShellRun& run, const std::stop_token& stop);

/// The helper: `given` if not empty, else beside this program, else in ../libexec/assent/ from it,
/// else where it was to be installed. Failure kind `tool`.
Result<std::string> find_helper(const std::string& given);

/// NAME=VALUE for each variable of this process that a tool may see: those it needs to find programs
/// and speak the user's language, and `extra_names`. Never keys or tokens.
[[nodiscard]] std::vector<std::string> tool_environment(const std::vector<std::string>& extra_names);

}  // namespace assent
