// A PostgreSQL store of a test's own, and its tables as others see them.
#pragma once

#include "support/fakes.hpp"
#include "support/stores.hpp"

#include "store/postgres/connection.hpp"

#include <assent/postgres.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

namespace assent::test {

class PostgresStore : public testing::TestWithParam<StoreKind> {
protected:
    std::unique_ptr<PostgresCheckpointer> store(PostgresOptions options = {}) {
        options.schema = postgres_options(folder_).schema;
        options.sweep_ms = 0;
        return std::make_unique<PostgresCheckpointer>(postgres_url(), options);
    }
    Append event(const std::string& id) {
        Append append{.thread_id = id, .create = true, .at = 1000, .kinds = {"user_message"}, .salt = "s", .body = "b"};
        random_.fill(append.command);
        return append;
    }
    void ready(Checkpointer& store, const std::string& id) {
        auto append = event(id);
        append.ready = true;
        EXPECT_EQ(store.append(append)->status, AppendStatus::done);
    }
    static std::vector<std::string> taken(Checkpointer& store, std::size_t limit = 10, UnixMillis now = 0) {
        std::vector<std::string> ids;
        for (auto& one : *store.take_ready(limit, now)) ids.push_back(one.id);
        std::ranges::sort(ids);
        return ids;
    }
    using Ids = std::vector<std::string>;
    // A connection of somebody else's on the same tables.
    postgres::Connection raw(const PostgresOptions& options = {}) {
        postgres::Connection connection(postgres_url(), options);
        connection.prepare_session(postgres_options(folder_).schema);
        return connection;
    }

    TemporaryFolder folder_;
    FakeRandom random_;
};

}  // namespace assent::test
