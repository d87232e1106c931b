#include "policy/patterns/program.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string>

namespace assent {
namespace {

using Kind = PatternNode::Kind;
using Do = Step::Kind;

const CharSource not_a_line_feed{.members = {{.kind = SetMember::Kind::character, .range = {U'\n', U'\n'}}},
                                 .negated = true};
const CharSource anything{.members = {}, .negated = true};
const CharSource word{.members = {{.kind = SetMember::Kind::word, .range = {}}}, .negated = false};

// The one character that a repeat repeats, or nothing.
const PatternNode* only_character(const std::vector<PatternNode>& items) {
    if (items.size() != 1) return nullptr;
    const auto& item = items.front();
    if (item.kind == Kind::scope) return only_character(item.items);
    return is_character(item) ? &item : nullptr;
}

bool is_one_literal(const PatternNode& node) {
    const auto& members = node.characters.members;
    return node.kind == Kind::set && !node.characters.negated && members.size() == 1 &&
           members.front().kind == SetMember::Kind::character && !has_case(members.front().range.first, node.letters);
}

bool is_group(const PatternNode& node) {
    return node.kind == Kind::scope || node.kind == Kind::capture;
}

// Do they begin with a character that has no case? Nothing: there is none, but more may follow.
std::optional<bool> begin_with_literal(const std::vector<PatternNode>& items) {
    for (const auto& item : items) {
        if (!is_group(item)) return is_one_literal(item);
        if (const auto found = begin_with_literal(item.items)) return found;
    }
    return std::nullopt;
}

// Is this a set in which nothing has a case?
bool is_caseless_set(const PatternNode& node) {
    const auto& members = node.characters.members;
    if (node.kind != Kind::set || (members.size() == 1 && members.front().kind == SetMember::Kind::character)) {
        return is_one_literal(node);
    }
    return std::ranges::none_of(members, [&](const SetMember& member) {
        if (member.kind != SetMember::Kind::character && member.kind != SetMember::Kind::range) return false;
        const bool beyond = member.kind == SetMember::Kind::range && member.range.last > last_of_first_plane;
        return node.letters != LetterCase::exact && (beyond || has_case(member.range, node.letters));
    });
}

bool begin_with_set(const std::vector<PatternNode>& items) {
    if (items.empty()) return false;
    const auto& first = items.front();
    if (is_group(first)) return begin_with_set(first.items);
    if (first.kind != Kind::choice) return is_caseless_set(first);
    return std::ranges::all_of(
        first.items, [](const auto& option) { return !option.items.empty() && is_one_literal(option.items.front()); });
}

class ProgramMaker {
public:
    Program make(const ParsedPattern& pattern) {
        all(pattern.root.items);
        add(Do::success);
        program_.captures = pattern.captures;
        program_.width_min = pattern.root.width.least;
        program_.begins_anywhere =
            begin_with_literal(pattern.root.items).value_or(false) || begin_with_set(pattern.root.items);
        return std::move(program_);
    }

private:
    std::uint32_t here() const noexcept { return static_cast<std::uint32_t>(program_.steps.size()); }

    std::uint32_t add(Do kind) {
        program_.steps.push_back({.kind = kind});
        return here() - 1;
    }

    std::uint32_t add(Do kind, std::uint32_t a) {
        program_.steps.push_back({.kind = kind, .a = a});
        return here() - 1;
    }

    void end_at(std::uint32_t step, std::uint32_t target) { program_.steps[step].target = target; }

    void all(const std::vector<PatternNode>& items) {
        for (const auto& item : items) one(item);
    }

    void one(const PatternNode& node) {
        switch (node.kind) {
            case Kind::set:
            case Kind::any:
            case Kind::any_at_all:
                return character(node);
            case Kind::sequence:
            case Kind::scope:
                return all(node.items);
            case Kind::choice:
                return choice(node);
            case Kind::capture:
                add(Do::mark, 2 * (node.number - 1));
                all(node.items);
                add(Do::mark, 2 * (node.number - 1) + 1);
                return;
            case Kind::repeat:
                return repeat(node);
            case Kind::atomic:
                return apart(Do::atomic, 0, node.items);
            case Kind::look_ahead:
            case Kind::look_behind:
                return apart(node.negated ? Do::look_for_none : Do::look, node.min, node.items);
            case Kind::back_reference:
                program_.recalls = true;
                program_.steps[add(Do::back_reference, node.number - 1)].letters = node.letters;
                return;
            case Kind::condition:
                return condition(node);
            default:
                return place(node);
        }
    }

    void place(const PatternNode& node) {
        switch (node.kind) {
            case Kind::text_start:
                add(Do::text_start);
                return;
            case Kind::line_start:
                add(Do::line_start);
                return;
            case Kind::text_end:
                add(Do::text_end);
                return;
            case Kind::line_end:
                add(Do::line_end);
                return;
            case Kind::last_line_end:
                add(Do::last_line_end);
                return;
            default: {
                const auto step = add(node.kind == Kind::word_edge ? Do::word_edge : Do::no_word_edge);
                program_.steps[step].test = shared_test(word, {.letters = LetterCase::exact, .ascii = node.ascii});
            }
        }
    }

    void character(const PatternNode& node) {
        if (is_one_literal(node)) {
            add(Do::character, node.characters.members.front().range.first);
        } else {
            program_.steps[add(Do::test)].test = test_of(node);
        }
    }

    const CharTest* test_of(const PatternNode& node) {
        if (node.kind == Kind::any) return shared_test(not_a_line_feed, {});
        if (node.kind == Kind::any_at_all) return shared_test(anything, {});
        return shared_test(node.characters, {.letters = node.letters, .ascii = node.ascii});
    }

    // Each different set is made once.
    const CharTest* shared_test(const CharSource& source, CharFlags flags) {
        std::u32string key;
        for (const auto& [kind, range] : source.members) {
            key += static_cast<char32_t>(kind);
            key += range.first;
            key += range.last;
        }
        key += static_cast<char32_t>(flags.letters);
        key += static_cast<char32_t>(flags.ascii);
        key += static_cast<char32_t>(source.negated);
        const auto [known, fresh] = tests_.try_emplace(std::move(key), nullptr);
        if (fresh) {
            program_.tests.push_back(std::make_unique<const CharTest>(source, flags));
            known->second = program_.tests.back().get();
        }
        return known->second;
    }

    void choice(const PatternNode& node) {
        add(Do::choice);
        std::vector<std::uint32_t> ends;
        for (const auto& alternative : node.items) {
            const auto option = add(Do::option);
            all(alternative.items);
            ends.push_back(add(Do::jump));
            end_at(option, here());
        }
        add(Do::fail);
        for (const auto end : ends) end_at(end, here());
    }

    void repeat(const PatternNode& node) {
        if (const auto* only = only_character(node.items)) {
            const auto step = add(Do::repeat_one);
            bound(step, node);
            program_.steps[step].test = test_of(*only);
            return;
        }
        if (node.greed == Greed::possessive) {
            const auto step = here();
            apart(Do::repeat_atomic, 0, node.items);
            return bound(step, node);
        }
        const auto step = add(Do::repeat);
        bound(step, node);
        all(node.items);
        const auto until = add(Do::until);
        bound(until, node);
        end_at(until, step);
        end_at(step, until);
    }

    void bound(std::uint32_t step, const PatternNode& node) {
        program_.steps[step].a = node.min;
        program_.steps[step].b = node.max;
        program_.steps[step].greed = node.greed;
    }

    // A part that is matched by itself.
    void apart(Do kind, std::uint32_t a, const std::vector<PatternNode>& items) {
        const auto step = add(kind, a);
        all(items);
        add(Do::success);
        end_at(step, here());
    }

    void condition(const PatternNode& node) {
        program_.recalls = true;
        const auto step = add(Do::condition, node.number - 1);
        all(node.items.front().items);
        const auto jump = add(Do::jump);
        end_at(step, here());
        all(node.items.back().items);
        end_at(jump, here());
    }

    Program program_;
    std::map<std::u32string, const CharTest*> tests_;
};

}  // namespace

Program make_program(const ParsedPattern& pattern) {
    return ProgramMaker().make(pattern);
}

}  // namespace assent
