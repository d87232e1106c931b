#include "policy/patterns/names.hpp"

#include "policy/patterns/code_set.hpp"

#include <unicode/uchar.h>

#include <algorithm>

namespace assent {
namespace {

// The longest name of a character has 88 letters.
constexpr std::size_t name_max = 256;
constexpr std::string_view ideograph = "CJK UNIFIED IDEOGRAPH-";
// No pattern has so many groups.
constexpr std::size_t group_max = 1'000'000;

bool begins_name(char32_t c) noexcept {
    return c == U'_' || (u_hasBinaryProperty(static_cast<UChar32>(c), UCHAR_XID_START) != 0 && assigned(c));
}

bool continues_name(char32_t c) noexcept {
    return u_hasBinaryProperty(static_cast<UChar32>(c), UCHAR_XID_CONTINUE) != 0 && assigned(c);
}

bool is_space(char32_t c) noexcept {
    return space_set(c < 128).contains(c);
}

std::optional<char32_t> character_named(const std::string& name) {
    UErrorCode status = U_ZERO_ERROR;
    const auto point = static_cast<char32_t>(u_charFromName(U_UNICODE_CHAR_NAME, name.c_str(), &status));
    if (U_FAILURE(status) || point > last_code_point || !assigned(point)) return std::nullopt;
    return point;
}

}  // namespace

bool is_group_name(const std::u32string& name) {
    return !name.empty() && begins_name(name.front()) && std::ranges::all_of(name, continues_name);
}

std::optional<std::size_t> group_number(const std::u32string& name) {
    std::u32string_view text = name;
    while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
    while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
    if (text.starts_with(U'+')) text.remove_prefix(1);
    std::size_t number = 0;
    bool digit_before = false;
    for (const auto c : text) {
        if (c == U'_' && digit_before) {
            digit_before = false;
            continue;
        }
        if (!digit_set(false).contains(c)) return std::nullopt;
        number = std::min(number * 10 + static_cast<std::size_t>(u_charDigitValue(static_cast<UChar32>(c))), group_max);
        digit_before = true;
    }
    if (!digit_before) return std::nullopt;
    return number;
}

std::optional<char32_t> character_called(const std::u32string& name) {
    if (name.size() > name_max) return std::nullopt;
    std::string upper;
    bool capitals = true;
    for (const auto c : name) {
        if (c < U' ' || c > U'~') return std::nullopt;
        const bool lower = c >= U'a' && c <= U'z';
        capitals = capitals && !lower;
        upper += static_cast<char>(lower ? c - (U'a' - U'A') : c);
    }
    // Of the names that are made by a rule these are found in capitals only, or not at all.
    const bool by_rule = upper.starts_with("HANGUL SYLLABLE ") || upper.starts_with(ideograph);
    if ((by_rule && !capitals) || upper.starts_with("TANGUT IDEOGRAPH-")) return std::nullopt;
    // Such a number has four or five digits, the first of which may be a zero.
    constexpr auto ideograph_digits = ideograph.size() + 5;
    if (upper.starts_with(ideograph) && upper.size() == ideograph_digits && upper[ideograph.size()] == '0') {
        upper.erase(ideograph.size(), 1);
    }
    // No alias is a name, and to look for a name takes long if there is none.
    const auto point = character_with_alias(upper);
    return point ? point : character_named(upper);
}

}  // namespace assent
