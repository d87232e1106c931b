// Defects that a store of several nodes could have. Each is played on purpose to see whether the auditor notices.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace assent::sim {

enum class Weakness : std::uint8_t {
    none,
    takes_old_fences,     ///< A runner whose thread another has taken may go on with it.
    promises_too_long,    ///< A runner believes to keep its threads when it does not.
    looks_before_commit,  ///< Who doubts looks while its commit is still under way, and does not see it.
    keeps_no_marks,       ///< An answer leaves no mark for those who would go on with the thread.
    forgets_lost_takes,   ///< A mark stays taken by a runner that was never told of it.
};

inline constexpr std::array<std::string_view, 6> weakness_names{
    "none",           "old fences are taken", "leases promised for too long", "doubts end before the commit",
    "marks not kept", "lost marks stay taken"};

/// Set while no world is played.
inline Weakness played_weakness = Weakness::none;
[[nodiscard]] inline bool is_weak(Weakness weakness) noexcept {
    return played_weakness == weakness;
}

}  // namespace assent::sim
