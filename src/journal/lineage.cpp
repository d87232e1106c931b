#include "journal/lineage.hpp"

#include <algorithm>
#include <charconv>

namespace assent::journal {
namespace {

// More digits are no count of turns, and would not fit.
constexpr std::size_t digits_max = 9;

// Exactly as `child_id` writes it: one call has one child id.
std::optional<int> read_count(std::string_view text) {
    const bool digits = std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
    if (!digits || text.empty() || text.size() > digits_max || (text.size() > 1 && text.front() == '0'))
        return std::nullopt;
    int number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
}

}  // namespace

std::string child_id(const std::string& parent, const CallRef& call) {
    return parent + "/" + std::to_string(call.turn) + "." + std::to_string(call.position);
}

std::optional<ChildOf> child_of(std::string_view id) {
    const auto slash = id.rfind('/');
    if (slash == std::string_view::npos || slash == 0) return std::nullopt;
    const auto place = id.substr(slash + 1);
    const auto dot = place.find('.');
    if (dot == std::string_view::npos) return std::nullopt;
    const auto turn = read_count(place.substr(0, dot));
    const auto position = read_count(place.substr(dot + 1));
    if (!turn || *turn == 0 || !position) return std::nullopt;
    return ChildOf{.parent = std::string(id.substr(0, slash)), .call = {*turn, *position}};
}

std::vector<std::string> ancestors_of(std::string_view id) {
    std::vector<std::string> above;
    for (auto child = child_of(id); child; child = child_of(above.back())) above.push_back(std::move(child->parent));
    std::reverse(above.begin(), above.end());
    return above;
}

std::string root_of(std::string_view id) {
    const auto above = ancestors_of(id);
    return above.empty() ? std::string(id) : above.front();
}

std::optional<CallRef> call_behind(std::string_view id, std::string_view thread) {
    if (!id.starts_with(thread)) return std::nullopt;
    std::string at(id);
    while (auto child = child_of(at)) {
        if (child->parent == thread) return child->call;
        at = std::move(child->parent);
    }
    return std::nullopt;
}

}  // namespace assent::journal
