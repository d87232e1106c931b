// Files of the scripted model.
#include "fuzz/fuzz.hpp"

#include <assent/model.hpp>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace assent;
    using fuzz::require;
    const auto model = scripted_model("s", fuzz::Bytes(data, size).rest());
    if (!model) {
        require(model.failure().kind == FailureKind::usage, "a wrong script is its author's mistake");
        fuzz::require_plain(model.failure().message);
        return 0;
    }
    constexpr int turns_max = 8;
    for (int turn = 1; turn <= turns_max; ++turn) {
        std::string told;
        const auto said = (*model)->turn({.turn = turn}, [&](std::string_view piece) { told += piece; }, {});
        if (!said) {
            require(said.failure().kind == FailureKind::model, "a script that is over is the model's failure");
            fuzz::require_plain(said.failure().message);
            return 0;
        }
        require(told == said->text, "a listener gets the text that is recorded");
        require((said->stop_reason == "tool_use") == !said->calls.empty(), "a turn with calls stops for them");
    }
    return 0;
}
