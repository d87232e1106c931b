// The shell as a tool. A file of its own, so that who needs no shell links none.
#include "tools/shell_work.hpp"

#include <assent/tools.hpp>

namespace assent {
namespace {

class ShellTool final : public Tool {
public:
    explicit ShellTool(ShellOptions options) : Tool(shell_spec()), options_(std::move(options)) {}

private:
    ToolResult run(const ApprovedCall& call) override {
        return run_command(options_, call.arguments(), call.stop_token());
    }

    ShellOptions options_;
};

}  // namespace

std::shared_ptr<Tool> shell_tool(ShellOptions options) {
    return std::make_shared<ShellTool>(std::move(options));
}

}  // namespace assent
