#include "base/display.hpp"

#include "base/utf8.hpp"

#include <unicode/uchar.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstring>

namespace assent {
namespace {

bool is_emoji(char32_t c) noexcept {
    return c > 0x7f && u_hasBinaryProperty(static_cast<UChar32>(c), UCHAR_EMOJI) != 0;
}

// Is `c`, which cannot be seen itself, a part of an emoji here? A selector follows one, a joiner stands
// between two. More of them in a row show nothing, but could carry a message of their own.
bool binds_emoji(char32_t before, char32_t c, std::string_view after) noexcept {
    constexpr char32_t joiner = 0x200d;
    constexpr char32_t selector = 0xfe0f;
    if (c == selector) return is_emoji(before);
    return c == joiner && (is_emoji(before) || before == selector) && is_emoji(read_utf8(after).point);
}

bool is_invisible(char32_t c) noexcept {
    const auto point = static_cast<UChar32>(c);
    switch (u_charType(point)) {
        case U_CONTROL_CHAR:
        case U_FORMAT_CHAR:
        case U_LINE_SEPARATOR:
        case U_PARAGRAPH_SEPARATOR:
        case U_PRIVATE_USE_CHAR:
        case U_SURROGATE:
        case U_UNASSIGNED:
            return true;
        case U_SPACE_SEPARATOR:
            return c != ' ' && c != 0x3000;
        default:
            return u_hasBinaryProperty(point, UCHAR_DEFAULT_IGNORABLE_CODE_POINT) != 0;
    }
}

void append_escape(std::string& out, char32_t c) {
    switch (c) {
        case '\n':
            out += "\\n";
            return;
        case '\t':
            out += "\\t";
            return;
        case '\r':
            out += "\\r";
            return;
        default:
            break;
    }
    std::array<char, 16> text{};
    std::snprintf(text.data(), text.size(), "\\u{%x}", static_cast<unsigned>(c));
    out += text.data();
}

}  // namespace

Shown safe_to_show(std::string_view text, Lines lines) {
    Shown shown;
    char32_t before = 0;  // as it is; 0 if it was escaped
    for (std::size_t at = 0; at < text.size();) {
        const auto [c, size] = read_utf8(text.substr(at));
        if (size == 0) {
            std::array<char, 8> escape{};
            std::snprintf(escape.data(), escape.size(), "\\x%02x", static_cast<unsigned char>(text[at]));
            shown.text += escape.data();
            shown.hidden_characters = true;
            ++at;
            before = 0;
            continue;
        }
        const bool kept_line = lines == Lines::keep && (c == '\n' || c == '\t');
        if (kept_line || !is_invisible(c) || binds_emoji(before, c, text.substr(at + size))) {
            shown.text += text.substr(at, size);
            before = c;
        } else {
            before = 0;
            append_escape(shown.text, c);
            shown.hidden_characters = shown.hidden_characters || (c != '\n' && c != '\t');
        }
        at += size;
    }
    return shown;
}

bool valid_utf8(std::string_view text) noexcept {
    constexpr std::uint64_t high_bits = 0x8080'8080'8080'8080;
    while (!text.empty()) {
        // Most text is ASCII: eight characters at once.
        std::uint64_t eight = 0;
        while (text.size() >= sizeof eight) {
            std::memcpy(&eight, text.data(), sizeof eight);
            if ((eight & high_bits) != 0) break;
            text.remove_prefix(sizeof eight);
        }
        if (text.empty()) return true;
        const auto size = read_utf8(text).size;
        if (size == 0) return false;
        text.remove_prefix(size);
    }
    return true;
}

std::string repaired_utf8(std::string_view text) {
    if (valid_utf8(text)) return std::string(text);
    std::string out;
    while (!text.empty()) {
        const auto size = read_utf8(text).size;
        if (size == 0) {
            out += "\xef\xbf\xbd";
            text.remove_prefix(1);
        } else {
            out += text.substr(0, size);
            text.remove_prefix(size);
        }
    }
    return out;
}

std::string capped(std::string_view text, std::size_t bytes_max) {
    if (text.size() <= bytes_max) return std::string(text);
    auto cut = bytes_max;
    while (cut > 0 && (static_cast<unsigned char>(text[cut]) & 0xc0) == 0x80) --cut;
    return std::string(text.substr(0, cut)) + " … (" + std::to_string(text.size() - cut) + " more bytes cut)";
}

}  // namespace assent
