#include "base/utf8.hpp"
#include "policy/patterns/names.hpp"
#include "policy/patterns/reader.hpp"

#include <algorithm>
#include <optional>

namespace assent {
namespace {

using Kind = SetMember::Kind;

char32_t digit_value(char32_t c) noexcept {
    if (c <= U'9') return c - U'0';
    return (c >= U'a' ? c - U'a' : c - U'A') + 10;
}

char32_t number_of(const std::u32string& digits, unsigned base) noexcept {
    char32_t value = 0;
    for (const auto c : digits) value = value * base + digit_value(c);
    return value;
}

bool ascii_letter(char32_t c) noexcept {
    return (c >= U'a' && c <= U'z') || (c >= U'A' && c <= U'Z');
}

SetMember character(char32_t point) {
    return {.kind = Kind::character, .range = {point, point}};
}

SetMember any_of(Kind kind) {
    return {.kind = kind, .range = {}};
}

Escape place(Escape::Kind kind) {
    return {.kind = kind, .member = {}, .group = 0};
}

SetMember hexadecimal(PatternReader& reader, std::size_t start, std::size_t count) {
    const auto digits = reader.digits(count, 16);
    if (digits.size() < count) {
        refuse_pattern(start, "this escape needs " + std::to_string(count) + " hex digits");
    }
    const auto point = number_of(digits, 16);
    if (point > last_code_point) refuse_pattern(start, "there is no such character");
    return character(point);
}

SetMember named(PatternReader& reader, std::size_t start) {
    if (!reader.take(U'{')) refuse_pattern(start, "a name in braces is missing");
    const auto point = character_called(reader.until(U'}', "the character name", start));
    if (!point) refuse_pattern(start, "no character has this name");
    return character(*point);
}

// The escapes that mean the same inside and outside of a set.
std::optional<SetMember> common_escape(PatternReader& reader, const Token& token) {
    switch (token.point) {
        case U'd':
            return any_of(Kind::digit);
        case U'D':
            return any_of(Kind::no_digit);
        case U's':
            return any_of(Kind::space);
        case U'S':
            return any_of(Kind::no_space);
        case U'w':
            return any_of(Kind::word);
        case U'W':
            return any_of(Kind::no_word);
        case U'a':
            return character(0x07);
        case U'f':
            return character(0x0c);
        case U'n':
            return character(0x0a);
        case U'r':
            return character(0x0d);
        case U't':
            return character(0x09);
        case U'v':
            return character(0x0b);
        case U'x':
            return hexadecimal(reader, token.position, 2);
        case U'u':
            return hexadecimal(reader, token.position, 4);
        case U'U':
            return hexadecimal(reader, token.position, 8);
        case U'N':
            return named(reader, token.position);
        default:
            return std::nullopt;
    }
}

SetMember octal(const std::u32string& digits, std::size_t start) {
    const auto point = number_of(digits, 8);
    if (point > 0377) refuse_pattern(start, "an octal escape goes up to \\377");
    return character(point);
}

// One or two digits are a group, three octal ones a character.
Escape reference_or_octal(PatternReader& reader, const Token& token) {
    std::u32string digits(1, token.point);
    digits += reader.digits(1, 10);
    const bool octal_so_far = std::ranges::all_of(digits, [](char32_t c) { return c <= U'7'; });
    if (digits.size() == 2 && octal_so_far && reader.next_is_digit(8)) {
        return {
            .kind = Escape::Kind::member, .member = octal(digits + reader.digits(1, 8), token.position), .group = 0};
    }
    auto escape = place(Escape::Kind::reference);
    escape.group = number_of(digits, 10);
    return escape;
}

SetMember itself(const Token& token) {
    const auto c = token.point;
    if (ascii_letter(c) || c == U'8' || c == U'9') {
        std::string problem = "unknown escape \\";
        append_utf8(problem, c);
        refuse_pattern(token.position, problem);
    }
    return character(c);
}

SetMember member(PatternReader& reader, const Token& token) {
    const auto common = common_escape(reader, token);
    return common ? *common : itself(token);
}

}  // namespace

Escape read_escape(PatternReader& reader, const Token& token) {
    switch (token.point) {
        case U'A':
            return place(Escape::Kind::text_start);
        case U'Z':
            return place(Escape::Kind::text_end);
        case U'b':
            return place(Escape::Kind::word_edge);
        case U'B':
            return place(Escape::Kind::no_word_edge);
        case U'0':
            return {.kind = Escape::Kind::member, .member = octal(reader.digits(2, 8), token.position), .group = 0};
        default:
            break;
    }
    if (token.point >= U'1' && token.point <= U'9') return reference_or_octal(reader, token);
    return {.kind = Escape::Kind::member, .member = member(reader, token), .group = 0};
}

SetMember read_set_escape(PatternReader& reader, const Token& token) {
    const auto c = token.point;
    if (c == U'b') return character(0x08);
    if (c >= U'0' && c <= U'7') return octal(std::u32string(1, c) + reader.digits(2, 8), token.position);
    return member(reader, token);
}

}  // namespace assent
