// Texts as JSON strings.
#pragma once

#include <string>
#include <string_view>

namespace assent {

/// Appends `text` with quotes around it. Bytes that are no UTF-8 are kept as they are.
void append_quoted(std::string& out, std::string_view text);

}  // namespace assent
