// What can be seen of a store, as text; and a question to put into one.
#pragma once

#include "base/sha256.hpp"

#include <assent/checkpointer.hpp>

#include <gtest/gtest.h>

#include <map>
#include <sstream>
#include <string>

namespace assent::test {

// Everything about the store that a caller can see, but who the runner is, and the numbers of threads and rows,
// which are the store's own: only what they say of each other is looked at.
inline std::string shown(Checkpointer& store) {
    std::ostringstream out;
    std::map<std::string, std::int64_t> numbers;
    for (const auto& head : *store.threads()) {
        numbers[head.id] = head.no;
        out << "thread " << head.id << " status " << static_cast<int>(head.status) << " seq " << head.seq << " hash "
            << hex(head.hash) << " fence " << head.fence << " run " << (head.runner != 0) << head.runner_alive
            << " task " << head.task << " at " << head.updated_at << " open " << head.open << '\n';
        std::map<std::int64_t, std::int64_t> rows{{0, 0}};
        std::int64_t last = 0;
        for (const auto& row : *store.load(head.id, 0)) {
            EXPECT_GT(row.pos, last);
            EXPECT_EQ(row.prev, last);
            last = row.pos;
            rows.emplace(row.pos, rows.size());
            out << "  row " << row.seq << ' ' << hex(row.command) << ' ' << row.at << ' ' << row.header << ' '
                << row.salt << ' ' << row.body << '\n';
        }
        EXPECT_EQ(head.head, last);
        if (const auto snapshot = *store.snapshot(head.id)) {
            out << "  snapshot " << snapshot->seq << " after row " << rows.at(snapshot->pos) << ' ' << snapshot->version
                << ' ' << snapshot->state << '\n';
        }
    }
    for (const auto& row : *store.open_approvals({}, 0, 1000)) {
        EXPECT_EQ(row.thread, numbers[row.thread_id]);
        out << "open " << row.number << ' ' << row.thread_id << ' ' << row.turn << ' ' << row.position << ' '
            << row.ask_no << ' ' << static_cast<int>(row.kind) << ' ' << row.guard << ' ' << row.digest << ' '
            << row.deadline.value_or(-1) << ' ' << row.asked_at << ' ' << row.question << '\n';
    }
    return out.str();
}

inline OpenApproval question(int turn, int position, std::optional<UnixMillis> deadline = {}) {
    return {.turn = turn,
            .position = position,
            .ask_no = 1,
            .guard = "rules",
            .digest = std::string(64, 'd'),
            .deadline = deadline,
            .question = std::string("q\0q", 3)};
}

}  // namespace assent::test
