#include "cli/json_text.hpp"

#include "base/display.hpp"
#include "base/utf8.hpp"

#include <array>
#include <cstdio>
#include <string_view>

namespace assent::cli {
namespace {

constexpr std::size_t indent_width = 2;

std::string unit_escape(unsigned unit) {
    std::array<char, 8> text{};
    std::snprintf(text.data(), text.size(), "\\u%04x", unit);
    return text.data();
}

std::string json_escape(char32_t point) {
    if (point < 0x10000) return unit_escape(static_cast<unsigned>(point));
    const auto offset = static_cast<unsigned>(point) - 0x10000;
    return unit_escape(0xd800 + (offset >> 10)) + unit_escape(0xdc00 + (offset & 0x3ff));
}

class Writer {
public:
    Writer(bool lines, bool escape_hidden) : lines_(lines), escape_hidden_(escape_hidden) {}

    std::string take() { return std::move(out_); }

    void write(const JsonNode& node, std::size_t depth) {
        const bool object = node.kind == JsonNode::Kind::object;
        if (!object && node.kind != JsonNode::Kind::array) {
            write_text(node.text);
            return;
        }
        out_ += object ? '{' : '[';
        for (std::size_t i = 0; i < node.items.size(); ++i) {
            if (i > 0) out_ += ',';
            new_line(depth + 1);
            if (object) {
                write_text(json_quote(node.keys[i]));
                out_ += lines_ ? ": " : ":";
            }
            write(node.items[i], depth + 1);
        }
        if (!node.items.empty()) new_line(depth);
        out_ += object ? '}' : ']';
    }

private:
    void new_line(std::size_t depth) {
        if (!lines_) return;
        out_ += '\n';
        out_.append(depth * indent_width, ' ');
    }

    void write_text(std::string_view text) {
        if (!escape_hidden_) {
            out_ += text;
            return;
        }
        while (!text.empty()) {
            const auto [point, size] = read_utf8(text);
            const auto character = text.substr(0, size == 0 ? 1 : size);
            if (size > 1 && safe_to_show(character).hidden_characters) {
                out_ += json_escape(point);
            } else {
                out_ += character;
            }
            text.remove_prefix(character.size());
        }
    }

    std::string out_;
    bool lines_;
    bool escape_hidden_;
};

std::string written(const JsonNode& node, bool lines, bool escape_hidden) {
    Writer writer(lines, escape_hidden);
    writer.write(node, 0);
    return writer.take();
}

}  // namespace

std::string compact_json(const JsonNode& node) {
    return written(node, false, false);
}

std::string pretty_json(const JsonNode& node) {
    return written(node, true, false);
}

std::string editable_json(const JsonNode& node) {
    return written(node, true, true);
}

}  // namespace assent::cli
