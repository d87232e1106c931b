#include "cli/run_command.hpp"

#include "base/display.hpp"
#include "base/sha256.hpp"
#include "cli/approval_json.hpp"
#include "cli/call_view.hpp"
#include "cli/review.hpp"
#include "cli/run_output.hpp"

#include <assent/clock.hpp>
#include <assent/tools.hpp>

#include <algorithm>

namespace assent::cli {
namespace {

Result<std::optional<RunSettings>> recorded_settings(const Context& context, const std::string& thread) {
    if (thread.empty()) return std::optional<RunSettings>();
    auto head = context.store().find_thread(thread);
    if (!head) return head.failure();
    if (!head->has_value()) return std::optional<RunSettings>();
    auto json = context.approvals().settings(thread);
    if (!json) return json.failure();
    auto settings = RunSettings::read(*json);
    if (!settings) return settings.failure();
    return std::optional(std::move(settings).value());
}

// The same key, the same thread.
std::string thread_of_key(const std::string& key) {
    constexpr std::size_t digits = 16;
    return "thread-" + hex(sha256(key)).substr(0, digits);
}

// The agent that the thread's record and the options describe.
Result<AgentOptions> describe_agent(const Context& context, const RunOptions& options, const RunSettings& recorded) {
    auto settings = lay_options_over(recorded, options);
    if (!settings) return settings.failure();
    auto agent = agent_options(context, *settings);
    if (!agent) return agent;
    agent->thread_id = options.thread;
    return agent;
}

// The same of a thread that must be there.
Result<AgentOptions> known_agent(const Context& context, const RunOptions& options) {
    auto recorded = recorded_settings(context, options.thread);
    if (!recorded) return recorded.failure();
    if (!recorded->has_value()) {
        return Failure{FailureKind::unknown_thread,
                       "no thread is called " + options.thread + "; list them with threads"};
    }
    return describe_agent(context, options, **recorded);
}

// What came of decisions that were given beforehand. One that did not count makes the command fail.
void tell_answers(const Context& context, Notifier& notifier, Run& run) {
    for (const auto& answer : run.answers) {
        if (answer.status == AnswerResult::Status::decided || answer.status == AnswerResult::Status::already) {
            context.terminal.note("• " + answer.approval.id + " " + std::string(to_string(answer.approval.state)));
            notifier.tell("answered", answer.approval);
        } else if (!run.failure) {
            run.failure = failure_of(answer);
        }
    }
}

// Runs `begin` on the agent, answers what it asks, shows the end.
template <class Begin>
int drive(Context& context, AgentOptions agent_options, const RunOptions& options, bool full_questions, Begin begin) {
    auto answers = read_answers(options.answers);
    if (!answers) return context.terminal.fail(answers.failure());
    if (!shell_is_confined()) {
        context.terminal.note(
            "this kernel has no Landlock: a command that you approve could open the database and decide for you; "
            "see assent doctor");
    }
    Signals signals;
    Notifier notifier(context.terminal, options.notify);
    agent_options.listener = [show = show_events(context), &notifier](const AgentEvent& event) {
        show(event);
        if (event.kind == AgentEvent::Kind::asked) notifier.tell("asked", *event.approval);
    };
    try {
        Agent agent(std::move(agent_options));
        agent.set_reviewer(current_user());
        if (options.thread.empty()) context.terminal.note("thread " + agent.thread_id());
        Conversation conversation(context, agent, signals, notifier, std::move(answers).value(), full_questions);
        auto begun = begin(agent, signals.token());
        tell_answers(context, notifier, begun);
        auto run = conversation.finish(std::move(begun));
        if (!run) return context.terminal.fail(run.failure());
        const bool at_rest = run->status == RunStatus::done || run->status == RunStatus::waiting;
        if (at_rest && !run->interrupted && conversation.answers_left())
            run->failure = {FailureKind::usage, "--answers has more answers than there were questions"};
        return show_result(context, *run);
    } catch (const ConfigError& error) {
        return context.terminal.fail({FailureKind::usage, error.what()});
    }
}

}  // namespace

int run_command(Context& context, const RunOptions& options, const std::string& prompt) {
    return run_prompt(context, options, prompt, false);
}

int run_prompt(Context& context, const RunOptions& given, const std::string& text, bool full_questions) {
    if (auto opened = context.open_store(); !opened) return context.terminal.fail(opened.failure());
    auto options = given;
    if (options.thread.empty() && !options.idempotency_key.empty()) {
        options.thread = thread_of_key(options.idempotency_key);
        context.terminal.note("thread " + options.thread);
    }
    auto recorded = recorded_settings(context, options.thread);
    if (!recorded) return context.terminal.fail(recorded.failure());
    auto agent = describe_agent(context, options, recorded->value_or(RunSettings{}));
    if (!agent) return context.terminal.fail(agent.failure());
    const Prompt prompt{.text = text,
                        .idempotency_key = options.idempotency_key,
                        .queue = options.queue,
                        .abort_open = options.abort_open};
    return drive(context, std::move(agent).value(), options, full_questions,
                 [&](Agent& running, const std::stop_token& stop) { return running.prompt(prompt, stop); });
}

Result<AgentOptions> recorded_agent(const Context& context, const std::string& thread) {
    return known_agent(context, {.thread = thread});
}

int resume_command(Context& context, const RunOptions& options) {
    if (auto opened = context.open_store(); !opened) return context.terminal.fail(opened.failure());
    auto agent = known_agent(context, options);
    if (!agent) return context.terminal.fail(agent.failure());
    return drive(context, std::move(agent).value(), options, false, [&](Agent& running, const std::stop_token& stop) {
        return options.decisions.empty() ? running.resume({}, stop) : running.resume(options.decisions, stop);
    });
}

Conversation::Conversation(Context& context, Agent& agent, Signals& signals, Notifier& notifier,
                           std::vector<ListedAnswer> answers, bool full_questions)
    : context_(context),
      agent_(agent),
      signals_(signals),
      notifier_(notifier),
      answers_(std::move(answers)),
      full_questions_(full_questions) {}

Result<Run> Conversation::finish(Run run) {
    while (run.status == RunStatus::waiting) {
        bool answered = false;
        for (const auto& approval : run.interrupts) {
            if (std::find(later_.begin(), later_.end(), approval.id) != later_.end()) continue;
            auto taken = ask(approval);
            if (!taken) return taken.failure();
            if (*taken == Taken::interrupted) {
                run.interrupted = true;
                return run;
            }
            if (*taken == Taken::later) later_.push_back(approval.id);
            answered = answered || *taken == Taken::answered;
        }
        if (!answered) return run;
        run = agent_.resume({}, signals_.token());
    }
    return run;
}

Result<Conversation::Taken> Conversation::ask(const Approval& approval) {
    if (signals_.token().stop_requested()) return Taken::interrupted;
    if (!answers_.empty()) return ask_list(approval);
    if (!context_.terminal.interactive()) return Taken::later;
    auto answer = ask_person(approval);
    while (answer && *answer == Taken::again) answer = ask_person(approval);
    return answer;
}

Result<Conversation::Taken> Conversation::ask_list(const Approval& approval) {
    // The list answers questions about calls; how an unknown outcome ended only a person can know.
    if (approval.kind == ApprovalKind::unknown || !answers_left()) return Taken::later;
    if (full_questions_) context_.terminal.note(call_view(approval, context_.terminal, {.now = context_.now()}));
    const auto& answer = answers_[next_answer_++];
    if (!answer) return Taken::later;
    return give(approval, *answer);
}

Result<Conversation::Taken> Conversation::ask_person(const Approval& approval) {
    const auto outcome = review(approval, context_.terminal, {.wake_fd = signals_.wake_fd(), .now = context_.now()});
    if (std::holds_alternative<ReviewInterrupted>(outcome)) return Taken::interrupted;
    if (const auto* later = std::get_if<ReviewLater>(&outcome))
        return later->input_ended ? Taken::interrupted : Taken::later;
    if (const auto* decision = std::get_if<Decision>(&outcome)) return give(approval, *decision);
    const auto& resolution = std::get<ReviewResolution>(outcome);
    auto result = context_.approvals().resolve(approval.id, resolution.how, resolution.text, current_user());
    if (!result) return result.failure();
    return taken(*result, to_string(resolution.how));
}

Result<Conversation::Taken> Conversation::give(const Approval& approval, const Decision& decision) {
    auto result = context_.approvals().answer(approval.id, decision, current_user());
    if (!result) return result.failure();
    return taken(*result, to_string(decision.kind));
}

Result<Conversation::Taken> Conversation::taken(const AnswerResult& result, std::string_view answer) {
    switch (result.status) {
        case AnswerResult::Status::decided:
        case AnswerResult::Status::already:
            context_.terminal.note("• " + result.approval.id + " " + std::string(answer));
            notifier_.tell("answered", result.approval);
            return Taken::answered;
        case AnswerResult::Status::conflict:
        case AnswerResult::Status::expired:
            // Somebody else was faster; the run goes on with what they said.
            context_.terminal.note(result.message);
            notifier_.tell("answered", result.approval);
            return Taken::answered;
        case AnswerResult::Status::refused:
            if (!answers_.empty()) return failure_of(result);
            context_.terminal.prompt("\n" + safe_to_show(result.message).text + "\n");
            return Taken::again;
        default:
            return failure_of(result);
    }
}

}  // namespace assent::cli
