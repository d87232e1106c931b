// Compiled as a release is, without test points: no rule can be broken there.
#include "base/mutation.hpp"

namespace {

constexpr bool any_rule_can_be_broken() {
    for (std::uint8_t rule = 0; rule < 32; ++rule) {
        if (assent::mutated(static_cast<assent::Rule>(rule))) return true;
    }
    return assent::mutations_compiled;
}
static_assert(!any_rule_can_be_broken());

}  // namespace
