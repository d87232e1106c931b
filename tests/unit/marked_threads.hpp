// Threads that somebody should go on with, in a place of a test's own.
#pragma once

#include "support/fakes.hpp"
#include "support/stores.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace assent::test {

class MarkedThreads : public testing::TestWithParam<StoreKind> {
protected:
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

    TemporaryFolder folder_;
    FakeRandom random_;
};

}  // namespace assent::test
