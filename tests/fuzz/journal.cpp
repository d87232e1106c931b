// What the store has kept: rows, headers, snapshots and questions that may be damaged, and the fold over
// them. Input: any number of them, apart by NUL, in the order in which a thread is loaded.
#include "fuzz/fuzz.hpp"

#include "journal/described.hpp"
#include "journal/encoding.hpp"

namespace assent::journal {
namespace {

using fuzz::require;

void check_header(const std::string& bytes) {
    const auto header = decode_header(bytes);
    if (!header) return fuzz::require_plain(header.failure().message);
    const auto again = decode_header(encode(*header));
    require(again && encode(*again) == encode(*header), "a header can be written and read again");
}

void check_question(const std::string& bytes) {
    const auto question = decode_question(bytes);
    if (!question) return fuzz::require_plain(question.failure().message);
    const auto again = decode_question(encode_question(*question));
    require(again && *again == *question, "a question can be written and read again");
}

void check_snapshot(const ThreadState& state) {
    const auto bytes = encode_state(state);
    const auto again = decode_state(bytes);
    require(again && encode_state(*again) == bytes, "a snapshot can be written and read again");
}

void fold(ThreadState& state, const std::string& body) {
    const auto events = decode(body, 1);
    if (!events) return fuzz::require_plain(events.failure().message);
    const auto again = decode(encode(*events), 1);
    require(again && *again == *events, "a row can be written and read again");
    for (const auto& event : *events) {
        require(decode(encode(std::span(&event, 1)), 1).ok(), "each event is a row by itself");
        require(!event_json(event).empty(), "each event can be shown");
        apply(state, event, state.seq);
        (void)next(state);
    }
    check_snapshot(state);
}

}  // namespace
}  // namespace assent::journal

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace assent::journal;
    ThreadState state;
    for (assent::fuzz::Bytes bytes(data, size); !bytes.empty();) {
        const auto part = bytes.part();
        check_header(part);
        check_question(part);
        if (auto snapshot = decode_state(part)) {
            state = std::move(snapshot).value();
            check_snapshot(state);
        } else {
            fold(state, part);
        }
    }
    return 0;
}
