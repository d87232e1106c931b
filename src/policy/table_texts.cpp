#include "policy/table_texts.hpp"

#include <assent/arguments.hpp>

#include <array>
#include <utility>

namespace assent {
namespace {

constexpr std::string_view respond_notice_key = "respond_notice";
constexpr std::string_view reject_text_key = "reject_text";
constexpr std::string_view reason_alone = "reason";

// A text among the details of the question; empty if it is not there.
std::string detail(const Question& question, std::string_view key) {
    const auto details = Arguments::parse(question.details);
    const auto* found = details ? details->find(key) : nullptr;
    return found == nullptr ? std::string() : found->string;
}

}  // namespace

std::string_view table_word(DecisionKind kind) noexcept {
    return kind == DecisionKind::deny ? "reject" : to_string(kind);
}

std::optional<DecisionKind> table_decision(std::string_view word) noexcept {
    return word == "reject" ? DecisionKind::deny : decision_kind(word);
}

std::string table_words(const std::vector<DecisionKind>& kinds) {
    std::string list;
    for (const auto kind : kinds) list += (list.empty() ? "" : ", ") + std::string(table_word(kind));
    return list;
}

std::string question_details(const InterruptOnOptions& options) {
    std::string members;
    const auto add = [&](std::string_view key, std::string_view value) {
        members += (members.empty() ? "" : ",") + json_quote(key) + ":" + json_quote(value);
    };
    if (!options.respond_notice.empty()) add(respond_notice_key, options.respond_notice);
    if (options.reject_text == RejectText::reason) add(reject_text_key, reason_alone);
    return members.empty() ? members : "{" + members + "}";
}

std::string rejected_text(const Approval& approval, const std::string& reason) {
    const auto rejected = "User rejected the tool call for `" + approval.tool + "`";
    if (reason.empty()) {
        return rejected + (approval.tool_call_id ? " with id " + *approval.tool_call_id : std::string()) +
               ". The tool was not executed. Do not retry this tool call unless the user explicitly requests it.";
    }
    if (detail(approval.question, reject_text_key) == reason_alone) return reason;
    return rejected + " with reason: " + reason;
}

std::string responded_text(const Approval& approval, const std::string& text) {
    const auto notice = detail(approval.question, respond_notice_key);
    return notice.empty() ? text : notice + "\n\n" + text;
}

std::string edited_result(const std::string& notice, std::string_view tool, std::string_view arguments,
                          const std::string& result) {
    auto text = notice + "\nExecuted instead: " + std::string(tool) + " with arguments " + std::string(arguments) + ".";
    if (!result.empty()) text += "\n\nTool response:\n" + result;
    return text;
}

}  // namespace assent
