#include "cli/page.hpp"

#include "base/display.hpp"
#include "base/utf8.hpp"
#include "cli/line_diff.hpp"
#include "cli/words.hpp"

#include <algorithm>
#include <optional>
#include <vector>

namespace assent::cli {
namespace {

constexpr std::size_t fact_name_width = 9;
constexpr std::size_t number_width_min = 4;
constexpr std::size_t tab_columns = 4;
constexpr char32_t first_wide = 0x1100;
constexpr std::string_view bar = "│ ";
constexpr std::string_view fold_bar = "┆ ";

// Columns of a blank character; 0 for every other.
std::size_t blank_columns(char32_t c) {
    switch (c) {
        case ' ':
            return 1;
        case '\t':
            return tab_columns;
        case 0x2800:  // a braille cell without dots
            return 1;
        case 0x3000:  // the blank of CJK
            return 2;
        default:
            return 0;
    }
}

bool is_blank(std::string_view line) {
    while (!line.empty()) {
        const auto [c, size] = read_utf8(line);
        if (size == 0 || blank_columns(c) == 0) return false;
        line.remove_prefix(size);
    }
    return true;
}

std::string padded(std::string text, std::size_t width) {
    const auto now = columns(text);
    if (now < width) text.append(width - now, ' ');
    return text;
}

// How many lines from `at` on are blank and of the same change.
std::size_t blank_run(const std::vector<DiffLine>& lines, std::size_t at) {
    auto end = at;
    while (end < lines.size() && lines[end].change == lines[at].change && is_blank(lines[end].text)) ++end;
    return end - at;
}

// Which lines of a diff are shown: those that changed, and `context` around them.
std::vector<bool> near_change(const std::vector<DiffLine>& lines, std::size_t context) {
    std::vector<bool> shown(lines.size());
    for (std::size_t i = 0; i < lines.size(); ++i) {
        if (lines[i].change == LineChange::same) continue;
        const auto begin = i - std::min(i, context);
        const auto end = i + std::min(lines.size() - 1 - i, context);
        for (auto j = begin; j <= end; ++j) shown[j] = true;
    }
    return shown;
}

}  // namespace

std::size_t columns(std::string_view text) {
    std::size_t count = 0;
    while (!text.empty()) {
        const auto [c, size] = read_utf8(text);
        count += c == '\t' ? tab_columns * 2 : c >= first_wide && (c < 0x2000 || c > 0x2bff) ? 2 : 1;
        text.remove_prefix(size == 0 ? 1 : size);
    }
    return count;
}

std::string fold_blanks(std::string_view text) {
    std::string out;
    while (!text.empty()) {
        std::size_t bytes = 0;
        std::size_t count = 0;
        std::size_t width = 0;
        while (bytes < text.size()) {
            const auto [c, size] = read_utf8(text.substr(bytes));
            if (size == 0 || blank_columns(c) == 0) break;
            bytes += size;
            ++count;
            width += blank_columns(c);
        }
        if (width > blanks_max) {
            out += "⟨" + std::to_string(count) + " blanks⟩";
        } else {
            out += text.substr(0, bytes);
        }
        text.remove_prefix(bytes);
        if (text.empty()) break;
        const auto size = std::max<std::size_t>(read_utf8(text).size, 1);
        out += text.substr(0, size);
        text.remove_prefix(size);
    }
    return out;
}

std::string one_line(std::string_view text) {
    const auto safe = safe_to_show(text);
    const bool plain = safe.text == text && !text.empty() && text.front() != '"' && text.front() != ' ' &&
                       text.back() != ' ' && !JsonText::parse(std::string(text)).ok();
    return fold_blanks(plain ? safe.text : safe_to_show(json_quote(text)).text);
}

std::string shown_name(std::string_view name) {
    if (name.find_first_of(" :") == std::string_view::npos) return one_line(name);
    return fold_blanks(safe_to_show(json_quote(name)).text);
}

bool hides_characters(const JsonNode& node) {
    const auto hides = [](std::string_view text) { return safe_to_show(text).hidden_characters; };
    return hides(node.string) || std::any_of(node.keys.begin(), node.keys.end(), hides) ||
           std::any_of(node.items.begin(), node.items.end(), hides_characters);
}

void Page::look_at(const JsonNode& node) {
    hidden_characters_ = hidden_characters_ || hides_characters(node);
}

std::string Page::made_safe(std::string_view text) {
    auto shown = safe_to_show(text);
    hidden_characters_ = hidden_characters_ || shown.hidden_characters;
    return std::move(shown.text);
}

void Page::line(std::string_view ours) {
    text_ += ours;
    text_ += '\n';
}

void Page::fact(std::string_view name, std::string_view value) {
    if (value.empty()) return;
    const auto safe = fold_blanks(made_safe(value));
    widest_ = std::max(widest_, 2 + fact_name_width + columns(safe));
    line("  " + terminal_.styled(Style::dim, padded(std::string(name), fact_name_width)) + " " + safe);
}

void Page::named(std::string_view name, std::size_t name_width, std::string_view value) {
    made_safe(name);
    const auto shown = shown_name(name) + ":";
    widest_ = std::max(widest_, 3 + std::max(columns(shown), name_width) + columns(value));
    line("  " + terminal_.styled(Style::cyan, value.empty() ? shown : padded(shown, name_width)) +
         (value.empty() ? "" : " ") + std::string(value));
}

void Page::foreign_line(const Gutter& gutter, std::string_view foreign) {
    // Tabs stay: a source text is read by its indentation.
    const auto shown = safe_to_show(fold_blanks(foreign), Lines::keep);
    hidden_characters_ = hidden_characters_ || shown.hidden_characters;
    widest_ = std::max(widest_, gutter.mark.size() + 3 + columns(shown.text));
    line(terminal_.styled(Style::dim, gutter.mark + " " + std::string(bar)) +
         terminal_.styled(gutter.style, std::string(gutter.sign) + shown.text));
}

void Page::folded(const std::string& mark, const std::string& what) {
    line(terminal_.styled(Style::dim, mark + " " + std::string(fold_bar) + what));
}

void Page::block(std::string_view text, Numbers numbers) {
    const auto lines = lines_of(text);
    const auto width = std::max(number_width_min, std::to_string(lines.size()).size());
    const std::string no_mark(width, ' ');
    for (std::size_t i = 0; i < lines.size(); ++i) {
        std::size_t blank = 0;
        while (i + blank < lines.size() && is_blank(lines[i + blank])) ++blank;
        if (blank > blank_lines_max) {
            folded(no_mark, count_words(blank, "blank line"));
            i += blank - 1;
            continue;
        }
        auto mark = no_mark;
        if (numbers == Numbers::lines) {
            const auto number = std::to_string(i + 1);
            mark = std::string(width - number.size(), ' ') + number;
        }
        foreign_line({.mark = mark}, lines[i]);
    }
}

void Page::diff(std::string_view before, std::string_view after, std::size_t context) {
    const auto lines = line_diff(before, after);
    const auto shown = near_change(lines, context);
    const std::string mark(number_width_min, ' ');
    for (std::size_t i = 0; i < lines.size();) {
        if (!shown[i]) {
            const auto begin = i;
            while (i < lines.size() && !shown[i]) ++i;
            folded(mark, count_words(i - begin, "unchanged line"));
            continue;
        }
        const auto change = lines[i].change;
        const std::string_view sign = change == LineChange::removed ? "-" : change == LineChange::added ? "+" : " ";
        if (const auto blank = blank_run(lines, i); blank > blank_lines_max && change != LineChange::same) {
            folded(mark, std::string(sign) + count_words(blank, "blank line"));
            i += blank;
            continue;
        }
        const auto style = change == LineChange::removed ? Style::red
                           : change == LineChange::added ? Style::green
                                                         : Style::plain;
        foreign_line({.mark = mark, .style = style, .sign = sign}, lines[i].text);
        ++i;
    }
    if (before.ends_with('\n') == after.ends_with('\n') || before.empty() || after.empty()) return;
    folded(mark, before.ends_with('\n') ? "the line feed at the end is removed" : "a line feed is added at the end");
}

}  // namespace assent::cli
