// SHA-256 by OpenSSL.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace assent {

using Digest = std::array<std::uint8_t, 32>;

[[nodiscard]] Digest sha256(std::string_view bytes);
/// Digest of several fields, each preceded by its length, so that no two lists of fields collide.
[[nodiscard]] Digest sha256_fields(std::span<const std::string_view> fields);
[[nodiscard]] std::string hex(std::span<const std::uint8_t> bytes);
/// The bytes of lower- or upper-case hex digits; empty if `text` is none.
[[nodiscard]] std::string unhex(std::string_view text);
[[nodiscard]] inline std::string_view bytes_of(const Digest& digest) {
    return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

}  // namespace assent
