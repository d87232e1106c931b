#include "base/json_quote.hpp"

#include "base/display.hpp"

#include <assent/arguments.hpp>

#include <array>

namespace assent {
namespace {

constexpr auto plain = [] {
    std::array<bool, 256> table{};
    for (std::size_t c = 0x20; c < table.size(); ++c) table[c] = c != '"' && c != '\\';
    return table;
}();

void append_escaped(std::string& out, char c) {
    static constexpr std::string_view digits = "0123456789abcdef";
    switch (c) {
        case '"':
            out += "\\\"";
            break;
        case '\\':
            out += "\\\\";
            break;
        case '\b':
            out += "\\b";
            break;
        case '\f':
            out += "\\f";
            break;
        case '\n':
            out += "\\n";
            break;
        case '\r':
            out += "\\r";
            break;
        case '\t':
            out += "\\t";
            break;
        default:
            out += "\\u00";
            out += digits[static_cast<unsigned char>(c) >> 4];
            out += digits[c & 0xf];
    }
}

}  // namespace

std::size_t plain_size(std::string_view text) noexcept {
    std::size_t size = 0;
    while (size < text.size() && plain[static_cast<unsigned char>(text[size])]) ++size;
    return size;
}

void append_quoted(std::string& out, std::string_view text) {
    out += '"';
    while (true) {
        const auto size = plain_size(text);
        out.append(text.substr(0, size));
        if (size == text.size()) break;
        append_escaped(out, text[size]);
        text.remove_prefix(size + 1);
    }
    out += '"';
}

std::string json_quote(std::string_view text) {
    std::string out;
    if (valid_utf8(text)) {
        append_quoted(out, text);
    } else {
        append_quoted(out, repaired_utf8(text));
    }
    return out;
}

}  // namespace assent
