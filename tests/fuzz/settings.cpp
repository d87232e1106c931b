// What the program recorded a thread to run with, durations, and ids of approvals.
#include "fuzz/fuzz.hpp"

#include "base/base32.hpp"
#include "cli/settings.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace assent;
    using fuzz::require;
    const auto text = fuzz::Bytes(data, size).rest();
    if (const auto settings = cli::RunSettings::read(text)) {
        const auto written = settings->json();
        const auto again = cli::RunSettings::read(written);
        require(again && again->json() == written, "settings can be written and read again");
    } else {
        require(settings.failure().kind == FailureKind::database, "a damaged record is the store's failure");
        fuzz::require_plain(settings.failure().message);
    }
    if (const auto duration = cli::read_duration_ms(text); duration && *duration) {
        require(**duration >= 0, "a duration is not below 0");
    }
    if (const auto id = read_public_id(text)) {
        require(id->number >= 0, "numbers of approvals begin at 0");
    }
    return 0;
}
