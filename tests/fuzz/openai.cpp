// Answers of Chat Completions. Input: 0 and a stream of events, or another byte and a JSON text.
#include "fuzz/service_answer.hpp"

#include "model/openai_answer.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace assent;
    const auto read = fuzz::read_answer<models::OpenaiReader>({data, size});
    if (read.reading != models::Reading::whole) {
        fuzz::require(read.answer.turn.calls.empty(), "no call comes of an answer that is not whole");
        return 0;
    }
    fuzz::require(read.told == repaired_utf8(read.answer.turn.text), "a listener gets the text that is recorded");
    return 0;
}
