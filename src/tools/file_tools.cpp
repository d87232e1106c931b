// The file tools as tools: their work with the arguments that were approved, nothing else.
#include "tools/asked_places.hpp"
#include "tools/file_work.hpp"

#include <assent/tools.hpp>

#include <deque>

namespace assent {
namespace {

class FileTool final : public Tool {
public:
    using Work = ToolResult (*)(const FileCall&);
    FileTool(ToolSpec spec, Workspace workspace, Work work)
        : Tool(permitted(std::move(spec), workspace)), workspace_(std::move(workspace)), work_(work) {}

    // What a start changes in the thread is stored with its outcome or not at all.
    Receipt receipt(const std::string& /*attempt*/, const Arguments& arguments) override {
        const auto* path = arguments.find(spec().paths.front().name);
        const bool kept =
            path != nullptr && path->kind == JsonNode::Kind::string && workspace_.keeps_in_thread(path->string);
        return {.proof = kept ? Receipt::Proof::no_effect : Receipt::Proof::nothing};
    }

private:
    static ToolSpec permitted(ToolSpec spec, const Workspace& workspace) {
        spec.keeps_permissions = workspace.rules() != nullptr;
        return spec;
    }

    ToolResult run(const ApprovedCall& call) override {
        const auto files = workspace_.files(&call.files());
        std::deque<PathKeeper::Rules> rules(1);
        for (const auto& held : workspace_.all_rules()) {
            const auto approved = call.approved_paths(held->digest());
            rules.push_back({.rules = held.get(),
                             .approved = approved.has_value(),
                             .approved_places = read_places(approved.value_or("")),
                             .besides = rules.size() > 1 ? &rules.back() : nullptr});
        }
        return work_(
            {.files = *files, .arguments = call.arguments(), .stop = call.stop_token(), .rules = rules.back()});
    }

    Workspace workspace_;
    Work work_;
};

}  // namespace

std::shared_ptr<Tool> read_file_tool(Workspace workspace) {
    return std::make_shared<FileTool>(read_file_spec(), std::move(workspace), read_file);
}

std::shared_ptr<Tool> write_file_tool(Workspace workspace) {
    return std::make_shared<FileTool>(write_file_spec(), std::move(workspace), write_file);
}

std::shared_ptr<Tool> edit_file_tool(Workspace workspace) {
    return std::make_shared<FileTool>(edit_file_spec(), std::move(workspace), edit_file);
}

std::shared_ptr<Tool> ls_tool(Workspace workspace) {
    return std::make_shared<FileTool>(ls_spec(), std::move(workspace), list_folder);
}

std::shared_ptr<Tool> delete_file_tool(Workspace workspace) {
    return std::make_shared<FileTool>(delete_file_spec(), std::move(workspace), delete_file);
}

std::shared_ptr<Tool> glob_tool(Workspace workspace) {
    return std::make_shared<FileTool>(glob_spec(), std::move(workspace), find_files);
}

std::shared_ptr<Tool> grep_tool(Workspace workspace) {
    return std::make_shared<FileTool>(grep_spec(), std::move(workspace), search_files);
}

}  // namespace assent
