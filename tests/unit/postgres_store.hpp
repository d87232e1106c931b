// A PostgreSQL store of a test's own, and its tables as others see them.
#pragma once

#include "marked_threads.hpp"

#include "store/postgres/connection.hpp"

#include <assent/postgres.hpp>

#include <memory>

namespace assent::test {

class PostgresStore : public MarkedThreads {
protected:
    std::unique_ptr<PostgresCheckpointer> store(PostgresOptions options = {}) {
        options.schema = postgres_options(folder_).schema;
        options.sweep_ms = 0;
        return std::make_unique<PostgresCheckpointer>(postgres_url(), options);
    }
    // A connection of somebody else's on the same tables.
    postgres::Connection raw(const PostgresOptions& options = {}) {
        postgres::Connection connection(postgres_url(), options);
        connection.prepare_session(postgres_options(folder_).schema);
        return connection;
    }
};

}  // namespace assent::test
