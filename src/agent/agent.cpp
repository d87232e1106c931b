#include <assent/agent.hpp>
#include <assent/interrupt_on.hpp>
#include <assent/memory.hpp>

#include "agent/run.hpp"
#include "base/sha256.hpp"
#include "gate/answering.hpp"
#include "policy/table_answer.hpp"

#include <algorithm>

namespace assent {
namespace {

std::string new_thread_id(Random& random) {
    std::array<std::uint8_t, 6> bytes{};
    random.fill(bytes);
    return "thread-" + hex(bytes);
}

GateOptions gate_options(const AgentOptions& options) {
    return {.checkpointer = options.checkpointer,
            .thread_id = options.thread_id,
            .tools = options.tools,
            .middleware = options.middleware,
            .guards = options.guards,
            .json_limits = options.json_limits,
            .use_by_ms = options.use_by_ms,
            .start_within_ms = options.start_within_ms,
            .hold_batch = options.hold_batch,
            .clock = options.clock,
            .random = options.random};
}

std::string wrong_count(std::size_t decisions, const std::vector<Approval>& open) {
    auto text = "the number of decisions (" + std::to_string(decisions) +
                ") does not match the number of calls that wait (" + std::to_string(open.size()) + ")";
    for (std::size_t i = 0; i < open.size(); ++i)
        text += (i == 0 ? "; give one for each in this order: " : ", ") + open[i].id + " " + open[i].tool;
    return text;
}

bool given_before(const std::vector<AnswerResult>& results) {
    return std::ranges::all_of(results,
                               [](const auto& result) { return result.status == AnswerResult::Status::already; });
}

bool has_table(const AgentOptions& options) {
    const auto is_table = [](const auto& part) {
        return dynamic_cast<const InterruptOnMiddleware*>(part.get()) != nullptr;
    };
    return std::ranges::any_of(options.middleware, is_table) || std::ranges::any_of(options.guards, is_table);
}

// An agent that can ask must be able to wait.
void refuse_asking_guards(const AgentOptions& options) {
    const auto check = [](const Guard* guard) {
        if (guard == nullptr || !guard->can_ask()) return;
        throw ConfigError("the guard " + guard->name() + " can ask people, so the agent needs a checkpointer");
    };
    for (const auto& guard : options.guards) check(guard.get());
    for (const auto& middleware : options.middleware) check(dynamic_cast<const Guard*>(middleware.get()));
}

}  // namespace

std::string_view to_string(RunStatus status) noexcept {
    switch (status) {
        case RunStatus::done:
            return "done";
        case RunStatus::waiting:
            return "waiting";
        case RunStatus::failed:
            return "failed";
        case RunStatus::aborted:
            return "aborted";
    }
    return "failed";
}

Answer Answer::json(std::string text) {
    Answer answer;
    answer.json_ = std::move(text);
    return answer;
}

class Agent::Impl {
public:
    explicit Impl(AgentOptions given) : options(std::move(given)), durable(options.checkpointer != nullptr) {
        if (options.model == nullptr) throw ConfigError("an agent needs a model");
        if (!durable) {
            refuse_asking_guards(options);
            own_store = std::make_unique<MemoryCheckpointer>();
            options.checkpointer = own_store.get();
        }
        if (options.thread_id.empty()) options.thread_id = new_thread_id(random());
        gate = std::make_unique<Gate>(gate_options(options));
        if (!options.settings.empty()) gate->configure(options.settings);
    }

    Random& random() { return options.random != nullptr ? *options.random : system_random(); }
    const Clock& clock() const { return options.clock != nullptr ? *options.clock : system_clock(); }
    Approvals approvals() { return Approvals(*options.checkpointer, clock(), random()); }

    Run failed(Failure failure) const {
        return {.status = RunStatus::failed,
                .thread = options.thread_id,
                .interrupts = gate->open(),
                .failure = std::move(failure)};
    }

    // A thread that is there, read anew: `answer` gives the answers and goes on.
    template <class GiveAnswers>
    Run resume_known(GiveAnswers answer) {
        if (!durable) return failed({FailureKind::no_checkpointer, "cannot resume without a checkpointer"});
        // Threads are never removed: one that this agent has run is there, and what is new the gate reads.
        if (!thread_known) {
            auto known = gate->load();
            if (!known) return failed(known.failure());
            if (!*known) return failed({FailureKind::unknown_thread, "no thread is called " + options.thread_id});
            thread_known = true;
        }
        std::vector<AnswerResult> told_of;
        auto run = answer(told_of);
        run.answers = std::move(told_of);
        return run;
    }

    // What came of each answer stands in `came_of` in the order given, also of those that were refused before
    // the gate saw them; of an answer that a failure overtook there is nothing.
    Run resume(const Answers& answers, std::vector<AnswerResult>& came_of, const std::stop_token& stop) {
        std::vector<GivenAnswer> given;
        std::vector<std::optional<AnswerResult>> known;
        for (const auto& [id, answer] : answers) {
            auto read = read_given(id, answer);
            if (!read) return failed(read.failure());
            if (auto* refused = std::get_if<AnswerResult>(&*read)) {
                known.emplace_back(std::move(*refused));
                continue;
            }
            known.emplace_back();
            given.push_back(std::get<GivenAnswer>(std::move(*read)));
        }
        std::vector<AnswerResult> came;
        auto taken = gate->resume(given, reviewer, came);
        auto next = came.begin();
        for (auto& result : known) {
            if (!result && next == came.end()) break;
            came_of.push_back(result ? std::move(*result) : std::move(*next++));
        }
        return taken ? go(stop) : stays(taken.failure());
    }

    // Of a whole answer that does not count.
    Run refused(Refusal refusal, std::string message, std::vector<AnswerResult>& came_of) const {
        came_of.push_back({.status = AnswerResult::Status::refused, .message = message, .refusal = refusal});
        return failed({FailureKind::refused, std::move(message)});
    }

    Run resume_json(std::string_view json, std::vector<AnswerResult>& came_of, const std::stop_token& stop) {
        auto read = read_table_answer(json);
        if (auto* refusal = std::get_if<AnswerRefusal>(&read))
            return refused(refusal->kind, std::move(refusal->message), came_of);
        if (const auto* list = std::get_if<DecisionList>(&read)) return resume_list(*list, came_of, stop);
        Answers answers;
        for (auto& [id, text] : std::get<KeyedDecisions>(read)) answers.emplace_back(id, Answer::json(std::move(text)));
        return resume(answers, came_of, stop);
    }

    // Decisions by position: for what the tables have open in the latest turn, all or none. An agent without a
    // table takes them for Assent's own guards. Which it is must not depend on what is open at the moment: a list
    // that comes late would decide about other calls than its writer saw.
    Run resume_list(const DecisionList& decisions, std::vector<AnswerResult>& came_of, const std::stop_token& stop) {
        auto open = gate->open();
        const auto style = has_table(options) ? Style::table : Style::assent;
        std::erase_if(open, [&](const Approval& approval) {
            return approval.kind != ApprovalKind::approve || approval.question.style != style;
        });
        if (decisions.size() != open.size())
            return refused(Refusal::count_mismatch, wrong_count(decisions.size(), open), came_of);
        if (open.empty())
            return refused(Refusal::count_mismatch, "no call of the thread waits for a decision", came_of);
        std::vector<GivenAnswer> given;
        for (std::size_t i = 0; i < open.size(); ++i) {
            auto answer = read_answer_json(open[i], decisions[i]);
            if (auto* refusal = std::get_if<AnswerResult>(&answer)) {
                came_of.push_back(std::move(*refusal));
                return failed(none_counts(came_of.back()));
            }
            given.push_back({open[i], std::get<Decision>(std::move(answer))});
        }
        auto taken = gate->resume(given, reviewer, came_of, Counting::all_or_none);
        // Somebody gave the same list meanwhile: there is nothing left but to go on.
        if (!taken && given_before(came_of)) taken = gate->resume();
        return taken ? go(stop) : stays(taken.failure());
    }

    // Nobody goes on here: what was claimed with the answers is released.
    Run stays(Failure failure) {
        (void)gate->give_back();
        return failed(std::move(failure));
    }

    Result<std::variant<GivenAnswer, AnswerResult>> read_given(const std::string& id, const Answer& answer) {
        using Given = std::variant<GivenAnswer, AnswerResult>;
        auto approval = approvals().find(id, options.thread_id);
        if (!approval) {
            if (auto known = told_of_missing(approval.failure())) return Given(std::move(*known));
            return approval.failure();
        }
        if (answer.decision()) return Given(GivenAnswer{std::move(approval).value(), *answer.decision()});
        auto read = read_answer_json(*approval, answer.json());
        if (auto* refused = std::get_if<AnswerResult>(&read)) return Given(std::move(*refused));
        return Given(GivenAnswer{std::move(approval).value(), std::get<Decision>(std::move(read))});
    }

    Run go_on(PromptTaken taken, const std::stop_token& stop) {
        switch (taken) {
            case PromptTaken::begun:
                told = {};
                break;
            case PromptTaken::queued:
                return {.status = RunStatus::waiting, .thread = options.thread_id, .interrupts = gate->open()};
            case PromptTaken::repeated:
                if (auto held = gate->resume(); !held) return failed(held.failure());
        }
        return go(stop);
    }

    Run go(const std::stop_token& stop) { return RunLoop(options, *gate, told, stop).go(); }

    AgentOptions options;
    bool durable;
    bool thread_known = false;
    std::unique_ptr<MemoryCheckpointer> own_store;
    std::unique_ptr<Gate> gate;
    Told told;
    Reviewer reviewer{.name = "library"};
};

Agent::Agent(AgentOptions options) : impl_(std::make_unique<Impl>(std::move(options))) {}
Agent::~Agent() = default;
Agent::Agent(Agent&&) noexcept = default;

Run Agent::prompt(const std::string& text, const std::stop_token& stop) {
    return prompt(Prompt{.text = text}, stop);
}

Run Agent::prompt(const Prompt& prompt, const std::stop_token& stop) {
    auto taken = impl_->gate->prompt(prompt, impl_->reviewer.name);
    if (!taken) return impl_->failed(taken.failure());
    impl_->thread_known = true;
    auto run = impl_->go_on(*taken, stop);
    run.prompt = *taken;
    return run;
}

Run Agent::resume(const Answers& answers, const std::stop_token& stop) {
    return impl_->resume_known([&](std::vector<AnswerResult>& told) { return impl_->resume(answers, told, stop); });
}

Run Agent::resume_json(std::string_view json, const std::stop_token& stop) {
    return impl_->resume_known([&](std::vector<AnswerResult>& told) { return impl_->resume_json(json, told, stop); });
}

Result<AbortResult> Agent::abort(const std::string& reason) {
    return impl_->approvals().abort(thread_id(), reason, impl_->reviewer.name);
}

void Agent::set_reviewer(Reviewer reviewer) {
    impl_->reviewer = std::move(reviewer);
}
const std::string& Agent::thread_id() const noexcept {
    return impl_->options.thread_id;
}
Result<std::vector<Message>> Agent::messages() const {
    const auto messages = impl_->gate->messages();
    if (!messages) return messages.failure();
    return std::vector<Message>(messages->begin(), messages->end());
}

}  // namespace assent
