#include "tools/number_lines.hpp"

#include "base/utf8.hpp"

#include <algorithm>

namespace assent {
namespace {

constexpr std::size_t number_columns = 6;

// The first part of a line, between characters.
std::string_view first_part(std::string_view line) noexcept {
    if (line.size() <= line_characters_max) return line;
    std::size_t at = 0;
    for (std::size_t count = 0; count < line_characters_max && at < line.size(); ++count)
        at += std::max<std::size_t>(read_utf8(line.substr(at)).size, 1);
    return line.substr(0, at);
}

std::string numbered_part(const std::string& number, std::string_view part) {
    std::string out(number_columns - std::min(number.size(), number_columns), ' ');
    out += number;
    out += '\t';
    out += part;
    out += '\n';
    return out;
}

}  // namespace

std::vector<std::string_view> split_lines(std::string_view text) {
    std::vector<std::string_view> lines;
    while (!text.empty()) {
        const auto end = text.find('\n');
        auto line = text.substr(0, end);
        if (end != std::string_view::npos && line.ends_with('\r')) line.remove_suffix(1);
        lines.push_back(line);
        text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
    }
    return lines;
}

NumberedLines number_lines(std::span<const std::string_view> lines, std::size_t first_number, std::size_t bytes_max) {
    NumberedLines out;
    for (const auto line : lines) {
        const auto number = std::to_string(first_number + out.lines);
        std::string text;
        auto rest = line;
        std::size_t part_number = 0;
        do {
            const auto part = first_part(rest);
            auto next = numbered_part(part_number == 0 ? number : number + "." + std::to_string(part_number), part);
            if (out.text.size() + text.size() + next.size() > bytes_max && !(out.lines == 0 && part_number == 0)) {
                if (out.lines > 0) return out;
                out.cut = true;
                break;
            }
            text += next;
            rest.remove_prefix(part.size());
            ++part_number;
        } while (!rest.empty());
        out.text += text;
        ++out.lines;
        if (out.cut) break;
    }
    return out;
}

}  // namespace assent
