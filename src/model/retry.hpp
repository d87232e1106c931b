// Whether and when a turn is asked again.
//
// Thread-safety: functions without state; Random allows several threads.
#pragma once

#include "net/out/http_client.hpp"

#include <assent/clock.hpp>

#include <cstdint>
#include <optional>

namespace assent::models {

/// How long to wait before the `retry`-th retry (from 1): doubled each time up to a bound, and shortened
/// by up to a quarter at random, so that many clients do not come back together.
[[nodiscard]] std::int64_t pause_ms(int retry, Random& random);

/// How long the service asks to wait: `retry-after-ms`, or `retry-after` in seconds or as a date.
[[nodiscard]] std::optional<std::int64_t> asked_pause_ms(const net::HttpHead& head, const Clock& clock);

/// What `x-should-retry` says, if it says anything.
[[nodiscard]] std::optional<bool> asked_to_retry(const net::HttpHead& head);

/// True for statuses that mean a passing state: 408, 409, 429 and those of the server.
[[nodiscard]] bool passing(int status);

}  // namespace assent::models
