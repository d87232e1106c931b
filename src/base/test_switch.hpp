// Lets a test take one protection away, to see whether the others hold alone. In test builds only.
//
// ASSENT_WITHOUT=landlock,mark,ancestry,memory,privileges   those named are left out; the tool never sees the variable.
// `landlock-from-3` leaves out what came with version 3 of Landlock's interface and after; `open-check` that path
// permissions are judged again at what a file tool has opened.
#pragma once

#include <string_view>

namespace assent {

inline constexpr const char* test_switch_name = "ASSENT_WITHOUT";

#ifdef ASSENT_TEST_POINTS
inline constexpr bool test_switches_compiled = true;
[[nodiscard]] bool switched_off(std::string_view protection) noexcept;
#else
inline constexpr bool test_switches_compiled = false;
[[nodiscard]] constexpr bool switched_off(std::string_view /*protection*/) noexcept {
    return false;
}
#endif

}  // namespace assent
