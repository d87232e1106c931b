// The run loop: asks the gate what is next, does it, and asks again.
#pragma once

#include "agent/children.hpp"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <stop_token>

namespace assent {

class RunLoop {
public:
    RunLoop(const AgentNode& agent, Gate& gate, Told& told, RunLimits& limits, RunStops stops);
    ~RunLoop();

    /// Goes on until the end of the prompt, a failure, or until only people are waited for and there is no channel
    /// to wait on. All tools that were started have ended and are recorded when it returns, and no child runs.
    Run go();
    /// The same while another runner has the thread: waits on the channel until it can go on.
    Run follow();
    /// After `go`: the thread and those below it as they are.
    [[nodiscard]] Seen seen() const;

private:
    [[nodiscard]] Result<void> call_model();
    [[nodiscard]] Result<ModelTurn> ask_model();
    [[nodiscard]] Result<void> start_ready();
    [[nodiscard]] Result<bool> wait();
    [[nodiscard]] Result<void> wait_for_tools();
    [[nodiscard]] Result<void> record(const Outcome& outcome);
    [[nodiscard]] Result<void> drain();
    void note_channel();
    [[nodiscard]] Result<bool> waits_on_channel() const;
    [[nodiscard]] Result<bool> has_requests() const;
    [[nodiscard]] std::optional<Run> wait_for_people();
    [[nodiscard]] std::optional<Run> leave_to_others();
    [[nodiscard]] Result<bool> may_go_on();
    [[nodiscard]] bool overdue() const;
    [[nodiscard]] std::int64_t until_deadline() const;
    [[nodiscard]] Run suspended();
    [[nodiscard]] std::vector<HitlRequest> open_requests() const;
    [[nodiscard]] const Clock& clock() const;
    void ended(Outcome outcome);
    void rested(Children::Child& child);
    [[nodiscard]] Run at_rest(RunStatus status);
    [[nodiscard]] Run ended(RunStatus status, std::optional<Failure> failure = {});
    [[nodiscard]] Run interrupted();
    void tell(AgentEvent event) const;
    void tell_ended_calls();
    void tell_new_questions();
    void tell_over();
    void tell(HitlEvent event) const;

    const AgentOptions& options_;
    Channel* asks_on_;  // null: nobody hears of questions
    bool is_root_;
    Gate& gate_;
    Told& told_;
    RunLimits& limits_;
    std::stop_token stop_;
    std::stop_token ends_;
    std::stop_source tools_stop_;

    std::mutex mutex_;
    std::condition_variable_any changed_;
    std::deque<Outcome> outcomes_;          // of tools that have ended and are not recorded yet
    std::vector<Children::Child*> rested_;  // children that have come to rest and are not settled yet
    int bodies_ = 0;                        // threads that still run something of this loop
    int running_ = 0;                       // tools
    Children children_;
    bool elsewhere_ = false;  // another runner moves the thread on
    // As the channel was before what is open was asked: who hears of a question may detach before it is waited for.
    Channel::Mark asked_after_;
};

}  // namespace assent
