// Threads of tools: kept for the next work, one for each work at a time, none taken over by a fork.
#include "agent/tool_threads.hpp"
#include "support/other_process.hpp"

#include <gtest/gtest.h>

#include <future>
#include <latch>
#include <memory>
#include <thread>

namespace assent {
namespace {

using namespace assent::test;

std::thread::id ran_on(ToolThreads& threads) {
    const auto id = std::make_shared<std::promise<std::thread::id>>();
    threads.run([id] { id->set_value(std::this_thread::get_id()); });
    return id->get_future().get();
}

TEST(ToolThreadsTest, WorkAtTheSameTimeIsOnThreadsOfItsOwn) {
    constexpr int works = 8;
    auto& threads = ToolThreads::shared();
    for (int round = 0; round < 3; ++round) {
        // Each waits until all run: with too few threads this would never end.
        const auto all = std::make_shared<std::latch>(works + 1);
        for (int i = 0; i < works; ++i) threads.run([all] { all->arrive_and_wait(); });
        all->arrive_and_wait();
        EXPECT_NE(ran_on(threads), std::this_thread::get_id());
    }
}

TEST(ToolThreadsTest, TheChildOfAForkRunsItsWorkOnThreadsOfItsOwn) {
    (void)ran_on(ToolThreads::shared());
    const OtherProcess child([](const Talk& talk) {
        (void)ran_on(ToolThreads::shared());
        talk.say("ran");
    });
    EXPECT_EQ(child.hear(), "ran");
}

}  // namespace
}  // namespace assent
