// Patterns of rules: each is refused or compiled, and a search ends within its limits. Input: pattern NUL text.
#include "fuzz/fuzz.hpp"

#include "policy/patterns/python_pattern.hpp"

#include <optional>
#include <stdexcept>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace assent;
    using fuzz::require;
    fuzz::Bytes bytes(data, size);
    const auto text = bytes.part();
    std::optional<PythonPattern> pattern;
    try {
        pattern.emplace(text);
    } catch (const std::invalid_argument& refused) {
        require(std::string_view(refused.what()).starts_with("pattern "), "a refusal says what it is about");
        return 0;
    }
    const auto subject = bytes.rest();
    const auto found = pattern->search(subject);
    require(found == pattern->search(subject), "a search ends alike each time");
    require(valid_utf8(subject) || found == PythonPattern::Found::cannot_say, "nothing is said about broken text");
    return 0;
}
