#include <assent/agent.hpp>
#include <assent/interrupt_on.hpp>
#include <assent/memory.hpp>

#include "agent/run.hpp"
#include "base/sha256.hpp"
#include "gate/answering.hpp"
#include "gate/question_tool.hpp"
#include "journal/thread.hpp"
#include "policy/table_answer.hpp"

#include <algorithm>
#include <atomic>

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
            .system_prompt = options.system_prompt,
            .timeout_ms = options.timeout.milliseconds(
                options.channel != nullptr ? options.channel->default_timeout_ms() : std::nullopt),
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
    return std::ranges::any_of(options.middleware, [](const auto& middleware) {
        return dynamic_cast<const InterruptOnMiddleware*>(middleware.get()) != nullptr;
    });
}

bool counts(const AnswerResult& result) {
    return result.status == AnswerResult::Status::decided || result.status == AnswerResult::Status::already;
}

// Of an answer that does not count.
Failure why_not(const AnswerResult& result) {
    switch (result.status) {
        case AnswerResult::Status::expired:
            return {FailureKind::expired, result.message};
        case AnswerResult::Status::not_found:
            return {FailureKind::not_found, result.message};
        case AnswerResult::Status::ambiguous:
            return {FailureKind::ambiguous, result.message};
        case AnswerResult::Status::refused:
            return {FailureKind::refused, result.message};
        default:
            return {FailureKind::conflict, result.message};
    }
}

// An agent that can ask must be able to wait.
void refuse_asking_guards(const AgentOptions& options) {
    const auto check = [](const Guard* guard) {
        if (guard == nullptr || !guard->can_ask()) return;
        throw ConfigError("the guard " + guard->name() +
                          " can ask people, so the agent needs a checkpointer or a channel");
    };
    for (const auto& tool : options.tools) {
        if (dynamic_cast<const QuestionTool*>(tool.get()) != nullptr)
            throw ConfigError("the tool " + tool->spec().name +
                              " asks people, so the agent needs a checkpointer or a channel");
    }
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
            if (options.channel == nullptr) refuse_asking_guards(options);
            own_store = std::make_unique<MemoryCheckpointer>();
            options.checkpointer = own_store.get();
        }
        if (options.thread_id.empty()) options.thread_id = new_thread_id(random());
        gate = std::make_unique<Gate>(gate_options(options));
        if (!options.settings.empty()) gate->configure(options.settings);
        if (options.channel != nullptr) options.channel->attach(*options.checkpointer, options.thread_id);
    }
    Impl(const Impl&) = delete;
    Impl& operator=(const Impl&) = delete;
    ~Impl() {
        if (options.channel != nullptr) options.channel->leave(*options.checkpointer, options.thread_id);
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
        return goes_on(taken, stop);
    }

    // One answer, which has to count.
    Run respond(const std::string& id, const HitlAnswer& answer, std::vector<AnswerResult>& came_of,
                const std::stop_token& stop) {
        auto approval = approvals().find(id, options.thread_id);
        if (!approval) {
            if (auto told_of = told_of_missing(approval.failure())) came_of.push_back(std::move(*told_of));
            return failed(approval.failure());
        }
        auto read = read_hitl_answer(*approval, answer.text());
        if (auto* refused = std::get_if<AnswerResult>(&read)) {
            came_of.push_back(std::move(*refused));
            return failed({FailureKind::refused, came_of.back().message});
        }
        auto taken = gate->resume({{*approval, std::get<Decision>(std::move(read))}}, reviewer, came_of);
        notify();
        if (!came_of.empty() && !counts(came_of.back())) return stays(why_not(came_of.back()));
        return goes_on(taken, stop);
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
        return goes_on(taken, stop);
    }

    // With a channel also while another runner has the thread.
    Run goes_on(const Result<void>& taken, const std::stop_token& stop) {
        if (taken) return go(stop);
        const bool elsewhere = options.channel != nullptr && taken.failure().kind == FailureKind::leased;
        return elsewhere ? RunLoop(options, *gate, told, stop).follow() : stays(taken.failure());
    }

    void notify() const {
        if (options.channel != nullptr) options.channel->changed();
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

    Run go(const std::stop_token& stop) { return RunLoop(options, *gate, told, stop).go(); }

    // Runs `act`, unless another thread already runs something of this agent.
    template <class Act>
    Run alone(Act act) {
        if (busy.exchange(true)) {
            return {.status = RunStatus::failed,
                    .thread = options.thread_id,
                    .failure = Failure{FailureKind::usage,
                                       "the agent runs already, in another thread; answer through "
                                       "its channel, or wait"}};
        }
        const Idle idle{busy};
        return act();
    }
    struct Idle {
        std::atomic<bool>& busy;
        ~Idle() { busy = false; }
    };

    AgentOptions options;
    bool durable;
    bool thread_known = false;
    std::unique_ptr<MemoryCheckpointer> own_store;
    std::unique_ptr<Gate> gate;
    Told told;
    Reviewer reviewer{.name = "library"};
    std::atomic<bool> busy = false;
};

Agent::Agent(AgentOptions options) : impl_(std::make_unique<Impl>(std::move(options))) {}
Agent::~Agent() = default;
Agent::Agent(Agent&&) noexcept = default;

Run Agent::prompt(const std::string& text, const std::stop_token& stop) {
    return impl_->alone([&]() -> Run {
        if (auto begun = impl_->gate->prompt(text, impl_->reviewer.name); !begun) return impl_->failed(begun.failure());
        impl_->thread_known = true;
        impl_->told = {};
        return impl_->go(stop);
    });
}

Run Agent::resume(const Answers& answers, const std::stop_token& stop) {
    return impl_->alone([&] {
        return impl_->resume_known([&](std::vector<AnswerResult>& told) { return impl_->resume(answers, told, stop); });
    });
}

Run Agent::resume_json(std::string_view json, const std::stop_token& stop) {
    return impl_->alone([&] {
        return impl_->resume_known(
            [&](std::vector<AnswerResult>& told) { return impl_->resume_json(json, told, stop); });
    });
}

Run Agent::respond(const std::string& id, const HitlAnswer& answer, const std::stop_token& stop) {
    return impl_->alone([&] {
        return impl_->resume_known(
            [&](std::vector<AnswerResult>& told) { return impl_->respond(id, answer, told, stop); });
    });
}

Result<void> Agent::detach() {
    if (impl_->options.channel == nullptr)
        return Failure{FailureKind::usage, "the agent has no channel to be detached from"};
    impl_->options.channel->detach();
    return {};
}

Result<AbortResult> Agent::abort(const std::string& reason) {
    auto aborted = impl_->approvals().abort(thread_id(), reason, impl_->reviewer.name);
    impl_->notify();
    return aborted;
}

Result<AbortResult> Agent::abort_pending(const std::string& reason) {
    // A run that is under way tells of it when it ends, which may be before this comes back.
    const bool told_by_run = impl_->busy;
    auto aborted = abort(reason);
    if (!aborted && aborted.failure().kind != FailureKind::unknown_thread) return aborted;
    if (!(told_by_run && aborted && aborted->aborted) && impl_->options.listener) {
        const AgentAbortedEvent event{.reason = journal::abort_reason({.reason = reason})};
        impl_->options.listener({.kind = AgentEvent::Kind::hitl, .hitl = event});
    }
    return aborted ? aborted : Result<AbortResult>(AbortResult{});
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
