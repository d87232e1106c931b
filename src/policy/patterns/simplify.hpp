// What the dialect makes of a pattern before it matches. Some of it shows: a choice between single
// characters is a set, and in sets letters past the first plane compare differently.
#pragma once

#include "policy/patterns/tree.hpp"

#include <cstdint>
#include <set>
#include <utility>
#include <vector>

namespace assent {

/// Members of a set in the order in which they were written, each once.
class SetMembers {
public:
    void add(const SetMember& member);
    [[nodiscard]] bool empty() const noexcept { return members_.empty(); }
    [[nodiscard]] std::vector<SetMember> take() noexcept { return std::move(members_); }

private:
    using Key = std::pair<SetMember::Kind, std::pair<char32_t, char32_t>>;
    std::set<Key> known_;
    std::vector<SetMember> members_;
};

/// Puts the contents of groups that only group in the place of the groups.
void unpack_plain_groups(std::vector<PatternNode>& items);

/// What all alternatives begin with, then the choice between their rests: a set if it can be one.
[[nodiscard]] std::vector<PatternNode> simplified_choice(PatternNode choice);

[[nodiscard]] PatternWidth width_of_all(const std::vector<PatternNode>& items);
[[nodiscard]] PatternWidth width_of_choice(const std::vector<PatternNode>& items);
[[nodiscard]] PatternWidth repeated_width(const PatternWidth& width, std::uint32_t min, std::uint32_t max);

}  // namespace assent
