#include "policy/patterns/code_set.hpp"

#include <unicode/uchar.h>

#include <algorithm>
#include <cstdint>
#include <iterator>

namespace assent {
namespace {

constexpr std::uint8_t unicode_major = 14;

template <class Wanted>
CodeSet collect(Wanted wanted) {
    std::vector<CodeRange> ranges;
    for (char32_t point = 0; point <= last_code_point; ++point) {
        if (!wanted(point) || !assigned(point)) continue;
        if (!ranges.empty() && ranges.back().last + 1 == point) {
            ranges.back().last = point;
        } else {
            ranges.push_back({point, point});
        }
    }
    return CodeSet(std::move(ranges));
}

std::uint32_t category_bit(char32_t point) {
    return U_GET_GC_MASK(static_cast<UChar32>(point));
}

const CodeSet& digits_of_all_scripts() {
    static const CodeSet set = collect([](char32_t point) { return (category_bit(point) & U_GC_ND_MASK) != 0; });
    return set;
}

const CodeSet& words_of_all_scripts() {
    static const CodeSet set = collect(
        [](char32_t point) { return point == U'_' || (category_bit(point) & (U_GC_L_MASK | U_GC_N_MASK)) != 0; });
    return set;
}

}  // namespace

CodeSet::CodeSet(std::vector<CodeRange> ranges) {
    std::ranges::sort(ranges, {}, &CodeRange::first);
    for (const auto& range : ranges) {
        if (!ranges_.empty() && range.first <= ranges_.back().last + 1) {
            ranges_.back().last = std::max(ranges_.back().last, range.last);
        } else {
            ranges_.push_back(range);
        }
    }
}

bool CodeSet::contains(char32_t point) const noexcept {
    return meets({point, point});
}

bool CodeSet::meets(CodeRange range) const noexcept {
    const auto after = std::ranges::upper_bound(ranges_, range.last, {}, &CodeRange::first);
    return after != ranges_.begin() && std::prev(after)->last >= range.first;
}

void CodeSet::append_within(CodeRange range, std::vector<CodeRange>& out) const {
    auto next = std::ranges::lower_bound(ranges_, range.first, {}, &CodeRange::last);
    for (; next != ranges_.end() && next->first <= range.last; ++next) {
        out.push_back({std::max(next->first, range.first), std::min(next->last, range.last)});
    }
}

CodeSet CodeSet::complement() const {
    std::vector<CodeRange> gaps;
    char32_t next = 0;
    for (const auto& range : ranges_) {
        if (range.first > next) gaps.push_back({next, range.first - 1});
        next = range.last + 1;
    }
    if (next <= last_code_point) gaps.push_back({next, last_code_point});
    return CodeSet(std::move(gaps));
}

bool assigned(char32_t point) noexcept {
    UVersionInfo age{};
    u_charAge(static_cast<UChar32>(point), age);
    return age[0] != 0 && age[0] <= unicode_major;
}

const CodeSet& digit_set(bool ascii) {
    static const CodeSet ascii_digits({{U'0', U'9'}});
    return ascii ? ascii_digits : digits_of_all_scripts();
}

const CodeSet& word_set(bool ascii) {
    static const CodeSet ascii_words({{U'0', U'9'}, {U'A', U'Z'}, {U'_', U'_'}, {U'a', U'z'}});
    return ascii ? ascii_words : words_of_all_scripts();
}

const CodeSet& space_set(bool ascii) {
    static const CodeSet ascii_spaces({{0x09, 0x0d}, {0x20, 0x20}});
    static const CodeSet all_spaces({{0x09, 0x0d},
                                     {0x1c, 0x20},
                                     {0x85, 0x85},
                                     {0xa0, 0xa0},
                                     {0x1680, 0x1680},
                                     {0x2000, 0x200a},
                                     {0x2028, 0x2029},
                                     {0x202f, 0x202f},
                                     {0x205f, 0x205f},
                                     {0x3000, 0x3000}});
    return ascii ? ascii_spaces : all_spaces;
}

}  // namespace assent
