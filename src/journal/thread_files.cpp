#include "journal/thread_files.hpp"

#include <algorithm>

namespace assent::journal {
namespace {

bool within_character(std::string_view text, std::size_t at) {
    return at < text.size() && (static_cast<unsigned char>(text[at]) & 0xc0U) == 0x80U;
}

}  // namespace

FileChange change_of(std::string_view path, const std::string* before, const std::string* after) {
    FileChange change{.path = std::string(path)};
    if (after == nullptr) {
        change.removed = true;
        return change;
    }
    const std::string_view old_text = before == nullptr ? std::string_view() : *before;
    const std::string_view new_text = *after;
    auto begin = static_cast<std::size_t>(std::ranges::mismatch(old_text, new_text).in1 - old_text.begin());
    while (within_character(old_text, begin) || within_character(new_text, begin)) --begin;
    const auto common_max = std::min(old_text.size(), new_text.size()) - begin;
    std::size_t end = 0;
    while (end < common_max && old_text[old_text.size() - end - 1] == new_text[new_text.size() - end - 1]) ++end;
    while (end > 0 &&
           (within_character(old_text, old_text.size() - end) || within_character(new_text, new_text.size() - end)))
        --end;
    change.at = static_cast<std::int64_t>(begin);
    change.cut = static_cast<std::int64_t>(old_text.size() - end - begin);
    change.text = new_text.substr(begin, new_text.size() - end - begin);
    return change;
}

void apply(Files& files, const FileChange& change) {
    const auto known = files.find(change.path);
    if (change.removed) {
        if (known != files.end()) files.erase(known);
        return;
    }
    std::string text = known == files.end() ? std::string() : *known->second;
    const auto at = std::min(static_cast<std::size_t>(change.at), text.size());
    text.replace(at, static_cast<std::size_t>(change.cut), change.text);
    files.insert_or_assign(change.path, std::make_shared<const std::string>(std::move(text)));
}

}  // namespace assent::journal
