// The file tools as tools: their work with the arguments that were approved, nothing else.
#include "tools/file_work.hpp"
#include "tools/path_guard_name.hpp"

#include <assent/tools.hpp>

namespace assent {
namespace {

class FileTool final : public Tool {
public:
    using Work = ToolResult (*)(const FileCall&);
    FileTool(ToolSpec spec, Workspace workspace, Work work)
        : Tool(permitted(std::move(spec), workspace)), workspace_(std::move(workspace)), work_(work) {}

private:
    static ToolSpec permitted(ToolSpec spec, const Workspace& workspace) {
        spec.keeps_permissions = workspace.rules() != nullptr;
        return spec;
    }

    ToolResult run(const ApprovedCall& call) override {
        return work_({.folder = workspace_.folder(),
                      .arguments = call.arguments(),
                      .stop = call.stop_token(),
                      .rules = {.rules = workspace_.rules(), .approved = call.approved_for(path_guard_name)}});
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
