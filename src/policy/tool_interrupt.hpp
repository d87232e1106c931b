// What a reviewer is shown of a call, as JSON text; the same as ToolInterrupt::json, without copies before it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace assent {

[[nodiscard]] std::string tool_interrupt_json(std::string_view tool, const std::optional<std::string_view>& id,
                                              std::string_view arguments);

}  // namespace assent
