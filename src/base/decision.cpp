#include <assent/approval.hpp>

#include <utility>

namespace assent {

Decision approve() {
    return {.kind = DecisionKind::approve};
}
Decision deny(std::string reason) {
    return {.kind = DecisionKind::deny, .message = std::move(reason)};
}
Decision edit(std::string arguments) {
    return {.kind = DecisionKind::edit, .arguments = std::move(arguments), .mode = EditMode::replace};
}
Decision edit_keys(std::string changes) {
    return {.kind = DecisionKind::edit, .arguments = std::move(changes), .mode = EditMode::merge};
}
Decision respond(std::string text) {
    return {.kind = DecisionKind::respond, .message = std::move(text)};
}

}  // namespace assent
