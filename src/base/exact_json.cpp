#include <assent/arguments.hpp>

#include "base/decimal.hpp"
#include "base/display.hpp"
#include "base/json_quote.hpp"
#include "base/sha256.hpp"
#include "base/utf8.hpp"

#include <algorithm>
#include <cstdint>
#include <unordered_set>

namespace assent {

struct JsonText::Document {
    std::string text;
    JsonNode root;
};

namespace {

// Reads one JSON value strictly. Recursion is bounded by the depth limit.
class Reader {
public:
    Reader(std::string_view text, const JsonLimits& limits) : text_(text), limits_(limits) {}

    Result<JsonNode> read() {
        if (text_.size() > limits_.bytes_max) {
            return Failure{FailureKind::refused, "the json text has " + std::to_string(text_.size()) +
                                                     " bytes; at most " + std::to_string(limits_.bytes_max) +
                                                     " are taken"};
        }
        if (!valid_utf8(text_)) return Failure{FailureKind::refused, "the json text is not valid utf-8"};
        JsonNode root;
        skip_blanks();
        if (!value(root, 1)) return failure();
        skip_blanks();
        if (at_ != text_.size()) {
            fail("there is text after the json value");
            return failure();
        }
        return root;
    }

private:
    [[nodiscard]] Failure failure() const {
        return {FailureKind::refused, problem_ + " at byte " + std::to_string(problem_at_)};
    }
    bool fail(std::string problem) {
        problem_ = std::move(problem);
        problem_at_ = at_;
        return false;
    }
    [[nodiscard]] char peek() const noexcept { return at_ < text_.size() ? text_[at_] : '\0'; }
    bool take(char c) noexcept {
        if (at_ < text_.size() && text_[at_] == c) {
            ++at_;
            return true;
        }
        return false;
    }
    void skip_blanks() noexcept {
        while (at_ < text_.size() &&
               (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n' || text_[at_] == '\r')) {
            ++at_;
        }
    }

    bool value(JsonNode& node, std::size_t depth) {
        if (depth > limits_.depth_max) {
            return fail("the json text is nested more than " + std::to_string(limits_.depth_max) + " deep");
        }
        if (at_ == text_.size()) return fail("the json text ends where a value should be");
        const auto start = at_;
        bool good = false;
        switch (peek()) {
            case '{':
                good = object(node, depth);
                break;
            case '[':
                good = array(node, depth);
                break;
            case '"':
                node.kind = JsonNode::Kind::string;
                good = string(node.string);
                break;
            case 't':
                node.kind = JsonNode::Kind::boolean;
                node.boolean = true;
                good = word("true");
                break;
            case 'f':
                node.kind = JsonNode::Kind::boolean;
                good = word("false");
                break;
            case 'n':
                good = word("null");
                break;
            default:
                node.kind = JsonNode::Kind::number;
                good = number();
        }
        if (good) node.text = text_.substr(start, at_ - start);
        return good;
    }

    bool word(std::string_view expected) {
        if (text_.substr(at_, expected.size()) != expected) return fail("this is no json value");
        at_ += expected.size();
        return true;
    }

    bool digits() noexcept {
        const auto start = at_;
        while (peek() >= '0' && peek() <= '9') ++at_;
        return at_ > start;
    }

    bool number() {
        take('-');
        if (take('0')) {
            if (peek() >= '0' && peek() <= '9') return fail("a json number has no leading zeros");
        } else if (!digits()) {
            return fail("this is no json value");
        }
        if (take('.') && !digits()) return fail("a digit should follow the decimal point");
        if (take('e') || take('E')) {
            if (!take('+')) take('-');
            if (!digits()) return fail("a digit should follow the exponent sign");
        }
        return true;
    }

    bool array(JsonNode& node, std::size_t depth) {
        node.kind = JsonNode::Kind::array;
        take('[');
        skip_blanks();
        if (take(']')) return true;
        while (true) {
            skip_blanks();
            if (!value(node.items.emplace_back(), depth + 1)) return false;
            skip_blanks();
            if (take(']')) return true;
            if (!take(',')) return fail("a comma or ] should follow an element");
        }
    }

    bool object(JsonNode& node, std::size_t depth) {
        node.kind = JsonNode::Kind::object;
        take('{');
        skip_blanks();
        if (take('}')) return true;
        std::unordered_set<std::string> many;
        while (true) {
            skip_blanks();
            if (peek() != '"') return fail("a member name in quotes should stand here");
            const auto name_at = at_;
            std::string key;
            if (!string(key)) return false;
            if (stands_already(key, node.keys, many)) {
                at_ = name_at;
                return fail("an object has the same key twice");
            }
            skip_blanks();
            if (!take(':')) return fail("a colon should follow a member name");
            skip_blanks();
            node.keys.push_back(std::move(key));
            if (!value(node.items.emplace_back(), depth + 1)) return false;
            skip_blanks();
            if (take('}')) return true;
            if (!take(',')) return fail("a comma or } should follow a member");
        }
    }

    // A few names are compared one by one; `many` holds them all once there are more.
    static bool stands_already(const std::string& key, const std::vector<std::string>& keys,
                               std::unordered_set<std::string>& many) {
        constexpr std::size_t few = 16;
        if (keys.size() < few) return std::find(keys.begin(), keys.end(), key) != keys.end();
        if (many.empty()) many.insert(keys.begin(), keys.end());
        return !many.insert(key).second;
    }

    bool four_hex_digits(std::uint32_t& unit) {
        unit = 0;
        for (int i = 0; i < 4; ++i) {
            const char c = peek();
            std::uint32_t digit = 0;
            if (c >= '0' && c <= '9') {
                digit = static_cast<std::uint32_t>(c - '0');
            } else if (c >= 'a' && c <= 'f') {
                digit = static_cast<std::uint32_t>(c - 'a' + 10);
            } else if (c >= 'A' && c <= 'F') {
                digit = static_cast<std::uint32_t>(c - 'A' + 10);
            } else {
                return fail("four hex digits should follow \\u");
            }
            unit = unit * 16 + digit;
            ++at_;
        }
        return true;
    }

    bool escaped_character(std::string& out) {
        std::uint32_t unit = 0;
        if (!four_hex_digits(unit)) return false;
        if (unit >= 0xdc00 && unit <= 0xdfff) return fail("a lone low surrogate stands here");
        if (unit >= 0xd800 && unit <= 0xdbff) {
            std::uint32_t low = 0;
            if (!take('\\') || !take('u')) return fail("a lone high surrogate stands here");
            if (!four_hex_digits(low)) return false;
            if (low < 0xdc00 || low > 0xdfff) return fail("a lone high surrogate stands here");
            unit = 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
        }
        append_utf8(out, unit);
        return true;
    }

    static bool is_plain(char c) noexcept { return static_cast<unsigned char>(c) >= 0x20 && c != '"' && c != '\\'; }

    bool string(std::string& out) {
        take('"');
        while (true) {
            if (at_ == text_.size()) return fail("a text is not closed");
            const char c = text_[at_];
            if (c == '"') {
                ++at_;
                return true;
            }
            if (static_cast<unsigned char>(c) < 0x20) return fail("a control character in a text is not escaped");
            if (c != '\\') {
                const auto size = plain_size(text_.substr(at_));
                out.append(text_.substr(at_, size));
                at_ += size;
                continue;
            }
            ++at_;
            const char escape = peek();
            ++at_;
            switch (escape) {
                case '"':
                    out += '"';
                    break;
                case '\\':
                    out += '\\';
                    break;
                case '/':
                    out += '/';
                    break;
                case 'b':
                    out += '\b';
                    break;
                case 'f':
                    out += '\f';
                    break;
                case 'n':
                    out += '\n';
                    break;
                case 'r':
                    out += '\r';
                    break;
                case 't':
                    out += '\t';
                    break;
                case 'u':
                    if (!escaped_character(out)) return false;
                    break;
                default:
                    --at_;
                    return fail("this escape is not known in json");
            }
        }
    }

    std::string_view text_;
    const JsonLimits& limits_;
    std::size_t at_ = 0;
    std::string problem_;
    std::size_t problem_at_ = 0;
};

}  // namespace

const JsonNode* JsonNode::find(std::string_view key) const noexcept {
    const auto found = std::find(keys.begin(), keys.end(), key);
    return found == keys.end() ? nullptr : &items[static_cast<std::size_t>(found - keys.begin())];
}

JsonText::JsonText() {
    static const std::shared_ptr<const Document> null = [] {
        auto document = std::make_shared<Document>();
        document->text = "null";
        document->root.text = document->text;
        return document;
    }();
    document_ = null;
}

JsonText::JsonText(std::shared_ptr<const Document> document) noexcept : document_(std::move(document)) {}

Result<JsonText> JsonText::parse(std::string text, const JsonLimits& limits) {
    auto document = std::make_shared<Document>();
    document->text = std::move(text);
    auto root = Reader(document->text, limits).read();
    if (!root) return root.failure();
    document->root = std::move(root).value();
    return JsonText(std::move(document));
}

const std::string& JsonText::text() const noexcept {
    return document_->text;
}
const JsonNode& JsonText::root() const noexcept {
    return document_->root;
}

Arguments::Arguments() : json_(*JsonText::parse("{}")) {}

Result<Arguments> Arguments::parse(std::string text, const JsonLimits& limits) {
    auto json = JsonText::parse(std::move(text), limits);
    if (!json) return json.failure();
    if (json->root().kind != JsonNode::Kind::object) {
        return Failure{FailureKind::refused, "arguments must be a json object"};
    }
    return Arguments(std::move(json).value());
}

std::string Arguments::sha256() const {
    return hex(assent::sha256(text()));
}

Result<Arguments> lay_over(const Arguments& base, const Arguments& changes, const JsonLimits& limits) {
    const auto& old = base.root();
    const auto& fresh = changes.root();
    const char* start = base.text().data();
    std::string out;
    const char* copied = start;
    // Untouched bytes are copied as they are; only the values of changed members are replaced.
    for (std::size_t i = 0; i < old.keys.size(); ++i) {
        const auto* change = fresh.find(old.keys[i]);
        if (change == nullptr) continue;
        const auto& value = old.items[i].text;
        out.append(copied, value.data());
        out.append(change->text);
        copied = value.data() + value.size();
    }
    const char* end = start + base.text().size();
    const char* brace = end - 1;
    while (*brace != '}') --brace;
    std::string added;
    for (std::size_t i = 0; i < fresh.keys.size(); ++i) {
        if (old.find(fresh.keys[i]) != nullptr) continue;
        if (!old.keys.empty() || !added.empty()) added += ',';
        added += json_quote(fresh.keys[i]);
        added += ':';
        added += fresh.items[i].text;
    }
    out.append(copied, brace);
    out += added;
    out.append(brace, end);
    return Arguments::parse(std::move(out), limits);
}

bool same_value(const JsonNode& a, const JsonNode& b) noexcept {
    if (a.kind != b.kind) return false;
    switch (a.kind) {
        case JsonNode::Kind::null:
            return true;
        case JsonNode::Kind::boolean:
            return a.boolean == b.boolean;
        case JsonNode::Kind::number:
            return compare_decimals(a.text, b.text) == 0;
        case JsonNode::Kind::string:
            return a.string == b.string;
        case JsonNode::Kind::array:
            return std::equal(a.items.begin(), a.items.end(), b.items.begin(), b.items.end(), same_value);
        case JsonNode::Kind::object:
            if (a.keys.size() != b.keys.size()) return false;
            for (std::size_t i = 0; i < a.keys.size(); ++i) {
                const auto* other = b.find(a.keys[i]);
                if (other == nullptr || !same_value(a.items[i], *other)) return false;
            }
            return true;
    }
    return false;
}

}  // namespace assent
