// What the runner and its helper program `assent-exec` agree on.
//
//   assent-exec [-PATH]… [+PATH]… LIMIT_MS GRACE_MS LINGER_MS FOLDER LINE
//
// -PATH is closed to the line, +PATH is a folder where it may write; absolute, without links. The
// environment is the tool's; the helper sets TMPDIR in it.
//
// Descriptors: 0 nothing to read, 1 and 2 the streams, 3 control, 4 status.
// Control: one byte cancels; end of file means that the runner is gone and everything must die.
// Status: one line once everything has ended, then end of file.
//   ended exit=N signal=N timed_out=0|1 cancelled=0|1 left=N     exit -1: by a signal, or not at all
//   failed STEP ERRNO                                            nothing was run
#pragma once

namespace assent {

inline constexpr int helper_control_fd = 3;
inline constexpr int helper_status_fd = 4;
inline constexpr char helper_cancel_byte = 'c';
inline constexpr const char* helper_ended_format = "ended exit=%d signal=%d timed_out=%d cancelled=%d left=%d\n";
inline constexpr int helper_line_bytes_max = 160;
inline constexpr const char* helper_failed_format = "failed %31s %d\n";

inline constexpr char helper_closed_mark = '-';
inline constexpr char helper_writable_mark = '+';

/// How long killed processes may take to be gone before the helper gives up on them.
inline constexpr int helper_kill_wait_ms = 5000;

}  // namespace assent
