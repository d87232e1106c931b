#include "exec/captured_stream.hpp"

#include "base/utf8.hpp"

#include <algorithm>

namespace assent {
namespace {

bool continues_character(char c) noexcept {
    return (static_cast<unsigned char>(c) & 0xc0U) == 0x80U;
}

void append_visible(std::string& out, std::string_view bytes) {
    constexpr std::string_view digits = "0123456789abcdef";
    while (!bytes.empty()) {
        const auto size = read_utf8(bytes).size;
        if (size == 0) {
            const auto byte = static_cast<unsigned char>(bytes[0]);
            out += "\\x";
            out += digits[byte >> 4];
            out += digits[byte & 0x0f];
            bytes.remove_prefix(1);
        } else {
            out += bytes.substr(0, size);
            bytes.remove_prefix(size);
        }
    }
}

// Without a character that the cut has split: at most three bytes belong to it.
std::string_view whole_end(std::string_view head) noexcept {
    for (std::size_t back = 1; back <= std::min<std::size_t>(4, head.size()); ++back) {
        const auto at = head.size() - back;
        if (continues_character(head[at])) continue;
        return read_utf8(head.substr(at)).size == 0 && static_cast<unsigned char>(head[at]) >= 0xc0U
                   ? head.substr(0, at)
                   : head;
    }
    return head;
}

std::string_view whole_begin(std::string_view tail) noexcept {
    for (std::size_t at = 0; at < std::min<std::size_t>(4, tail.size()); ++at) {
        if (!continues_character(tail[at])) return tail.substr(at);
    }
    return tail;
}

}  // namespace

void CapturedStream::add(std::string_view bytes) {
    total_ += bytes.size();
    const auto to_head = std::min(bytes.size(), head_max_ - head_.size());
    head_ += bytes.substr(0, to_head);
    bytes.remove_prefix(to_head);
    if (bytes.size() > tail_max_) bytes.remove_prefix(bytes.size() - tail_max_);
    tail_ += bytes;
    if (tail_.size() > 2 * tail_max_) tail_.erase(0, tail_.size() - tail_max_);
}

std::string_view CapturedStream::tail() const noexcept {
    std::string_view tail = tail_;
    if (tail.size() > tail_max_) tail.remove_prefix(tail.size() - tail_max_);
    return tail;
}

std::uint64_t CapturedStream::cut_bytes() const noexcept {
    return total_ - head_.size() - std::min(tail_.size(), tail_max_);
}

std::string CapturedStream::text() const {
    std::string out;
    if (cut_bytes() == 0) {
        append_visible(out, head_ + std::string(tail()));
        return out;
    }
    const auto head = whole_end(head_);
    const auto tail = whole_begin(this->tail());
    append_visible(out, head);
    out += "\n[… " + std::to_string(total_ - head.size() - tail.size()) + " bytes cut …]\n";
    append_visible(out, tail);
    return out;
}

}  // namespace assent
