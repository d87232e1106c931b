#include "cli/line_diff.hpp"

#include <algorithm>
#include <span>

namespace assent::cli {
namespace {

using Lines = std::span<const std::string_view>;

// Lengths of the longest common subsequences of what follows each pair of lines.
class CommonLengths {
public:
    CommonLengths(Lines before, Lines after)
        : width_(after.size() + 1), lengths_((before.size() + 1) * (after.size() + 1)) {
        for (auto i = before.size(); i-- > 0;) {
            for (auto j = after.size(); j-- > 0;) {
                lengths_[i * width_ + j] =
                    before[i] == after[j] ? at(i + 1, j + 1) + 1 : std::max(at(i + 1, j), at(i, j + 1));
            }
        }
    }
    [[nodiscard]] std::uint32_t at(std::size_t i, std::size_t j) const { return lengths_[i * width_ + j]; }

private:
    std::size_t width_;
    std::vector<std::uint32_t> lengths_;
};

void append(std::vector<DiffLine>& out, LineChange change, Lines lines) {
    for (const auto line : lines) out.push_back({change, line});
}

void append_shortest(std::vector<DiffLine>& out, Lines before, Lines after) {
    const CommonLengths common(before, after);
    std::size_t i = 0;
    std::size_t j = 0;
    while (i < before.size() && j < after.size()) {
        if (before[i] == after[j]) {
            out.push_back({LineChange::same, before[i]});
            ++i;
            ++j;
        } else if (common.at(i + 1, j) >= common.at(i, j + 1)) {
            out.push_back({LineChange::removed, before[i++]});
        } else {
            out.push_back({LineChange::added, after[j++]});
        }
    }
    append(out, LineChange::removed, before.subspan(i));
    append(out, LineChange::added, after.subspan(j));
}

}  // namespace

std::vector<std::string_view> lines_of(std::string_view text) {
    std::vector<std::string_view> lines;
    while (!text.empty()) {
        const auto end = text.find('\n');
        lines.push_back(text.substr(0, end));
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    }
    return lines;
}

std::vector<DiffLine> line_diff(std::string_view before, std::string_view after, std::size_t cells_max) {
    const auto old_lines = lines_of(before);
    const auto new_lines = lines_of(after);
    Lines a(old_lines);
    Lines b(new_lines);
    const auto [a_end, b_end] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
    const auto head = static_cast<std::size_t>(a_end - a.begin());
    std::vector<DiffLine> out;
    append(out, LineChange::same, a.first(head));
    a = a.subspan(head);
    b = b.subspan(head);
    std::size_t tail = 0;
    while (tail < a.size() && tail < b.size() && a[a.size() - 1 - tail] == b[b.size() - 1 - tail]) ++tail;
    const auto common_end = a.last(tail);
    a = a.first(a.size() - tail);
    b = b.first(b.size() - tail);
    if (!a.empty() && b.size() > cells_max / a.size()) {
        append(out, LineChange::removed, a);
        append(out, LineChange::added, b);
    } else {
        append_shortest(out, a, b);
    }
    append(out, LineChange::same, common_end);
    return out;
}

}  // namespace assent::cli
