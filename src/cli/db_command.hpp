// `db`: the tables of a database, and what becomes of them.
#pragma once

#include "cli/context.hpp"

namespace assent::cli {

/// Says which tables are there and what `migrate` would do; exit status 1 if anything. With `chains` it also reads
/// every thread of today's tables and checks its hash chain; exit status 1 if one does not hold.
int db_check_command(Context& context, bool chains);
struct PruneOptions {
    std::string older_than;  ///< A duration.
    bool dry_run = false;
};
/// Removes what happened in threads that ended so long ago.
int db_prune_command(Context& context, const PruneOptions& options);
/// Makes today's tables of them; with `dry_run` only says so.
int db_migrate_command(Context& context, bool dry_run);

}  // namespace assent::cli
