#include "base/hitl_trace.hpp"

#include "base/time_text.hpp"

#include <assent/arguments.hpp>

namespace assent {
namespace {

constexpr std::string_view decision_start = R"({"decision":)";

std::string text_or_null(const std::optional<std::string>& text) {
    return text ? json_quote(*text) : "null";
}

}  // namespace

std::string with_member(std::string object, std::string_view key, const std::string& value) {
    object.pop_back();
    return object + (object.size() == 1 ? "" : ",") + json_quote(key) + ":" + value + "}";
}

std::string approval_trace(const std::string& id, const std::string& by, UnixMillis at) {
    return R"({"approval":)" + json_quote(id) + R"(,"by":)" +
           text_or_null(by.empty() ? std::nullopt : std::optional(by)) + R"(,"at":)" + json_quote(rfc3339(at)) + "}";
}

std::string edit_trace(const std::string& original_args, const std::string& edited_args, const std::string& reason) {
    auto trace = std::string(decision_start) + R"("edit","original_args":)" + original_args + R"(,"edited_args":)" +
                 edited_args + "}";
    return reason.empty() ? trace : with_member(std::move(trace), "reason", json_quote(reason));
}

std::string decision_trace(std::string_view decision, const std::optional<std::string>& reason) {
    return with_member(decision_trace(decision), "reason", text_or_null(reason));
}

std::string decision_trace(std::string_view decision) {
    return std::string(decision_start) + json_quote(decision) + "}";
}

bool has_decision(std::string_view trace) noexcept {
    return trace.starts_with(decision_start);
}

}  // namespace assent
