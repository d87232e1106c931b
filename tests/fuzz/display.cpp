// Text from models and tools made safe to show, cut and quoted.
#include "fuzz/fuzz.hpp"

#include "base/utf8.hpp"

#include <assent/arguments.hpp>

#include <unicode/uchar.h>

namespace assent {
namespace {

using fuzz::require;

constexpr char32_t joiner = 0x200d;
constexpr char32_t emoji_form = 0xfe0f;

// Nothing that a terminal obeys, that changes the order of letters, or that cannot be seen; but what
// binds emoji together.
void require_visible(std::string_view text, Lines lines) {
    char32_t before = 0;
    while (!text.empty()) {
        const auto [c, size] = read_utf8(text);
        require(size != 0, "what is shown is utf-8");
        text.remove_prefix(size);
        const auto type = u_charType(static_cast<UChar32>(c));
        if (c == emoji_form) {
            require(before > 0x7f && before != emoji_form && before != joiner, "the form of an emoji follows it");
        } else if (c == joiner) {
            require(before > 0x7f && before != joiner, "a joiner follows an emoji");
            const auto after = static_cast<UChar32>(read_utf8(text).point);
            require(u_hasBinaryProperty(after, UCHAR_EMOJI) != 0, "a joiner has an emoji after it");
        } else if (type == U_CONTROL_CHAR) {
            require(lines == Lines::keep && (c == '\n' || c == '\t'), "no control character is shown");
        } else {
            require(type != U_FORMAT_CHAR && type != U_LINE_SEPARATOR && type != U_PARAGRAPH_SEPARATOR &&
                        type != U_PRIVATE_USE_CHAR && type != U_UNASSIGNED,
                    "nothing that cannot be seen is shown");
            require(u_hasBinaryProperty(static_cast<UChar32>(c), UCHAR_BIDI_CONTROL) == 0, "no order is changed");
        }
        before = c;
    }
}

void check_shown(const std::string& text, Lines lines) {
    const auto shown = safe_to_show(text, lines);
    require_visible(shown.text, lines);
    const auto again = safe_to_show(shown.text, lines);
    require(again.text == shown.text && !again.hidden_characters, "what is safe stays as it is");
    if (lines == Lines::keep && !shown.hidden_characters) require(shown.text == text, "what hides nothing is kept");
}

}  // namespace
}  // namespace assent

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace assent;
    fuzz::Bytes bytes(data, size);
    const std::size_t most = bytes.number();
    const auto text = bytes.rest();
    check_shown(text, Lines::keep);
    check_shown(text, Lines::escape);
    const auto repaired = repaired_utf8(text);
    require(valid_utf8(repaired), "what is repaired is utf-8");
    require(!valid_utf8(text) || repaired == text, "what needs no repair is kept");
    const auto cut = capped(repaired, most);
    require(valid_utf8(cut), "a cut is between characters");
    require(repaired.size() > most || cut == repaired, "what is short enough is not cut");
    const auto quoted = JsonText::parse(json_quote(text), {.bytes_max = 8 * JsonLimits{}.bytes_max});
    require(quoted && quoted->root().string == repaired, "what is quoted is read back");
    return 0;
}
