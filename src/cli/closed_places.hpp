// What decides about an agent, and so lies outside every workspace and is closed to every tool.
#pragma once

#include "cli/context.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace assent::cli {

/// The state folder, the configuration, and the files of the database that is in use.
[[nodiscard]] std::vector<std::string> closed_paths(const Context& context);

/// Failure kind `usage` if `folder`, where an agent may write, holds any of them, a link on the way to one, or this
/// program with its helper, or if it lies in one of the folders.
Result<void> check_outside(const Context& context, const std::filesystem::path& folder);

}  // namespace assent::cli
