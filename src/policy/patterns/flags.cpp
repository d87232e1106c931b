#include "policy/patterns/flags.hpp"

#include "base/utf8.hpp"

#include <string_view>

namespace assent {
namespace {

constexpr std::u32string_view letters = U"aimstux";

bool is_flag(const Token& token) noexcept {
    return !token.escaped && letters.contains(token.point);
}

void set(PatternFlags& flags, char32_t letter, bool on) noexcept {
    if (letter == U'i') flags.ignore_case = on;
    if (letter == U'm') flags.multi_line = on;
    if (letter == U's') flags.dot_all = on;
    if (letter == U'x') flags.verbose = on;
    if (letter == U'a') flags.ascii = on;
    if (letter == U'u') flags.unicode = on;
    if (letter == U't') flags.no_repeats = on;
}

std::string listed(const std::u32string& flags) {
    std::string out;
    for (const auto c : flags) append_utf8(out, c);
    return out;
}

class FlagReader {
public:
    FlagReader(PatternReader& reader, std::size_t start) : in_(reader), start_(start) {}

    ReadFlags read(Token token, const PatternFlags& now) {
        std::u32string on;
        std::u32string off;
        while (is_flag(token)) token = add(on, token);
        if (token.is(U'-')) {
            token = next();
            if (!is_flag(token)) refuse("a flag is missing after -");
            while (is_flag(token)) token = add(off, token);
            if (!token.is(U':')) refuse("a colon is missing after the flags");
        }
        if (token.is(U'L')) refuse("the flag L is for bytes only");
        if (!token.is(U':') && !token.is(U')')) refuse("after flags come more of them, - or : or )");
        if (on.contains(U'a') && on.contains(U'u')) refuse("the flags a and u exclude each other");
        return token.is(U':') ? for_group(now, on, off) : for_pattern(now, on);
    }

private:
    [[noreturn]] void refuse(const std::string& problem) const { refuse_pattern(start_, problem); }

    Token next() {
        if (in_.at_end()) refuse("the group is not closed");
        return in_.get();
    }

    Token add(std::u32string& flags, const Token& token) {
        flags += token.point;
        return next();
    }

    ReadFlags for_pattern(PatternFlags flags, const std::u32string& on) const {
        for (const auto letter : on) set(flags, letter, true);
        if (flags.ascii && flags.unicode) refuse("the flags a and u exclude each other");
        return {.flags = flags, .of_group = false};
    }

    ReadFlags for_group(PatternFlags flags, const std::u32string& on, const std::u32string& off) const {
        if (on.contains(U't') || off.contains(U't')) refuse("the flag t is for a whole pattern");
        if (off.contains(U'a') || off.contains(U'u')) refuse("the flags " + listed(off) + " cannot be turned off");
        if (on.contains(U'a') || on.contains(U'u')) flags.ascii = flags.unicode = false;
        for (const auto letter : on) set(flags, letter, true);
        for (const auto letter : off) {
            if (on.contains(letter)) refuse("the flag " + listed({letter}) + " is turned on and off");
            set(flags, letter, false);
        }
        return {.flags = flags, .of_group = true};
    }

    PatternReader& in_;
    std::size_t start_;
};

}  // namespace

ReadFlags read_flags(PatternReader& reader, Token token, const PatternFlags& now, std::size_t start) {
    return FlagReader(reader, start).read(token, now);
}

}  // namespace assent
