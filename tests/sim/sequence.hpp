// One sequence: random operations on a world, then faults stop, everything is answered, and the auditor
// says what did not hold.
#pragma once

#include "sim/world.hpp"

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace assent::sim {

struct Outcomes {
    std::vector<Violation> violations;
    int operations = 0;
    std::map<std::string_view, std::int64_t> counts;  ///< Of operations, faults and what came of them.
    std::map<std::string_view, std::int64_t> events;  ///< In the journals at the end, by kind.
};

/// Everything follows from the seed; of its operations only those in `only` are made, if given. `story`
/// gets a line for each step, and the journals.
[[nodiscard]] Outcomes run_sequence(std::uint64_t seed, const std::optional<std::set<int>>& only = std::nullopt,
                                    std::vector<std::string>* story = nullptr);

/// The operations without which the sequence would not break this rule, so far as leaving out one after
/// the other shows.
[[nodiscard]] std::set<int> needed_operations(std::uint64_t seed, int operations, Rule rule);

}  // namespace assent::sim
