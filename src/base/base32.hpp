// Public ids of approvals: a dense number in base 32, then check letters from the binding's digest.
//
// The alphabet leaves out i, l, o and u; reading takes upper case, and i, l as 1, o as 0.
#pragma once

#include "base/sha256.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace assent {

/// How many letters of an id come from the digest: a mistyped id has a chance of 1 in 32^4.
inline constexpr std::size_t id_check_letters = 4;

struct PublicId {
    std::int64_t number = 0;
    std::string check;
};

[[nodiscard]] std::string public_id(std::int64_t number, const Digest& binding);
/// The parts of an id, or nothing if `text` has not its form.
[[nodiscard]] std::optional<PublicId> read_public_id(std::string_view text);

}  // namespace assent
