#include <assent/hitl.hpp>

#include "policy/question_answers.hpp"

#include <algorithm>

namespace assent {
namespace {

constexpr double ms_per_second = 1000;

std::string list_of(const std::vector<std::string>& texts) {
    std::string list;
    for (const auto& text : texts) list += (list.empty() ? "" : ",") + json_quote(text);
    return "[" + list + "]";
}

}  // namespace

HitlRequest hitl_request(const Approval& approval) {
    HitlRequest request{.id = approval.id,
                        .question_id = approval.question.interrupt_id,
                        .thread_id = approval.thread,
                        .payload = {.kind = approval.kind,
                                    .tool_name = approval.tool,
                                    .tool_call_id = approval.tool_call_id,
                                    .prompt = approval.question.description},
                        .created_at = approval.asked_at,
                        .deadline = approval.deadline};
    if (request.question_id.empty()) request.question_id = approval.id;
    if (auto args = Arguments::parse(approval.arguments)) request.payload.args = *args;
    if (auto details = Arguments::parse(approval.question.details)) request.payload.details = *details;
    if (approval.deadline)
        request.timeout_seconds = static_cast<double>(*approval.deadline - approval.asked_at) / ms_per_second;
    const auto payload = JsonText::parse(approval.question.payload);
    const auto* questions = payload ? payload->root().find("questions") : nullptr;
    if (questions != nullptr) {
        if (auto read = read_questions(*questions)) request.payload.questions = std::move(read).value();
    }
    return request;
}

std::string ApproveAnswer::json() const {
    std::string text = R"({"decision":)" + json_quote(to_string(decision));
    if (edited_args) text += R"(,"edited_args":)" + *edited_args;
    if (reason) text += R"(,"reason":)" + json_quote(*reason);
    return text + "}";
}

std::string hitl_answers_json(const HitlAnswers& answers, const std::vector<HitlQuestion>& questions) {
    std::string members;
    for (const auto& [key, values] : answers) {
        const auto question = std::ranges::find(questions, key, &HitlQuestion::key);
        const bool list = question != questions.end() ? question->multi_select : values.size() != 1;
        members += (members.empty() ? "" : ",") + json_quote(key) + ":" +
                   (list || values.size() != 1 ? list_of(values) : json_quote(values.front()));
    }
    return "{" + members + "}";
}

std::string hitl_questions_json(const std::vector<HitlQuestion>& questions) {
    const auto flag = [](bool value) { return value ? std::string("true") : std::string("false"); };
    std::string list;
    for (const auto& question : questions) {
        std::string options;
        for (const auto& option : question.options) {
            options += (options.empty() ? "" : ",") + (R"({"label":)" + json_quote(option.label)) + R"(,"value":)" +
                       json_quote(option.value) + R"(,"description":)" + json_quote(option.description) +
                       R"(,"allow_input":)" + flag(option.allow_input) + "}";
        }
        list += (list.empty() ? "" : ",") + (R"({"key":)" + json_quote(question.key)) + R"(,"prompt":)" +
                json_quote(question.prompt) + R"(,"options":[)" + options + R"(],"multi_select":)" +
                flag(question.multi_select) + R"(,"required":)" + flag(question.required) + "}";
    }
    return "[" + list + "]";
}

std::string_view hitl_event_name(const HitlEvent& event) noexcept {
    constexpr std::string_view names[] = {"hitl_request", "hitl_answer", "agent_suspended", "agent_aborted"};
    return names[event.index()];
}

}  // namespace assent
