// What `doctor` asks a database server.
#include "cli/doctor_command.hpp"
#include "store/postgres/server_facts.hpp"

#include <algorithm>
#include <cstdlib>

namespace assent::cli {
namespace {

using postgres::ServerFacts;

constexpr int oldest_version = 150'000;

Check check_tables(const Context& context, const ServerFacts& facts) {
    const auto server = "PostgreSQL " + facts.version;
    if (facts.version_number < oldest_version)
        return {"database", Standing::missing, server + " is too old: some of what is used is not there",
                "use PostgreSQL 15 or later"};
    if (facts.standby)
        return {"database", Standing::missing, server + " follows another server: nothing can be stored",
                "give the address of the primary server"};
    const auto format = context.format();
    if (!format) return {"database", Standing::missing, format.failure().message, ""};
    if (*format == StoreFormat{format->current, format->current})
        return {"database", Standing::ok, server + ", format " + std::to_string(format->current), ""};
    return {"database", Standing::weak, server + ", the tables are not of today's format", "assent db migrate"};
}

Check check_durability(const ServerFacts& facts) {
    if (!facts.fsync)
        return {"disk", Standing::missing,
                "fsync is off: what was told as recorded is lost, or all of it, when the machine stops",
                "set fsync = on in postgresql.conf"};
    if (!facts.full_page_writes)
        return {"disk", Standing::missing, "full_page_writes is off: pages are torn when the machine stops",
                "set full_page_writes = on in postgresql.conf"};
    const auto& commit = facts.synchronous_commit;
    if (commit == "off")
        return {"disk", Standing::missing, "synchronous_commit is off: an answer that was told as recorded can be lost",
                "ALTER ROLE … SET synchronous_commit = on"};
    if (commit == "local" || commit == "remote_write")
        return {"disk", Standing::weak,
                "synchronous_commit is " + commit + ": a standby that is promoted may lack what was told as recorded",
                "set synchronous_commit = on for this role, with synchronous_standby_names"};
    return {"disk", Standing::ok, "every commit is synced (fsync on, synchronous_commit " + commit + ")", ""};
}

Check check_clocks(const ServerFacts& facts) {
    constexpr std::int64_t weak_ms = 1000;
    constexpr std::int64_t missing_ms = 30'000;
    const auto apart = std::abs(facts.clock_ahead_ms);
    const auto says = "the server's is " + std::to_string(apart) + " ms " +
                      (facts.clock_ahead_ms < 0 ? "behind" : "ahead") + " (±" + std::to_string(facts.round_trip_ms) +
                      ")";
    if (apart - facts.round_trip_ms < weak_ms) return {"clock", Standing::ok, says, ""};
    return {"clock", apart < missing_ms ? Standing::weak : Standing::missing,
            says + ": deadlines end earlier on one machine than on another", "let a time service run on both"};
}

Check check_role(const ServerFacts& facts) {
    constexpr const char* guide = "use one with the rights that docs/guides/postgresql.md lists";
    if (!facts.lacks.empty())
        return {"role", Standing::missing, facts.role + " may not do what work needs: " + facts.lacks, guide};
    if (facts.superuser)
        return {"role", Standing::weak, facts.role + " is a superuser, who may change what was recorded", guide};
    if (facts.changes_journal)
        return {"role", Standing::weak, facts.role + " may change what was recorded (the owner of the tables may)",
                guide};
    return {"role", Standing::ok, facts.role + " is no superuser and may change nothing that was recorded", ""};
}

// A tool that an agent runs is on the same network, and often the same user.
Check check_way(const ServerFacts& facts) {
    if (!facts.local && !facts.encrypted)
        return {"connection", Standing::missing, "is not encrypted: whoever is between reads and decides",
                "add sslmode=verify-full to the address"};
    std::string says = facts.local ? "a socket of this machine" : "encrypted";
    if (!facts.local && facts.ssl_mode != "verify-full")
        return {"connection", Standing::weak,
                says + ", but nobody checks who answers (sslmode " + facts.ssl_mode + "): it could be another server",
                "add sslmode=verify-full and sslrootcert=FILE to the address"};
    if (!facts.local) says += ", the server's certificate checked";
    if (facts.used_password) return {"connection", Standing::ok, says + ", with a password", ""};
    return {"connection", Standing::weak,
            says + ", without a password: a command of an agent can connect in the same way",
            "let the server ask for a password (scram-sha-256), or run agents as another user"};
}

Check check_pooler(const ServerFacts& facts) {
    if (facts.pooled && !facts.pooler_is_named)
        return {"pooler", Standing::weak,
                "one is between: if it gives each transaction to another connection, notices are lost and statements "
                "fail",
                "add pooler=transaction to the address, unless it keeps connections for whole sessions"};
    if (!facts.pooled && facts.pooler_is_named)
        return {"pooler", Standing::weak,
                "none is between, though the address says so: who waits hears of nothing and looks once a second",
                "leave pooler=transaction out of the address"};
    return {"pooler", Standing::ok, facts.pooled ? "one is between, as the address says" : "none is between", ""};
}

Check check_connections(const ServerFacts& facts) {
    const auto each = std::to_string(facts.connections_each);
    if (facts.pooled) return {"connections", Standing::ok, "are the pooler's; a process opens up to " + each, ""};
    const auto free = std::max<std::int64_t>(facts.connections_max - facts.connections_open, 0);
    const auto says =
        std::to_string(facts.connections_open) + " of " + std::to_string(facts.connections_max) + " are open";
    const auto room = free / facts.connections_each;
    if (room > 0)
        return {"connections", Standing::ok,
                says + ", which leaves room for " + std::to_string(room) + " times the " + each +
                    " that a process may open",
                ""};
    return {"connections", Standing::weak,
            says + ", which leaves no room for a process that may open " + each + ": it waits for them, then fails",
            "raise max_connections or the limit of the role or database, or put a pooler between"};
}

}  // namespace

std::vector<Check> server_checks(const Context& context) {
    const auto facts = postgres::server_facts(context.postgres_url());
    if (!facts) return {{"database", Standing::missing, facts.failure().message, ""}};
    return {check_tables(context, *facts),
            check_durability(*facts),
            check_clocks(*facts),
            check_role(*facts),
            check_way(*facts),
            check_pooler(*facts),
            check_connections(*facts)};
}

}  // namespace assent::cli
