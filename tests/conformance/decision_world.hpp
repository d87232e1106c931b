// The agents of one case of decisions.json: their tools, model, clock and store.
#pragma once

#include "conformance/case.hpp"
#include "support/fakes.hpp"

#include <assent/agent.hpp>
#include <assent/interrupt_on.hpp>
#include <assent/memory.hpp>

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace assent::conformance {

/// A call that a tool was run for.
struct Ran {
    std::string key;  ///< The call's idempotency key.
    std::string tool;
    std::string arguments;
};

/// What all tools of a case ran.
class RunLog {
public:
    void add(Ran ran);
    [[nodiscard]] std::vector<Ran> all() const;

private:
    mutable std::mutex mutex_;
    std::vector<Ran> runs_;
};

/// Proposes the calls that it was told of last, once; else it says `done`.
class ToldModel final : public Model {
public:
    void propose(std::vector<ProposedCall> calls);
    [[nodiscard]] std::string name() const override { return "the case"; }
    Result<ModelTurn> turn(const ModelRequest& request, const std::function<void(std::string_view)>& on_text,
                           const std::stop_token& stop) override;

private:
    std::mutex mutex_;
    std::vector<ProposedCall> next_;
};

/// What came of one step.
struct Step {
    Run run;
    std::vector<Ran> runs;                  ///< Since the step before, in call order.
    std::vector<std::string> run_ids;       ///< The ids of these calls.
    std::vector<Message> results;           ///< Of the latest turn; empty while one of its calls is open.
    std::vector<ProposedCall> model_calls;  ///< The latest turn's, as the conversation has them.
    std::int64_t events_added = 0;
};

class DecisionWorld {
public:
    /// Throws ConfigError if the agent of the case cannot be built.
    DecisionWorld(const JsonNode& node, bool hold_batch);

    Step prompt(const std::string& thread, std::vector<ProposedCall> calls);
    Step answer(const std::string& thread, const std::string& json);
    Step resume(const std::string& thread);
    /// Gives each answer from an OS thread and an agent of its own, then goes on. `told` gets what each was told.
    Step answer_at_once(const std::string& thread, const std::vector<std::string>& json, std::vector<Run>& told);
    void restart() { agents_.clear(); }
    void pass(std::int64_t seconds) { clock_.pass(seconds * 1000); }

    [[nodiscard]] std::vector<Approval> pending(const std::string& thread);
    /// The id of the approval called `name` ("first" …) in a thread; a name that is none stands for itself.
    [[nodiscard]] std::string id_of(const std::string& thread, const std::string& name) const;
    [[nodiscard]] std::string name_of(const std::string& thread, const std::string& id) const;
    [[nodiscard]] const Approval& approval(const std::string& thread, const std::string& name) const;
    [[nodiscard]] int before_count() const;
    [[nodiscard]] std::map<std::string, int> counts() const;

private:
    class CountingHook;
    [[nodiscard]] Agent make_agent(const std::string& thread);
    Agent& agent(const std::string& thread);
    /// The run of `act` on the thread's agent, and everything that can be seen of it.
    template <class Act>
    Step step(const std::string& thread, Act act);
    void order_runs(Step& step, const std::string& thread) const;
    [[nodiscard]] std::int64_t events(const std::string& thread);

    const JsonNode& node_;
    bool hold_batch_;
    test::FakeClock clock_;
    MemoryCheckpointer store_;
    std::shared_ptr<RunLog> log_ = std::make_shared<RunLog>();
    std::size_t runs_seen_ = 0;
    std::shared_ptr<ToldModel> model_ = std::make_shared<ToldModel>();
    std::shared_ptr<CountingHook> hook_;
    std::vector<std::unique_ptr<test::FakeRandom>> randoms_;
    std::map<std::string, Agent> agents_;
    std::map<std::string, std::vector<Approval>> asked_;  // by thread, in the order of asking
};

}  // namespace assent::conformance
