#include "policy/patterns/parser.hpp"

#include "base/utf8.hpp"
#include "policy/patterns/reader.hpp"

#include <unicode/uchar.h>

#include <map>
#include <stdexcept>

namespace assent {
namespace {

using Kind = PatternNode::Kind;

constexpr std::size_t depth_max = 100;
// The engine below takes no larger ones.
constexpr std::uint64_t repeat_max = 65535;

std::string utf8(const std::u32string& text) {
    std::string out;
    for (const auto c : text) append_utf8(out, c);
    return out;
}

bool is_name(const std::u32string& text) {
    if (text.empty()) return false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto c = static_cast<UChar32>(text[i]);
        const bool fits = i == 0 ? u_hasBinaryProperty(c, UCHAR_XID_START) : u_hasBinaryProperty(c, UCHAR_XID_CONTINUE);
        if (!fits && c != U'_') return false;
    }
    return true;
}

class Parser {
public:
    explicit Parser(std::string_view pattern) : in_(pattern) {}

    ParsedPattern parse() {
        auto root = choice(0);
        if (!in_.at_end()) refuse_pattern(in_.position(), "there is no group to close");
        return {.root = std::move(root), .captures = groups_};
    }

private:
    struct Flags {
        bool ignore_case = false;
        bool multi_line = false;
        bool dot_all = false;
    };

    PatternNode node(Kind kind, std::size_t position) const {
        PatternNode made;
        made.kind = kind;
        made.position = position;
        return made;
    }

    PatternNode one_of(const CodeSet& set, bool negated, std::size_t position) const {
        auto made = node(Kind::set, position);
        const auto folded = flags_.ignore_case ? without_case(set) : set;
        made.set = std::make_shared<const CodeSet>(negated ? folded.complement() : folded);
        return made;
    }

    PatternNode literal(char32_t c, std::size_t position) const { return one_of(CodeSet({{c, c}}), false, position); }

    PatternNode choice(std::size_t depth) {
        if (depth > depth_max) {
            refuse_pattern(in_.position(), "groups are nested more than " + std::to_string(depth_max) + " deep");
        }
        auto made = node(Kind::choice, in_.position());
        do {
            made.items.push_back(sequence(depth, depth == 0 && made.items.empty()));
        } while (in_.take(U'|'));
        return made;
    }

    PatternNode sequence(std::size_t depth, bool flags_allowed) {
        auto made = node(Kind::sequence, in_.position());
        while (!in_.at_end() && !in_.next_is(U'|') && !in_.next_is(U')')) {
            const auto start = in_.position();
            const auto c = in_.get();
            if (c == U'(') {
                if (auto item = group(start, depth, flags_allowed && made.items.empty())) {
                    made.items.push_back(std::move(*item));
                }
            } else if (c == U'*' || c == U'+' || c == U'?' || c == U'{') {
                repeat(made, start, c);
            } else {
                made.items.push_back(simple(c, start));
            }
        }
        return made;
    }

    PatternNode simple(char32_t c, std::size_t start) {
        switch (c) {
            case U'.':
                return any(start);
            case U'^':
                return node(flags_.multi_line ? Kind::line_start : Kind::text_start, start);
            case U'$':
                return node(flags_.multi_line ? Kind::line_end : Kind::last_line_end, start);
            case U'[':
                return set(start);
            case U'\\':
                return escape(start);
            default:
                return literal(c, start);
        }
    }

    PatternNode any(std::size_t start) const {
        auto made = node(Kind::set, start);
        made.set = std::make_shared<const CodeSet>(flags_.dot_all ? CodeSet().complement()
                                                                  : CodeSet({{U'\n', U'\n'}}).complement());
        return made;
    }

    PatternNode escape(std::size_t start) {
        const auto read = read_escape(in_, start);
        switch (read.kind) {
            case Escape::Kind::character:
                return literal(read.point, start);
            case Escape::Kind::set: {
                auto made = node(Kind::set, start);
                made.set = read.set;
                return made;
            }
            case Escape::Kind::reference:
                return reference(read.group, start);
            case Escape::Kind::text_start:
                return node(Kind::text_start, start);
            case Escape::Kind::text_end:
                return node(Kind::text_end, start);
            case Escape::Kind::word_edge:
                return node(Kind::word_edge, start);
            case Escape::Kind::no_word_edge:
                break;
        }
        return node(Kind::no_word_edge, start);
    }

    PatternNode reference(std::uint32_t group, std::size_t start) const {
        if (group > groups_) refuse_pattern(start, "there is no group " + std::to_string(group) + " before this");
        if (open_.contains(group)) refuse_pattern(start, "the group it refers to is still open");
        if (flags_.ignore_case) refuse_pattern(start, "a group reference without regard to case is not supported");
        auto made = node(Kind::back_reference, start);
        made.number = group;
        return made;
    }

    // A member of a set: one character, or a set such as \d.
    Escape member(std::size_t set_start) {
        if (in_.at_end()) refuse_pattern(set_start, "the set is not closed");
        const auto start = in_.position();
        const auto c = in_.get();
        if (c == U'\\') return read_set_escape(in_, start);
        return {.kind = Escape::Kind::character, .point = c, .set = nullptr, .group = 0};
    }

    PatternNode set(std::size_t start) {
        const bool negated = in_.take(U'^');
        std::vector<CodeRange> ranges;
        const auto add = [&](const Escape& item) {
            if (item.set != nullptr) {
                ranges.insert(ranges.end(), item.set->ranges().begin(), item.set->ranges().end());
            } else {
                ranges.push_back({item.point, item.point});
            }
        };
        for (bool first = true; first || !in_.take(U']'); first = false) {
            const auto member_start = in_.position();
            const auto low = member(start);
            if (!in_.take(U'-')) {
                add(low);
                continue;
            }
            if (in_.take(U']')) {
                add(low);
                ranges.push_back({U'-', U'-'});
                break;
            }
            const auto high = member(start);
            if (low.set != nullptr || high.set != nullptr) {
                refuse_pattern(member_start, "a range goes from one character to another");
            }
            if (high.point < low.point) refuse_pattern(member_start, "the range ends before it begins");
            ranges.push_back({low.point, high.point});
        }
        return one_of(CodeSet(std::move(ranges)), negated, start);
    }

    // The bounds of {m}, {m,}, {,n}, {m,n}; nothing if the brace is an ordinary character here.
    struct Bounds {
        std::uint32_t min = 0;
        std::uint32_t max = no_maximum;
    };
    std::optional<Bounds> braces(std::size_t start) {
        const auto inside = in_.position();
        if (in_.next_is(U'}')) return std::nullopt;
        const auto low = in_.digits(std::u32string::npos, 10);
        const bool comma = in_.take(U',');
        const auto high = comma ? in_.digits(std::u32string::npos, 10) : low;
        if (!in_.take(U'}')) {
            in_.go_back_to(inside);
            return std::nullopt;
        }
        Bounds bounds;
        if (!low.empty()) bounds.min = bound(low, start);
        if (!high.empty()) bounds.max = bound(high, start);
        if (bounds.max < bounds.min) refuse_pattern(start, "the least number of repeats is above the greatest");
        return bounds;
    }

    static std::uint32_t bound(const std::u32string& digits, std::size_t start) {
        std::uint64_t value = 0;
        for (const auto c : digits) {
            value = value * 10 + (c - U'0');
            if (value > repeat_max) {
                refuse_pattern(start, "more than " + std::to_string(repeat_max) + " repeats are not supported");
            }
        }
        return static_cast<std::uint32_t>(value);
    }

    void repeat(PatternNode& before, std::size_t start, char32_t c) {
        Bounds bounds;
        if (c == U'{') {
            const auto read = braces(start);
            if (!read) {
                before.items.push_back(literal(c, start));
                return;
            }
            bounds = *read;
        } else {
            bounds.min = c == U'+' ? 1 : 0;
            bounds.max = c == U'?' ? 1 : no_maximum;
        }
        if (before.items.empty() || is_position(before.items.back())) refuse_pattern(start, "nothing to repeat");
        if (before.items.back().kind == Kind::repeat) refuse_pattern(start, "a repeat of a repeat");
        if (in_.next_is(U'+')) refuse_pattern(in_.position(), "possessive repeats are not supported");
        auto made = node(Kind::repeat, before.items.back().position);
        made.min = bounds.min;
        made.max = bounds.max;
        made.lazy = in_.take(U'?');
        made.items.push_back(std::move(before.items.back()));
        before.items.back() = std::move(made);
    }

    // Nothing: a comment or flags, which stand for no text.
    std::optional<PatternNode> group(std::size_t start, std::size_t depth, bool flags_allowed) {
        if (!in_.take(U'?')) return capture(start, depth, {});
        if (in_.at_end()) refuse_pattern(start, "the group is not closed");
        const auto c = in_.get();
        switch (c) {
            case U':': {
                auto made = choice(depth + 1);
                close(start);
                return made;
            }
            case U'P':
                return named(start, depth);
            case U'#':
                (void)in_.until(U')', "the comment", start);
                return std::nullopt;
            case U'=':
            case U'!':
                refuse_pattern(start, "look-ahead is not supported");
            case U'<':
                refuse_pattern(start, "look-behind is not supported");
            case U'>':
                refuse_pattern(start, "atomic groups are not supported");
            case U'(':
                refuse_pattern(start, "conditional groups are not supported");
            default:
                flags(start, c, flags_allowed);
                return std::nullopt;
        }
    }

    std::optional<PatternNode> named(std::size_t start, std::size_t depth) {
        if (in_.take(U'<')) {
            const auto name = in_.until(U'>', "the group name", start);
            if (!is_name(name)) refuse_pattern(start, "a group name is a letter or _, then letters, digits, _");
            if (names_.contains(name)) refuse_pattern(start, "the group name " + utf8(name) + " is taken");
            return capture(start, depth, name);
        }
        if (in_.take(U'=')) {
            const auto name = in_.until(U')', "the group name", start);
            const auto known = names_.find(name);
            if (known == names_.end()) refuse_pattern(start, "there is no group of this name before this");
            return reference(known->second, start);
        }
        refuse_pattern(start, "unknown kind of group");
    }

    PatternNode capture(std::size_t start, std::size_t depth, const std::u32string& name) {
        const auto number = ++groups_;
        if (!name.empty()) names_.emplace(name, number);
        open_.emplace(number, start);
        auto made = node(Kind::capture, start);
        made.number = number;
        made.items.push_back(choice(depth + 1));
        close(start);
        open_.erase(number);
        return made;
    }

    void close(std::size_t start) {
        if (!in_.take(U')')) refuse_pattern(start, "the group is not closed");
    }

    void flags(std::size_t start, char32_t c, bool allowed) {
        Flags wanted = flags_;
        for (;; c = in_.get()) {
            switch (c) {
                case U'i':
                    wanted.ignore_case = true;
                    break;
                case U'm':
                    wanted.multi_line = true;
                    break;
                case U's':
                    wanted.dot_all = true;
                    break;
                case U'a':
                case U't':
                case U'u':
                case U'x':
                    refuse_pattern(start, "the flag " + utf8({c}) + " is not supported");
                case U'-':
                case U':':
                    refuse_pattern(start, "flags for a part of a pattern are not supported");
                default:
                    refuse_pattern(start, "unknown kind of group");
            }
            if (in_.at_end()) refuse_pattern(start, "the group is not closed");
            if (in_.take(U')')) break;
        }
        if (!allowed) refuse_pattern(start, "flags stand at the start of a pattern");
        flags_ = wanted;
    }

    PatternReader in_;
    Flags flags_;
    std::uint32_t groups_ = 0;
    std::map<std::u32string, std::uint32_t> names_;
    std::map<std::uint32_t, std::size_t> open_;
};

}  // namespace

void refuse_pattern(std::size_t position, const std::string& problem) {
    throw std::invalid_argument("pattern refused at character " + std::to_string(position) + ": " + problem);
}

ParsedPattern parse_pattern(std::string_view pattern) {
    return Parser(pattern).parse();
}

}  // namespace assent
