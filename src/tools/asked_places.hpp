// What the path guard asks people about, for the file tools: they use no other place than was shown.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace assent {

/// The name under which people approve what path rules ask about.
inline constexpr std::string_view path_guard_name = "permissions";

/// The details of its question: where the paths of the call really lead.
[[nodiscard]] std::string places_json(const std::vector<std::string>& places);
/// The places again. What is no such text has none.
[[nodiscard]] std::vector<std::string> read_places(std::string_view details);

}  // namespace assent
