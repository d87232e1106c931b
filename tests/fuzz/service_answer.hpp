// A service's answer, streamed (first byte 0) or whole, read as a model of that service reads it.
#pragma once

#include "fuzz/fuzz.hpp"

#include "model/service.hpp"
#include "model/wire_json.hpp"
#include "net/out/sse_reader.hpp"

namespace assent::fuzz {

struct ReadAnswer {
    models::Reading reading = models::Reading::more;
    models::Answer answer;
    std::string told;  ///< What a listener got, piece by piece.
};

template <class Reader>
ReadAnswer read_answer(Bytes bytes) {
    static const ToolSpec tool{.name = "pay.now", .description = "pays", .schema = {}};
    static const ToolSpec* const tools[] = {&tool};
    static const models::ToolNames names{tools};
    ReadAnswer read;
    Reader reader(names, [&read](std::string_view piece) {
        require(valid_utf8(piece), "a listener gets whole characters");
        read.told += piece;
    });
    if (bytes.number() != 0) {
        read.reading = reader.whole(bytes.rest());
    } else {
        constexpr std::size_t event_bytes_max = std::size_t{1} << 20U;
        net::SseReader events(event_bytes_max);
        (void)events.feed(bytes.rest(), [&](const net::SseEvent& event) {
            read.reading = reader.event(event);
            return read.reading == models::Reading::more;
        });
    }
    read.answer = reader.answer();
    if (read.reading == models::Reading::failed) {
        const models::Asked asked{.model = "m", .host = "h.test", .key_origin = "KEY", .key = "0123456789abcdef"};
        require_plain(models::failure_of(reader.error(), asked).failure.message);
    }
    for (const auto& block : read.answer.blocks) {
        require(models::WireJson::parse(block).has_value(), "what goes back to the service is json");
    }
    if (read.reading == models::Reading::whole) {
        require(!read.answer.turn.stop_reason.empty(), "a whole answer says why it ended");
    }
    return read;
}

}  // namespace assent::fuzz
