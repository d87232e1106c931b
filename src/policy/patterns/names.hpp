// Names within patterns: of groups and of characters.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace assent {

/// May a group have this name?
[[nodiscard]] bool is_group_name(const std::u32string& name);

/// The group that a condition asks for by number. As the dialect reads numbers: digits of any script,
/// single underscores between them, a plus before and space around. Nothing if it is no number.
[[nodiscard]] std::optional<std::size_t> group_number(const std::u32string& name);

/// The character of this Unicode 14 name, or alias of a name.
[[nodiscard]] std::optional<char32_t> character_called(const std::u32string& name);

/// The same for aliases only, in capitals.
[[nodiscard]] std::optional<char32_t> character_with_alias(std::string_view name);

}  // namespace assent
