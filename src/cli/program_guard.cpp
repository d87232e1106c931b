#include "cli/program_guard.hpp"

#include "base/sha256.hpp"

#include <assent/tool.hpp>

#include <algorithm>

namespace assent::cli {
namespace {

bool has(const std::vector<std::string>& names, std::string_view name) {
    return std::any_of(names.begin(), names.end(), [&](const auto& known) { return known == name || known == "*"; });
}

Judgement ask(const std::string& reason) {
    return {.verdict = Verdict::ask, .reason = reason, .question = Question{}};
}

}  // namespace

std::string ProgramGuard::version() const {
    std::string all;
    for (const auto* list : {&names_.ask, &names_.allow, &names_.deny}) {
        for (const auto& name : *list) all += name + ",";
        all += ";";
    }
    return all == ";;;" ? "1" : hex(sha256(all)).substr(0, 12);
}

std::vector<std::string> ProgramGuard::tools_named() const {
    std::vector<std::string> names;
    for (const auto* list : {&names_.ask, &names_.allow, &names_.deny}) {
        std::copy_if(list->begin(), list->end(), std::back_inserter(names),
                     [](const auto& name) { return name != "*"; });
    }
    return names;
}

bool ProgramGuard::covers(std::string_view tool) const {
    return has(names_.deny, tool) || has(names_.ask, tool) || !has(names_.allow, tool);
}

Judgement ProgramGuard::judge(const GuardedCall& call) {
    if (has(names_.deny, call.tool_name))
        return {.verdict = Verdict::deny, .reason = "the user does not allow this tool"};
    if (has(names_.ask, call.tool_name)) return ask("the user wants to be asked about this tool");
    if (has(names_.allow, call.tool_name)) return {.verdict = Verdict::allow};
    if (call.tool != nullptr && call.tool->spec().read_only) return {.verdict = Verdict::allow};
    return ask("the tool writes or executes");
}

}  // namespace assent::cli
