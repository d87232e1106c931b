// What SQLite itself says of the connections that a benchmark's store opens: commits, counted by SQLite's
// commit hook, and the synchronous level of the connection that writes.
#pragma once

#include <cstdint>

namespace bench {

/// Watches every connection that is opened from now on.
void watch_sqlite();
/// Write transactions committed on watched connections so far.
[[nodiscard]] std::int64_t commits_so_far();
/// PRAGMA synchronous of the watched connection that committed last: 2 is FULL. Only while its store is open and
/// nobody uses it.
[[nodiscard]] int synchronous_level();

}  // namespace bench
