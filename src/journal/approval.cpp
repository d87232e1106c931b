#include <assent/approval.hpp>
#include <assent/model.hpp>
#include <assent/tool.hpp>

namespace assent {

std::string_view to_string(ApprovalKind kind) noexcept {
    return kind == ApprovalKind::unknown ? "unknown" : "approve";
}

std::string_view to_string(ApprovalState state) noexcept {
    switch (state) {
        case ApprovalState::open:
            return "open";
        case ApprovalState::approved:
            return "approved";
        case ApprovalState::denied:
            return "denied";
        case ApprovalState::edited:
            return "edited";
        case ApprovalState::answered:
            return "answered";
        case ApprovalState::resolved:
            return "resolved";
        case ApprovalState::timed_out:
            return "timed_out";
        case ApprovalState::withdrawn:
            return "withdrawn";
        case ApprovalState::aborted:
            return "aborted";
    }
    return "open";
}

std::string_view to_string(Resolution how) noexcept {
    switch (how) {
        case Resolution::done:
            return "done";
        case Resolution::retry:
            return "retry";
        case Resolution::fail:
            return "fail";
    }
    return "fail";
}

std::string_view to_string(OutcomeKind kind) noexcept {
    switch (kind) {
        case OutcomeKind::done:
            return "done";
        case OutcomeKind::failed:
            return "failed";
        case OutcomeKind::skipped:
            return "skipped";
        case OutcomeKind::denied:
            return "denied";
        case OutcomeKind::timed_out:
            return "timed_out";
        case OutcomeKind::cancelled:
            return "cancelled";
        case OutcomeKind::answered:
            return "answered";
        case OutcomeKind::unknown:
            return "unknown";
    }
    return "unknown";
}

std::string_view to_string(Role role) noexcept {
    switch (role) {
        case Role::user:
            return "user";
        case Role::assistant:
            return "assistant";
        case Role::tool:
            return "tool";
    }
    return "user";
}

}  // namespace assent
