// What the runner and its helper program `assent-exec` agree on.
//
//   assent-exec [-PATH]… [+PATH]… LIMIT_MS GRACE_MS LINGER_MS OUTPUT_BYTES FOLDER LINE [ATTEMPT LINE_SHA256]
//
// -PATH is closed to the line, +PATH is a folder where it may write; absolute, without links. The
// environment is the tool's; the helper sets TMPDIR in it.
//
// Descriptors: 0 to 2 nothing, 3 control, 4 status; with ATTEMPT: 5 the receipt's file, which the runner
// has made and locked, and 6 the folder it is in.
// Control: one byte cancels; end of file means that the runner is gone and everything must die.
// Status: the report (helper_report.hpp) once everything has ended, then end of file. The receipt holds
// the same bytes and is durable before the report is sent.
#pragma once

namespace assent {

inline constexpr int helper_control_fd = 3;
inline constexpr int helper_status_fd = 4;
inline constexpr int helper_receipt_fd = 5;
inline constexpr int helper_receipts_fd = 6;
inline constexpr char helper_cancel_byte = 'c';

/// A receipt is called by its attempt. Until it is complete, this stands behind the name.
inline constexpr const char* receipt_open_end = ".open";

inline constexpr char helper_closed_mark = '-';
inline constexpr char helper_writable_mark = '+';

/// How long killed processes may take to be gone before the helper gives up on them.
inline constexpr int helper_kill_wait_ms = 5000;

}  // namespace assent
