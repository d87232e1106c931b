#include "cli/answers_list.hpp"

#include <assent/arguments.hpp>

#include <algorithm>
#include <array>
#include <string_view>

namespace assent::cli {
namespace {

constexpr std::array<std::string_view, 5> words{"approve", "deny", "edit", "respond", "later"};

// The word at the beginning of `text` if it stands alone or before a colon or comma.
std::string_view word_at(std::string_view text) {
    for (const auto word : words) {
        if (!text.starts_with(word)) continue;
        const auto rest = text.substr(word.size());
        if (rest.empty() || rest.front() == ':' || rest.front() == ',') return word;
    }
    return {};
}

// Where the JSON object at the beginning of `text` ends; 0 if it has no end.
std::size_t object_end(std::string_view text) {
    int depth = 0;
    bool in_text = false;
    for (std::size_t at = 0; at < text.size(); ++at) {
        const char c = text[at];
        if (in_text) {
            if (c == '\\') ++at;
            in_text = c != '"';
        } else if (c == '"') {
            in_text = true;
        } else if (c == '{') {
            ++depth;
        } else if (c == '}' && --depth == 0) {
            return at + 1;
        }
    }
    return 0;
}

std::vector<std::string_view> split(std::string_view list) {
    std::vector<std::string_view> parts;
    std::size_t start = 0;
    constexpr std::string_view edit_of_object = "edit:{";
    for (std::size_t at = 0; at < list.size(); ++at) {
        // What stands in an edit's object is no answer.
        if (at == start && list.substr(at).starts_with(edit_of_object)) {
            at += edit_of_object.size() - 1;
            at += object_end(list.substr(at));
        }
        if (at == list.size()) break;
        if (list[at] != ',' || word_at(list.substr(at + 1)).empty()) continue;
        parts.push_back(list.substr(start, at - start));
        start = at + 1;
    }
    parts.push_back(list.substr(start));
    return parts;
}

Result<ListedAnswer> read_one(std::string_view part) {
    const auto word = word_at(part);
    const bool has_text = part.size() > word.size();
    const std::string text(has_text ? part.substr(word.size() + 1) : std::string_view());
    if (word == "approve" && !has_text) return ListedAnswer(approve());
    if (word == "later" && !has_text) return ListedAnswer();
    if (word == "deny") return ListedAnswer(deny(text));
    if (word == "respond" && has_text) return ListedAnswer(respond(text));
    if (word == "edit" && has_text) {
        if (auto arguments = Arguments::parse(text); !arguments) {
            return Failure{FailureKind::usage,
                           "--answers: the arguments of edit cannot be used: " + arguments.failure().message};
        }
        return ListedAnswer(edit(text));
    }
    return Failure{FailureKind::usage,
                   "--answers takes approve, deny:why, edit:{…}, respond:text and later, separated by commas, not " +
                       std::string(part)};
}

}  // namespace

Result<std::vector<ListedAnswer>> read_answers(const std::vector<std::string>& lists) {
    std::vector<ListedAnswer> answers;
    for (const auto& list : lists) {
        for (const auto part : split(list)) {
            auto answer = read_one(part);
            if (!answer) return answer.failure();
            answers.push_back(std::move(answer).value());
        }
    }
    return answers;
}

}  // namespace assent::cli
