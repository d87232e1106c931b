#include "policy/patterns/faithful.hpp"

#include "policy/patterns/parser.hpp"

#include <algorithm>
#include <set>

namespace assent {
namespace {

using Kind = PatternNode::Kind;

bool may_be_empty(const PatternNode& node) {
    switch (node.kind) {
        case Kind::set:
            return false;
        case Kind::sequence:
            return std::ranges::all_of(node.items, may_be_empty);
        case Kind::choice:
            return std::ranges::any_of(node.items, may_be_empty);
        case Kind::capture:
            return may_be_empty(node.items.front());
        case Kind::repeat:
            return node.min == 0 || may_be_empty(node.items.front());
        default:
            return true;
    }
}

void collect_unsure_groups(const PatternNode& node, bool unsure, std::set<std::uint32_t>& groups) {
    if (node.kind == Kind::capture && unsure) groups.insert(node.number);
    const bool inside = unsure || (node.kind == Kind::repeat && node.max > 1 && may_be_empty(node.items.front()));
    for (const auto& item : node.items) collect_unsure_groups(item, inside, groups);
}

void refuse_references(const PatternNode& node, const std::set<std::uint32_t>& unsure) {
    if (node.kind == Kind::back_reference && unsure.contains(node.number)) {
        refuse_pattern(node.position, "a reference to a group in a repeat that may match nothing is not supported");
    }
    for (const auto& item : node.items) refuse_references(item, unsure);
}

}  // namespace

void refuse_unfaithful(const ParsedPattern& pattern) {
    std::set<std::uint32_t> unsure;
    collect_unsure_groups(pattern.root, false, unsure);
    refuse_references(pattern.root, unsure);
}

}  // namespace assent
