// The words of the policy style: what the model is told of calls that did not run.
#pragma once

#include <assent/approval.hpp>

#include <string>
#include <string_view>

namespace assent {

inline constexpr std::string_view policy_timeout_text = "approval_timeout";

/// The reason alone, as the policy or the person gave it.
[[nodiscard]] inline std::string blocked_text(const std::string& reason) {
    return reason.empty() ? "Tool execution was blocked" : reason;
}
[[nodiscard]] inline std::string cancelled_text(const std::string& reason, ApprovalKind kind = ApprovalKind::approve) {
    const bool question = kind == ApprovalKind::ask || kind == ApprovalKind::confirm;
    return (question ? "cancelled by user: " : "cancelled: ") + reason;
}

}  // namespace assent
