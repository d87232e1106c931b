// Times as text.
#pragma once

#include <assent/clock.hpp>

#include <string>

namespace assent {

/// RFC 3339 in UTC with milliseconds, such as "2026-11-30T01:20:57.000Z".
[[nodiscard]] std::string rfc3339(UnixMillis time);

}  // namespace assent
