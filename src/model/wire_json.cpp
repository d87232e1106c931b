#include "model/wire_json.hpp"

#include "base/display.hpp"
#include "base/utf8.hpp"

#include <algorithm>
#include <charconv>

namespace assent::models {
namespace {

// A mark stands for one broken character: this noncharacter, a letter for its sort, hex digits.
constexpr std::string_view mark = "\xEF\xB7\x90";  // U+FDD0
constexpr char mark_itself = 'F';
constexpr char mark_surrogate = 'S';
constexpr char mark_byte = 'B';

std::optional<unsigned> hex_value(std::string_view digits, std::size_t count) {
    unsigned value = 0;
    if (digits.size() < count) return std::nullopt;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + count, value, 16);
    if (error != std::errc() || end != digits.data() + count) return std::nullopt;
    return value;
}

std::string hex(unsigned value, int count) {
    static constexpr std::string_view digits = "0123456789abcdef";
    std::string out;
    for (int shift = (count - 1) * 4; shift >= 0; shift -= 4) out += digits[value >> shift & 0xfU];
    return out;
}

bool is_high(unsigned point) {
    return point >= 0xd800 && point < 0xdc00;
}
bool is_low(unsigned point) {
    return point >= 0xdc00 && point < 0xe000;
}

// A surrogate in the form of three bytes, as which a half waits for its other half.
std::string surrogate_bytes(unsigned point) {
    return {static_cast<char>(0xed), static_cast<char>(0x80U | (point >> 6 & 0x3fU)),
            static_cast<char>(0x80U | (point & 0x3fU))};
}

std::optional<unsigned> surrogate_at(std::string_view text) {
    if (text.size() < 3 || text[0] != '\xed') return std::nullopt;
    const auto second = static_cast<unsigned char>(text[1]);
    const auto third = static_cast<unsigned char>(text[2]);
    if (second < 0xa0 || second > 0xbf || (third & 0xc0U) != 0x80) return std::nullopt;
    return 0xd000U | (second & 0x3fU) << 6 | (third & 0x3fU);
}

std::optional<unsigned> escape_at(std::string_view text) {
    return text.starts_with("\\u") ? hex_value(text.substr(2), 4) : std::nullopt;
}

// How the escape at the beginning of `text` is written with marks; `used` says how long it was.
std::string marked_escape(std::string_view text, std::size_t& used) {
    const auto point = escape_at(text);
    used = std::min<std::size_t>(point ? 6 : 2, text.size());
    if (point == 0xfdd0U) return std::string(mark) + mark_itself;
    if (!point || (!is_high(*point) && !is_low(*point))) return std::string(text.substr(0, used));
    const auto second = escape_at(text.substr(6));
    if (is_high(*point) && second && is_low(*second)) {
        used = 12;
        return std::string(text.substr(0, used));
    }
    return std::string(mark) + mark_surrogate + hex(*point, 4);
}

std::string with_marks(std::string_view text) {
    std::string out;
    while (!text.empty()) {
        std::size_t used = 1;
        if (text.front() == '\\') {
            out += marked_escape(text, used);
        } else if (text.starts_with(mark)) {
            out += mark;
            out += mark_itself;
            used = mark.size();
        } else if (const auto size = read_utf8(text).size; size != 0) {
            out += text.substr(0, size);
            used = size;
        } else {
            out += mark;
            out += mark_byte + hex(static_cast<unsigned char>(text.front()), 2);
        }
        text.remove_prefix(used);
    }
    return out;
}

// Takes the marks out again; in raw JSON text a broken escape becomes an escape again.
std::string without_marks(std::string_view text, bool raw) {
    std::string out;
    while (true) {
        const auto at = text.find(mark);
        out += text.substr(0, at);
        if (at == std::string_view::npos) return out;
        text.remove_prefix(at + mark.size());
        const char sort = text.empty() ? mark_itself : text.front();
        const std::size_t digits = sort == mark_surrogate ? 4 : sort == mark_byte ? 2 : 0;
        const auto value = hex_value(text.substr(std::min<std::size_t>(1, text.size())), digits).value_or(0);
        if (sort == mark_surrogate) {
            out += raw ? "\\u" + hex(value, 4) : surrogate_bytes(value);
        } else if (sort == mark_byte) {
            out += static_cast<char>(value);
        } else {
            out += mark;
        }
        text.remove_prefix(std::min(text.size(), 1 + digits));
    }
}

// How many bytes at the end of `text` may be the beginning of a character.
std::size_t unfinished(std::string_view text) {
    for (std::size_t back = 1; back <= std::min<std::size_t>(3, text.size()); ++back) {
        const auto tail = text.substr(text.size() - back);
        const auto lead = static_cast<unsigned char>(tail.front());
        if ((lead & 0xc0U) == 0x80) continue;
        if (lead == 0xed && back == 3 && is_high(surrogate_at(tail).value_or(0))) return back;
        const std::size_t size = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
        return size > back ? back : 0;
    }
    return 0;
}

}  // namespace

std::optional<WireJson> WireJson::parse(std::string_view text) {
    if (auto json = JsonText::parse(std::string(text), wire_limits)) return WireJson(std::move(json).value(), false);
    if (auto json = JsonText::parse(with_marks(text), wire_limits)) return WireJson(std::move(json).value(), true);
    return std::nullopt;
}

std::string WireJson::string(const JsonNode* node) const {
    if (!is_kind(node, JsonNode::Kind::string)) return {};
    return marked_ ? without_marks(node->string, false) : node->string;
}

std::string WireJson::raw(const JsonNode* node) const {
    if (node == nullptr) return {};
    return marked_ ? without_marks(node->text, true) : std::string(node->text);
}

void JoinedText::append(std::string_view piece) {
    if (text_.size() >= 3) {
        const auto high = surrogate_at(std::string_view(text_).substr(text_.size() - 3));
        const auto low = surrogate_at(piece);
        if (high && low && is_high(*high) && is_low(*low)) {
            text_.resize(text_.size() - 3);
            append_utf8(text_, 0x10000 + ((*high - 0xd800) << 10) + (*low - 0xdc00));
            piece.remove_prefix(3);
        }
    }
    text_ += piece;
}

std::string JoinedText::take_new() {
    // What was taken ended with a whole character, so only what is new can be unfinished.
    const auto fresh = std::string_view(text_).substr(taken_);
    const auto whole = fresh.substr(0, fresh.size() - unfinished(fresh));
    taken_ += whole.size();
    return repaired_utf8(whole);
}

std::string JoinedText::take_rest() {
    auto rest = repaired_utf8(std::string_view(text_).substr(taken_));
    taken_ = text_.size();
    return rest;
}

std::int64_t whole_number(const JsonNode* node) {
    std::int64_t value = 0;
    if (is_kind(node, JsonNode::Kind::number)) {
        std::from_chars(node->text.data(), node->text.data() + node->text.size(), value);
    }
    return value;
}

const JsonNode* member(const JsonNode* object, std::string_view key) {
    return object == nullptr ? nullptr : object->find(key);
}

bool is_kind(const JsonNode* node, JsonNode::Kind kind) {
    return node != nullptr && node->kind == kind;
}

bool is_blank(std::string_view text) {
    return text.find_first_not_of(" \t\r\n\f\v") == std::string_view::npos;
}

}  // namespace assent::models
