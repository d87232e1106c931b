// What the shell tool does, apart from the right to do it.
#pragma once

#include <assent/arguments.hpp>
#include <assent/clock.hpp>
#include <assent/tool.hpp>
#include <assent/tools.hpp>

#include <stop_token>
#include <string>
#include <string_view>

namespace assent {

[[nodiscard]] ToolSpec shell_spec();
/// `attempt`: whose receipt is kept, if the options name a folder for them.
[[nodiscard]] ToolResult run_command(const ShellOptions& options, const Arguments& arguments, std::string_view attempt,
                                     const std::stop_token& stop);
/// What the receipt of an attempt proves whose runner is dead. Waits for a helper that outlived it.
[[nodiscard]] Receipt command_receipt(const ShellOptions& options, const std::string& attempt,
                                      const Arguments& arguments);
/// Removes old receipts that nobody asked for.
void sweep_command_receipts(const ShellOptions& options, UnixMillis now);
void drop_command_receipt(const ShellOptions& options, const std::string& attempt);

}  // namespace assent
