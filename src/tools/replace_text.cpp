#include "tools/replace_text.hpp"

#include <algorithm>
#include <vector>

namespace assent {
namespace {

bool crlf_at(std::string_view text, std::size_t at) noexcept {
    return text[at] == '\r' && at + 1 < text.size() && text[at + 1] == '\n';
}

std::string with_lf(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (!crlf_at(text, at)) out += text[at];
    }
    return out;
}

std::string with_crlf(std::string_view lf_text) {
    std::string out;
    for (const char c : lf_text) {
        if (c == '\n') out += '\r';
        out += c;
    }
    return out;
}

std::vector<std::size_t> places(std::string_view text, std::string_view wanted) {
    std::vector<std::size_t> out;
    for (auto at = text.find(wanted); at != std::string_view::npos; at = text.find(wanted, at + wanted.size()))
        out.push_back(at);
    return out;
}

Replaced replace_exactly(std::string_view file, std::string_view old_text, std::string_view new_text, bool all) {
    const auto found = places(file, old_text);
    Replaced out{found.size(), {}};
    if (found.empty() || (found.size() > 1 && !all)) return out;
    std::size_t done = 0;
    for (const auto at : found) {
        out.text += file.substr(done, at - done);
        out.text += new_text;
        done = at + old_text.size();
    }
    out.text += file.substr(done);
    return out;
}

// Goes along a file by the positions of its LF form.
class CrlfCursor {
public:
    explicit CrlfCursor(std::string_view file) noexcept : file_(file) {}

    std::size_t original_of(std::size_t lf_position) noexcept {
        for (; lf_ < lf_position; ++lf_) original_ += crlf_at(file_, original_) ? 2 : 1;
        return original_;
    }

private:
    std::string_view file_;
    std::size_t lf_ = 0;
    std::size_t original_ = 0;
};

// How the line ends in which a place begins; after the last end of all, as that one. The file has one.
class LineEnds {
public:
    explicit LineEnds(std::string_view file) noexcept : file_(file), last_(file.rfind('\n')), next_(file.find('\n')) {}

    bool crlf_at_or_after(std::size_t place) noexcept {
        // Places come in order: one search serves all that lie before what it found.
        if (next_ < place && next_ != last_) next_ = std::min(file_.find('\n', place), last_);
        return next_ > 0 && file_[next_ - 1] == '\r';
    }

private:
    std::string_view file_;
    std::size_t last_;
    std::size_t next_;
};

}  // namespace

Replaced replace_text(std::string_view file, std::string_view old_text, std::string_view new_text, bool all) {
    if (file.find("\r\n") == std::string_view::npos) return replace_exactly(file, old_text, new_text, all);
    const auto lf_file = with_lf(file);
    const auto lf_old = with_lf(old_text);
    const auto lf_new = with_lf(new_text);
    const auto crlf_new = with_crlf(lf_new);
    const auto found = places(lf_file, lf_old);
    // A carriage return of its own, or half of a CR LF: only the bytes can say.
    if (found.empty()) return replace_exactly(file, old_text, new_text, all);
    Replaced out{found.size(), {}};
    if (found.size() > 1 && !all) return out;
    CrlfCursor cursor(file);
    LineEnds ends(file);
    std::size_t done = 0;
    for (const auto at : found) {
        const auto begin = cursor.original_of(at);
        const auto end = cursor.original_of(at + lf_old.size());
        out.text += file.substr(done, begin - done);
        out.text += ends.crlf_at_or_after(begin) ? crlf_new : lf_new;
        done = end;
    }
    out.text += file.substr(done);
    return out;
}

}  // namespace assent
