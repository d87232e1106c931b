// The events of a thread, one readable line each.
#pragma once

#include "cli/terminal.hpp"

#include <assent/approvals.hpp>

#include <string>
#include <vector>

namespace assent::cli {

/// One line for each event, without line feeds: when, and what happened.
[[nodiscard]] std::vector<std::string> history_lines(const std::vector<HistoryEntry>& entries,
                                                     const Terminal& terminal);

}  // namespace assent::cli
