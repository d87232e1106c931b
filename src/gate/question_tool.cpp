#include "gate/question_tool.hpp"

#include "policy/question_answers.hpp"

#include <assent/ask_user.hpp>

namespace assent {
namespace {

constexpr auto ask_user_schema = R"({"type":"object","properties":{"questions":{"type":"array","minItems":1,"items":
{"type":"object","properties":{"key":{"type":"string","minLength":1},"prompt":{"type":"string","minLength":1},
"options":{"type":"array","items":{"type":"object","properties":{"label":{"type":"string"},"value":{"type":"string"},
"description":{"type":"string"},"allow_input":{"type":"boolean"}},"additionalProperties":false}},
"multi_select":{"type":"boolean"},"required":{"type":"boolean"}},"required":["key","prompt"],
"additionalProperties":false}}},"required":["questions"],"additionalProperties":false})";
constexpr auto confirm_schema = R"({"type":"object","properties":{"prompt":{"type":"string","minLength":1},
"details":{"type":"object"}},"required":["prompt"],"additionalProperties":false})";

class AskUserTool final : public QuestionTool {
public:
    explicit AskUserTool(Timeout timeout)
        : QuestionTool({.name = "ask_user",
                        .description = "Ask the user one or more questions and wait for the answers.",
                        .schema = ask_user_schema,
                        .read_only = true},
                       ApprovalKind::ask, timeout) {}

private:
    Result<Question> ask(const Arguments& arguments) const override {
        const auto* list = arguments.find("questions");
        if (list == nullptr) return Failure{FailureKind::refused, "there is no question to ask"};
        const auto questions = read_questions(*list);
        if (!questions) return questions.failure();
        return Question{.style = Style::policy,
                        .description = questions->size() == 1 ? questions->front().prompt : std::string(),
                        .payload = R"({"kind":"ask","questions":)" + std::string(list->text) + "}",
                        .allowed = {DecisionKind::respond, DecisionKind::deny}};
    }
};

class ConfirmTool final : public QuestionTool {
public:
    explicit ConfirmTool(Timeout timeout)
        : QuestionTool({.name = "confirm",
                        .description = "Ask the user a question of yes or no and wait for the answer.",
                        .schema = confirm_schema,
                        .read_only = true},
                       ApprovalKind::confirm, timeout) {}

private:
    Result<Question> ask(const Arguments& arguments) const override {
        const auto* prompt = arguments.find("prompt");
        const auto* details = arguments.find("details");
        if (prompt == nullptr || prompt->string.empty())
            return Failure{FailureKind::refused, "there is no question to ask"};
        const auto details_text = details == nullptr ? std::string() : std::string(details->text);
        return Question{.style = Style::policy,
                        .description = prompt->string,
                        .details = details_text,
                        .payload = R"({"kind":"confirm","prompt":)" + json_quote(prompt->string) + R"(,"details":)" +
                                   (details_text.empty() ? "null" : details_text) + "}",
                        .allowed = {DecisionKind::approve, DecisionKind::deny}};
    }
};

class ApproveTool final : public QuestionTool {
public:
    explicit ApproveTool(const ApproveQuestion& question)
        : QuestionTool({.name = question.tool_name}, ApprovalKind::approve, question.timeout), question_(question) {}

private:
    Result<Question> ask(const Arguments& arguments) const override {
        const auto& id = question_.tool_call_id;
        return Question{.style = Style::policy,
                        .description = question_.prompt,
                        .details = question_.details.root().keys.empty() ? std::string() : question_.details.text(),
                        .payload = R"({"kind":"approve","tool_name":)" + json_quote(question_.tool_name) +
                                   R"(,"tool_call_id":)" + (id ? json_quote(*id) : "null") + R"(,"args":)" +
                                   arguments.text() + R"(,"details":)" + question_.details.text() + "}",
                        .interrupt_id = id.value_or(""),
                        .allowed = {DecisionKind::approve, DecisionKind::deny, DecisionKind::edit}};
    }
    ApproveQuestion question_;
};

}  // namespace

QuestionTool::QuestionTool(ToolSpec spec, ApprovalKind kind, Timeout timeout)
    : Tool(std::move(spec)), kind_(kind), timeout_(timeout) {}

Result<Question> QuestionTool::question(const Arguments& arguments, std::optional<std::int64_t> otherwise) const {
    auto question = ask(arguments);
    if (question) question->timeout_ms = timeout_.milliseconds(otherwise);
    return question;
}

ToolResult QuestionTool::run(const ApprovedCall&) {
    return {.text = "Error: " + spec().name + " is answered by a person; it does not run", .is_error = true};
}

std::shared_ptr<QuestionTool> approve_question_tool(const ApproveQuestion& question) {
    return std::make_shared<ApproveTool>(question);
}

std::shared_ptr<Tool> ask_user_tool(Timeout timeout) {
    return std::make_shared<AskUserTool>(timeout);
}
std::shared_ptr<Tool> confirm_tool(Timeout timeout) {
    return std::make_shared<ConfirmTool>(timeout);
}

}  // namespace assent
