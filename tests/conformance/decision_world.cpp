#include "conformance/decision_world.hpp"

#include "gate/binding.hpp"
#include "journal/lineage.hpp"

#include <assent/channel.hpp>
#include <assent/tools.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <deque>
#include <latch>
#include <thread>

namespace assent::conformance {
namespace {

using Kind = JsonNode::Kind;

constexpr std::array<std::string_view, 4> ordinals{"first", "second", "third", "fourth"};

class LoggedTool final : public Tool {
public:
    LoggedTool(ToolSpec spec, std::shared_ptr<RunLog> log) : Tool(std::move(spec)), log_(std::move(log)) {}

private:
    ToolResult run(const ApprovedCall& call) override {
        log_->add({std::string(call.idempotency_key()), spec().name, call.arguments().text()});
        return {.text = "ok " + spec().name};
    }
    std::shared_ptr<RunLog> log_;
};

// What the case's path permissions hold for. They live in the thread: the tools of a case change nothing.
std::optional<Workspace> workspace_of(const JsonNode& node) {
    const auto* permissions = node.find("permissions");
    if (permissions == nullptr) return std::nullopt;
    auto rules = read_permissions(permissions->text);
    if (!rules) throw CaseFailed(rules.failure().message);
    return Workspace::in_thread().with_permissions(std::move(rules).value());
}

std::vector<std::shared_ptr<Guard>> guards_of(const JsonNode& node) {
    const auto workspace = workspace_of(node);
    if (!workspace) return {};
    return {path_guard(*workspace)};
}

// What the real tool of this name uses as a path.
std::vector<PathArgument> paths_of(const JsonNode& node, std::string_view name) {
    const auto workspace = workspace_of(node);
    if (!workspace) return {};
    for (const auto& tool : {read_file_tool(*workspace), write_file_tool(*workspace), edit_file_tool(*workspace),
                             delete_file_tool(*workspace), ls_tool(*workspace)}) {
        if (tool->spec().name == name) return tool->spec().paths;
    }
    return {};
}

std::vector<std::shared_ptr<Tool>> tools_of(const JsonNode& node, const std::shared_ptr<RunLog>& log) {
    std::vector<std::shared_ptr<Tool>> tools;
    const auto* schemas = node.find("schemas");
    for (const auto& name : member(node, "tools").items) {
        const auto* schema = schemas == nullptr ? nullptr : schemas->find(name.string);
        tools.push_back(std::make_shared<LoggedTool>(
            ToolSpec{.name = name.string,
                     .schema = schema == nullptr ? std::string() : std::string(schema->text),
                     .paths = paths_of(node, name.string)},
            log));
    }
    return tools;
}

InterruptOnOptions table_options(const JsonNode& node) {
    InterruptOnOptions options;
    const auto* given = node.find("options");
    if (given == nullptr) return options;
    require_known_keys(*given, {"interrupt_mode", "edit_notice", "description_prefix", "hold_batch", "timeout_seconds",
                                "checkpointer", "channel"});
    if (given->find("interrupt_mode") != nullptr)
        options.interrupt_mode = interrupt_mode(text_of(*given, "interrupt_mode"));
    if (const auto* notice = given->find("edit_notice"); notice != nullptr) {
        options.edit_notice.reset();
        if (notice->kind == Kind::string) options.edit_notice = notice->string;
    }
    if (given->find("description_prefix") != nullptr)
        options.description_prefix = text_of(*given, "description_prefix");
    if (const auto* seconds = given->find("timeout_seconds"); seconds != nullptr && seconds->kind == Kind::number)
        options.timeout_seconds = std::stoll(std::string(seconds->text));
    return options;
}

bool has_store(const JsonNode& node) {
    const auto* options = node.find("options");
    const auto* store = options == nullptr ? nullptr : options->find("checkpointer");
    return store == nullptr || store->string != "none";
}

bool has_live_channel(const JsonNode& node) {
    const auto* options = node.find("options");
    const auto* channel = options == nullptr ? nullptr : options->find("channel");
    return channel != nullptr && channel->string == "live";
}

}  // namespace

void RunLog::add(Ran ran) {
    const std::lock_guard lock(mutex_);
    runs_.push_back(std::move(ran));
}

std::vector<Ran> RunLog::all() const {
    const std::lock_guard lock(mutex_);
    return runs_;
}

void ToldModel::propose(std::vector<ProposedCall> calls) {
    const std::lock_guard lock(mutex_);
    next_ = std::move(calls);
}

Result<ModelTurn> ToldModel::turn(const ModelRequest&, const std::function<void(std::string_view)>&,
                                  const std::stop_token&) {
    const std::lock_guard lock(mutex_);
    ModelTurn said{.calls = std::move(next_)};
    next_.clear();
    if (said.calls.empty()) said.text = "done";
    return said;
}

// Stands in front of the gate and counts the calls that it sees.
class DecisionWorld::CountingHook final : public Middleware {
public:
    std::optional<Arguments> before_tool(const ToolContext&) override {
        ++count_;
        return std::nullopt;
    }
    [[nodiscard]] int count() const noexcept { return count_; }

private:
    std::atomic<int> count_ = 0;
};

Result<ModelTurn> WorkerModel::turn(const ModelRequest& request, const std::function<void(std::string_view)>&,
                                    const std::stop_token&) {
    const auto messages = request.messages();
    if (!messages) return messages.failure();
    if (messages->size() > 1) return ModelTurn{.text = "done"};
    return ModelTurn{.calls = calls_.at(messages->front().text)};
}

// Answers what is open, in the order of asking, when the agent waits for people.
class DecisionWorld::LiveChannel final : public InMemoryChannel {
public:
    std::deque<std::string> decisions;

    void attach(Checkpointer& store, const std::string& thread_id) override {
        store_ = &store;
        InMemoryChannel::attach(store, thread_id);
    }
    bool wait(const Mark& mark, std::int64_t milliseconds, const std::stop_token& stop) override {
        if (decisions.empty()) throw CaseFailed("the live host has no answer left");
        const auto open = Approvals(*store_).pending();
        if (!open || open->empty()) throw CaseFailed("the prompt waits for nothing");
        const auto told = Approvals(*store_).answer_json(open->front().id, decisions.front(), {.name = "live"});
        if (!told || told->status != AnswerResult::Status::decided) throw CaseFailed("the live answer does not count");
        decisions.pop_front();
        changed();
        return InMemoryChannel::wait(mark, milliseconds, stop);
    }

private:
    Checkpointer* store_ = nullptr;
};

DecisionWorld::DecisionWorld(const JsonNode& node, bool hold_batch, Workers workers)
    : node_(node), hold_batch_(hold_batch), workers_(std::move(workers)), hook_(std::make_shared<CountingHook>()) {
    if (has_live_channel(node)) channel_ = std::make_shared<LiveChannel>();
    (void)make_agent("to see whether it can be built");
}

Agent DecisionWorld::make_agent(const std::string& thread) {
    randoms_.push_back(std::make_unique<test::SharedRandom>(randoms_.size() + 1));
    std::vector<SubAgent> sub_agents;
    if (!workers_.tasks.empty())
        sub_agents = {{.name = "worker", .model = std::make_shared<WorkerModel>(workers_.calls)}};
    const auto listen = [this](const AgentEvent& event) {
        if (event.kind != AgentEvent::Kind::ended || journal::ancestors_of(event.thread).empty()) return;
        const std::lock_guard lock(ended_mutex_);
        ended_below_.emplace_back(event.thread, *event.call);
    };
    return Agent(AgentOptions{.model = model_,
                              .tools = tools_of(node_, log_),
                              .middleware = {hook_, interrupt_on(interrupt_on_table(member(node_, "interrupt_on").text),
                                                                 table_options(node_))},
                              .guards = guards_of(node_),
                              .sub_agents = std::move(sub_agents),
                              .channel = channel_,
                              .checkpointer = has_store(node_) ? &store_ : nullptr,
                              .thread_id = thread,
                              .hold_batch = hold_batch_,
                              .listener = listen,
                              .clock = &clock_,
                              .random = randoms_.back().get()});
}

Agent& DecisionWorld::agent(const std::string& thread) {
    const auto found = agents_.find(thread);
    return found != agents_.end() ? found->second : agents_.emplace(thread, make_agent(thread)).first->second;
}

std::int64_t DecisionWorld::events(const std::string& thread) {
    const auto head = store_.find_thread(thread);
    return head && head->has_value() ? (*head)->seq : 0;
}

void DecisionWorld::order_runs(Step& step, const std::string& thread) {
    auto all = log_->all();
    std::vector<Ran> fresh(all.begin() + static_cast<std::ptrdiff_t>(runs_seen_), all.end());
    std::vector<std::pair<std::string, CallReport>> calls;
    for (const auto& call : step.run.calls) calls.emplace_back(thread, call);
    std::ranges::move(std::exchange(ended_below_, {}), std::back_inserter(calls));
    for (const auto& [of_thread, call] : calls) {
        const auto key = idempotency_key(of_thread, {call.turn, call.position});
        for (const auto& ran : fresh) {
            if (ran.key != key) continue;
            step.runs.push_back(ran);
            step.run_ids.push_back(call.tool_call_id.value_or(""));
        }
    }
    if (step.runs.size() != fresh.size()) throw CaseFailed("a tool ran for a call that the run does not report");
}

template <class Act>
Step DecisionWorld::step(const std::string& thread, Act act) {
    const auto before = events(thread);
    auto& running = agent(thread);
    Step step{.run = act(running)};
    step.events_added = events(thread) - before;
    std::ranges::sort(step.run.calls, {}, [](const auto& call) { return std::pair(call.turn, call.position); });
    order_runs(step, running.thread_id());
    runs_seen_ = log_->all().size();
    const auto messages = running.messages();
    if (!messages) throw CaseFailed(messages.failure().message);
    for (const auto& message : *messages) {
        if (message.role == Role::assistant && !message.calls.empty()) {
            step.results.clear();
            step.model_calls = message.calls;
        }
        if (message.role == Role::tool) step.results.push_back(message);
    }
    auto& known = asked_[thread];
    for (const auto& approval : pending(running.thread_id())) {
        if (std::ranges::none_of(known, [&](const auto& old) { return old.id == approval.id; }))
            known.push_back(approval);
    }
    return step;
}

Step DecisionWorld::prompt(const std::string& thread, std::vector<ProposedCall> calls) {
    model_->propose(std::move(calls));
    return step(thread, [](Agent& running) { return running.prompt("go"); });
}

Step DecisionWorld::answer(const std::string& thread, const std::string& json) {
    return step(thread, [&](Agent& running) { return running.resume(json); });
}

Step DecisionWorld::resume(const std::string& thread) {
    return step(thread, [](Agent& running) { return running.resume(); });
}

void DecisionWorld::answer_live(std::vector<std::string> decisions) {
    if (channel_ == nullptr) throw CaseFailed("the case has no live channel");
    for (auto& decision : decisions) channel_->decisions.push_back(std::move(decision));
}

Step DecisionWorld::answer_at_once(const std::string& thread, const std::vector<std::string>& json,
                                   std::vector<Run>& told) {
    std::vector<Agent> agents;
    for (std::size_t i = 0; i < json.size(); ++i) agents.push_back(make_agent(thread));
    told.resize(json.size());
    std::latch start(static_cast<std::ptrdiff_t>(json.size()));
    {
        std::vector<std::jthread> people;
        for (std::size_t i = 0; i < json.size(); ++i) {
            people.emplace_back([&, i] {
                start.arrive_and_wait();
                told[i] = agents[i].resume(json[i]);
            });
        }
    }
    agents.clear();
    // Whoever had the thread last may have left it to the other. What ran, they report.
    return step(thread, [&](Agent& running) {
        auto run = running.resume();
        for (const auto& other : told) {
            for (const auto& call : other.calls) {
                const auto same = [&](const auto& known) {
                    return known.turn == call.turn && known.position == call.position;
                };
                if (std::ranges::none_of(run.calls, same)) run.calls.push_back(call);
            }
        }
        return run;
    });
}

std::vector<Approval> DecisionWorld::pending(const std::string& thread) {
    auto open = Approvals(store_, clock_).pending(thread);
    if (!open) throw CaseFailed(open.failure().message);
    return std::move(open).value();
}

const Approval& DecisionWorld::approval(const std::string& thread, const std::string& name) const {
    const auto ordinal = std::ranges::find(ordinals, name);
    const auto asked = asked_.find(thread);
    const auto task = std::ranges::find_if(workers_.tasks, [&](const auto& call) { return call.id == name; });
    if (asked != asked_.end() && task != workers_.tasks.end()) {
        const auto child = journal::child_id(thread, {1, static_cast<int>(task - workers_.tasks.begin())});
        const auto found = std::ranges::find(asked->second, child, &Approval::thread);
        if (found == asked->second.end() || std::ranges::count(asked->second, child, &Approval::thread) != 1)
            throw CaseFailed("not exactly one request of " + name);
        return *found;
    }
    const auto index = static_cast<std::size_t>(ordinal - ordinals.begin());
    if (ordinal == ordinals.end()) throw CaseFailed("unknown request '" + name + "'");
    if (asked == asked_.end() || index >= asked->second.size())
        throw CaseFailed("nobody was asked the request " + name);
    return asked->second[index];
}

std::string DecisionWorld::id_of(const std::string& thread, const std::string& name) const {
    const bool asked = asked_.contains(thread) && !asked_.at(thread).empty();
    return name == "no-such-request" || !asked ? name : approval(thread, name).id;
}

std::string DecisionWorld::name_of(const std::string& thread, const std::string& id) const {
    const auto& asked = asked_.at(thread);
    const auto found = std::ranges::find_if(asked, [&](const auto& known) { return known.id == id; });
    if (found == asked.end()) return id;
    return std::string(ordinals.at(static_cast<std::size_t>(found - asked.begin())));
}

int DecisionWorld::before_count() const {
    return hook_->count();
}

std::map<std::string, int> DecisionWorld::counts() const {
    std::map<std::string, int> counts;
    for (const auto& ran : log_->all()) ++counts[ran.tool];
    return counts;
}

}  // namespace assent::conformance
