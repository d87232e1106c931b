#include "store/postgres/server_facts.hpp"

#include "store/postgres/address.hpp"
#include "store/postgres/connection.hpp"

#include <assent/clock.hpp>

namespace assent::postgres {
namespace {

constexpr const char* select_settings =
    "SELECT current_setting('server_version'), current_setting('server_version_num'), current_setting('fsync') = 'on',"
    " current_setting('full_page_writes') = 'on', current_setting('synchronous_commit'), pg_is_in_recovery(),"
    " pg_backend_pid()";
// The least of what the server, the database and the role allow. A limit of -1 is none.
constexpr const char* select_role =
    "SELECT current_user::text, rolsuper, least("
    "  current_setting('max_connections')::int"
    "    - CASE WHEN rolsuper THEN 0 ELSE current_setting('superuser_reserved_connections')::int END,"
    "  CASE WHEN rolsuper OR rolconnlimit < 0 THEN NULL ELSE rolconnlimit END,"
    "  (SELECT CASE WHEN rolsuper OR datconnlimit < 0 THEN NULL ELSE datconnlimit END FROM pg_database"
    "   WHERE datname = current_database())),"
    " (SELECT count(*) - 1 FROM pg_stat_activity WHERE backend_type = 'client backend')"
    " FROM pg_roles WHERE rolname = current_user";
// What docs/guides/postgresql.md grants to a role that runs agents, and what nobody who does should have.
constexpr const char* select_rights =
    "WITH found AS (SELECT pg_class.oid, relname, relkind FROM pg_class JOIN pg_namespace ON pg_namespace.oid = "
    "relnamespace"
    "               WHERE nspname = $1),"
    " needed(relname, wanted) AS (VALUES ('schema_version', 'SELECT'),"
    "  ('journal', 'SELECT'), ('journal', 'INSERT'), ('approval_ref', 'SELECT'), ('approval_ref', 'INSERT'),"
    "  ('schema_text', 'SELECT'), ('schema_text', 'INSERT'),"
    "  ('thread', 'SELECT'), ('thread', 'INSERT'), ('thread', 'UPDATE'),"
    "  ('snapshot', 'SELECT'), ('snapshot', 'INSERT'), ('snapshot', 'UPDATE'),"
    "  ('approval', 'SELECT'), ('approval', 'INSERT'), ('approval', 'DELETE'),"
    "  ('runner', 'SELECT'), ('runner', 'INSERT'), ('runner', 'UPDATE'), ('runner', 'DELETE'),"
    "  ('ready', 'SELECT'), ('ready', 'INSERT'), ('ready', 'UPDATE'), ('ready', 'DELETE')),"
    " lacking AS (SELECT wanted || ' on ' || relname AS what FROM needed JOIN found USING (relname)"
    "             WHERE NOT has_table_privilege(oid, wanted)"
    "             UNION ALL SELECT 'USAGE on approval_number' FROM found"
    "             WHERE relname = 'approval_number'"
    "             AND CASE WHEN relkind = 'S' THEN NOT has_sequence_privilege(oid, 'USAGE') END"
    "             UNION ALL SELECT 'EXECUTE on ' || proname FROM pg_proc JOIN pg_namespace ON pg_namespace.oid = "
    "pronamespace"
    "             WHERE nspname = $1 AND proname = 'append_rows' AND NOT has_function_privilege(pg_proc.oid, 'EXECUTE')"
    "             UNION ALL SELECT 'USAGE on schema ' || nspname FROM pg_namespace"
    "             WHERE nspname = $1 AND NOT has_schema_privilege(oid, 'USAGE'))"
    " SELECT coalesce((SELECT string_agg(what, ', ' ORDER BY what) FROM lacking), ''),"
    " coalesce((SELECT bool_or(has_table_privilege(oid, 'UPDATE, DELETE, TRUNCATE')) FROM found"
    "           WHERE relname ~ '^journal(_[0-9]+)?$'), false)";
constexpr const char* select_clock = "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint";

}  // namespace

Result<ServerFacts> server_facts(const std::string& address) {
    const auto read = read_address(address, {});
    if (!read) return read.failure();
    try {
        Connection connection(read->url, read->options);
        const auto settings = connection.run(select_settings);
        const auto role = connection.run(select_role);
        const auto rights = connection.run(select_rights, Parameters().add(read->options.schema));
        ServerFacts facts{.version = settings.text(0, 0),
                          .version_number = static_cast<int>(settings.integer(0, 1)),
                          .fsync = settings.boolean(0, 2),
                          .full_page_writes = settings.boolean(0, 3),
                          .synchronous_commit = settings.text(0, 4),
                          .standby = settings.boolean(0, 5),
                          .role = role.text(0, 0),
                          .superuser = role.boolean(0, 1),
                          .lacks = rights.text(0, 0),
                          .changes_journal = rights.boolean(0, 1),
                          .local = connection.local(),
                          .encrypted = connection.encrypted(),
                          .ssl_mode = connection.ssl_mode(),
                          .used_password = connection.used_password(),
                          .pooled = settings.integer(0, 6) != connection.process(),
                          .pooler_is_named = !read->options.prepared,
                          .connections_max = role.integer(0, 2),
                          .connections_open = role.integer(0, 3),
                          .connections_each = read->options.connections_max + 1 + (read->options.listen ? 1 : 0)};
        const auto before = system_clock().now();
        const auto server_time = connection.run(select_clock).integer(0, 0);
        const auto after = system_clock().now();
        facts.round_trip_ms = after - before;
        facts.clock_ahead_ms = server_time - (before + after) / 2;
        return facts;
    } catch (const Error& error) {
        return failure_of(error);
    }
}

}  // namespace assent::postgres
