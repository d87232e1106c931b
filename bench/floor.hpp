// What the machine itself can do: the same rows and bytes without Assent.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace bench {

/// How large the rows of a cycle are, one an append, in order.
using RowBytes = std::vector<std::size_t>;

/// Rows a second that one writer puts into a table of SQLite (write-ahead log, synchronous=FULL), `group` of
/// them a commit, for about `for_seconds`. A group of 12.5 is 12 and 13 in turn.
[[nodiscard]] double raw_rows_a_second(const std::string& path, const RowBytes& rows, double group, double for_seconds);

/// Appends of `bytes` to a file that are each followed by fdatasync, a second.
[[nodiscard]] double synced_appends_a_second(const std::string& path, std::size_t bytes, double for_seconds);

}  // namespace bench
