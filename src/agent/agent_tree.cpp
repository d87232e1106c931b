#include "agent/agent_tree.hpp"

#include "gate/judge.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <mutex>
#include <set>

namespace assent {
namespace {

constexpr int levels_max = 8;
constexpr std::size_t name_bytes_max = 64;
constexpr std::string_view task_tool = "task";

// What hands a task on. The gate never gives a permit for it.
class TaskTool final : public Tool {
public:
    using Tool::Tool;

private:
    ToolResult run(const ApprovedCall&) override { return {.text = "a task is done by a sub-agent", .is_error = true}; }
};

std::shared_ptr<Tool> task_tool_for(const std::vector<SubAgent>& agents) {
    std::string description =
        "Hands a task to a sub-agent, which works on it alone and gives back one text. It does not see this "
        "conversation: say in the description all that it needs to know and what it should give back. Sub-agents:";
    std::string types;
    for (const auto& agent : agents) {
        description += "\n- " + agent.name + (agent.description.empty() ? "" : ": " + agent.description);
        types += (types.empty() ? "" : ",") + json_quote(agent.name);
    }
    return std::make_shared<TaskTool>(
        ToolSpec{.name = std::string(task_tool),
                 .description = std::move(description),
                 .schema = R"({"type":"object","properties":{"description":{"type":"string","minLength":1},)"
                           R"("subagent_type":{"type":"string","enum":[)" +
                           types + R"(]}},"required":["description","subagent_type"],"additionalProperties":false})",
                 .delegates = true});
}

std::vector<std::shared_ptr<Guard>> guards_of(const AgentOptions& options) {
    std::vector<std::shared_ptr<Guard>> guards;
    for (const auto& middleware : options.middleware) {
        if (auto guard = std::dynamic_pointer_cast<Guard>(middleware)) guards.push_back(std::move(guard));
    }
    guards.insert(guards.end(), options.guards.begin(), options.guards.end());
    // What is missing is told of when the agent that has it is checked.
    std::erase(guards, nullptr);
    return guards;
}

void check_name(const std::string& path, const std::string& name) {
    const auto is_good = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
               c == '.';
    };
    if (name.empty() || name.size() > name_bytes_max || !std::ranges::all_of(name, is_good)) {
        throw ConfigError("the sub-agent " + json_quote(path) +
                          " needs a name of 1 to 64 letters, digits, _, - or .; it is what the model calls it by");
    }
}

// How long a question may wait whose guard does not say.
Timeout timeout_of(const AgentOptions& options) {
    const auto of_channel = options.channel != nullptr ? options.channel->default_timeout_ms() : std::nullopt;
    const auto milliseconds = options.timeout.milliseconds(of_channel);
    return milliseconds ? Timeout(std::chrono::milliseconds(*milliseconds)) : Timeout(std::nullopt);
}

AgentOptions options_of(const AgentOptions& above, const SubAgent& agent) {
    AgentOptions options = above;
    options.system_prompt = agent.system_prompt;
    if (!agent.tools.empty()) options.tools = agent.tools;
    if (agent.model != nullptr) options.model = agent.model;
    options.middleware = agent.middleware;
    options.guards = agent.guards;
    options.settings.clear();
    // The root waits on the channel, for all of them.
    options.timeout = timeout_of(above);
    options.channel = nullptr;
    return options;
}

bool keeps_paths(const AgentOptions& options) {
    return std::ranges::any_of(options.tools,
                               [](const auto& tool) { return tool != nullptr && tool->spec().keeps_permissions; });
}

void add_below(AgentNode& agent, const std::vector<SubAgent>& sub_agents, int level) {
    if (sub_agents.empty()) return;
    if (level > levels_max) {
        throw ConfigError("sub-agents are nested deeper than " + std::to_string(levels_max) +
                          " levels; let one of them do more by itself");
    }
    for (const auto& given : sub_agents) {
        AgentNode sub{.name = agent.name.empty() ? given.name : agent.name + "/" + given.name,
                      .options = options_of(agent.options, given),
                      .inherited = agent.inherited,
                      .asks_on = agent.asks_on,
                      .paths_kept_above = agent.paths_kept_above || keeps_paths(agent.options)};
        check_name(sub.name, given.name);
        if (std::ranges::find(agent.types, given.name) != agent.types.end())
            throw ConfigError("two sub-agents are called " + sub.name + "; give each a name of its own");
        sub.inherited.push_back(guards_of(agent.options));
        add_below(sub, given.sub_agents, level + 1);
        for (const auto& tool : sub.options.tools) {
            if (tool != nullptr) agent.tools_below.push_back(tool->spec().name);
        }
        agent.tools_below.insert(agent.tools_below.end(), sub.tools_below.begin(), sub.tools_below.end());
        agent.types.push_back(given.name);
        agent.below.push_back(std::move(sub));
    }
    agent.options.tools.push_back(task_tool_for(sub_agents));
}

// Guards and people know a tool by its name, so one name is one tool wherever it is used. `kept`: tools of the agents
// above that keep path permissions, which hold below too.
void check_tools(const AgentNode& agent, std::map<std::string, ToolSpec>& known, std::set<std::string> kept) {
    for (const auto& tool : agent.options.tools) {
        if (tool == nullptr || dynamic_cast<const TaskTool*>(tool.get()) != nullptr) continue;
        auto spec = tool->spec();
        // Whether its files have permissions changes nothing of what it is.
        if (std::exchange(spec.keeps_permissions, false)) {
            kept.insert(spec.name);
        } else if (kept.contains(spec.name)) {
            throw ConfigError("the sub-agent " + agent.name + " has the tool " + spec.name +
                              " without the path permissions that it has above; give it one whose workspace has them");
        }
        if (spec.delegates) {
            throw ConfigError("the tool " + spec.name + " says that it delegates; give the agent sub_agents instead");
        }
        if (spec.name == task_tool) {
            throw ConfigError("a tool is called task, like the one that hands tasks to sub-agents; call it otherwise");
        }
        if (known.try_emplace(spec.name, spec).first->second != spec) {
            throw ConfigError("the sub-agent " + agent.name + " has another tool " + spec.name +
                              " than an agent before it; guards know tools by their names: call it otherwise");
        }
    }
    for (const auto& sub : agent.below) check_tools(sub, known, kept);
}

// The root's gate checks the root.
void check_below(const AgentNode& agent) {
    for (const auto& sub : agent.below) {
        try {
            (void)Judge(gate_options(sub, {}));
        } catch (const ConfigError& error) {
            throw ConfigError("the sub-agent " + sub.name + ": " + error.what());
        }
        check_below(sub);
    }
}

}  // namespace

AgentNode agent_tree(AgentOptions options) {
    const auto sub_agents = std::exchange(options.sub_agents, {});
    // Sub-agents run at once, and whoever watches is told of one thing at a time.
    if (!sub_agents.empty() && options.listener) {
        options.listener = [listener = std::move(options.listener),
                            mutex = std::make_shared<std::mutex>()](const AgentEvent& event) {
            const std::lock_guard lock(*mutex);
            listener(event);
        };
    }
    AgentNode root{.options = std::move(options)};
    root.asks_on = root.options.channel;
    add_below(root, sub_agents, 1);
    if (!root.below.empty()) {
        std::map<std::string, ToolSpec> known;
        check_tools(root, known, {});
    }
    check_below(root);
    return root;
}

GateOptions gate_options(const AgentNode& agent, const std::string& thread_id) {
    const auto& options = agent.options;
    return {.checkpointer = options.checkpointer,
            .thread_id = thread_id,
            .tools = options.tools,
            .middleware = options.middleware,
            .guards = options.guards,
            .inherited = agent.inherited,
            .tools_below = agent.tools_below,
            .paths_kept_above = agent.paths_kept_above,
            .child = !agent.name.empty(),
            .json_limits = options.json_limits,
            .use_by_ms = options.use_by_ms,
            .start_within_ms = options.start_within_ms,
            .hold_batch = options.hold_batch,
            .system_prompt = options.system_prompt,
            .timeout_ms = timeout_of(options).milliseconds(),
            .clock = options.clock,
            .random = options.random};
}

Result<Task> task_of(const AgentNode& agent, const Delegation& call) {
    const auto arguments = Arguments::parse(call.arguments, agent.options.json_limits);
    if (!arguments) return arguments.failure();
    const auto* type = arguments->find("subagent_type");
    const auto* description = arguments->find("description");
    for (std::size_t i = 0; type != nullptr && description != nullptr && i < agent.types.size(); ++i) {
        if (agent.types[i] == type->string) return Task{&agent.below[i], description->string};
    }
    return Failure{FailureKind::refused, "thread " + call.child +
                                             " works for a sub-agent that this agent does not have; resume with an "
                                             "agent that has it, or abort the thread"};
}

}  // namespace assent
