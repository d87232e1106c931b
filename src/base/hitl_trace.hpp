// One decision about a call as hosts are told of it, JSON text of an object.
#pragma once

#include <assent/clock.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace assent {

/// A person approved the call as it was. `by` may be empty: nobody knows who.
[[nodiscard]] std::string approval_trace(const std::string& id, const std::string& by, UnixMillis at);
/// Arguments are JSON text; `reason` may be empty.
[[nodiscard]] std::string edit_trace(const std::string& original_args, const std::string& edited_args,
                                     const std::string& reason);
/// `decision` is one of human_deny, policy_deny, cancelled, aborted. No reason is null.
[[nodiscard]] std::string decision_trace(std::string_view decision, const std::optional<std::string>& reason);
/// The same without the member `reason`: policy_error, timed_out.
[[nodiscard]] std::string decision_trace(std::string_view decision);
/// Whether this was made by `edit_trace` or `decision_trace`.
[[nodiscard]] bool has_decision(std::string_view trace) noexcept;

/// The JSON object `object` and one more member, whose value is JSON text.
[[nodiscard]] std::string with_member(std::string object, std::string_view key, const std::string& value);

}  // namespace assent
