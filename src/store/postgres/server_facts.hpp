// What a server says of itself, as far as it matters for what is kept in it.
#pragma once

#include <assent/result.hpp>

#include <cstdint>
#include <string>

namespace assent::postgres {

struct ServerFacts {
    std::string version;
    int version_number = 0;  ///< Such as 150004.
    bool fsync = true;
    bool full_page_writes = true;
    std::string synchronous_commit;
    bool standby = false;  ///< It only follows another.

    // The role, and what it may do to the tables; where there are none yet, nothing is lacking.
    std::string role;
    bool superuser = false;
    std::string lacks;  ///< Rights without which it cannot work, such as "SELECT on thread, …"; may be empty.
    bool changes_journal = false;  ///< It may change or remove what was recorded.

    // The way to it.
    bool local = false;  ///< Through a socket of this machine.
    bool encrypted = false;
    std::string ssl_mode;  ///< What was asked for, such as "require".
    bool used_password = false;
    bool pooled = false;                ///< A pooler stands between.
    bool pooler_is_named = false;       ///< The address says so.
    std::int64_t connections_max = 0;   ///< As many may be open for this role, of all processes.
    std::int64_t connections_open = 0;  ///< As many are, but for the one that asks.
    std::int64_t connections_each = 0;  ///< As many a process of ours may open.

    std::int64_t clock_ahead_ms = 0;  ///< Of this machine's.
    std::int64_t round_trip_ms = 0;   ///< As inexact is that.
};

/// Asks the server at this address. Failure kinds usage and database.
Result<ServerFacts> server_facts(const std::string& address);

}  // namespace assent::postgres
