// Agents over every store, with a scripted model and tools that a test watches.
#pragma once

#include "support/fakes.hpp"
#include "support/stores.hpp"

#include <assent/agent.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <mutex>
#include <thread>

namespace assent::test {

/// A tool whose body may be run by several threads.
class WatchedTool final : public Tool {
public:
    using Body = std::function<ToolResult(const ApprovedCall&)>;
    explicit WatchedTool(ToolSpec spec, Body body = {}) : Tool(std::move(spec)), body_(std::move(body)) {}

    std::vector<std::string> runs() const {
        const std::lock_guard lock(mutex_);
        return runs_;
    }

private:
    ToolResult run(const ApprovedCall& call) override {
        {
            const std::lock_guard lock(mutex_);
            runs_.push_back(call.arguments().text());
        }
        return body_ ? body_(call) : ToolResult{.text = spec().name + " ran"};
    }
    mutable std::mutex mutex_;
    std::vector<std::string> runs_;
    Body body_;
};

inline std::shared_ptr<WatchedTool> watched(std::string name, WatchedTool::Body body = {}) {
    return std::make_shared<WatchedTool>(ToolSpec{.name = std::move(name)}, std::move(body));
}

inline std::shared_ptr<Model> script(const std::string& turns) {
    auto model = scripted_model("test", R"({"turns":[)" + turns + "]}");
    if (!model) throw std::invalid_argument(model.failure().message);
    return std::move(model).value();
}
/// One turn with one call.
inline std::string call_turn(const std::string& tool, const std::string& arguments = "{}",
                             const std::string& id = "call_1") {
    return R"({"text":"calling","calls":[{"id":")" + id + R"(","name":")" + tool + R"(","arguments":)" + arguments +
           "}]}";
}
inline const std::string end_turn = R"({"text":"all done"})";

class AgentOverStore : public testing::TestWithParam<StoreKind> {
protected:
    AgentOverStore() : store_(make_store(GetParam(), folder_)) {}

    /// What the tests change is changed in `options_` before the agent is made.
    Agent agent(const std::string& turns) {
        auto options = options_;
        options.model = script(turns);
        options.checkpointer = store_.get();
        if (options.thread_id.empty()) options.thread_id = "t";
        options.clock = &clock_;
        options.random = &random_;
        return Agent(std::move(options));
    }
    Approvals approvals() { return Approvals(*store_, clock_, random_); }
    static std::vector<std::string> results(const Agent& agent) {
        std::vector<std::string> texts;
        const auto messages = agent.messages();
        EXPECT_TRUE(messages.ok());
        for (const auto& message : *messages) {
            if (message.role == Role::tool) texts.push_back(message.text);
        }
        return texts;
    }
    std::vector<std::string> events() {
        std::vector<std::string> kinds;
        for (const auto& entry : *approvals().history("t")) kinds.push_back(entry.event);
        return kinds;
    }

    TemporaryFolder folder_;
    std::unique_ptr<Checkpointer> store_;
    FakeClock clock_;
    FakeRandom random_;
    std::shared_ptr<FakeGuard> guard_ = std::make_shared<FakeGuard>();
    AgentOptions options_;
};

}  // namespace assent::test
