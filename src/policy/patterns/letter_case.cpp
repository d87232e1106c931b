#include "policy/patterns/letter_case.hpp"

#include <unicode/uchar.h>
#include <unicode/ustring.h>
#include <unicode/utf16.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>

namespace assent {
namespace {

// No character beyond this one has a case.
constexpr char32_t cased_end = 0x20000;

struct Pair {
    char32_t key = 0;
    char32_t value = 0;
};

// The whole upper case, of an eszett two letters; the character itself if it has none in Unicode 14.
std::u32string upper_text(char32_t point) {
    std::array<UChar, 2> source{};
    std::int32_t length = 0;
    U16_APPEND_UNSAFE(source.data(), length, static_cast<UChar32>(point));
    std::array<UChar, 8> upper{};
    UErrorCode status = U_ZERO_ERROR;
    const auto size =
        u_strToUpper(upper.data(), static_cast<std::int32_t>(upper.size()), source.data(), length, "", &status);
    std::u32string text;
    for (std::int32_t i = 0; U_SUCCESS(status) && i < size;) {
        UChar32 next = 0;
        U16_NEXT_UNSAFE(upper.data(), i, next);
        text += static_cast<char32_t>(next);
    }
    const bool known = !text.empty() && std::ranges::all_of(text, assigned);
    return known ? text : std::u32string(1, point);
}

char32_t lower_of(char32_t point) {
    const auto low = static_cast<char32_t>(u_tolower(static_cast<UChar32>(point)));
    return assigned(low) ? low : point;
}

struct Tables {
    std::vector<Pair> lower;                               // character, its lower case; only where it differs
    std::vector<Pair> by_lower;                            // lower case, character
    std::vector<Pair> by_upper;                            // start of the upper case, character
    CodeSet unchanged;                                     // characters that are their own lower case
    CodeSet cased;                                         // characters with another case
    std::map<char32_t, std::vector<char32_t>> same_upper;  // lower-case ones, without itself
};

void sort(std::vector<Pair>& pairs) {
    std::ranges::sort(pairs, {}, &Pair::key);
}

Tables make_tables() {
    Tables tables;
    std::vector<CodeRange> changed;
    std::vector<CodeRange> cased;
    std::map<std::u32string, std::set<char32_t>> lowers_by_upper;
    for (char32_t point = 0; point < cased_end; ++point) {
        if (U_IS_SURROGATE(point) || !assigned(point)) continue;
        const auto low = lower_of(point);
        const auto upper = upper_text(point);
        if (low != point) {
            tables.lower.push_back({point, low});
            tables.by_lower.push_back({low, point});
            changed.push_back({point, point});
        }
        if (upper.front() != point) tables.by_upper.push_back({upper.front(), point});
        if (low != point || upper.front() != point) {
            cased.push_back({point, point});
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
    sort(tables.by_lower);
    sort(tables.by_upper);
    tables.unchanged = CodeSet(std::move(changed)).complement();
    tables.cased = CodeSet(std::move(cased));
    return tables;
}

const Tables& tables() {
    static const Tables made = make_tables();
    return made;
}

void append_values(const std::vector<Pair>& pairs, CodeRange range, std::vector<CodeRange>& out) {
    auto next = std::ranges::lower_bound(pairs, range.first, {}, &Pair::key);
    for (; next != pairs.end() && next->key <= range.last; ++next) out.push_back({next->value, next->value});
}

const CodeSet& ascii_letters() {
    static const CodeSet set({{U'A', U'Z'}, {U'a', U'z'}});
    return set;
}

constexpr CodeRange ascii_upper{U'A', U'Z'};
constexpr CodeRange ascii_lower{U'a', U'z'};
constexpr char32_t ascii_step = U'a' - U'A';

// What `range` has within `part`, moved by `step`.
void append_moved(CodeRange range, CodeRange part, std::int32_t step, std::vector<CodeRange>& out) {
    const auto first = std::max(range.first, part.first);
    const auto last = std::min(range.last, part.last);
    if (first <= last) out.push_back({first + static_cast<char32_t>(step), last + static_cast<char32_t>(step)});
}

const CodeSet& unchanged(LetterCase letters) {
    static const CodeSet without_ascii = CodeSet({ascii_upper}).complement();
    return letters == LetterCase::unicode ? tables().unchanged : without_ascii;
}

}  // namespace

char32_t lower_case(char32_t point, LetterCase letters) noexcept {
    if (point < 128 || letters != LetterCase::unicode) {
        const bool upper = point >= ascii_upper.first && point <= ascii_upper.last;
        return upper && letters != LetterCase::exact ? point + ascii_step : point;
    }
    const auto& lower = tables().lower;
    const auto found = std::ranges::lower_bound(lower, point, {}, &Pair::key);
    return found != lower.end() && found->key == point ? found->value : point;
}

bool has_case(CodeRange range, LetterCase letters) noexcept {
    if (letters == LetterCase::exact) return false;
    return (letters == LetterCase::unicode ? tables().cased : ascii_letters()).meets(range);
}

bool has_case(char32_t point, LetterCase letters) noexcept {
    return has_case({point, point}, letters);
}

void append_lower_case(CodeRange range, LetterCase letters, std::vector<CodeRange>& out) {
    unchanged(letters).append_within(range, out);
    if (letters == LetterCase::unicode) {
        append_values(tables().lower, range, out);
    } else {
        append_moved(range, ascii_upper, ascii_step, out);
    }
}

void append_upper_case_in(CodeRange range, std::vector<CodeRange>& out) {
    append_values(tables().by_upper, range, out);
}

CodeSet with_same_upper_case(const CodeSet& set) {
    auto ranges = set.ranges();
    for (const auto& [low, others] : tables().same_upper) {
        if (!set.contains(low)) continue;
        for (const auto other : others) ranges.push_back({other, other});
    }
    return CodeSet(std::move(ranges));
}

CodeSet with_lower_case_in(const CodeSet& set, LetterCase letters) {
    std::vector<CodeRange> ranges;
    for (const auto& range : set.ranges()) {
        unchanged(letters).append_within(range, ranges);
        if (letters == LetterCase::unicode) {
            append_values(tables().by_lower, range, ranges);
        } else {
            append_moved(range, ascii_lower, -static_cast<std::int32_t>(ascii_step), ranges);
        }
    }
    return CodeSet(std::move(ranges));
}

}  // namespace assent
