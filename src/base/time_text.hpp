// Times as text.
#pragma once

#include <assent/clock.hpp>

#include <string>

namespace assent {

/// RFC 3339 in UTC with milliseconds, such as "2026-11-30T01:20:57.000Z".
[[nodiscard]] std::string rfc3339(UnixMillis time);
/// A length of time in seconds, such as "180" or "0.05".
[[nodiscard]] std::string seconds_text(std::int64_t milliseconds);

}  // namespace assent
