// JSON for scripts: UTF-8, not ASCII-escaped, on one line; stored JSON texts are kept byte for byte but for
// line breaks outside of their texts, which become blanks.
#pragma once

#include <assent/arguments.hpp>
#include <assent/clock.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assent::cli {

[[nodiscard]] bool breaks_line(char c);

class JsonObject {
public:
    JsonObject& text(std::string_view key, std::string_view value) { return raw(key, json_quote(value)); }
    JsonObject& text_or_null(std::string_view key, std::string_view value) {
        return value.empty() ? null(key) : text(key, value);
    }
    JsonObject& number(std::string_view key, std::int64_t value) { return raw(key, std::to_string(value)); }
    JsonObject& boolean(std::string_view key, bool value) { return raw(key, value ? "true" : "false"); }
    JsonObject& null(std::string_view key) { return raw(key, "null"); }
    /// RFC 3339, or null.
    JsonObject& time(std::string_view key, std::optional<UnixMillis> value);
    /// `json` is JSON text already; empty counts as null.
    JsonObject& raw(std::string_view key, std::string_view json);
    [[nodiscard]] std::string str() const { return "{" + members_ + "}"; }

private:
    std::string members_;
};

/// `items` are JSON texts.
[[nodiscard]] std::string json_array(const std::vector<std::string>& items);
[[nodiscard]] std::string json_texts(const std::vector<std::string>& texts);

}  // namespace assent::cli
