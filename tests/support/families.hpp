// Agents with sub-agents over every store.
#pragma once

#include "support/agents.hpp"

#include <algorithm>
#include <set>

namespace assent::test {

/// The same verdict on every call of some tools, from any thread; allows the others.
class FixedGuard final : public Guard {
public:
    FixedGuard(std::string name, Verdict verdict, std::set<std::string, std::less<>> tools, Question question = {})
        : name_(std::move(name)), verdict_(verdict), tools_(std::move(tools)), question_(std::move(question)) {}
    std::string name() const override { return name_; }
    bool can_ask() const override { return verdict_ == Verdict::ask; }
    std::vector<std::string> tools_named() const override { return {tools_.begin(), tools_.end()}; }
    Judgement judge(const GuardedCall& call) override {
        const auto verdict = tools_.contains(call.tool_name) ? verdict_ : Verdict::allow;
        Judgement judgement{.verdict = verdict, .reason = name_ + " says so"};
        if (verdict == Verdict::ask) judgement.question = question_;
        return judgement;
    }

private:
    std::string name_;
    Verdict verdict_;
    std::set<std::string, std::less<>> tools_;
    Question question_;
};

inline std::shared_ptr<Guard> asks(std::string tool, std::string name = "asks") {
    return std::make_shared<FixedGuard>(std::move(name), Verdict::ask,
                                        std::set<std::string, std::less<>>{std::move(tool)});
}

/// One call of `task`, as part of a turn.
inline std::string task_call(const std::string& type, const std::string& description = "look into it",
                             const std::string& id = "task_1") {
    return R"({"id":")" + id + R"(","name":"task","arguments":{"description":")" + description +
           R"(","subagent_type":")" + type + R"("}})";
}
inline std::string task_turn(const std::string& type, const std::string& description = "look into it") {
    return R"({"text":"delegating","calls":[)" + task_call(type, description) + "]}";
}

class FamilyOverStore : public AgentOverStore {
protected:
    /// The root of `options_`, always the same thread; every call makes the agent anew, as after a restart.
    Agent root(const std::string& turns) {
        auto options = options_;
        options.model = script(turns);
        options.checkpointer = store_.get();
        options.thread_id = "t";
        options.clock = &clock_;
        options.random = &shared_random_;
        return Agent(std::move(options));
    }
    std::vector<std::string> events_of(const std::string& thread) {
        std::vector<std::string> kinds;
        const auto history = approvals().history(thread);
        if (!history) return kinds;
        for (const auto& entry : *history) kinds.push_back(entry.event);
        return kinds;
    }
    std::int64_t count(const std::string& thread, const std::string& event) {
        const auto kinds = events_of(thread);
        return std::count(kinds.begin(), kinds.end(), event);
    }
    /// Nobody holds any thread.
    bool nobody_runs() {
        const auto heads = store_->threads();
        return std::ranges::none_of(*heads, [](const auto& head) { return head.runner != 0; });
    }

    SharedRandom shared_random_;
};

}  // namespace assent::test
