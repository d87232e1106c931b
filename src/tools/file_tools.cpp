// The file tools as tools: their work with the arguments that were approved, nothing else.
#include "tools/file_work.hpp"

#include <assent/tools.hpp>

namespace assent {
namespace {

class FileTool final : public Tool {
public:
    using Work = ToolResult (*)(const ConfinedFolder&, const Arguments&);
    FileTool(ToolSpec spec, Workspace workspace, Work work)
        : Tool(std::move(spec)), workspace_(std::move(workspace)), work_(work) {}

private:
    ToolResult run(const ApprovedCall& call) override { return work_(workspace_.folder(), call.arguments()); }

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

}  // namespace assent
