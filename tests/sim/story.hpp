// The journals of a world, for people: what a failing seed prints.
#pragma once

#include "sim/world.hpp"

#include <string>
#include <vector>

namespace assent::sim {

/// Adds a line for each event, with who appended it.
void tell_journals(World& world, std::vector<std::string>& story);

}  // namespace assent::sim
