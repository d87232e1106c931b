#include "policy/patterns/simplify.hpp"

#include <algorithm>
#include <iterator>

namespace assent {
namespace {

using Kind = PatternNode::Kind;

bool same(const PatternNode& left, const PatternNode& right) {
    if (left.kind != right.kind) return false;
    if (left.kind == Kind::set) return left.characters == right.characters;
    if (left.kind == Kind::back_reference) return left.number == right.number;
    return is_character(left) || is_position(left);
}

std::size_t common_start(const std::vector<PatternNode>& alternatives) {
    const auto& first = alternatives.front().items;
    auto size = first.size();
    for (const auto& other : alternatives) {
        const auto end = std::ranges::mismatch(first, other.items, same).in1;
        size = std::min(size, static_cast<std::size_t>(end - first.begin()));
    }
    return size;
}

bool is_part_of_set(const PatternNode& alternative) {
    if (alternative.items.size() != 1) return false;
    const auto& only = alternative.items.front();
    return only.kind == Kind::set && !only.characters.negated;
}

std::uint64_t sum(std::uint64_t a, std::uint64_t b) {
    return std::min(a + b, width_end);
}

std::uint64_t product(std::uint64_t a, std::uint64_t b) {
    return b != 0 && a > width_end / b ? width_end : a * b;
}

}  // namespace

void SetMembers::add(const SetMember& member) {
    if (known_.insert({member.kind, {member.range.first, member.range.last}}).second) members_.push_back(member);
}

void unpack_plain_groups(std::vector<PatternNode>& items) {
    const auto plain = [](const PatternNode& item) { return item.kind == Kind::sequence; };
    if (std::ranges::none_of(items, plain)) return;
    std::vector<PatternNode> unpacked;
    for (auto& item : items) {
        if (plain(item)) {
            std::ranges::move(item.items, std::back_inserter(unpacked));
        } else {
            unpacked.push_back(std::move(item));
        }
    }
    items = std::move(unpacked);
}

std::vector<PatternNode> simplified_choice(PatternNode choice) {
    auto& alternatives = choice.items;
    const auto shared = static_cast<std::ptrdiff_t>(common_start(alternatives));
    auto& first = alternatives.front().items;
    std::vector<PatternNode> made(std::make_move_iterator(first.begin()),
                                  std::make_move_iterator(first.begin() + shared));
    for (auto& alternative : alternatives) {
        alternative.items.erase(alternative.items.begin(), alternative.items.begin() + shared);
        alternative.width = width_of_all(alternative.items);
    }
    if (std::ranges::all_of(alternatives, is_part_of_set)) {
        SetMembers members;
        for (const auto& alternative : alternatives) {
            for (const auto& member : alternative.items.front().characters.members) members.add(member);
        }
        auto set = std::move(alternatives.front().items.front());
        set.characters.members = members.take();
        made.push_back(std::move(set));
        return made;
    }
    choice.width = width_of_choice(alternatives);
    made.push_back(std::move(choice));
    return made;
}

PatternWidth width_of_all(const std::vector<PatternNode>& items) {
    PatternWidth all;
    for (const auto& item : items) {
        all = {.least = sum(all.least, item.width.least), .most = sum(all.most, item.width.most)};
    }
    return all;
}

PatternWidth width_of_choice(const std::vector<PatternNode>& items) {
    PatternWidth all = items.front().width;
    for (const auto& item : items) {
        all = {.least = std::min(all.least, item.width.least), .most = std::max(all.most, item.width.most)};
    }
    return all;
}

PatternWidth repeated_width(const PatternWidth& width, std::uint32_t min, std::uint32_t max) {
    const bool endless = max == no_maximum && width.most > 0;
    return {.least = product(width.least, min), .most = endless ? width_end : product(width.most, max)};
}

}  // namespace assent
