// A tool's schema and the arguments of a call. Input: schema NUL arguments.
#include "fuzz/fuzz.hpp"

#include "base/json_schema.hpp"
#include "base/unknown_field.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace assent;
    using fuzz::require;
    fuzz::Bytes bytes(data, size);
    const auto schema = bytes.part();
    const auto usable = check_schema_text(schema);
    if (!usable) {
        require(usable.failure().kind == FailureKind::usage, "a schema that cannot be used is the host's mistake");
        fuzz::require_plain(usable.failure().message);
    }
    const auto arguments = Arguments::parse(bytes.rest());
    if (!arguments) return 0;
    const auto fits = check_schema(schema, *arguments);
    require(usable.ok() || !fits, "nothing fits a schema that cannot be used");
    if (!fits) {
        require(!usable || fits.failure().kind == FailureKind::refused, "arguments that do not fit are refused");
        fuzz::require_plain(fits.failure().message);
    }
    require(check_schema(schema, *arguments).ok() == fits.ok(), "the same arguments are judged alike");
    if (const auto unknown = unknown_field(schema, "t", *arguments, Arguments())) fuzz::require_plain(*unknown);
    require(!unknown_field(schema, "t", *arguments, *arguments), "a field that was shown is known");
    return 0;
}
