#include "tools/line_words.hpp"

#include <array>

namespace assent {
namespace {

void replace_all(std::string& text, std::string_view from, std::string_view to) {
    for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
        text.replace(at, from.size(), to);
    }
}

std::string unquoted(std::string_view line) {
    std::string text;
    for (std::size_t i = 0; i < line.size(); ++i) {
        const char c = line[i];
        if (c == '\\' && i + 1 < line.size() && line[i + 1] == '\n') {
            ++i;  // the line goes on
        } else if (c != '\'' && c != '"' && c != '\\') {
            text += c;
        }
    }
    return text;
}

// Where a word begins: `a~/` is no home.
void replace_tilde(std::string& text, std::string_view home) {
    constexpr std::string_view before = " \t\n=:;|&<>(`";
    for (auto at = text.find("~/"); at != std::string::npos; at = text.find("~/", at + 1)) {
        if (at == 0 || before.contains(text[at - 1])) text.replace(at, 1, home);
    }
}

}  // namespace

std::string plain_line(std::string_view line, std::string_view home) {
    auto text = unquoted(line);
    if (!home.empty()) {
        replace_tilde(text, home);
        for (const std::string_view name : std::array{"$HOME", "${HOME}"}) replace_all(text, name, home);
    }
    std::string plain;
    for (const char c : text) {
        const bool same = c == '/' && (plain.ends_with('/') || plain.ends_with("/."));
        if (!same) {
            plain += c;
        } else if (plain.ends_with('.')) {
            plain.pop_back();
        }
    }
    return plain;
}

std::vector<std::vector<std::string_view>> line_words(std::string_view plain) {
    constexpr std::string_view ends_command = ";|&\n";
    constexpr std::string_view ends_word = " \t\r<>()=,:{}`";
    std::vector<std::vector<std::string_view>> commands(1);
    std::size_t begin = 0;
    for (std::size_t i = 0; i <= plain.size(); ++i) {
        const bool command_over = i == plain.size() || ends_command.contains(plain[i]);
        if (!command_over && !ends_word.contains(plain[i])) continue;
        if (i > begin) commands.back().push_back(plain.substr(begin, i - begin));
        if (command_over) commands.emplace_back();
        begin = i + 1;
    }
    return commands;
}

}  // namespace assent
