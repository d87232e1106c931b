#include <assent/workspace_agent.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace assent {
namespace {

using MakeTool = std::shared_ptr<Tool> (*)(Workspace);
using Tools = std::vector<std::shared_ptr<Tool>>;

constexpr std::array<std::pair<std::string_view, MakeTool>, 7> known_tools{{{"read_file", read_file_tool},
                                                                            {"write_file", write_file_tool},
                                                                            {"edit_file", edit_file_tool},
                                                                            {"delete_file", delete_file_tool},
                                                                            {"ls", ls_tool},
                                                                            {"glob", glob_tool},
                                                                            {"grep", grep_tool}}};

bool is_file_tool(std::string_view name) {
    return std::ranges::find(known_tools, name, &std::pair<std::string_view, MakeTool>::first) != known_tools.end();
}

void check_names(const std::vector<std::string>& wanted) {
    for (const auto& name : wanted) {
        if (!is_file_tool(name)) {
            throw ConfigError("there is no file tool " + json_quote(name) +
                              "; take some of read_file, write_file, edit_file, delete_file, ls, glob and grep");
        }
    }
    // A model that can change files and not look at them works blindly.
    if (!wanted.empty() && std::ranges::find(wanted, "read_file") == wanted.end())
        throw ConfigError("file_tools leaves out read_file; add it, or leave file_tools empty to have all of them");
}

// One that was left out would come back without permissions.
void refuse_file_tools(const Tools& tools) {
    for (const auto& tool : tools) {
        if (tool == nullptr) continue;
        const auto& name = tool->spec().name;
        if (is_file_tool(name))
            throw ConfigError("a tool is called " + name +
                              ", like a file tool; take that with file_tools, or call it otherwise");
    }
}

// What an agent and those that work for it have in common.
class Wiring {
public:
    Wiring(std::vector<std::string> file_tools, InterruptOnOptions how)
        : file_tools_(std::move(file_tools)), how_(std::move(how)) {
        check_names(file_tools_);
    }

    [[nodiscard]] Tools file_tools(const Workspace& files) const {
        Tools tools;
        for (const auto& [name, make] : known_tools) {
            if (file_tools_.empty() || std::ranges::find(file_tools_, name) != file_tools_.end())
                tools.push_back(make(files));
        }
        return tools;
    }

    // Also with an empty table: then the questions of the permissions have its form.
    void add_guards(std::vector<std::shared_ptr<Middleware>>& middleware, std::vector<std::shared_ptr<Guard>>& guards,
                    InterruptOnTable table, const Workspace* permitted) const {
        if (permitted != nullptr) guards.push_back(path_guard(*permitted));
        if (permitted != nullptr || !table.empty()) middleware.push_back(interrupt_on(std::move(table), how_));
    }

    [[nodiscard]] std::vector<SubAgent> sub_agents(std::vector<WorkspaceSubAgent> given, const Workspace& files,
                                                   const Tools& of_files, const Tools& others) const {
        std::vector<SubAgent> agents;
        for (auto& sub : given) {
            const bool further = !sub.permissions.empty();
            const auto own_files = further ? files.with_further_permissions(std::move(sub.permissions)) : files;
            const auto own_of_files = further ? file_tools(own_files) : of_files;
            refuse_file_tools(sub.tools);
            const auto& own_others = sub.tools.empty() ? others : sub.tools;
            SubAgent agent{.name = std::move(sub.name),
                           .description = std::move(sub.description),
                           .system_prompt = std::move(sub.system_prompt),
                           .tools = own_of_files,
                           .middleware = std::move(sub.middleware),
                           .guards = {},
                           .model = std::move(sub.model),
                           .sub_agents = {}};
            agent.tools.insert(agent.tools.end(), own_others.begin(), own_others.end());
            add_guards(agent.middleware, agent.guards, std::move(sub.interrupt_on), further ? &own_files : nullptr);
            agent.sub_agents = sub_agents(std::move(sub.sub_agents), own_files, own_of_files, own_others);
            agents.push_back(std::move(agent));
        }
        return agents;
    }

private:
    std::vector<std::string> file_tools_;
    InterruptOnOptions how_;
};

}  // namespace

AgentOptions workspace_agent(WorkspaceAgentOptions options) {
    if (options.files.rules() != nullptr && !options.permissions.empty())
        throw ConfigError("the files of the agent have permissions already; give them in one place");
    if (options.files.all_rules().size() > 1)
        throw ConfigError("the files of the agent have permissions upon permissions; give one list of them");
    const auto files =
        options.permissions.empty() ? options.files : options.files.with_permissions(std::move(options.permissions));
    const Wiring wiring(std::move(options.file_tools), std::move(options.interrupt_options));
    const auto of_files = wiring.file_tools(files);
    AgentOptions agent;
    agent.model = std::move(options.model);
    agent.system_prompt = std::move(options.system_prompt);
    agent.tools = of_files;
    refuse_file_tools(options.tools);
    agent.tools.insert(agent.tools.end(), options.tools.begin(), options.tools.end());
    agent.middleware = std::move(options.middleware);
    wiring.add_guards(agent.middleware, agent.guards, std::move(options.interrupt_on),
                      files.rules() == nullptr ? nullptr : &files);
    agent.sub_agents = wiring.sub_agents(std::move(options.sub_agents), files, of_files, options.tools);
    agent.channel = std::move(options.channel);
    agent.checkpointer = options.checkpointer;
    agent.thread_id = std::move(options.thread_id);
    return agent;
}

}  // namespace assent
