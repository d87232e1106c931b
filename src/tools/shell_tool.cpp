// The shell as a tool. A file of its own, so that who needs no shell links none.
#include "tools/shell_work.hpp"

#include <assent/clock.hpp>
#include <assent/tools.hpp>

#include <mutex>

namespace assent {
namespace {

class ShellTool final : public Tool {
public:
    explicit ShellTool(ShellOptions options) : Tool(shell_spec()), options_(std::move(options)) {
        if (options_.workspace.path().empty())
            throw ConfigError("a shell needs a folder to start in, and its workspace keeps its files in the thread");
    }

    Receipt receipt(const std::string& attempt, const Arguments& arguments) override {
        return command_receipt(options_, attempt, arguments);
    }

    void drop_receipt(const std::string& attempt) override { drop_command_receipt(options_, attempt); }

private:
    ToolResult run(const ApprovedCall& call) override {
        std::call_once(swept_, [this] { sweep_command_receipts(options_, system_clock().now()); });
        return run_command(options_, call.arguments(), call.attempt(), call.stop_token());
    }

    ShellOptions options_;
    std::once_flag swept_;
};

}  // namespace

std::shared_ptr<Tool> shell_tool(ShellOptions options) {
    return std::make_shared<ShellTool>(std::move(options));
}

}  // namespace assent
