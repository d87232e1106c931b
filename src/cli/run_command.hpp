// run, resume and demo: an agent in the terminal.
#pragma once

#include "cli/answers_list.hpp"
#include "cli/context.hpp"
#include "cli/notify.hpp"
#include "cli/settings.hpp"
#include "cli/signals.hpp"

#include <string>

namespace assent::cli {

/// Prompts a thread and goes on until it is done, fails, or waits for people. Returns the exit status.
int run_command(Context& context, const RunOptions& options, const std::string& prompt);
/// The same; `full_questions` shows each question whole, also when its answer was given beforehand.
int run_prompt(Context& context, const RunOptions& given, const std::string& text, bool full_questions);
/// Goes on with a thread where it stands.
int resume_command(Context& context, const RunOptions& options);
/// The agent of a thread that is there, as it was recorded. Failure kinds unknown_thread, and those of
/// `agent_options`.
Result<AgentOptions> recorded_agent(const Context& context, const std::string& thread);
/// The bundled demo in a folder of its own.
int demo_command(Context& context, const RunOptions& options);

/// What is asked while an agent runs, and by whom it is answered.
class Conversation {
public:
    /// `full_questions`: show each question whole, also when answers were given beforehand.
    Conversation(Context& context, Agent& agent, Signals& signals, Notifier& notifier,
                 std::vector<ListedAnswer> answers, bool full_questions);

    /// Takes `run` to its end: answers what is asked from the list or the person at the terminal, and
    /// resumes. Returns the last run, or the failure of an answer.
    Result<Run> finish(Run run);
    [[nodiscard]] bool answers_left() const noexcept { return next_answer_ < answers_.size(); }

private:
    enum class Taken { answered, later, again, interrupted };
    Result<Taken> ask(const Approval& approval);
    Result<Taken> ask_list(const Approval& approval);
    Result<Taken> ask_person(const Approval& approval);
    Result<Taken> give(const Approval& approval, const Decision& decision);
    Result<Taken> taken(const AnswerResult& result, std::string_view answer);

    Context& context_;
    Agent& agent_;
    Signals& signals_;
    Notifier& notifier_;
    std::vector<ListedAnswer> answers_;
    std::size_t next_answer_ = 0;
    bool full_questions_;
    std::vector<std::string> later_;
};

}  // namespace assent::cli
