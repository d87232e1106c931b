// Answers in the rules style, as decisions.
#pragma once

#include <assent/approval.hpp>
#include <assent/rules.hpp>

namespace assent {

/// The decision that an answer in this style comes to.
[[nodiscard]] Decision decision_of(const RulesAnswer& answer);

}  // namespace assent
