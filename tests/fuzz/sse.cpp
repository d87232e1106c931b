// Server-sent events: however the bytes are cut, the events are those that a slow second reader sees.
// Input: limit, chance for the cuts, wanted events, then the stream.
#include "fuzz/fuzz.hpp"

#include "net/out/sse_reader.hpp"

#include <algorithm>
#include <span>
#include <vector>

namespace assent::net {
namespace {

using fuzz::require;
using State = SseReader::State;

struct Read {
    std::vector<SseEvent> events;
    State state = State::more;
    bool operator==(const Read&) const = default;
};

// `next_size` says how many bytes come next.
template <class NextSize>
Read read_in_pieces(std::string_view bytes, std::size_t limit, std::size_t wanted, NextSize next_size) {
    Read read;
    SseReader reader(limit);
    while (!bytes.empty()) {
        const auto piece = bytes.substr(0, next_size());
        bytes.remove_prefix(piece.size());
        read.state = reader.feed(piece, [&](const SseEvent& event) {
            read.events.push_back(event);
            return read.events.size() < wanted;
        });
    }
    return read;
}

std::vector<std::string> lines_of(std::string_view text) {
    if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
    std::vector<std::string> lines;
    std::string line;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '\r' && text[i] != '\n') {
            line += text[i];
            continue;
        }
        if (text[i] == '\r' && text.substr(i + 1).starts_with('\n')) ++i;
        lines.push_back(std::move(line));
        line.clear();
    }
    return lines;
}

// The standard's text, line by line.
std::vector<SseEvent> events_of(std::string_view text) {
    std::vector<SseEvent> events;
    std::vector<std::string> data;
    std::string type;
    for (const auto& line : lines_of(text)) {
        if (line.empty()) {
            SseEvent event{.event = type};
            for (const auto& one : data) event.data += one + "\n";
            if (!data.empty()) {
                event.data.pop_back();
                events.push_back(std::move(event));
            }
            data.clear();
            type.clear();
            continue;
        }
        const auto colon = std::min(line.find(':'), line.size());
        auto value = line.substr(std::min(colon + 1, line.size()));
        if (value.starts_with(' ')) value.erase(0, 1);
        if (line.substr(0, colon) == "data") data.push_back(value);
        if (line.substr(0, colon) == "event") type = value;
    }
    return events;
}

}  // namespace
}  // namespace assent::net

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace assent::net;
    assent::fuzz::Bytes bytes(data, size);
    const std::size_t limit = std::size_t{16} * bytes.number();
    auto chance = bytes.number();
    const std::size_t wanted = bytes.number();
    const auto stream = bytes.rest();
    const auto at_once = read_in_pieces(stream, limit, wanted, [] { return std::string_view::npos; });
    const auto one_by_one = read_in_pieces(stream, limit, wanted, [] { return std::size_t{1}; });
    const auto mixed = read_in_pieces(stream, limit, wanted, [&] {
        chance = static_cast<std::uint8_t>(chance * 5 + 17);
        return std::size_t{chance} % 7 + 1;
    });
    require(at_once == one_by_one && at_once == mixed, "events do not depend on how the stream is cut");
    const auto expected = events_of(stream);
    require(at_once.events.size() <= expected.size(), "no event is made up");
    require(std::ranges::equal(at_once.events, std::span(expected).first(at_once.events.size())),
            "events are those of the standard");
    require(at_once.state != State::more || at_once.events.size() == expected.size(), "no event is lost");
    return 0;
}
