#include "policy/patterns/code_set.hpp"

#include <unicode/uchar.h>
#include <unicode/ustring.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <unordered_map>

namespace assent {
namespace {

constexpr std::uint8_t unicode_major = 14;
// No character beyond this one has a case.
constexpr char32_t cased_end = 0x20000;

bool assigned(char32_t point) {
    UVersionInfo age{};
    u_charAge(static_cast<UChar32>(point), age);
    return age[0] != 0 && age[0] <= unicode_major;
}

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

char32_t lower(char32_t point) {
    return static_cast<char32_t>(u_tolower(static_cast<UChar32>(point)));
}

std::u16string upper_text(char32_t point) {
    std::array<UChar, 2> source{};
    std::int32_t length = 0;
    UErrorCode status = U_ZERO_ERROR;
    u_strFromUTF32(source.data(), static_cast<std::int32_t>(source.size()), &length,
                   reinterpret_cast<const UChar32*>(&point), 1, &status);
    std::array<UChar, 8> upper{};
    const auto size =
        u_strToUpper(upper.data(), static_cast<std::int32_t>(upper.size()), source.data(), length, "", &status);
    return {upper.data(), static_cast<std::size_t>(U_SUCCESS(status) ? size : 0)};
}

struct CaseTables {
    std::map<char32_t, char32_t> lower_of;                           // only where it differs
    std::unordered_map<char32_t, std::vector<char32_t>> same_upper;  // lower-case ones, without itself
};

CaseTables make_case_tables() {
    CaseTables tables;
    std::map<std::u16string, std::set<char32_t>> lowers_by_upper;
    for (char32_t point = 0; point < cased_end; ++point) {
        const bool surrogate = point >= 0xd800 && point <= 0xdfff;
        if (surrogate || !assigned(point)) continue;
        const auto low = lower(point);
        if (low != point) tables.lower_of.emplace(point, low);
        const auto upper = upper_text(point);
        if (low != point || upper != upper_text(low) || upper.size() != 1 || upper[0] != point) {
            lowers_by_upper[upper].insert(low);
        }
    }
    for (const auto& [upper, lowers] : lowers_by_upper) {
        for (const auto low : lowers) {
            for (const auto other : lowers) {
                if (other != low) tables.same_upper[low].push_back(other);
            }
        }
    }
    return tables;
}

const CaseTables& case_tables() {
    static const CaseTables tables = make_case_tables();
    return tables;
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
    const auto after = std::ranges::upper_bound(ranges_, point, {}, &CodeRange::first);
    return after != ranges_.begin() && std::prev(after)->last >= point;
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

const CodeSet& digit_set() {
    static const CodeSet set = collect([](char32_t point) { return (category_bit(point) & U_GC_ND_MASK) != 0; });
    return set;
}

const SharedCodeSet& word_set() {
    static const SharedCodeSet set = std::make_shared<const CodeSet>(collect(
        [](char32_t point) { return point == U'_' || (category_bit(point) & (U_GC_L_MASK | U_GC_N_MASK)) != 0; }));
    return set;
}

const CodeSet& space_set() {
    static const CodeSet set({{0x09, 0x0d},
                              {0x1c, 0x20},
                              {0x85, 0x85},
                              {0xa0, 0xa0},
                              {0x1680, 0x1680},
                              {0x2000, 0x200a},
                              {0x2028, 0x2029},
                              {0x202f, 0x202f},
                              {0x205f, 0x205f},
                              {0x3000, 0x3000}});
    return set;
}

CodeSet without_case(const CodeSet& set) {
    const auto& tables = case_tables();
    auto lowers = set.ranges();
    for (const auto& [point, low] : tables.lower_of) {
        if (set.contains(point)) lowers.push_back({low, low});
    }
    const CodeSet all_lowers(lowers);
    for (const auto& [low, others] : tables.same_upper) {
        if (!all_lowers.contains(low)) continue;
        for (const auto other : others) lowers.push_back({other, other});
    }
    const CodeSet wanted(lowers);
    for (const auto& [point, low] : tables.lower_of) {
        if (wanted.contains(low)) lowers.push_back({point, point});
    }
    return CodeSet(std::move(lowers));
}

}  // namespace assent
