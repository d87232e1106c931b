// What a running agent shows: progress for people, or one JSON event a line.
#pragma once

#include "cli/context.hpp"

#include <assent/agent.hpp>

#include <string>

namespace assent::cli {

/// A listener for AgentOptions. `context` must outlive the agent.
[[nodiscard]] std::function<void(const AgentEvent&)> show_events(const Context& context);

/// The end of a run: the final text or the JSON `result` line, what is open, and how to go on. Returns
/// the exit status.
int show_result(const Context& context, const Run& run);

/// `text` on one line for a note, made safe to show and capped.
[[nodiscard]] std::string brief(const std::string& text);

}  // namespace assent::cli
