#include "policy/answer_refusal.hpp"

#include "base/display.hpp"

#include <utility>

namespace assent {
namespace {

constexpr std::size_t shown_bytes_max = 100;

}  // namespace

AnswerRefusal bad_shape(std::string message) {
    return {.kind = Refusal::bad_shape, .message = std::move(message)};
}

AnswerRefusal no_json(std::string_view why) {
    return bad_shape("the answer is no json: " + std::string(why));
}

std::string shown_briefly(std::string_view text) {
    return safe_to_show(capped(text, shown_bytes_max)).text;
}

}  // namespace assent
