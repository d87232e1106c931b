// What an approval is bound to, the texts a model reads, and the content of answers.
#pragma once

#include "journal/thread.hpp"

#include <string>
#include <vector>

namespace assent {

/// SHA-256 over thread, turn, position, ask number, tool, the exact arguments, the model's bytes, the guards of
/// the question and their versions, hex. Of `asked` it reads what a question is asked with, nothing of the call.
[[nodiscard]] std::string binding_of(const std::string& thread_id, const journal::Call& call,
                                     const journal::Asked& asked);

/// The same for every start of this call.
[[nodiscard]] std::string idempotency_key(const std::string& thread_id, const journal::CallRef& call);

/// What the model is told of a denial by a guard.
[[nodiscard]] std::string denial_text(const std::string& tool, const std::string& reason);
/// What it is told of a denial by a person, and of a result that a person gave, in the approval's style.
[[nodiscard]] std::string denial_text(const Approval& approval, const std::string& reason);
[[nodiscard]] std::string response_text(const Approval& approval, const std::string& text);

/// SHA-256 of a decision's content; equal decisions are equal whatever the blanks and key order.
[[nodiscard]] std::string answer_digest(DecisionKind kind, const std::string& tool, const std::string& arguments,
                                        const std::string& message);

/// The guards whose approvals can no longer be used: too old, or given for something else.
[[nodiscard]] std::vector<std::string> void_approvals(const std::string& thread_id, const journal::Call& call,
                                                      UnixMillis now);

}  // namespace assent
