// Calls that are questions: they have no body, a person's answer is their result.
#pragma once

#include <assent/approval.hpp>
#include <assent/channel.hpp>
#include <assent/timeout.hpp>
#include <assent/tool.hpp>

#include <memory>
#include <string>

namespace assent {

class QuestionTool : public Tool {
public:
    QuestionTool(ToolSpec spec, ApprovalKind kind, Timeout timeout);

    [[nodiscard]] ApprovalKind kind() const noexcept { return kind_; }
    /// The question of a call. Its time-out is `otherwise` (milliseconds) unless the tool says one. Failure
    /// `refused`: these arguments ask nothing.
    Result<Question> question(const Arguments& arguments, std::optional<std::int64_t> otherwise) const;

private:
    [[nodiscard]] virtual Result<Question> ask(const Arguments& arguments) const = 0;
    [[nodiscard]] ToolResult run(const ApprovedCall& call) final;

    ApprovalKind kind_;
    Timeout timeout_;
};

/// May this be done? For those who ask outside of an agent: what they do with the answer is theirs.
[[nodiscard]] std::shared_ptr<QuestionTool> approve_question_tool(const ApproveQuestion& question);

}  // namespace assent
