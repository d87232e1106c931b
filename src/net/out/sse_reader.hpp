// Server-sent events, read from bytes that may be cut anywhere: inside a character, inside a line end.
//
// Follows the event stream format of the HTML standard: comments and unknown fields are skipped, several
// data lines are joined by line feeds, an event without data is none, and what no empty line ended is
// dropped. Bytes are handed on as they came; whether they are UTF-8 is the reader's business.
//
// Thread-safety: none needed; one stream, one reader.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace assent::net {

struct SseEvent {
    std::string event;  ///< The `event` field; empty: none was given.
    std::string data;

    bool operator==(const SseEvent&) const = default;
};

class SseReader {
public:
    /// Gets each event as it ends; false: no more is wanted.
    using OnEvent = std::function<bool(const SseEvent&)>;
    enum class State {
        more,       ///< Goes on with the next bytes.
        ended,      ///< `on_event` wanted no more; further bytes are ignored.
        too_large,  ///< An event grew past the limit; further bytes are ignored.
    };

    explicit SseReader(std::size_t event_bytes_max) : event_bytes_max_(event_bytes_max) {}

    State feed(std::string_view bytes, const OnEvent& on_event);

private:
    void take_line();
    void end_event(const OnEvent& on_event);

    std::size_t event_bytes_max_;
    State state_ = State::more;
    std::string line_;
    SseEvent event_;
    bool has_data_ = false;
    bool after_cr_ = false;   // a line feed that follows belongs to the same line end
    bool first_line_ = true;  // which may begin with a byte order mark
};

}  // namespace assent::net
