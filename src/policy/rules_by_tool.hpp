// Rules in their order, found by the tool of a call: what a decision costs does not grow with the rules of
// other tools.
#pragma once

#include <assent/rules.hpp>

#include <cstddef>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace assent {

/// True if the condition holds for these arguments or cannot be evaluated; none always holds.
[[nodiscard]] bool condition_holds(const Predicate& condition, const JsonText& arguments);

class RulesByTool {
public:
    explicit RulesByTool(std::vector<InterruptRule> rules);
    RulesByTool(const RulesByTool&) = delete;
    RulesByTool& operator=(const RulesByTool&) = delete;

    /// The same as should_interrupt with all the rules.
    [[nodiscard]] bool ask(std::string_view tool, const JsonText& arguments) const;
    [[nodiscard]] const std::vector<InterruptRule>& all() const noexcept { return rules_; }

private:
    using Positions = std::vector<std::size_t>;
    std::vector<InterruptRule> rules_;
    std::unordered_map<std::string_view, Positions> by_tool_;  // the names are those in rules_
    Positions any_tool_;
};

}  // namespace assent
