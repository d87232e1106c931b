// What stands in a database of Assent's, read from outside through SQLite.
#pragma once

#include "floor.hpp"

#include <cstdint>
#include <string>

namespace bench {

/// The number that `sql` gives, on a connection of its own. Throws std::runtime_error.
[[nodiscard]] std::int64_t number_in(const std::string& path, const std::string& sql);

/// The bytes of a gated cycle's rows as the store wrote them, one an append; the question is counted with the
/// append that asked it. Works in a database of its own beside `path`.
[[nodiscard]] RowBytes cycle_row_bytes(const std::string& path);

/// Bytes of the database after everything has left the write-ahead log.
[[nodiscard]] std::int64_t checkpointed_bytes(const std::string& path);

}  // namespace bench
