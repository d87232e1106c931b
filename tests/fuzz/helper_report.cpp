// What the helper of shell lines reports, also by a receipt: only what it writes, to the byte, is believed.
#include "fuzz/fuzz.hpp"

#include "exec/helper_report.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace assent;
    using fuzz::require;
    const auto bytes = fuzz::Bytes(data, size).rest();
    // Bytes by chance have no right sum: they are tried with one too.
    for (const auto& tried : {bytes, with_sum(bytes)}) {
        const auto report = read_report(tried);
        if (report) {
            require(encode(*report) == tried, "a report is what the helper writes");
            require(report->out.head().size() + report->out.tail().size() <= report->out.total_bytes(),
                    "no more is kept than was written");
        } else {
            require(report.failure().kind == FailureKind::tool, "what is no report is the tool's failure");
        }
    }
    return 0;
}
