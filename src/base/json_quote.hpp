// Texts as JSON strings.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace assent {

/// How many bytes at the beginning of `text` stand in a JSON string as they are.
[[nodiscard]] std::size_t plain_size(std::string_view text) noexcept;

/// Appends `text` with quotes around it. Bytes that are no UTF-8 are kept as they are.
void append_quoted(std::string& out, std::string_view text);

}  // namespace assent
