#include "models/service.hpp"

#include "base/display.hpp"

namespace assent::test {
namespace {

// The messages of a request, cut so that a longer conversation begins with all parts of a shorter one.
std::vector<std::string> parts_of(const Received& request, Api api) {
    const auto json = JsonText::parse(request.body, {.bytes_max = 1 << 28});
    std::vector<std::string> parts;
    if (!json) return parts;
    for (const auto* key : {"system", "tools", "model"}) {
        const auto* node = json->root().find(key);
        parts.emplace_back(node == nullptr ? "" : node->text);
    }
    for (const auto& message : json->root().find("messages")->items) {
        if (api == Api::openai) {
            parts.emplace_back(message.text);
            continue;
        }
        for (const auto& one : message.find("content")->items) {
            parts.push_back(message.find("role")->string + std::string(one.text));
        }
    }
    return parts;
}

}  // namespace

std::string name_of(Way way) {
    return std::string(way.api == Api::anthropic ? "anthropic" : "openai") + (way.streaming ? "_stream" : "_whole");
}

Service::Service(Way way) : way_(way), server_([this](const Received& request) { return answer(request); }) {}

Service& Service::replies(std::string bytes, Reply::End end) {
    return replies(Reply{.bytes = std::move(bytes), .end = end});
}

Service& Service::replies(Reply reply) {
    const std::lock_guard lock(mutex_);
    replies_.push_back(std::move(reply));
    return *this;
}

void Service::skip() {
    const std::lock_guard lock(mutex_);
    replies_.pop_front();
}

Reply Service::answer(const Received& request) {
    const std::lock_guard lock(mutex_);
    auto fault = fault_of(request, way_);
    auto parts = parts_of(request, way_.api);
    const bool begins_as_before =
        parts.size() >= last_parts_.size() && std::equal(last_parts_.begin(), last_parts_.end(), parts.begin());
    if (fault.empty() && !begins_as_before) fault = "the conversation was not only appended to";
    last_parts_ = std::move(parts);
    if (!fault.empty()) {
        faults_.push_back(fault);
        return {error_of(400, "invalid_request_error", fault, way_.api)};
    }
    if (replies_.empty()) {
        faults_.emplace_back("a request too many");
        return {error_of(400, "invalid_request_error", "a request too many", way_.api)};
    }
    auto reply = std::move(replies_.front());
    replies_.pop_front();
    return reply;
}

ServiceOptions Service::options() const {
    return {.model = "test-model",
            .base_url = server_.url(),
            .key = [] { return std::string(test_key); },
            .streaming = way_.streaming};
}

std::shared_ptr<Model> Service::model(ServiceOptions options) {
    if (options.random == nullptr) options.random = &random;
    if (!options.wait) {
        options.wait = [this](std::int64_t milliseconds, const std::stop_token&) {
            pauses.push_back(milliseconds);
            return true;
        };
    }
    auto made = way_.api == Api::anthropic ? anthropic_model(std::move(options)) : openai_model(std::move(options));
    return std::move(made).value();
}

std::vector<std::string> Service::faults() const {
    const std::lock_guard lock(mutex_);
    return faults_;
}

std::size_t Service::replies_left() const {
    const std::lock_guard lock(mutex_);
    return replies_.size();
}

Turn take_turn(Model& model, const std::vector<Message>& messages, const std::vector<const ToolSpec*>& tools,
               const std::stop_token& stop) {
    Turn turn;
    const ModelRequest request{.system_prompt = "You are tested.",
                               .messages = [&] { return std::span<const Message>(messages); },
                               .tools = tools,
                               .on_text_dropped =
                                   [&turn] {
                                       turn.heard.clear();
                                       ++turn.dropped;
                                   }};
    const auto hear = [&turn](std::string_view piece) {
        turn.heard += piece;
        turn.heard_broken_character = turn.heard_broken_character || !valid_utf8(piece);
    };
    turn.result = model.turn(request, hear, stop);
    return turn;
}

}  // namespace assent::test
