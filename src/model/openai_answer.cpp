#include "model/openai_answer.hpp"

#include <algorithm>

namespace assent::models {
namespace {

Stop stop_of(const std::string& reason) {
    if (reason == "stop" || reason == "tool_calls" || reason == "function_call") return Stop::whole;
    if (reason == "length") return Stop::cut_short;
    if (reason == "content_filter") return Stop::refused;
    return Stop::unknown;
}

}  // namespace

Reading OpenaiReader::event(const net::SseEvent& event) {
    if (event.data == "[DONE]") return finish();
    const auto json = WireJson::parse(event.data);
    if (!json || json->root().kind != JsonNode::Kind::object) return Reading::broken;
    const auto* error = json->root().find("error");
    if (event.event == "error" || (error != nullptr && error->kind != JsonNode::Kind::null)) {
        return told_error(event.data);
    }
    add_usage(json->root().find("usage"));
    const auto* choice = first_choice(*json);
    const auto* delta = member(choice, "delta");
    add_texts(*json, delta);
    if (const auto* pieces = member(delta, "tool_calls"); is_kind(pieces, JsonNode::Kind::array)) {
        for (const auto& piece : pieces->items) add_piece(*json, piece, call_of(*json, piece));
    }
    on_text_(text_.take_new());
    const auto reason = json->string(member(choice, "finish_reason"));
    if (!reason.empty()) answer().turn.stop_reason = reason;
    return Reading::more;
}

Reading OpenaiReader::whole(std::string_view body) {
    const auto json = WireJson::parse(body);
    if (!json) return Reading::broken;
    const auto* choice = first_choice(*json);
    if (choice == nullptr) {
        return json->root().find("error") != nullptr ? told_error(body) : Reading::broken;
    }
    add_usage(json->root().find("usage"));
    const auto* message = choice->find("message");
    add_texts(*json, message);
    if (const auto* calls = member(message, "tool_calls"); is_kind(calls, JsonNode::Kind::array)) {
        for (const auto& call : calls->items) {
            add_piece(*json, call, calls_.emplace_back(Call{.index = static_cast<std::int64_t>(calls_.size())}));
        }
    }
    answer().turn.stop_reason = json->string(choice->find("finish_reason"));
    return finish();
}

Reading OpenaiReader::told_error(std::string_view body) {
    constexpr int within_answer = 200;
    return fail(read_service_error(within_answer, body));
}

const JsonNode* OpenaiReader::first_choice(const WireJson& json) {
    const auto* choices = json.root().find("choices");
    if (!is_kind(choices, JsonNode::Kind::array)) return nullptr;
    for (const auto& choice : choices->items) {
        if (whole_number(choice.find("index")) == 0) return &choice;
    }
    return nullptr;
}

void OpenaiReader::add_texts(const WireJson& json, const JsonNode* message) {
    text_.append(json.string(member(message, "content")));
    refusal_.append(json.string(member(message, "refusal")));
}

void OpenaiReader::add_piece(const WireJson& json, const JsonNode& piece, Call& call) {
    if (is_kind(piece.find("id"), JsonNode::Kind::string) && !call.has_id) {
        call.id = json.string(piece.find("id"));
        call.has_id = !call.id.empty();
    }
    const auto* function = piece.find("function");
    if (call.name.text().empty()) call.name.append(json.string(member(function, "name")));
    const auto* arguments = member(function, "arguments");
    // Some servers send the object itself.
    call.arguments.append(is_kind(arguments, JsonNode::Kind::object) ? json.raw(arguments) : json.string(arguments));
}

// A piece belongs to the latest call with its index. One with another id begins a new call: there are
// servers that number all calls of a turn alike, and one call's text must never end up in another's.
OpenaiReader::Call& OpenaiReader::call_of(const WireJson& json, const JsonNode& piece) {
    const auto* index_node = piece.find("index");
    const auto id = json.string(piece.find("id"));
    const bool numbered = is_kind(index_node, JsonNode::Kind::number);
    const bool new_id = !id.empty() && (calls_.empty() || calls_.back().id != id);
    const bool named = id.empty() && member(piece.find("function"), "name") != nullptr;
    const bool starts = !numbered && (new_id || named);
    const auto index = numbered         ? whole_number(index_node)
                       : calls_.empty() ? 0
                                        : calls_.back().index + (starts ? 1 : 0);
    const auto found =
        std::find_if(calls_.rbegin(), calls_.rend(), [&](const Call& call) { return call.index == index; });
    const bool other = found != calls_.rend() && found->has_id && !id.empty() && found->id != id;
    if (found != calls_.rend() && !other && !starts) return *found;
    const auto after = std::upper_bound(calls_.begin(), calls_.end(), index,
                                        [](std::int64_t number, const Call& call) { return number < call.index; });
    return *calls_.insert(after, {.index = index});
}

Reading OpenaiReader::finish() {
    auto& turn = answer().turn;
    if (turn.stop_reason.empty()) return Reading::broken;
    answer().stop = stop_of(turn.stop_reason);
    on_text_(text_.take_rest());
    turn.text = text_.text();
    if (!refusal_.text().empty()) {
        answer().stop = Stop::refused;
        turn.stop_reason = refusal_.text();
    }
    for (const auto& call : calls_) {
        ProposedCall proposed{.tool = names_.own(call.name.text()), .arguments = call.arguments.text()};
        if (call.has_id) proposed.id = call.id;
        // Nothing at all is how a call without arguments is often sent.
        if (is_blank(proposed.arguments)) proposed.arguments = "{}";
        turn.calls.push_back(std::move(proposed));
    }
    return Reading::whole;
}

void OpenaiReader::add_usage(const JsonNode* usage) {
    const auto input = whole_number(member(usage, "prompt_tokens"));
    const auto output = whole_number(member(usage, "completion_tokens"));
    if (input > 0) answer().turn.input_tokens = input;
    if (output > 0) answer().turn.output_tokens = output;
}

}  // namespace assent::models
