#include "store/postgres/migrations.hpp"

#include "store/postgres/append_function.hpp"
#include "store/postgres/append_rows.hpp"

#include <array>

namespace assent::postgres {
namespace {

// Step n makes version n of version n - 1. Steps are never changed once released.
//
// No index stands on what changes with each append of a thread (its runner changes twice a run), and its pages have
// room for new versions of a row: an append then touches one page of `thread` and the end of one partition of
// `journal`.
constexpr std::array migrations{
    R"sql(
CREATE TABLE schema_version(version integer PRIMARY KEY, at timestamptz NOT NULL DEFAULT clock_timestamp());
CREATE SEQUENCE approval_number;
CREATE TABLE runner(
  no bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, host text NOT NULL, pid bigint NOT NULL,
  alive_until timestamptz NOT NULL) WITH (fillfactor = 50);
CREATE TABLE thread(
  no bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, id text COLLATE "C" NOT NULL UNIQUE, status smallint NOT NULL,
  seq bigint NOT NULL, head bigint NOT NULL, hash bytea NOT NULL, fence bigint NOT NULL, runner bigint,
  task text NOT NULL, updated_at bigint NOT NULL) WITH (fillfactor = 50);
CREATE INDEX thread_running ON thread(runner) WHERE runner IS NOT NULL;
CREATE TABLE ready(
  thread bigint PRIMARY KEY, since timestamptz NOT NULL DEFAULT clock_timestamp(), runner bigint, token bigint)
  WITH (fillfactor = 50);
CREATE TABLE journal(
  thread bigint NOT NULL, pos bigint NOT NULL, prev bigint NOT NULL, cmd bytea NOT NULL, at bigint NOT NULL,
  header bytea NOT NULL, salt bytea, body bytea, PRIMARY KEY(thread, pos)) PARTITION BY HASH(thread);
DO $$ BEGIN FOR part IN 0..15 LOOP
  EXECUTE format('CREATE TABLE journal_%s PARTITION OF journal FOR VALUES WITH (MODULUS 16, REMAINDER %s)', part, part);
END LOOP; END $$;
CREATE TABLE approval(
  no bigint PRIMARY KEY, thread bigint NOT NULL, turn integer NOT NULL, position integer NOT NULL,
  ask_no integer NOT NULL, kind smallint NOT NULL, guard text NOT NULL, digest text NOT NULL, deadline bigint,
  at bigint NOT NULL, question bytea NOT NULL);
CREATE INDEX approval_thread ON approval(thread, no);
CREATE INDEX approval_deadline ON approval(deadline) WHERE deadline IS NOT NULL;
CREATE TABLE approval_ref(no bigint PRIMARY KEY, thread bigint NOT NULL);
CREATE TABLE schema_text(digest text PRIMARY KEY, text text NOT NULL);
CREATE TABLE snapshot(
  thread bigint PRIMARY KEY, seq bigint NOT NULL, pos bigint NOT NULL, version integer NOT NULL, state bytea NOT NULL)
)sql",
    create_append_function,
    // The function of the version before stays: its processes may go on until they are replaced.
    create_append_rows,
    // What version 3 made says the same otherwise: it is replaced, and processes of either version call it.
    create_append_rows,
    // Who picks a few of many marks does not sort all of them.
    "CREATE INDEX ready_since ON ready(since)",
};

constexpr auto current = static_cast<std::int64_t>(migrations.size());

// One migration at a time in a database, whoever begins it.
constexpr const char* lock_migrations = "SELECT pg_advisory_xact_lock(4706293150829)";

// Only for a transaction: a pooler may give the next one to another connection.
void begin_in(Connection& connection, const std::string& schema) {
    connection.execute("BEGIN");
    connection.run("SELECT set_config('search_path', quote_ident($1), true)", Parameters().add(schema));
}

std::int64_t version_of(Connection& connection) {
    if (connection.run("SELECT to_regclass('schema_version') IS NULL").boolean(0, 0)) return 0;
    return connection.run("SELECT coalesce(max(version), 0) FROM schema_version").integer(0, 0);
}

Failure newer(const std::string& schema, std::int64_t version) {
    return {FailureKind::database, "the tables in schema " + schema +
                                       " were made by a newer version of assent (format " + std::to_string(version) +
                                       ", this one knows " + std::to_string(current) + "); use that version"};
}

}  // namespace

StoreFormat format_of(Connection& connection, const std::string& schema) {
    const Transaction transaction(connection);
    begin_in(connection, schema);
    return {.found = version_of(connection), .current = current};
}

Result<void> migrate(Connection& connection, const std::string& schema, bool migrate) {
    auto version = format_of(connection, schema).found;
    if (version > current) return newer(schema, version);
    if (version == current) return {};
    if (!migrate) {
        return Failure{FailureKind::database, "the tables in schema " + schema +
                                                  (version == 0 ? " are not there yet" : " are of an older version") +
                                                  "; make them with a role that may"};
    }
    const Transaction transaction(connection);
    begin_in(connection, schema);
    connection.run(lock_migrations);
    // A role that may not make schemas may use one that was made for it.
    const auto there = connection.run("SELECT FROM pg_namespace WHERE nspname = $1", Parameters().add(schema));
    if (there.count() == 0) connection.execute("CREATE SCHEMA \"" + schema + "\"");
    // Another process may have done it while we waited for the lock.
    version = version_of(connection);
    if (version > current) return newer(schema, version);
    for (auto step = version; step < current; ++step) {
        connection.execute(migrations[static_cast<std::size_t>(step)]);
        connection.execute("INSERT INTO schema_version(version) VALUES(" + std::to_string(step + 1) + ")");
    }
    connection.execute("COMMIT");
    return {};
}

}  // namespace assent::postgres
