// JSON as services send it in pieces.
//
// A stream may cut a text between the bytes of a character or between the halves of a surrogate pair, so
// that no piece is valid by itself. WireJson reads such a piece; JoinedText puts the pieces together
// again. Everything else is as strict as our own JSON: digits are kept, doubled keys are refused.
//
// Thread-safety: plain values.
#pragma once

#include <assent/arguments.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace assent::models {

/// Larger than what the gate takes as arguments: what is too long for it must still be read whole.
inline constexpr JsonLimits wire_limits{.bytes_max = std::size_t{64} * 1024 * 1024, .depth_max = 200};

class WireJson {
public:
    static std::optional<WireJson> parse(std::string_view text);

    [[nodiscard]] const JsonNode& root() const noexcept { return json_.root(); }
    /// The characters of a string, and its broken ones as the bytes they were; empty if it is no string.
    [[nodiscard]] std::string string(const JsonNode* node) const;
    /// The exact bytes of a value; empty if there is none.
    [[nodiscard]] std::string raw(const JsonNode* node) const;

private:
    WireJson(JsonText json, bool marked) : json_(std::move(json)), marked_(marked) {}
    JsonText json_;
    bool marked_;  // broken characters are written as marks
};

/// A text that comes in pieces, cut anywhere.
class JoinedText {
public:
    void append(std::string_view piece);
    [[nodiscard]] const std::string& text() const noexcept { return text_; }
    /// What came since the last call, up to the last whole character.
    std::string take_new();
    /// The rest, whole or not.
    std::string take_rest();

private:
    std::string text_;
    std::size_t taken_ = 0;
};

/// The whole number in `node`, or 0.
[[nodiscard]] std::int64_t whole_number(const JsonNode* node);
/// A member of an object that may be missing itself.
[[nodiscard]] const JsonNode* member(const JsonNode* object, std::string_view key);
[[nodiscard]] bool is_kind(const JsonNode* node, JsonNode::Kind kind);
/// True if a person would see nothing of `text`.
[[nodiscard]] bool is_blank(std::string_view text);

}  // namespace assent::models
