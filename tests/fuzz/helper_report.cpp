// The status of the helper that runs shell lines: only what it writes to the byte is believed.
#include "fuzz/fuzz.hpp"

#include "exec/helper_protocol.hpp"
#include "exec/helper_report.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace assent;
    using fuzz::require;
    const auto status = fuzz::Bytes(data, size).rest();
    const auto end = read_helper_report(status);
    if (!end) {
        require(status.starts_with("failed ") && status.ends_with("\n"), "nothing was run only if the helper says so");
        require(end.failure().kind == FailureKind::tool, "a shell that cannot be started is the tool's failure");
        return 0;
    }
    if (end->unknown) return 0;
    char line[helper_line_bytes_max];
    std::snprintf(line, sizeof line, helper_ended_format, end->exit_status.value_or(-1), end->signal.value_or(0),
                  end->timed_out ? 1 : 0, end->cancelled ? 1 : 0, 0);
    require(status == line, "an end is known only if the helper wrote it");
    return 0;
}
