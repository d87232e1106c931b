#include "base/json_quote.hpp"

#include "base/display.hpp"

#include <assent/arguments.hpp>

namespace assent {
namespace {

bool is_plain(char c) noexcept {
    return static_cast<unsigned char>(c) >= 0x20 && c != '"' && c != '\\';
}

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

void append_quoted(std::string& out, std::string_view text) {
    out += '"';
    std::size_t copied = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (is_plain(text[i])) continue;
        out.append(text.substr(copied, i - copied));
        append_escaped(out, text[i]);
        copied = i + 1;
    }
    out.append(text.substr(copied));
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
