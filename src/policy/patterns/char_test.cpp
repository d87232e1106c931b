#include "policy/patterns/char_test.hpp"

#include <algorithm>

namespace assent {
namespace {

using Kind = SetMember::Kind;

CodeSet exact_set(const CharSource& source) {
    std::vector<CodeRange> ranges;
    for (const auto& member : source.members) {
        if (member.kind == Kind::character || member.kind == Kind::range) ranges.push_back(member.range);
    }
    return CodeSet(std::move(ranges));
}

CodeSet with_other_cases(const CodeSet& lowers, LetterCase letters) {
    return letters == LetterCase::unicode ? with_same_upper_case(lowers) : lowers;
}

CodeSet one_letter(char32_t point, LetterCase letters) {
    if (!has_case(point, letters)) return CodeSet({{point, point}});
    const auto low = lower_case(point, letters);
    return with_lower_case_in(with_other_cases(CodeSet({{low, low}}), letters), letters);
}

// The dialect compares the lower case of a character of the text with the lower case of the members.
// Past the first plane it does not: a single member stands for itself only, so a capital there is never
// met, and a range takes a character if its lower case, or the upper case of that, is within it.
CodeSet folded_set(const CharSource& source, LetterCase letters) {
    std::vector<CodeRange> lowers;
    std::vector<CodeRange> as_they_are;
    bool cased = false;
    for (const auto& [kind, range] : source.members) {
        if (kind != Kind::character && kind != Kind::range) continue;
        const bool beyond = range.last > last_of_first_plane;
        cased = cased || beyond || has_case(range, letters);
        if (range.first <= last_of_first_plane) {
            append_lower_case({range.first, std::min(range.last, last_of_first_plane)}, letters, lowers);
        }
        if (beyond) as_they_are.push_back(range);
        if (beyond && kind == Kind::range) append_upper_case_in(range, as_they_are);
    }
    if (!cased) return exact_set(source);
    auto wanted = with_other_cases(CodeSet(std::move(lowers)), letters).ranges();
    wanted.insert(wanted.end(), as_they_are.begin(), as_they_are.end());
    return with_lower_case_in(CodeSet(std::move(wanted)), letters);
}

CodeSet set_of(const CharSource& source, LetterCase letters) {
    if (letters == LetterCase::exact) return exact_set(source);
    const auto& members = source.members;
    if (members.size() == 1 && members.front().kind == Kind::character) {
        return one_letter(members.front().range.first, letters);
    }
    return folded_set(source, letters);
}

}  // namespace

CharTest::CharTest(const CharSource& source, CharFlags flags)
    : set_(set_of(source, flags.letters)), negated_(source.negated) {
    for (const auto& [kind, range] : source.members) {
        if (kind == Kind::digit || kind == Kind::no_digit) {
            kinds_.push_back({&digit_set(flags.ascii), kind == Kind::no_digit});
        } else if (kind == Kind::space || kind == Kind::no_space) {
            kinds_.push_back({&space_set(flags.ascii), kind == Kind::no_space});
        } else if (kind == Kind::word || kind == Kind::no_word) {
            kinds_.push_back({&word_set(flags.ascii), kind == Kind::no_word});
        }
    }
    for (char32_t c = 0; c < low_.size(); ++c) low_[c] = looks_up(c);
}

bool CharTest::looks_up(char32_t c) const noexcept {
    const auto in_kind = [c](const CharKind& kind) { return kind.set->contains(c) != kind.outside; };
    return (set_.contains(c) || std::ranges::any_of(kinds_, in_kind)) != negated_;
}

}  // namespace assent
