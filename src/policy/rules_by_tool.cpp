#include "policy/rules_by_tool.hpp"

#include <cxxabi.h>

namespace assent {

// A condition that fails in any way counts as a match: better one question too many.
bool condition_holds(const Predicate& condition, const JsonText& arguments) {
    if (!condition) return true;
    try {
        return condition(arguments);
    } catch (const abi::__forced_unwind&) {
        throw;  // The thread is being cancelled; swallowing this would end the process.
    } catch (...) {
        return true;
    }
}

RulesByTool::RulesByTool(std::vector<InterruptRule> rules) : rules_(std::move(rules)) {
    for (std::size_t i = 0; i < rules_.size(); ++i) {
        (rules_[i].tool == "*" ? any_tool_ : by_tool_[rules_[i].tool]).push_back(i);
    }
}

// Both lists together, in the order of the rules: a rule after the first that holds is never called.
bool RulesByTool::ask(std::string_view tool, const JsonText& arguments) const {
    static const Positions none;
    const auto found = by_tool_.find(tool);
    const auto& named = found == by_tool_.end() ? none : found->second;
    auto next_named = named.begin();
    auto next_any = any_tool_.begin();
    while (next_named != named.end() || next_any != any_tool_.end()) {
        const bool take_named = next_any == any_tool_.end() || (next_named != named.end() && *next_named < *next_any);
        const auto position = take_named ? *next_named++ : *next_any++;
        if (condition_holds(rules_[position].match, arguments)) return true;
    }
    return false;
}

}  // namespace assent
