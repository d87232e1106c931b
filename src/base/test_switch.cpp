#include "base/test_switch.hpp"

#ifdef ASSENT_TEST_POINTS

#include <cstdlib>

namespace assent {

bool switched_off(std::string_view protection) noexcept {
    const char* text = std::getenv(test_switch_name);
    std::string_view left = text == nullptr ? std::string_view() : text;
    while (!left.empty()) {
        const auto comma = left.find(',');
        if (left.substr(0, comma) == protection) return true;
        left = comma == std::string_view::npos ? std::string_view() : left.substr(comma + 1);
    }
    return false;
}

}  // namespace assent

#endif
