// The arguments of a built-in tool, by name and kind.
//
// The first problem is kept; what is read after it has no meaning. An argument the tool does not know
// is one: a reviewer may have read something into it.
#pragma once

#include <assent/arguments.hpp>
#include <assent/tool.hpp>

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

namespace assent {

class CallArguments {
public:
    CallArguments(const Arguments& arguments, std::initializer_list<std::string_view> known);

    [[nodiscard]] std::string text(std::string_view name);
    /// `otherwise` if it is missing or null.
    [[nodiscard]] std::string text(std::string_view name, std::string_view otherwise);
    [[nodiscard]] std::int64_t whole_number(std::string_view name, std::int64_t otherwise);
    [[nodiscard]] bool flag(std::string_view name, bool otherwise);

    [[nodiscard]] const std::optional<ToolResult>& problem() const noexcept { return problem_; }

private:
    void refuse(std::string_view name, std::string_view what);
    const Arguments& arguments_;
    std::optional<ToolResult> problem_;
};

/// A result for the model: `Error: ` and the text.
[[nodiscard]] ToolResult error_result(std::string_view text);

}  // namespace assent
