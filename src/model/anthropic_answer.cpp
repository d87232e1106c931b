#include "model/anthropic_answer.hpp"

#include "model/anthropic_request.hpp"

#include <algorithm>
#include <array>

namespace assent::models {
namespace {

Stop stop_of(const std::string& reason) {
    struct Known {
        std::string_view reason;
        Stop stop;
    };
    static constexpr std::array known{Known{"end_turn", Stop::whole},
                                      Known{"stop_sequence", Stop::whole},
                                      Known{"tool_use", Stop::whole},
                                      Known{"pause_turn", Stop::paused},
                                      Known{"max_tokens", Stop::cut_short},
                                      Known{"refusal", Stop::refused},
                                      Known{"model_context_window_exceeded", Stop::too_long}};
    for (const auto& one : known) {
        if (reason == one.reason) return one.stop;
    }
    return Stop::unknown;
}

// The input that the pieces make; an empty one stands for what the block began with.
std::string input_of(const JoinedText& pieces, const std::string& start) {
    if (!is_blank(pieces.text())) return pieces.text();
    const auto json = WireJson::parse(start);
    if (!json) return "{}";
    const auto* input = json->root().find("input");
    return is_kind(input, JsonNode::Kind::object) ? json->raw(input) : "{}";
}

}  // namespace

Reading AnthropicReader::event(const net::SseEvent& event) {
    const auto json = WireJson::parse(event.data);
    if (!json || json->root().kind != JsonNode::Kind::object) return Reading::broken;
    const auto type = json->string(json->root().find("type"));
    if (type == "message_start") {
        add_usage(member(member(&json->root(), "message"), "usage"));
        return Reading::more;
    }
    if (type == "content_block_start") return begin_block(*json);
    if (type == "content_block_delta") return add_delta(*json);
    if (type == "content_block_stop") return stop_block(*json);
    if (type == "message_delta") {
        const auto reason = json->string(member(member(&json->root(), "delta"), "stop_reason"));
        if (!reason.empty()) set_stop(reason);
        add_usage(json->root().find("usage"));
        return Reading::more;
    }
    if (type == "message_stop") return finish();
    if (type == "error") return told_error(*json);
    return Reading::more;  // a ping, or what later versions send
}

Reading AnthropicReader::whole(std::string_view body) {
    const auto json = WireJson::parse(body);
    if (!json) return Reading::broken;
    if (json->string(json->root().find("type")) == "error") return told_error(*json);
    const auto* content = json->root().find("content");
    if (!is_kind(content, JsonNode::Kind::array)) return Reading::broken;
    for (std::size_t i = 0; i < content->items.size(); ++i) {
        add_block(*json, static_cast<std::int64_t>(i), content->items[i]);
        auto& block = blocks_[static_cast<std::int64_t>(i)];
        block.stopped = true;
        on_text_(block.text.take_rest());
    }
    add_usage(json->root().find("usage"));
    set_stop(json->string(json->root().find("stop_reason")));
    return finish();
}

Reading AnthropicReader::begin_block(const WireJson& json) {
    const auto* index = json.root().find("index");
    const auto* content = json.root().find("content_block");
    if (!is_kind(index, JsonNode::Kind::number) || !is_kind(content, JsonNode::Kind::object)) return Reading::broken;
    if (blocks_.contains(whole_number(index))) return Reading::broken;
    add_block(json, whole_number(index), *content);
    on_text_(blocks_[whole_number(index)].text.take_new());
    return Reading::more;
}

void AnthropicReader::add_block(const WireJson& json, std::int64_t index, const JsonNode& content) {
    auto& block = blocks_[index];
    block.start = json.raw(&content);
    block.type = json.string(content.find("type"));
    if (block.type == "text") block.text.append(json.string(content.find("text")));
    if (block.type == "thinking") {
        block.thinking.append(json.string(content.find("thinking")));
        block.signature.append(json.string(content.find("signature")));
    }
}

AnthropicReader::Block* AnthropicReader::open_block(const WireJson& json) {
    const auto* index = json.root().find("index");
    if (!is_kind(index, JsonNode::Kind::number)) return nullptr;
    const auto found = blocks_.find(whole_number(index));
    return found == blocks_.end() || found->second.stopped ? nullptr : &found->second;
}

Reading AnthropicReader::add_delta(const WireJson& json) {
    auto* block = open_block(json);
    const auto* delta = json.root().find("delta");
    if (block == nullptr || !is_kind(delta, JsonNode::Kind::object)) return Reading::broken;
    const auto type = json.string(delta->find("type"));
    if (type == "text_delta") {
        block->text.append(json.string(delta->find("text")));
        on_text_(block->text.take_new());
    } else if (type == "input_json_delta") {
        block->input.append(json.string(delta->find("partial_json")));
    } else if (type == "thinking_delta") {
        block->thinking.append(json.string(delta->find("thinking")));
    } else if (type == "signature_delta") {
        block->signature.append(json.string(delta->find("signature")));
    } else if (type == "citations_delta") {
        if (const auto* citation = delta->find("citation")) block->citations.push_back(json.raw(citation));
    }
    return Reading::more;
}

Reading AnthropicReader::stop_block(const WireJson& json) {
    auto* block = open_block(json);
    if (block == nullptr) return Reading::broken;
    block->stopped = true;
    on_text_(block->text.take_rest());
    return Reading::more;
}

Reading AnthropicReader::told_error(const WireJson& json) {
    const auto* error = json.root().find("error");
    constexpr int within_answer = 200;
    return fail({.status = within_answer,
                 .type = json.string(member(error, "type")),
                 .message = json.string(member(error, "message"))});
}

Reading AnthropicReader::finish() {
    const bool stopped =
        std::all_of(blocks_.begin(), blocks_.end(), [](const auto& entry) { return entry.second.stopped; });
    if (!stopped || answer().turn.stop_reason.empty()) return Reading::broken;
    for (const auto& [index, block] : blocks_) {
        auto recorded = block.start;
        if (block.type == "text") {
            answer().turn.text += block.text.text();
            recorded = with_member(recorded, "text", json_quote(block.text.text()));
            std::string citations = "[";
            for (const auto& citation : block.citations) {
                if (citations.size() > 1) citations += ',';
                citations += citation;
            }
            citations += ']';
            if (!block.citations.empty()) recorded = with_member(recorded, "citations", citations);
        } else if (block.type == "thinking") {
            recorded = with_member(recorded, "thinking", json_quote(block.thinking.text()));
            recorded = with_member(recorded, "signature", json_quote(block.signature.text()));
        } else if (block.type == "tool_use") {
            add_call(block);
            recorded = with_member(recorded, "input", "{}");
        } else if (!is_blank(block.input.text())) {
            recorded = with_member(recorded, "input", object_or_empty(block.input.text()));
        }
        answer().blocks.push_back(std::move(recorded));
    }
    return Reading::whole;
}

void AnthropicReader::add_call(const Block& block) {
    const auto json = WireJson::parse(block.start);
    ProposedCall call{.arguments = input_of(block.input, block.start)};
    if (json) {
        call.tool = names_.own(json->string(json->root().find("name")));
        if (is_kind(json->root().find("id"), JsonNode::Kind::string)) call.id = json->string(json->root().find("id"));
    }
    answer().turn.calls.push_back(std::move(call));
}

void AnthropicReader::add_usage(const JsonNode* usage) {
    const auto input = whole_number(member(usage, "input_tokens")) +
                       whole_number(member(usage, "cache_creation_input_tokens")) +
                       whole_number(member(usage, "cache_read_input_tokens"));
    const auto output = whole_number(member(usage, "output_tokens"));
    // Later numbers are sums of all so far; some are left out.
    if (input > 0) answer().turn.input_tokens = input;
    if (output > 0) answer().turn.output_tokens = output;
}

void AnthropicReader::set_stop(const std::string& reason) {
    answer().turn.stop_reason = reason;
    answer().stop = stop_of(reason);
}

}  // namespace assent::models
