// What the fuzz targets have in common. A target is one file with LLVMFuzzerTestOneInput: it takes any
// bytes, and ends the process when something does not hold that must hold for all bytes.
#pragma once

#include "base/display.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace assent::fuzz {

/// Ends the process unless `good`; the fuzzer keeps the input then.
inline void require(bool good, const char* what) {
    if (good) return;
    std::fprintf(stderr, "does not hold: %s\n", what);
    std::abort();
}

/// An input, taken apart from its front.
class Bytes {
public:
    Bytes(const std::uint8_t* data, std::size_t size) : left_(reinterpret_cast<const char*>(data), size) {}

    [[nodiscard]] bool empty() const noexcept { return left_.empty(); }
    /// The next byte as a number; 0 when none is left.
    std::uint8_t number() noexcept {
        if (left_.empty()) return 0;
        const auto first = static_cast<std::uint8_t>(left_.front());
        left_.remove_prefix(1);
        return first;
    }
    /// Up to the next NUL, which is dropped, or to the end.
    std::string part() {
        const auto size = left_.find('\0');
        std::string taken(left_.substr(0, size));
        left_.remove_prefix(size == std::string_view::npos ? left_.size() : size + 1);
        return taken;
    }
    std::string rest() { return std::string(std::exchange(left_, {})); }

private:
    std::string_view left_;
};

/// A message for people: one line, and nothing in it that a terminal would obey.
inline void require_plain(const std::string& message) {
    require(!message.empty(), "a failure has a message");
    require(safe_to_show(message).text == message, "a message is one line that is safe to show");
}

}  // namespace assent::fuzz
