// The tables, and how an older database becomes a current one.
#pragma once

#include "store/sqlite/database.hpp"

#include <assent/checkpointer.hpp>

#include <string>

namespace assent::sqlite {

/// Which tables are there. Failure kind `database` when it belongs to another program or a newer version.
Result<StoreFormat> format_of(Database& database, const std::string& path);

/// Checks through SQLite whose database this is, and brings it to the current version.
/// Failure kind `database` when it belongs to another program or a newer version.
Result<void> migrate(Database& database, const std::string& path, bool read_only);

}  // namespace assent::sqlite
