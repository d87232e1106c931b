// The tables, and how older versions of them become today's.
#pragma once

#include "store/postgres/connection.hpp"

#include <assent/checkpointer.hpp>

#include <string>

namespace assent::postgres {

/// Which tables are in `schema`. Throws Error.
StoreFormat format_of(Connection& connection, const std::string& schema);

/// Makes or upgrades the tables in `schema`; only looks whether they fit if not `migrate`. Failure kind
/// `database` for tables of a newer version, or missing ones. Throws Error.
Result<void> migrate(Connection& connection, const std::string& schema, bool migrate);

}  // namespace assent::postgres
