#include <assent/agent.hpp>
#include <assent/interrupt_on.hpp>
#include <assent/memory.hpp>

#include "agent/agent_tree.hpp"
#include "agent/run.hpp"
#include "base/sha256.hpp"
#include "gate/abort.hpp"
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

constexpr std::size_t page_of_open = 1000;

std::string wrong_count(std::size_t decisions, const std::vector<Approval>& open) {
    auto text = "the number of decisions (" + std::to_string(decisions) +
                ") does not match the number of calls that wait (" + std::to_string(open.size()) + ")";
    for (std::size_t i = 0; i < open.size(); ++i)
        text += (i == 0 ? "; give one for each in this order: " : ", ") + open[i].id + " " + open[i].tool;
    return text;
}

std::string ambiguous_list(const std::vector<Approval>& below) {
    std::string text =
        "a list of decisions does not say which thread each is for while approvals of sub-agents are open";
    for (std::size_t i = 0; i < below.size(); ++i)
        text += (i == 0 ? "; answer by id: " : ", ") + below[i].id + " " + below[i].tool + " in " + below[i].thread;
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
void refuse_asking_guards(const AgentNode& agent) {
    const auto& options = agent.options;
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
    for (const auto& sub : agent.below) refuse_asking_guards(sub);
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
    explicit Impl(AgentOptions given)
        : durable(given.checkpointer != nullptr),
          own_store(durable ? nullptr : std::make_unique<MemoryCheckpointer>()),
          agent(agent_tree(with_store(std::move(given), own_store.get()))),
          options(agent.options) {
        if (options.model == nullptr) throw ConfigError("an agent needs a model");
        if (!durable && options.channel == nullptr) refuse_asking_guards(agent);
        if (options.thread_id.empty()) options.thread_id = new_thread_id(random());
        gate = std::make_unique<Gate>(gate_options(agent, options.thread_id));
        if (!options.settings.empty()) gate->configure(options.settings);
        if (options.channel != nullptr) options.channel->attach(*options.checkpointer, options.thread_id);
    }
    Impl(const Impl&) = delete;
    Impl& operator=(const Impl&) = delete;
    ~Impl() {
        if (options.channel != nullptr) options.channel->leave(*options.checkpointer, options.thread_id);
    }

    Random& random() { return options.random != nullptr ? *options.random : system_random(); }
    const Clock& clock() const { return options.clock != nullptr ? *options.clock : options.checkpointer->clock(); }
    Approvals approvals() { return {*options.checkpointer, clock(), random()}; }

    Run failed(Failure failure) {
        return with_open_below({.status = RunStatus::failed,
                                .thread = options.thread_id,
                                .interrupts = gate->open(),
                                .failure = std::move(failure)});
    }

    // Open approvals of all threads that work for this one.
    Result<std::vector<Approval>> open_below() {
        std::vector<Approval> below;
        if (agent.below.empty()) return below;
        for (std::int64_t after = 0;;) {
            auto page = approvals().pending(options.thread_id, after, page_of_open);
            if (!page) return page;
            const bool last = page->size() < page_of_open;
            if (!last) after = page->back().number;
            std::erase_if(*page, [&](const Approval& approval) { return approval.thread == options.thread_id; });
            std::ranges::move(*page, std::back_inserter(below));
            if (last) return below;
        }
    }

    Run with_open_below(Run run) {
        // A run that is done has ended all that worked for it.
        if (run.status == RunStatus::done) return run;
        auto below = open_below();
        if (below) {
            std::ranges::move(*below, std::back_inserter(run.interrupts));
        } else if (!run.failure) {
            run.status = RunStatus::failed;
            run.failure = below.failure();
        }
        return run;
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
            auto& good = std::get<GivenAnswer>(*read);
            if (good.approval.thread != options.thread_id) {
                // Recorded here and now; its thread goes on when this one does.
                auto result = approvals().answer(good.approval.id, good.decision, reviewer, options.thread_id);
                if (!result) return failed(result.failure());
                known.emplace_back(std::move(result).value());
                continue;
            }
            known.emplace_back();
            given.push_back(std::move(good));
        }
        std::vector<AnswerResult> came;
        auto taken = gate->resume(given, reviewer, came, Counting::each, stop);
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
        auto approval = find_approval(id);
        if (!approval) {
            if (auto told_of = told_of_missing(approval.failure())) came_of.push_back(std::move(*told_of));
            return failed(approval.failure());
        }
        auto read = read_hitl_answer(*approval, answer.text());
        if (auto* refused = std::get_if<AnswerResult>(&read)) {
            came_of.push_back(std::move(*refused));
            return failed({FailureKind::refused, came_of.back().message});
        }
        Result<void> taken;
        if (approval->thread == options.thread_id) {
            taken = gate->resume({{*approval, std::get<Decision>(std::move(read))}}, reviewer, came_of, Counting::each,
                                 stop);
        } else {
            auto told_of = approvals().answer(approval->id, std::get<Decision>(read), reviewer, options.thread_id);
            if (!told_of) return failed(told_of.failure());
            came_of.push_back(std::move(told_of).value());
            taken = gate->resume();
        }
        notify();
        if (!came_of.empty() && !counts(came_of.back())) return stays(why_not(came_of.back()));
        return goes_on(taken, stop);
    }

    // Of a whole answer that does not count.
    Run refused(Refusal refusal, std::string message, std::vector<AnswerResult>& came_of) {
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
        const auto below = open_below();
        if (!below) return failed(below.failure());
        if (!below->empty()) {
            auto message = ambiguous_list(*below);
            came_of.push_back({.status = AnswerResult::Status::ambiguous, .message = message});
            return failed({FailureKind::ambiguous, std::move(message)});
        }
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
        auto taken = gate->resume(given, reviewer, came_of, Counting::all_or_none, stop);
        // Somebody gave the same list meanwhile: there is nothing left but to go on.
        if (!taken && given_before(came_of)) taken = gate->resume();
        return goes_on(taken, stop);
    }

    // With a channel also while another runner has the thread.
    Run goes_on(const Result<void>& taken, const std::stop_token& stop) {
        if (taken) return go(stop);
        const bool elsewhere = options.channel != nullptr && taken.failure().kind == FailureKind::leased;
        return elsewhere ? go(stop, Begin::elsewhere) : stays(taken.failure());
    }

    void notify() const {
        if (options.channel != nullptr) options.channel->changed();
    }

    // Nobody goes on here: what was claimed with the answers is released.
    Run stays(Failure failure) {
        (void)gate->give_back(true);
        return failed(std::move(failure));
    }

    // What the agent has asked itself it knows; whether that is still open shows when the answer is stored.
    Result<Approval> find_approval(const std::string& id) {
        auto own = gate->open();
        const auto found = std::ranges::find(own, id, &Approval::id);
        if (found != own.end()) return std::move(*found);
        return approvals().find(id, options.thread_id);
    }

    Result<std::variant<GivenAnswer, AnswerResult>> read_given(const std::string& id, const Answer& answer) {
        using Given = std::variant<GivenAnswer, AnswerResult>;
        auto approval = find_approval(id);
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
                return with_open_below(
                    {.status = RunStatus::waiting, .thread = options.thread_id, .interrupts = gate->open()});
            case PromptTaken::repeated:
                if (auto held = gate->resume(); !held) return failed(held.failure());
        }
        return go(stop);
    }

    // Where the thread is run when the loop begins.
    enum class Begin : std::uint8_t { here, elsewhere };
    Run go(const std::stop_token& stop, Begin begin = Begin::here) {
        RunLimits limits(options.turns_max, options.calls_max);
        if (auto used = limits.add_used(options, *gate); !used) return stays(used.failure());
        // What can be taken by others must not go on here.
        std::stop_source stops;
        const std::stop_callback forward(stop, [&] { stops.request_stop(); });
        const auto watching = options.checkpointer->when_lost([&] { stops.request_stop(); });
        RunLoop loop(agent, *gate, told, limits, {.stop = stops.get_token(), .ends = stop});
        return with_open_below(begin == Begin::here ? loop.go() : loop.follow());
    }

    // An abort that did not come through to all that worked for the thread left them open.
    Result<void> end_aborted_children() {
        if (agent.below.empty()) return {};
        if (auto known = gate->load(); !known) return known.failure();
        if (!gate->aborted()) return {};
        auto ended = abort_below(*options.checkpointer, clock(), random(), options.thread_id, gate->turns(),
                                 {.reason = "the thread that it works for was aborted", .by = reviewer.name});
        if (!ended) return ended.failure();
        return {};
    }

    static AgentOptions with_store(AgentOptions options, Checkpointer* own) {
        if (own != nullptr) options.checkpointer = own;
        return options;
    }

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

    bool durable;
    bool thread_known = false;
    std::unique_ptr<MemoryCheckpointer> own_store;
    AgentNode agent;
    AgentOptions& options;  // the root's
    std::unique_ptr<Gate> gate;
    Told told;
    Reviewer reviewer{.name = "library"};
    std::atomic<bool> busy = false;
};

Agent::Agent(AgentOptions options) : impl_(std::make_unique<Impl>(std::move(options))) {}
Agent::~Agent() = default;
Agent::Agent(Agent&&) noexcept = default;

Run Agent::prompt(const std::string& text, const std::stop_token& stop) {
    return prompt(Prompt{.text = text}, stop);
}

Run Agent::prompt(const Prompt& prompt, const std::stop_token& stop) {
    return impl_->alone([&]() -> Run {
        if (auto ended = impl_->end_aborted_children(); !ended) return impl_->failed(ended.failure());
        auto taken = impl_->gate->prompt(prompt, impl_->reviewer.name);
        if (!taken) return impl_->failed(taken.failure());
        impl_->thread_known = true;
        auto run = impl_->go_on(*taken, stop);
        run.prompt = *taken;
        return run;
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
Result<std::map<std::string, std::string>> Agent::files() const {
    return impl_->gate->files();
}

}  // namespace assent
