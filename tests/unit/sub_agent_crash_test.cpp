// Sub-agents in an ill moment: a process that dies between any two appends, and aborts from the top down.
#include "support/families.hpp"
#include "support/faulty_store.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <condition_variable>
#include <latch>

namespace assent {
namespace {

using namespace assent::test;
using AnswerStatus = AnswerResult::Status;
using Texts = std::vector<std::string>;

class SubAgentCrash : public FamilyOverStore {
protected:
    SubAgentCrash() { reset(); }
    // A root with a child that looks, hands a task on to a child of its own, which asks before it pays.
    void reset() {
        look_ = watched("look");
        pay_ = watched("pay");
        const SubAgent payer{
            .name = "payer", .tools = {pay_}, .model = script(call_turn("pay") + R"(,{"text":"paid"})")};
        options_.guards = {asks("pay")};
        options_.sub_agents = {{.name = "worker",
                                .tools = {look_},
                                .model = script(call_turn("look") + "," + task_turn("payer") + R"(,{"text":"worked"})"),
                                .sub_agents = {payer}}};
    }
    Agent agent(Checkpointer* store, const std::string& thread) {
        auto options = options_;
        options.model = script(task_turn("worker") + "," + end_turn);
        options.checkpointer = store;
        options.thread_id = thread;
        options.clock = &clock_;
        options.random = &shared_random_;
        return Agent(std::move(options));
    }
    // What the lock of a dead process would have proved.
    void let_go() {
        for (const auto& head : *store_->threads()) {
            if (head.runner != 0) {
                ASSERT_TRUE(store_->give_back(head.id, head.fence).ok());
            }
        }
    }
    // Prompts unless it was done, and answers whatever is asked until the run is over.
    assent::Run to_the_end(Checkpointer* store, const std::string& thread) {
        const auto head = store_->find_thread(thread);
        auto run = head->has_value() ? agent(store, thread).resume() : agent(store, thread).prompt("go");
        while (run.status == RunStatus::waiting && !run.interrupts.empty()) {
            const auto& asked = run.interrupts.front();
            if (asked.kind == ApprovalKind::unknown) {
                const auto told = approvals().resolve(asked.id, Resolution::done, "seen", {.name = "bob"});
                EXPECT_EQ(told->status, AnswerStatus::decided);
                run = agent(store, thread).resume();
            } else {
                run = agent(store, thread).resume({{asked.id, true}});
            }
        }
        return run;
    }

    std::shared_ptr<WatchedTool> look_;
    std::shared_ptr<WatchedTool> pay_;
};

INSTANTIATE_TEST_SUITE_P(Stores, SubAgentCrash, testing::ValuesIn(store_kinds()), store_name);

TEST_P(SubAgentCrash, AKillAtAnyAppendLosesAndDoublesNothing) {
    FaultyStore counting(*store_);
    std::vector<std::string> kinds;
    counting.lives_before = [&](const Append& append) {
        kinds.push_back(append.kinds.empty() ? "lease" : append.kinds.front());
        return true;
    };
    ASSERT_EQ(to_the_end(&counting, "whole").status, RunStatus::done);
    ASSERT_EQ(std::ranges::count(kinds, "delegated"), 2);
    ASSERT_EQ(std::ranges::count(kinds, "child_finished"), 2);
    for (const bool kept : {false, true}) {
        for (std::size_t at = 0; at < kinds.size(); ++at) {
            // Storing an outcome is tried again for seconds; that is told by the tests with real kills.
            if (kinds[at] == "finished") continue;
            SCOPED_TRACE(std::string(kept ? "after " : "before ") + kinds[at] + ", append " + std::to_string(at));
            reset();
            const auto thread = std::string(kept ? "after-" : "before-") + std::to_string(at);
            FaultyStore dying(*store_);
            std::size_t appends = 0;
            auto& lives = kept ? dying.lives_after : dying.lives_before;
            lives = [&](const Append&) { return appends++ != at; };
            EXPECT_NE(to_the_end(&dying, thread).status, RunStatus::done);
            let_go();
            const auto run = to_the_end(store_.get(), thread);
            ASSERT_EQ(run.status, RunStatus::done) << (run.failure ? run.failure->message : "");
            EXPECT_EQ(run.text, "all done");
            EXPECT_LE(look_->runs().size(), 1U);
            EXPECT_LE(pay_->runs().size(), 1U);
            for (const auto& id : {thread, thread + "/1.0", thread + "/1.0/2.0"}) {
                EXPECT_EQ(count(id, "user_message"), 1) << id;
                EXPECT_EQ(count(id, "delegated"), id.ends_with("2.0") ? 0 : 1) << id;
                EXPECT_EQ(count(id, "child_finished"), id.ends_with("2.0") ? 0 : 1) << id;
            }
            // What did not run although it was claimed is what a person was asked about.
            const auto unknown = count(thread + "/1.0", "resolved") + count(thread + "/1.0/2.0", "resolved");
            EXPECT_EQ(look_->runs().size() + pay_->runs().size() + static_cast<std::size_t>(unknown), 2U);
            EXPECT_EQ(store_->descendants(thread)->size(), 2U);
            EXPECT_TRUE(nobody_runs());
        }
    }
}

TEST_P(SubAgentCrash, AnAbortOfTheRootEndsAllBelow) {
    auto running = agent(store_.get(), "t");
    auto run = running.prompt("go");
    ASSERT_EQ(run.interrupts.size(), 1U);
    const auto id = run.interrupts[0].id;
    const auto aborted = *approvals().abort("t", "enough", "alice");
    EXPECT_TRUE(aborted.aborted);
    for (const auto* thread : {"t", "t/1.0", "t/1.0/2.0"}) {
        EXPECT_EQ(count(thread, "aborted"), 1) << thread;
        EXPECT_EQ((*store_->find_thread(thread))->status, ThreadStatus::aborted);
    }
    EXPECT_TRUE(approvals().pending()->empty());
    EXPECT_EQ(approvals().answer(id, approve(), {.name = "bob"})->status, AnswerStatus::conflict);
    run = running.resume({{id, true}});
    EXPECT_EQ(run.status, RunStatus::aborted);
    EXPECT_EQ(run.text, "Conversation aborted: enough");
    EXPECT_EQ(results(running), Texts{"aborted: enough"});
    EXPECT_TRUE(pay_->runs().empty());
    EXPECT_FALSE(approvals().abort("t", "again", "alice")->aborted);
    EXPECT_EQ(count("t/1.0", "aborted"), 1) << "what has ended is left alone";
}

TEST_P(SubAgentCrash, AnAbortOfAChildIsACancelledCall) {
    auto running = agent(store_.get(), "t");
    ASSERT_EQ(running.prompt("go").interrupts.size(), 1U);
    EXPECT_TRUE(approvals().abort("t/1.0", "not this", "alice")->aborted);
    EXPECT_EQ(count("t/1.0/2.0", "aborted"), 1);
    const auto run = running.resume();
    EXPECT_EQ(run.status, RunStatus::done);
    EXPECT_EQ(run.calls.at(0).outcome, OutcomeKind::cancelled);
    EXPECT_EQ(results(running), Texts{"aborted: not this"});
}

// An abort that comes right before an append of a child or grandchild stops that append, and all after it.
TEST_P(SubAgentCrash, NothingStartsBelowOnceTheRootIsAborted) {
    const struct {
        const char* thread;
        const char* kind;
        std::size_t looked;
        std::size_t paid;
    } table[] = {
        {"t/1.0", "user_message", 0, 0}, {"t/1.0", "model_turn", 0, 0},       {"t/1.0", "claimed", 0, 0},
        {"t/1.0", "delegated", 1, 0},    {"t/1.0/2.0", "user_message", 1, 0}, {"t/1.0/2.0", "model_turn", 1, 0},
        {"t/1.0/2.0", "answered", 1, 0}, {"t/1.0/2.0", "claimed", 1, 0},      {"t/1.0/2.0", "lease", 1, 0},
    };
    int number = 0;
    for (const auto& row : table) {
        reset();
        const auto root = "case-" + std::to_string(++number);
        const auto thread = root + std::string(row.thread).substr(1);
        SCOPED_TRACE(thread + " " + row.kind);
        // Only the root's own journal gets it: who aborts was killed before it came to those below.
        FaultyStore store(*store_);
        bool aborted = false;
        store.lives_before = [&](const Append& append) {
            const bool is_meant =
                append.thread_id == thread &&
                (append.kinds.empty() ? std::string_view("lease") == row.kind
                                      : std::ranges::find(append.kinds, row.kind) != append.kinds.end());
            if (!is_meant || std::exchange(aborted, true)) return true;
            FaultyStore killed(*store_);
            killed.lives_after = [](const Append&) { return false; };
            EXPECT_FALSE(Approvals(killed, clock_, shared_random_).abort(root, "enough", "alice").ok());
            return true;
        };
        auto run = agent(&store, root).prompt("go");
        if (!run.interrupts.empty()) {
            ASSERT_EQ(run.status, RunStatus::waiting);
            run = agent(&store, root).resume({{run.interrupts[0].id, true}});
        }
        ASSERT_TRUE(aborted);
        EXPECT_EQ(run.status, RunStatus::aborted);
        EXPECT_EQ(look_->runs().size(), row.looked);
        EXPECT_EQ(pay_->runs().size(), row.paid);
        EXPECT_TRUE(nobody_runs());
        // A second abort, or the next prompt, comes to those that the first did not reach.
        if (number % 2 == 0) {
            EXPECT_FALSE(approvals().abort(root, "again", "alice")->aborted);
        } else {
            auto options = options_;
            options.model = script(end_turn + "," + end_turn);
            options.checkpointer = store_.get();
            options.thread_id = root;
            EXPECT_EQ(Agent(std::move(options)).prompt("again").status, RunStatus::done);
        }
        for (const auto& head : *store_->descendants(root)) EXPECT_EQ(head.status, ThreadStatus::aborted) << head.id;
        EXPECT_EQ(look_->runs().size(), row.looked);
        EXPECT_TRUE(approvals().pending(root)->empty());
    }
}

TEST_P(SubAgentCrash, AChildIsMadeOnceAndNotForAThreadThatWasAborted) {
    const auto gate_of = [&](const std::string& thread, bool child) {
        return GateOptions{.checkpointer = store_.get(),
                           .thread_id = thread,
                           .child = child,
                           .clock = &clock_,
                           .random = &shared_random_};
    };
    ASSERT_TRUE(Gate(gate_of("t", false)).prompt("go", "alice").ok());
    for (int i = 0; i < 2; ++i) ASSERT_TRUE(Gate(gate_of("t/1.0", true)).begin("look into it", "t").ok());
    EXPECT_EQ(events_of("t/1.0"), Texts{"user_message"});
    ASSERT_TRUE(approvals().abort("t", "enough", "alice")->aborted);
    const auto late = Gate(gate_of("t/2.0", true)).begin("look into it", "t");
    ASSERT_FALSE(late.ok());
    EXPECT_EQ(late.failure().kind, FailureKind::refused);
    EXPECT_EQ(late.failure().message, "thread t/2.0 was not made: the thread that it would work for was aborted");
    try {
        const Gate misnamed(gate_of("t", true));
        ADD_FAILURE();
    } catch (const ConfigError& error) {
        EXPECT_STREQ(error.what(), "a child thread needs an id that ends in /TURN.POSITION");
    }
}

TEST_P(SubAgentCrash, AnAbortWhileAToolOfAChildRunsStopsItAndIsWaitedFor) {
    bool stopped = false;
    std::latch begun(1);
    const auto wait = watched("wait", [&](const ApprovedCall& call) {
        begun.count_down();
        std::mutex mutex;
        std::unique_lock lock(mutex);
        std::condition_variable_any changed;
        stopped = !changed.wait(lock, call.stop_token(), [] { return false; });
        return ToolResult{.text = "stopped", .cancelled = true};
    });
    options_.guards.clear();
    options_.sub_agents = {
        {.name = "worker", .tools = {wait}, .model = script(call_turn("wait") + R"(,{"text":"worked"})")}};
    assent::Run run;
    {
        const std::jthread running([&] { run = agent(store_.get(), "t").prompt("go"); });
        begun.wait();
        const auto aborted = *approvals().abort("t", "enough", "alice");
        EXPECT_TRUE(aborted.aborted);
        EXPECT_EQ(aborted.running, 1) << "children's calls count too";
    }
    EXPECT_EQ(run.status, RunStatus::aborted);
    EXPECT_TRUE(stopped);
    EXPECT_EQ(count("t/1.0", "finished"), 1);
    EXPECT_TRUE(nobody_runs());
}

}  // namespace
}  // namespace assent
