// Events, headers and snapshots as bytes, each with the version of its form.
#pragma once

#include "base/sha256.hpp"
#include "journal/thread.hpp"

#include <span>
#include <string>
#include <vector>

namespace assent::journal {

/// Several events as one body. Bytes that are no UTF-8 are written as U+FFFD.
[[nodiscard]] std::string encode(std::span<const Event> events);
/// The events of a body. `first_number` is the number of its first question.
/// Failure kind `database` for a body of a newer version or a damaged one.
Result<std::vector<Event>> decode(const std::string& body, std::int64_t first_number);

/// What the chain covers of a row: the digest of salt and body stands for them, so that a body can be
/// removed later and the chain still holds.
struct Header {
    std::string thread;
    std::int64_t seq = 0;
    UnixMillis at = 0;
    std::vector<std::string> kinds;
    std::int64_t first_number = 0;
    std::string body_digest;  ///< SHA-256 of salt and body, hex.
};
[[nodiscard]] std::string encode(const Header& header);
/// The same in two parts, between which the digits of its `first_number` belong: for who learns it later.
struct HeaderParts {
    std::string before;
    std::string after;
};
[[nodiscard]] HeaderParts encode_without_number(Header header);
Result<Header> decode_header(const std::string& header);
[[nodiscard]] std::string body_digest(std::string_view salt, std::string_view body);
/// The head of the chain after a row with this header.
[[nodiscard]] Digest chain(std::span<const std::uint8_t> previous, std::string_view header);

inline constexpr int snapshot_version = 3;
[[nodiscard]] std::string encode_state(const ThreadState& state);
/// Failure kind `database` for another version's or a damaged snapshot; the caller then reads the journal.
Result<ThreadState> decode_state(const std::string& bytes);

/// The question kept with an open approval's row: enough to show and to answer it without the host.
[[nodiscard]] std::string encode_question(const Approval& approval);
Result<Approval> decode_question(const std::string& bytes);

/// One event as a JSON object for people and scripts: {"event": …, its own fields}.
[[nodiscard]] std::string event_json(const Event& event);

}  // namespace assent::journal
