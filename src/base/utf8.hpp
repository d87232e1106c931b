// Single characters of UTF-8 text.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace assent {

struct Utf8Character {
    char32_t point = 0;
    std::size_t size = 0;  ///< In bytes; 0: the text does not begin with a well-formed character.
};

/// The first character of `text`. Overlong forms, surrogates and values past U+10FFFF are not well-formed.
[[nodiscard]] inline Utf8Character read_utf8(std::string_view text) noexcept {
    const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
    const auto tail = [&](std::size_t i) { return (byte(i) & 0xc0U) == 0x80U; };
    const char32_t first = byte(0);
    if (text.empty()) return {};
    if (first < 0x80) return {first, 1};
    if (first < 0xc2) return {};
    if (first < 0xe0) return tail(1) ? Utf8Character{(first & 0x1f) << 6 | (byte(1) & 0x3f), 2} : Utf8Character{};
    if (first < 0xf0) {
        const char32_t point = (first & 0x0f) << 12 | (byte(1) & 0x3f) << 6 | (byte(2) & 0x3f);
        const bool good = tail(1) && tail(2) && point >= 0x800 && (point < 0xd800 || point > 0xdfff);
        return good ? Utf8Character{point, 3} : Utf8Character{};
    }
    if (first < 0xf5) {
        const char32_t point = (first & 0x07) << 18 | (byte(1) & 0x3f) << 12 | (byte(2) & 0x3f) << 6 | (byte(3) & 0x3f);
        const bool good = tail(1) && tail(2) && tail(3) && point >= 0x10000 && point <= 0x10ffff;
        return good ? Utf8Character{point, 4} : Utf8Character{};
    }
    return {};
}

inline void append_utf8(std::string& out, char32_t point) {
    if (point < 0x80) {
        out += static_cast<char>(point);
    } else if (point < 0x800) {
        out += static_cast<char>(0xc0 | point >> 6);
        out += static_cast<char>(0x80 | (point & 0x3f));
    } else if (point < 0x10000) {
        out += static_cast<char>(0xe0 | point >> 12);
        out += static_cast<char>(0x80 | (point >> 6 & 0x3f));
        out += static_cast<char>(0x80 | (point & 0x3f));
    } else {
        out += static_cast<char>(0xf0 | point >> 18);
        out += static_cast<char>(0x80 | (point >> 12 & 0x3f));
        out += static_cast<char>(0x80 | (point >> 6 & 0x3f));
        out += static_cast<char>(0x80 | (point & 0x3f));
    }
}

}  // namespace assent
