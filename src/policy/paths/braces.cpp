#include "policy/paths/braces.hpp"

#include "base/utf8.hpp"
#include "policy/paths/path_names.hpp"

#include <charconv>
#include <optional>

namespace assent {
namespace {

// Nested deeper, braces say nothing that could not be said plainly.
constexpr int depth_max = 10;

Failure refuse(const char* message) {
    return {FailureKind::usage, message};
}

// Calls `at(position)` for every character that is not in a class, until it returns true.
template <class At>
void outside_classes(std::string_view text, At at) {
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '[') {
            const auto end = end_of_class(text, i);
            if (end == std::string_view::npos) continue;  // reported when the name is read
            i = end - 1;
        } else if (at(i)) {
            return;
        }
    }
}

struct Braces {
    std::size_t open = std::string_view::npos;
    std::size_t close = std::string_view::npos;
    std::vector<std::string_view> options;
};

Result<Braces> first_braces(std::string_view text) {
    Braces found;
    int depth = 0;
    bool stray = false;
    std::size_t begin = 0;
    outside_classes(text, [&](std::size_t i) {
        const char c = text[i];
        if (c == '{' && ++depth == 1) {
            found.open = i;
            begin = i + 1;
        }
        if (c == '}' && depth == 0) stray = true;
        const bool closes = c == '}' && depth > 0;
        if (closes) --depth;
        const bool ends = closes && depth == 0;
        if (ends || (c == ',' && depth == 1)) {
            found.options.push_back(text.substr(begin, i - begin));
            begin = i + 1;
        }
        if (ends) found.close = i;
        return ends || stray;
    });
    if (stray) return refuse("a } has no { before it; write [}] for the character");
    if (depth > 0) return refuse("a { has no } behind it; write [{] for the character");
    return found;
}

std::optional<long> number_of(std::string_view text) {
    long value = 0;
    const auto* end = text.data() + text.size();
    constexpr std::size_t digits_max = 6;
    if (text.empty() || text.size() > digits_max) return std::nullopt;
    const auto read = std::from_chars(text.data(), end, value);
    if (read.ec != std::errc{} || read.ptr != end || value < 0) return std::nullopt;
    return value;
}

// `a..c` and `1..5`, also downwards; numbers keep leading zeros.
Result<std::vector<std::string>> range_of(std::string_view text, std::size_t texts_max) {
    const auto dots = text.find("..");
    if (dots == std::string_view::npos) return refuse("braces need a comma or a range such as a..c in them");
    const auto from = text.substr(0, dots);
    const auto to = text.substr(dots + 2);
    std::vector<std::string> out;
    auto first = number_of(from);
    auto last = number_of(to);
    const bool numbers = first && last;
    if (!numbers) {
        const auto a = characters_of(from);
        const auto b = characters_of(to);
        if (a.size() != 1 || b.size() != 1)
            return refuse("a range in braces goes from one character or number to another");
        first = static_cast<long>(a[0]);
        last = static_cast<long>(b[0]);
    }
    const long step = *first <= *last ? 1 : -1;
    for (long value = *first;; value += step) {
        if (out.size() == texts_max) return refuse("the braces stand for too many paths; use a wildcard");
        std::string one;
        if (numbers) {
            one = std::to_string(value);
            const bool padded = (from.size() > 1 && from[0] == '0') || (to.size() > 1 && to[0] == '0');
            const auto width = std::max(from.size(), to.size());
            if (padded && one.size() < width) one.insert(0, width - one.size(), '0');
        } else if (value != '/' && value != 0 && (value < 0xd800 || value > 0xdfff)) {
            append_utf8(one, static_cast<char32_t>(value));
        }
        if (!one.empty()) out.push_back(std::move(one));
        if (value == *last) return out;
    }
}

Result<std::vector<std::string>> written_out(std::string_view text, std::size_t texts_max, int depth) {
    const auto braces = first_braces(text);
    if (!braces.ok()) return braces.failure();
    if (braces->open == std::string_view::npos) return std::vector{std::string(text)};
    if (depth == depth_max) return refuse("the braces are nested too deep");
    std::vector<std::string> middles;
    if (braces->options.size() == 1) {
        auto range = range_of(braces->options[0], texts_max);
        if (!range.ok()) return range;
        middles = std::move(*range);
    }
    for (std::size_t i = 0; braces->options.size() > 1 && i < braces->options.size(); ++i) {
        auto option = written_out(braces->options[i], texts_max, depth + 1);
        if (!option.ok()) return option;
        middles.insert(middles.end(), option->begin(), option->end());
    }
    auto ends = written_out(text.substr(braces->close + 1), texts_max, depth);
    if (!ends.ok()) return ends;
    if (middles.size() * ends->size() > texts_max) return refuse("the braces stand for too many paths; use a wildcard");
    std::vector<std::string> out;
    for (const auto& middle : middles) {
        for (const auto& end : *ends) out.push_back(std::string(text.substr(0, braces->open)) + middle + end);
    }
    return out;
}

}  // namespace

std::size_t end_of_class(std::string_view text, std::size_t at) noexcept {
    auto i = at + 1;
    if (i < text.size() && (text[i] == '!' || text[i] == '^')) ++i;
    for (const auto first = i; i < text.size() && text[i] != '/'; ++i) {
        if (text[i] == ']' && i > first) return i + 1;
    }
    return std::string_view::npos;
}

Result<std::vector<std::string>> without_braces(std::string_view text, std::size_t texts_max) {
    return written_out(text, texts_max, 0);
}

}  // namespace assent
