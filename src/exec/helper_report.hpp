// How a line ended, as the helper tells it: to its runner, and as a receipt to whoever comes after a
// runner that died.
//
//   assent-exec report 1            the format; everything below belongs to it
//   attempt ID line SHA256          "-" for both if no receipt is kept
//   failed STEP ERRNO               nothing was run; "-" and 0 otherwise
//   ended started=0|1 exit=N signal=N timed_out=0|1 cancelled=0|1 runner_died=0|1 left=N limit_ms=N
//   out WRITTEN HEAD TAIL           how many bytes were written, and how many are kept of both ends
//   err WRITTEN HEAD TAIL
//   (the bytes that are kept)
//   sum CRC32                       of everything before it: against accidents, not against forgers
#pragma once

#include "exec/captured_stream.hpp"

#include <assent/result.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace assent {

struct HelperReport {
    std::string attempt;      ///< Empty: no receipt is kept.
    std::string line_sha256;  ///< Of what was run, hex; with an attempt.
    std::string failed_step;  ///< Not empty: nothing was run, because of `failed_error`.
    int failed_error = 0;
    bool started = false;  ///< False: not even tried, because the runner cancelled or died first.
    int exit = -1;         ///< -1: ended by a signal, or not at all.
    int signal = 0;
    bool timed_out = false;
    bool cancelled = false;
    bool runner_died = false;  ///< Something was killed, or not started, because of that.
    int left = 0;              ///< Processes that could not be killed.
    std::int64_t limit_ms = 0;
    CapturedStream out;
    CapturedStream err;
};

[[nodiscard]] std::string encode(const HelperReport& report);
/// `bytes` with the line of their sum.
[[nodiscard]] std::string with_sum(std::string bytes);

/// What is not, to the byte, what `encode` writes is no report. Failure kind `tool`: torn, or of a format
/// that this version does not know.
Result<HelperReport> read_report(std::string_view bytes);

}  // namespace assent
