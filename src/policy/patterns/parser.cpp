#include "policy/patterns/parser.hpp"

#include "base/utf8.hpp"
#include "policy/patterns/flags.hpp"
#include "policy/patterns/names.hpp"
#include "policy/patterns/reader.hpp"
#include "policy/patterns/simplify.hpp"

#include <map>
#include <optional>
#include <string_view>
#include <utility>

namespace assent {
namespace {

using Kind = PatternNode::Kind;

constexpr std::size_t depth_max = 250;
// A look-behind of more characters is refused.
constexpr std::uint64_t behind_max = 0xffffffff;

std::string utf8(const std::u32string& text) {
    std::string out;
    for (const auto c : text) append_utf8(out, c);
    return out;
}

bool is_space(const Token& token) noexcept {
    return !token.escaped && (token.point == U' ' || (token.point >= U'\t' && token.point <= U'\r'));
}

class Parser {
public:
    explicit Parser(std::string_view pattern) : in_(pattern) {}

    ParsedPattern parse() {
        PatternNode root = node(Kind::sequence, 0);
        choice(root, 0);
        if (!in_.at_end()) refuse_pattern(in_.position(), "there is no group to close");
        for (const auto& [group, position] : asked_for_) {
            if (group >= groups_.size()) refuse_pattern(position, "there is no group " + std::to_string(group));
        }
        return {.root = std::move(root), .captures = static_cast<std::uint32_t>(groups_.size() - 1)};
    }

private:
    // What is known of a group while the pattern is read.
    struct Group {
        bool open = true;
        PatternWidth width;
    };
    static constexpr std::size_t nowhere = static_cast<std::size_t>(-1);

    PatternNode node(Kind kind, std::size_t position) const {
        PatternNode made;
        made.kind = kind;
        made.position = position;
        made.letters = flags_.characters().letters;
        made.ascii = flags_.ascii;
        return made;
    }

    PatternNode one_of(CharSource characters, std::size_t position) const {
        auto made = node(Kind::set, position);
        made.characters = std::move(characters);
        made.width = {.least = 1, .most = 1};
        return made;
    }

    PatternNode literal(char32_t c, std::size_t position) const {
        return one_of({.members = {{.kind = SetMember::Kind::character, .range = {c, c}}}, .negated = false}, position);
    }

    // Reads alternatives into `parent.items`: one of them as it is, several as a choice.
    void choice(PatternNode& parent, std::size_t depth) {
        if (depth > depth_max) {
            refuse_pattern(in_.position(), "groups are nested more than " + std::to_string(depth_max) + " deep");
        }
        auto made = node(Kind::choice, in_.position());
        do {
            made.items.push_back(sequence(depth, depth == 0 && made.items.empty()));
        } while (in_.take(U'|'));
        if (made.items.size() == 1) {
            parent.items = std::move(made.items.front().items);
        } else {
            parent.items = simplified_choice(std::move(made));
        }
        parent.width = width_of_all(parent.items);
    }

    PatternNode sequence(std::size_t depth, bool flags_allowed) {
        auto made = node(Kind::sequence, in_.position());
        while (!in_.at_end() && !in_.next_is(U'|') && !in_.next_is(U')')) {
            const auto token = in_.get();
            if (flags_.verbose && is_space(token)) continue;
            if (flags_.verbose && token.is(U'#')) {
                while (!in_.at_end() && !in_.get().is(U'\n')) {
                }
            } else if (token.is(U'(')) {
                group(made.items, token.position, depth, flags_allowed && made.items.empty());
            } else if (token.is(U'*') || token.is(U'+') || token.is(U'?') || token.is(U'{')) {
                repeat(made.items, token);
            } else {
                made.items.push_back(simple(token));
            }
        }
        unpack_plain_groups(made.items);
        made.width = width_of_all(made.items);
        return made;
    }

    PatternNode simple(const Token& token) {
        const auto start = token.position;
        if (token.escaped) return escape(token);
        switch (token.point) {
            case U'.': {
                auto made = node(flags_.dot_all ? Kind::any_at_all : Kind::any, start);
                made.width = {.least = 1, .most = 1};
                return made;
            }
            case U'^':
                return node(flags_.multi_line ? Kind::line_start : Kind::text_start, start);
            case U'$':
                return node(flags_.multi_line ? Kind::line_end : Kind::last_line_end, start);
            case U'[':
                return set(start);
            default:
                return literal(token.point, start);
        }
    }

    PatternNode escape(const Token& token) {
        const auto start = token.position;
        const auto read = read_escape(in_, token);
        switch (read.kind) {
            case Escape::Kind::member:
                return one_of({.members = {read.member}, .negated = false}, start);
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

    PatternNode reference(std::size_t group, std::size_t start) const {
        if (group >= groups_.size()) {
            refuse_pattern(start, "there is no group " + std::to_string(group) + " before this");
        }
        if (groups_[group].open) refuse_pattern(start, "the group it refers to is still open");
        require_outside_look_behind(group, start);
        auto made = node(Kind::back_reference, start);
        made.number = static_cast<std::uint32_t>(group);
        made.width = groups_[group].width;
        return made;
    }

    void require_outside_look_behind(std::size_t group, std::size_t start) const {
        if (behind_from_ == nowhere) return;
        if (group >= groups_.size() || groups_[group].open) {
            refuse_pattern(start, "the group it refers to is still open");
        }
        if (group >= behind_from_) refuse_pattern(start, "the group it refers to is in the same look-behind");
    }

    // A member of a set, whose token was taken.
    SetMember member(const Token& token) {
        if (token.escaped) return read_set_escape(in_, token);
        return {.kind = SetMember::Kind::character, .range = {token.point, token.point}};
    }

    Token set_token(std::size_t set_start) {
        if (in_.at_end()) refuse_pattern(set_start, "the set is not closed");
        return in_.get();
    }

    PatternNode set(std::size_t start) {
        CharSource characters;
        characters.negated = in_.take(U'^');
        SetMembers members;
        for (;;) {
            const auto token = set_token(start);
            if (token.is(U']') && !members.empty()) break;
            const auto low = member(token);
            if (!in_.take(U'-')) {
                members.add(low);
                continue;
            }
            const auto end = set_token(start);
            if (end.is(U']')) {
                members.add(low);
                members.add({.kind = SetMember::Kind::character, .range = {U'-', U'-'}});
                break;
            }
            const auto high = member(end);
            if (low.kind != SetMember::Kind::character || high.kind != SetMember::Kind::character) {
                refuse_pattern(token.position, "a range goes from one character to another");
            }
            if (high.range.first < low.range.first) {
                refuse_pattern(token.position, "the range ends before it begins");
            }
            members.add({.kind = SetMember::Kind::range, .range = {low.range.first, high.range.first}});
        }
        characters.members = members.take();
        return one_of(std::move(characters), start);
    }

    // The bounds of {m}, {m,}, {,n}, {m,n}; nothing if the brace is an ordinary character here.
    struct Bounds {
        std::uint32_t min = 0;
        std::uint32_t max = no_maximum;
    };
    std::optional<Bounds> braces(std::size_t start) {
        const auto inside = in_.index();
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
            if (value >= no_maximum) {
                refuse_pattern(start, "there are more than " + std::to_string(no_maximum - 1) + " repeats");
            }
        }
        return static_cast<std::uint32_t>(value);
    }

    void repeat(std::vector<PatternNode>& before, const Token& token) {
        const auto start = token.position;
        Bounds bounds;
        if (token.point == U'{') {
            const auto read = braces(start);
            if (!read) {
                before.push_back(literal(U'{', start));
                return;
            }
            bounds = *read;
        } else {
            bounds.min = token.point == U'+' ? 1 : 0;
            bounds.max = token.point == U'?' ? 1 : no_maximum;
        }
        if (before.empty() || is_position(before.back())) refuse_pattern(start, "nothing to repeat");
        if (before.back().kind == Kind::repeat) refuse_pattern(start, "a repeat of a repeat");
        if (flags_.no_repeats) refuse_pattern(start, "the flag t takes no repeats");
        auto made = node(Kind::repeat, before.back().position);
        made.min = bounds.min;
        made.max = bounds.max;
        if (in_.take(U'?')) {
            made.greed = Greed::lazy;
        } else if (in_.take(U'+')) {
            made.greed = Greed::possessive;
        }
        made.width = repeated_width(before.back().width, made.min, made.max);
        made.items.push_back(std::move(before.back()));
        unpack_plain_groups(made.items);
        before.back() = std::move(made);
    }

    // Adds nothing for a comment or for flags, which stand for no text.
    void group(std::vector<PatternNode>& items, std::size_t start, std::size_t depth, bool flags_allowed) {
        if (!in_.take(U'?')) {
            items.push_back(capture(start, depth, {}));
            return;
        }
        if (in_.at_end()) refuse_pattern(start, "the group is not closed");
        const auto token = in_.get();
        const auto kind = token.escaped ? U'\0' : token.point;
        switch (kind) {
            case U'#':
                return comment(start);
            case U':':
                items.push_back(inside(Kind::sequence, start, depth));
                return;
            case U'>':
                items.push_back(inside(Kind::atomic, start, depth));
                return;
            case U'P':
                items.push_back(named(start, depth));
                return;
            case U'(':
                items.push_back(condition(start, depth));
                return;
            case U'=':
            case U'!':
            case U'<':
                items.push_back(look(token, start, depth));
                return;
            default:
                flags(items, token, start, depth, flags_allowed);
        }
    }

    void comment(std::size_t start) {
        do {
            if (in_.at_end()) refuse_pattern(start, "the comment is not closed");
        } while (!in_.get().is(U')'));
    }

    // A group, up to its closing bracket.
    PatternNode inside(Kind kind, std::size_t start, std::size_t depth) {
        auto made = node(kind, start);
        choice(made, depth + 1);
        close(start);
        return made;
    }

    void close(std::size_t start) {
        if (!in_.take(U')')) refuse_pattern(start, "the group is not closed");
    }

    PatternNode named(std::size_t start, std::size_t depth) {
        if (in_.take(U'<')) {
            const auto name = in_.until(U'>', "the group name", start);
            require_name(name, start);
            if (names_.contains(name)) refuse_pattern(start, "the group name " + utf8(name) + " is taken");
            return capture(start, depth, name);
        }
        if (in_.take(U'=')) return reference(group_called(in_.until(U')', "the group name", start), start), start);
        refuse_pattern(start, "unknown kind of group");
    }

    static void require_name(const std::u32string& name, std::size_t start) {
        if (!is_group_name(name)) refuse_pattern(start, "a group name is a letter or _, then letters, digits, _");
    }

    std::size_t group_called(const std::u32string& name, std::size_t start) const {
        require_name(name, start);
        const auto known = names_.find(name);
        if (known == names_.end()) refuse_pattern(start, "there is no group of this name before this");
        return known->second;
    }

    PatternNode capture(std::size_t start, std::size_t depth, const std::u32string& name) {
        const auto number = groups_.size();
        groups_.emplace_back();
        if (!name.empty()) names_.emplace(name, number);
        auto made = inside(Kind::capture, start, depth);
        made.number = static_cast<std::uint32_t>(number);
        groups_[number] = {.open = false, .width = made.width};
        return made;
    }

    PatternNode condition(std::size_t start, std::size_t depth) {
        if (depth >= depth_max) {
            refuse_pattern(start, "groups are nested more than " + std::to_string(depth_max) + " deep");
        }
        const auto name = in_.until(U')', "the group name", start);
        auto made = node(Kind::condition, start);
        made.number = static_cast<std::uint32_t>(condition_group(name, start));
        require_outside_look_behind(made.number, start);
        made.items.push_back(sequence(depth + 1, false));
        made.items.push_back(in_.take(U'|') ? sequence(depth + 1, false) : node(Kind::sequence, start));
        if (in_.next_is(U'|')) refuse_pattern(in_.position(), "a conditional group has at most two alternatives");
        close(start);
        made.width = width_of_choice(made.items);
        return made;
    }

    // A number may be that of a later group.
    std::size_t condition_group(const std::u32string& name, std::size_t start) {
        if (is_group_name(name)) return group_called(name, start);
        const auto number = group_number(name);
        if (!number) refuse_pattern(start, "a group is asked for by its name or its number");
        if (*number == 0) refuse_pattern(start, "there is no group 0");
        asked_for_.try_emplace(*number, start);
        return *number;
    }

    PatternNode look(const Token& token, std::size_t start, std::size_t depth) {
        const bool behind = token.point == U'<';
        if (behind && in_.at_end()) refuse_pattern(start, "the group is not closed");
        const auto kind = behind ? in_.get() : token;
        if (!kind.is(U'=') && !kind.is(U'!')) refuse_pattern(start, "unknown kind of group");
        const auto behind_before = behind_from_;
        if (behind && behind_from_ == nowhere) behind_from_ = groups_.size();
        auto made = node(behind ? Kind::look_behind : Kind::look_ahead, start);
        made.negated = kind.point == U'!';
        choice(made, depth + 1);
        behind_from_ = behind_before;
        close(start);
        if (behind && made.width.least > behind_max) refuse_pattern(start, "the look-behind is too wide");
        if (behind && made.width.least != made.width.most) {
            refuse_pattern(start, "what is looked behind for has no fixed width");
        }
        made.min = static_cast<std::uint32_t>(behind ? made.width.least : 0);
        made.width = {};
        return made;
    }

    void flags(std::vector<PatternNode>& items, const Token& token, std::size_t start, std::size_t depth,
               bool allowed) {
        if (token.escaped || !std::u32string_view(U"aimstuxL-").contains(token.point))
            refuse_pattern(start, "unknown kind of group");
        const auto read = read_flags(in_, token, flags_, start);
        if (!read.of_group) {
            if (!allowed) refuse_pattern(start, "flags stand at the start of a pattern");
            flags_ = read.flags;
            return;
        }
        const auto outer = std::exchange(flags_, read.flags);
        auto made = node(Kind::scope, start);
        choice(made, depth + 1);
        close(start);
        flags_ = outer;
        items.push_back(std::move(made));
    }

    PatternReader in_;
    PatternFlags flags_;
    std::vector<Group> groups_{Group{}};  // of which the first, number 0, is the whole
    std::map<std::u32string, std::size_t> names_;
    std::map<std::size_t, std::size_t> asked_for_;  // by conditions: group, position
    std::size_t behind_from_ = nowhere;             // in a look-behind: the groups from this one are inside
};

}  // namespace

ParsedPattern parse_pattern(std::string_view pattern) {
    return Parser(pattern).parse();
}

}  // namespace assent
