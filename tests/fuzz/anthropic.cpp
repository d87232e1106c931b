// Answers of the Messages API. Input: 0 and a stream of events, or another byte and a JSON text.
#include "fuzz/service_answer.hpp"

#include "model/anthropic_answer.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace assent;
    const auto read = fuzz::read_answer<models::AnthropicReader>({data, size});
    if (read.reading != models::Reading::whole) {
        fuzz::require(read.answer.turn.calls.empty(), "no call comes of an answer that is not whole");
    }
    return 0;
}
