#include "base/utf8.hpp"
#include "policy/patterns/parser.hpp"
#include "policy/patterns/reader.hpp"

#include <limits>

namespace assent {
namespace {

constexpr std::size_t pattern_bytes_max = 64UL * 1024;

int digit_value(char32_t c) noexcept {
    if (c >= U'0' && c <= U'9') return static_cast<int>(c - U'0');
    if (c >= U'a' && c <= U'f') return static_cast<int>(c - U'a') + 10;
    if (c >= U'A' && c <= U'F') return static_cast<int>(c - U'A') + 10;
    return std::numeric_limits<int>::max();
}

char32_t number_of(const std::u32string& digits, unsigned base) noexcept {
    char32_t value = 0;
    for (const auto c : digits) value = value * base + static_cast<char32_t>(digit_value(c));
    return value;
}

bool ascii_letter(char32_t c) noexcept {
    return (c >= U'a' && c <= U'z') || (c >= U'A' && c <= U'Z');
}

Escape character(char32_t point) {
    return {.kind = Escape::Kind::character, .point = point, .set = nullptr, .group = 0};
}

Escape position(Escape::Kind kind) {
    return {.kind = kind, .point = 0, .set = nullptr, .group = 0};
}

Escape any_of(CodeSet set) {
    return {.kind = Escape::Kind::set, .point = 0, .set = std::make_shared<const CodeSet>(std::move(set)), .group = 0};
}

Escape hexadecimal(PatternReader& reader, std::size_t start, std::size_t count) {
    const auto digits = reader.digits(count, 16);
    if (digits.size() < count) {
        refuse_pattern(start, "this escape needs " + std::to_string(count) + " hex digits");
    }
    const auto point = number_of(digits, 16);
    if (point > last_code_point) refuse_pattern(start, "there is no such character");
    return character(point);
}

// The escapes that mean the same inside and outside of a set.
std::optional<Escape> common_escape(PatternReader& reader, std::size_t start, char32_t c) {
    switch (c) {
        case U'd':
            return any_of(digit_set());
        case U'D':
            return any_of(digit_set().complement());
        case U's':
            return any_of(space_set());
        case U'S':
            return any_of(space_set().complement());
        case U'w':
            return Escape{.kind = Escape::Kind::set, .point = 0, .set = word_set(), .group = 0};
        case U'W':
            return any_of(word_set()->complement());
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
            return hexadecimal(reader, start, 2);
        case U'u':
            return hexadecimal(reader, start, 4);
        case U'U':
            return hexadecimal(reader, start, 8);
        case U'N':
            refuse_pattern(start, "characters by name are not supported");
        default:
            return std::nullopt;
    }
}

Escape octal(const std::u32string& digits, std::size_t start) {
    const auto point = number_of(digits, 8);
    if (point > 0377) refuse_pattern(start, "an octal escape goes up to \\377");
    return character(point);
}

// One or two digits are a group, three octal ones a character.
Escape reference_or_octal(PatternReader& reader, std::size_t start, char32_t first) {
    std::u32string digits(1, first);
    digits += reader.digits(1, 10);
    if (digits.size() == 2 && digit_value(digits[0]) < 8 && digit_value(digits[1]) < 8) {
        const auto third = reader.digits(1, 8);
        if (!third.empty()) return octal(digits + third, start);
    }
    Escape escape = position(Escape::Kind::reference);
    escape.group = number_of(digits, 10);
    return escape;
}

[[noreturn]] void refuse_unknown(std::size_t start, char32_t c) {
    std::string problem = "unknown escape \\";
    append_utf8(problem, c);
    refuse_pattern(start, problem);
}

}  // namespace

PatternReader::PatternReader(std::string_view utf8) {
    if (utf8.size() > pattern_bytes_max) {
        refuse_pattern(0, "it has " + std::to_string(utf8.size()) + " bytes; at most " +
                              std::to_string(pattern_bytes_max) + " are taken");
    }
    while (!utf8.empty()) {
        const auto next = read_utf8(utf8);
        if (next.size == 0) refuse_pattern(text_.size(), "not valid utf-8");
        text_ += next.point;
        utf8.remove_prefix(next.size);
    }
}

bool PatternReader::take(char32_t c) noexcept {
    if (!next_is(c)) return false;
    ++at_;
    return true;
}

std::u32string PatternReader::digits(std::size_t count, int base) {
    std::u32string found;
    while (found.size() < count && !at_end() && digit_value(peek()) < base) found += get();
    return found;
}

std::u32string PatternReader::until(char32_t end, const std::string& what, std::size_t opened_at) {
    std::u32string found;
    while (!at_end()) {
        const auto c = get();
        if (c == end) return found;
        found += c;
    }
    refuse_pattern(opened_at, what + " is not closed");
}

Escape read_escape(PatternReader& reader, std::size_t start) {
    if (reader.at_end()) refuse_pattern(start, "a backslash ends the pattern");
    const auto c = reader.get();
    switch (c) {
        case U'A':
            return position(Escape::Kind::text_start);
        case U'Z':
            return position(Escape::Kind::text_end);
        case U'b':
            return position(Escape::Kind::word_edge);
        case U'B':
            return position(Escape::Kind::no_word_edge);
        case U'0':
            return octal(U"0" + reader.digits(2, 8), start);
        default:
            break;
    }
    if (c >= U'1' && c <= U'9') return reference_or_octal(reader, start, c);
    if (auto escape = common_escape(reader, start, c)) return *escape;
    if (ascii_letter(c)) refuse_unknown(start, c);
    return character(c);
}

Escape read_set_escape(PatternReader& reader, std::size_t start) {
    if (reader.at_end()) refuse_pattern(start, "a backslash ends the pattern");
    const auto c = reader.get();
    if (c == U'b') return character(0x08);
    if (c >= U'0' && c <= U'7') return octal(std::u32string(1, c) + reader.digits(2, 8), start);
    if (c == U'8' || c == U'9') refuse_unknown(start, c);
    if (auto escape = common_escape(reader, start, c)) return *escape;
    if (ascii_letter(c)) refuse_unknown(start, c);
    return character(c);
}

}  // namespace assent
