#include <assent/verdict.hpp>

namespace assent {

std::string_view to_string(Verdict verdict) noexcept {
    switch (verdict) {
        case Verdict::allow:
            return "allow";
        case Verdict::ask:
            return "ask";
        case Verdict::deny:
            return "deny";
    }
    return "deny";
}

std::string_view to_string(DecisionKind kind) noexcept {
    switch (kind) {
        case DecisionKind::approve:
            return "approve";
        case DecisionKind::deny:
            return "deny";
        case DecisionKind::edit:
            return "edit";
        case DecisionKind::respond:
            return "respond";
    }
    return "deny";
}

std::optional<DecisionKind> decision_kind(std::string_view name) noexcept {
    for (auto kind : {DecisionKind::approve, DecisionKind::deny, DecisionKind::edit, DecisionKind::respond}) {
        if (name == to_string(kind)) return kind;
    }
    return std::nullopt;
}

std::string_view to_string(Style style) noexcept {
    switch (style) {
        case Style::assent:
            return "assent";
        case Style::rules:
            return "rules";
        case Style::table:
            return "table";
        case Style::policy:
            return "policy";
    }
    return "assent";
}

}  // namespace assent
