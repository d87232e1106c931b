// A host that drives threads through its gates, as the run loop of `agent` does, but one step at a time
// and not always to the end.
#pragma once

#include "sim/world.hpp"

#include <string>

namespace assent::sim {

class Driver {
public:
    enum class Going { on, rests, failed };

    Driver(World& world, Process& process) : world_(world), process_(process) {}

    void prompt(const std::string& thread);
    void resume(const std::string& thread);
    /// Answers of its own go with the claim of what they make ready.
    void resume_with_answers(const std::string& thread);
    /// Goes on until people are waited for, the run ends or something fails; with `to_the_end` it does not
    /// stop midway of its own accord.
    void go(const std::string& thread, bool to_the_end);
    /// Runs threads that somebody should go on with, as `Worker` does. How many it got.
    std::size_t work(std::size_t limit, bool to_the_end);
    /// Reads what others stored, and ends what is past its deadline.
    void look(const std::string& thread);
    /// The host is done with its gate. What it still has to record keeps it.
    void close(const std::string& thread);
    /// Whatever was started is recorded, and the thread is given back. False if that cannot be stored.
    bool come_to_rest(const std::string& thread);

private:
    [[nodiscard]] Prompt any_prompt();

    Going step(Seat& seat, bool to_the_end);
    Going gate_step(Seat& seat);
    Going propose(Seat& seat);
    Going claim(Seat& seat);
    void start(Seat& seat);
    bool finish(Seat& seat);
    /// Whether this host takes "try again" at its word.
    [[nodiscard]] bool tries_again(const Failure& failure);
    /// After a failed step some hosts try the same again.
    Going go_on_after(Seat& seat, const Failure& failure);
    /// What the run loop does instead: records what was started, says so, gives the thread back.
    void end_failed(Seat& seat, const Failure& failure);
    bool give_back(Seat& seat);
    void run_marked(const std::string& thread, bool to_the_end);
    /// Before the thread came to its rest: somebody else has to go on with it.
    void leave(Seat& seat, const Failure* failure);
    /// A worker whose lease may be over stops what it runs.
    [[nodiscard]] bool must_stop(const Seat& seat) const;
    void misuse(Tool& tool, Permit& spent);
    [[nodiscard]] bool can_use(const std::string& thread) const;
    template <class Call>
    auto in_gate(HostCode allowed, Call call);
    void say(const std::string& thread, const char* what, const Failure* failure = nullptr);

    World& world_;
    Process& process_;
};

}  // namespace assent::sim
