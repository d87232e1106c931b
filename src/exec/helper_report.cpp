#include "exec/helper_report.hpp"

#include "exec/helper_protocol.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <system_error>

namespace assent {

Result<ShellEnd> read_helper_report(const std::string& status) {
    int exit = -1;
    int signal = 0;
    int timed_out = 0;
    int cancelled = 0;
    int left = 0;
    int error = 0;
    std::array<char, 32> step{};
    std::sscanf(status.c_str(), helper_failed_format, step.data(), &error);
    if (status == "failed " + std::string(step.data()) + " " + std::to_string(error) + "\n") {
        return Failure{FailureKind::tool, "the shell cannot be started (" + std::string(step.data()) +
                                              "): " + std::generic_category().message(error)};
    }
    ShellEnd end;
    end.unknown = true;
    std::sscanf(status.c_str(), helper_ended_format, &exit, &signal, &timed_out, &cancelled, &left);
    std::array<char, helper_line_bytes_max> again{};
    std::snprintf(again.data(), again.size(), helper_ended_format, std::max(exit, -1), std::max(signal, 0),
                  timed_out != 0 ? 1 : 0, cancelled != 0 ? 1 : 0, left);
    if (status != again.data()) return end;
    if (exit >= 0) end.exit_status = exit;
    if (signal > 0) end.signal = signal;
    end.timed_out = timed_out != 0;
    end.cancelled = cancelled != 0;
    end.unknown = left != 0;
    return end;
}

}  // namespace assent
