// The host's side of a played process: its tools, hooks, guards, and what the model says.
#pragma once

#include "sim/process.hpp"

#include <assent/guard.hpp>
#include <assent/middleware.hpp>
#include <assent/model.hpp>

namespace assent::sim {

[[nodiscard]] std::vector<std::shared_ptr<Tool>> host_tools(World& world, Process& process);
[[nodiscard]] std::vector<std::shared_ptr<Middleware>> host_middleware(World& world, Process& process);
[[nodiscard]] std::vector<std::shared_ptr<Guard>> host_guards(World& world, Process& process);

/// Whether twice is harmless; known to the auditor, too.
[[nodiscard]] bool is_idempotent(std::string_view tool);

/// Arguments that guards, hooks and bodies read their part from.
[[nodiscard]] std::string any_arguments(test::Dice& dice);
[[nodiscard]] std::string any_tool(test::Dice& dice);
[[nodiscard]] ModelTurn any_turn(test::Dice& dice, int turns_before);

}  // namespace assent::sim
