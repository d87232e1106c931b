#include <assent/result.hpp>

namespace assent {

std::string_view to_string(FailureKind kind) noexcept {
    switch (kind) {
        case FailureKind::usage:
            return "usage";
        case FailureKind::not_found:
            return "not_found";
        case FailureKind::ambiguous:
            return "ambiguous";
        case FailureKind::conflict:
            return "conflict";
        case FailureKind::expired:
            return "expired";
        case FailureKind::refused:
            return "refused";
        case FailureKind::unknown_thread:
            return "unknown_thread";
        case FailureKind::no_checkpointer:
            return "no_checkpointer";
        case FailureKind::waiting:
            return "waiting";
        case FailureKind::leased:
            return "leased";
        case FailureKind::database:
            return "database";
        case FailureKind::model:
            return "model";
        case FailureKind::tool:
            return "tool";
        case FailureKind::policy:
            return "policy";
        case FailureKind::internal:
            return "internal";
    }
    return "internal";
}

}  // namespace assent
