// The name under which people approve what path rules ask about; the file tools look for it.
#pragma once

#include <string_view>

namespace assent {

inline constexpr std::string_view path_guard_name = "permissions";

}  // namespace assent
