// What the shell tool does, apart from the right to do it.
#pragma once

#include <assent/arguments.hpp>
#include <assent/tool.hpp>
#include <assent/tools.hpp>

#include <stop_token>

namespace assent {

[[nodiscard]] ToolSpec shell_spec();
[[nodiscard]] ToolResult run_command(const ShellOptions& options, const Arguments& arguments,
                                     const std::stop_token& stop);

}  // namespace assent
