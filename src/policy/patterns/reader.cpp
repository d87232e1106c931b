#include "policy/patterns/reader.hpp"

#include "base/utf8.hpp"

#include <stdexcept>

namespace assent {
namespace {

constexpr std::size_t pattern_bytes_max = 64UL * 1024;

bool is_digit(char32_t c, int base) noexcept {
    if (base == 16 && ((c >= U'a' && c <= U'f') || (c >= U'A' && c <= U'F'))) return true;
    return c >= U'0' && c <= (base == 8 ? U'7' : U'9');
}

}  // namespace

void refuse_pattern(std::size_t position, const std::string& problem) {
    throw std::invalid_argument("pattern refused at character " + std::to_string(position) + ": " + problem);
}

PatternReader::PatternReader(std::string_view utf8) {
    if (utf8.size() > pattern_bytes_max) {
        refuse_pattern(0, "it has " + std::to_string(utf8.size()) + " bytes; at most " +
                              std::to_string(pattern_bytes_max) + " are taken");
    }
    bool escaped = false;
    for (; !utf8.empty(); ++end_) {
        const auto next = read_utf8(utf8);
        if (next.size == 0) refuse_pattern(end_, "not valid utf-8");
        utf8.remove_prefix(next.size);
        if (!escaped && next.point == U'\\') {
            escaped = true;
            continue;
        }
        tokens_.push_back({.point = next.point, .escaped = escaped, .position = escaped ? end_ - 1 : end_});
        escaped = false;
    }
    if (escaped) refuse_pattern(end_ - 1, "a backslash ends the pattern");
}

bool PatternReader::next_is_digit(int base) const noexcept {
    return !at_end() && !tokens_[at_].escaped && is_digit(tokens_[at_].point, base);
}

bool PatternReader::take(char32_t c) noexcept {
    if (!next_is(c)) return false;
    ++at_;
    return true;
}

std::u32string PatternReader::digits(std::size_t count, int base) {
    std::u32string found;
    while (found.size() < count && next_is_digit(base)) found += get().point;
    return found;
}

std::u32string PatternReader::until(char32_t end, const std::string& what, std::size_t opened_at) {
    std::u32string found;
    while (!at_end()) {
        const auto token = get();
        if (token.is(end)) {
            if (found.empty()) refuse_pattern(opened_at, what + " is missing");
            return found;
        }
        if (token.escaped) found += U'\\';
        found += token.point;
    }
    refuse_pattern(opened_at, what + " is not closed");
}

}  // namespace assent
