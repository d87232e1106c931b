// The exact arguments of a tool call: the bytes that are shown, hashed and run.
//
// Parsing is strict (RFC 8259) and refuses what two readers could read differently: duplicate keys,
// invalid UTF-8, lone surrogates, text after the value, too deep nesting, too long text. Numbers keep
// their digits as written; nothing is rounded and nothing is re-serialised.
//
// Thread-safety: immutable after construction. Errors: `parse` returns a Failure that names the
// position (byte offset, from 0), never the text itself.
#pragma once

#include <assent/result.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace assent {

/// Limits on one JSON text. Hitting one is a clear refusal.
struct JsonLimits {
    std::size_t bytes_max = 1024 * 1024;
    std::size_t depth_max = 100;

    bool operator==(const JsonLimits&) const = default;
};

/// One value of a parsed JSON text. Lives as long as the text it was parsed from.
struct JsonNode {
    enum class Kind { null, boolean, number, string, array, object };

    Kind kind = Kind::null;
    bool boolean = false;
    std::string_view text;          ///< The exact bytes of this value in the source.
    std::string string;             ///< The decoded characters (kind string only).
    std::vector<std::string> keys;  ///< Decoded member names (kind object only), in source order.
    std::vector<JsonNode> items;    ///< Elements, or member values in the order of `keys`.

    /// The member called `key`, or null if there is none or this is no object. Linear in members.
    [[nodiscard]] const JsonNode* find(std::string_view key) const noexcept;
};

/// A JSON text and its parsed form, any kind of value.
class JsonText {
public:
    /// The text `null`.
    JsonText();

    /// Parses `text`. Failure kind `refused`; the message says what is wrong and where.
    static Result<JsonText> parse(std::string text, const JsonLimits& limits = {});

    [[nodiscard]] const std::string& text() const noexcept;
    [[nodiscard]] const JsonNode& root() const noexcept;

    bool operator==(const JsonText& other) const noexcept { return text() == other.text(); }

private:
    struct Document;
    explicit JsonText(std::shared_ptr<const Document> document) noexcept;
    std::shared_ptr<const Document> document_;
};

/// The arguments of one call: a JSON object, byte for byte.
class Arguments {
public:
    /// The text `{}`.
    Arguments();

    /// Parses `text`, which must be a JSON object. Failure kind `refused`.
    static Result<Arguments> parse(std::string text, const JsonLimits& limits = {});

    [[nodiscard]] const std::string& text() const noexcept { return json_.text(); }
    [[nodiscard]] const JsonNode& root() const noexcept { return json_.root(); }
    /// The same text and its parsed form as any JSON value.
    [[nodiscard]] const JsonText& json() const noexcept { return json_; }
    /// The top-level argument called `name`, or null.
    [[nodiscard]] const JsonNode* find(std::string_view name) const noexcept { return root().find(name); }
    /// SHA-256 of the exact bytes, 64 lower-case hex digits.
    [[nodiscard]] std::string sha256() const;

    bool operator==(const Arguments& other) const noexcept { return text() == other.text(); }

private:
    explicit Arguments(JsonText json) noexcept : json_(std::move(json)) {}
    JsonText json_;
};

/// Lays the top-level members of `changes` over `base`: a member that exists is replaced in its
/// place, others are appended; every byte of an untouched member stays as it was.
/// Failure kind `refused` if the result breaks a limit.
Result<Arguments> lay_over(const Arguments& base, const Arguments& changes, const JsonLimits& limits = {});

/// True if both are the same JSON value: numbers by the exact value of their digits, objects
/// whatever the order of their keys.
[[nodiscard]] bool same_value(const JsonNode& a, const JsonNode& b) noexcept;

/// `text` as a JSON string with its quotes. Bytes that are not UTF-8 become U+FFFD.
[[nodiscard]] std::string json_quote(std::string_view text);

}  // namespace assent
