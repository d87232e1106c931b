// An agent whose prompt waits on a channel, and a person beside it on a thread of their own.
#pragma once

#include "support/agents.hpp"

#include <assent/policy.hpp>
#include <assent/testing.hpp>

#include <functional>
#include <mutex>

namespace assent::test {

/// In a test, `Run` is a member of GoogleTest.
using RunEnd = Run;

/// What a listener heard, from whatever thread.
class Heard {
public:
    void operator()(const AgentEvent& event) {
        const std::lock_guard lock(mutex_);
        if (event.hitl) hitl_.push_back(*event.hitl);
        if (event.hitl) names_.emplace_back(hitl_event_name(*event.hitl));
        if (event.kind == AgentEvent::Kind::started) names_.emplace_back("started");
        if (event.kind == AgentEvent::Kind::ended) names_.emplace_back("ended");
    }
    std::vector<std::string> names() const {
        const std::lock_guard lock(mutex_);
        return names_;
    }
    template <class Event>
    std::vector<Event> all() const {
        const std::lock_guard lock(mutex_);
        std::vector<Event> found;
        for (const auto& event : hitl_) {
            if (const auto* one = std::get_if<Event>(&event)) found.push_back(*one);
        }
        return found;
    }

private:
    mutable std::mutex mutex_;
    std::vector<HitlEvent> hitl_;
    std::vector<std::string> names_;
};

class LiveHost : public testing::TestWithParam<StoreKind> {
protected:
    using Host = std::function<void(const HitlRequest& request)>;

    LiveHost() : store_(make_store(GetParam(), folder_)) {
        options_.tools = {pay_};
        options_.middleware = {confirm_tools({"pay"}, {.timeout = std::nullopt})};
        options_.checkpointer = store_.get();
        options_.clock = &clock_;
        options_.listener = [this](const AgentEvent& event) { heard_(event); };
        use_thread("t");
    }

    /// What runs next has a thread of its own, and so the turns of its script.
    void use_thread(const std::string& thread) {
        options_.thread_id = thread;
        channel_ =
            std::make_shared<CheckpointedChannel>(*store_, thread, ChannelOptions{.look_ms = 5, .clock = &clock_});
        options_.channel = channel_;
    }

    Agent agent(const std::string& turns) {
        auto options = options_;
        options.model = script(turns);
        return Agent(std::move(options));
    }
    static std::string pay_turn(const std::string& arguments = "{}", const std::string& id = "call_1") {
        return call_turn("pay", arguments, id);
    }
    /// One turn with two calls, then the end.
    static std::string two_calls() {
        return R"({"calls":[{"id":"a","name":"pay","arguments":{"n":1}},{"id":"b","name":"pay","arguments":{"n":2}}]},)" +
               end_turn;
    }

    /// Runs `act` while `host` gets every request of the channel, on another thread.
    RunEnd with_host(const Host& host, const std::function<RunEnd()>& act) {
        const auto requests = channel_->subscribe();
        std::jthread person([&](const std::stop_token& stop) {
            while (true) {
                const auto request = requests->next(stop);
                if (!request || !request->has_value()) return;
                host(**request);
            }
        });
        return act();
    }
    RunEnd prompt(Agent& agent, const Host& host) {
        return with_host(host, [&] { return agent.prompt("go"); });
    }
    Host answering(ApproveAnswer answer) {
        return [this, answer = std::move(answer)](const HitlRequest& request) {
            const auto told = channel_->answer(request.id, answer, {.name = "alice"});
            EXPECT_EQ(told->status, AnswerResult::Status::decided) << told->message;
        };
    }
    Host approving() { return answering({.decision = DecisionKind::approve}); }
    Approvals approvals() { return Approvals(*store_, clock_); }

    TemporaryFolder folder_;
    std::unique_ptr<Checkpointer> store_;
    ManualClock clock_;
    std::shared_ptr<WatchedTool> pay_ = watched("pay");
    std::shared_ptr<Channel> channel_;
    Heard heard_;
    AgentOptions options_;
};

}  // namespace assent::test
