// The rules that never bend (docs/concepts.md), each of which tests/sim breaks at a line that keeps it,
// to prove that the simulation would notice. Outside test builds nothing can be broken: a constant.
#pragma once

#include <cstdint>

namespace assent {

/// Numbered as in docs/concepts.md.
enum class Rule : std::uint8_t {
    one_door = 1,
    exact_call = 2,
    first_answer = 3,
    at_most_once = 4,
    no_replay = 5,
    closed_in_doubt = 6,
    strictest_wins = 7,
    waiting_costs_nothing = 8,  ///< Checked, but nowhere broken.
    on_record = 9,
};

#ifdef ASSENT_TEST_POINTS
inline constexpr bool mutations_compiled = true;
/// The rule that is broken, 0 for none. Set while no gate is in use.
inline std::uint8_t mutated_rule = 0;
[[nodiscard]] inline bool mutated(Rule rule) noexcept {
    return mutated_rule == static_cast<std::uint8_t>(rule);
}
#else
inline constexpr bool mutations_compiled = false;
[[nodiscard]] constexpr bool mutated(Rule) noexcept {
    return false;
}
#endif

}  // namespace assent
