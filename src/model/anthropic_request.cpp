#include "model/anthropic_request.hpp"

#include "model/wire_json.hpp"

#include <algorithm>

namespace assent::models {
namespace {

using Blocks = std::vector<std::string>;

std::string joined(const Blocks& items) {
    std::string out;
    for (const auto& item : items) out += (out.empty() ? "" : ",") + item;
    return out;
}

std::string type_of(const JsonNode& block) {
    const auto* type = block.find("type");
    return is_kind(type, JsonNode::Kind::string) ? type->string : std::string();
}

std::string text_block(std::string_view text) {
    return R"({"type":"text","text":)" + json_quote(text) + "}";
}

bool is_thinking(const std::string& block) {
    const auto read = JsonText::parse(block, wire_limits);
    const auto type = read ? type_of(read->root()) : std::string();
    return type == "thinking" || type == "redacted_thinking";
}

// Messages with the same role behind one another become one.
class Messages {
public:
    void add(std::string_view role, Blocks blocks) {
        if (blocks.empty()) return;
        if (roles_.empty() || roles_.back() != role) {
            roles_.emplace_back(role);
            contents_.emplace_back();
        }
        for (auto& block : blocks) contents_.back().push_back(std::move(block));
    }
    [[nodiscard]] std::string json() const {
        Blocks out;
        for (std::size_t i = 0; i < roles_.size(); ++i) {
            out.push_back(R"({"role":")" + roles_[i] + R"(","content":[)" + joined(contents_[i]) + "]}");
        }
        return "[" + joined(out) + "]";
    }

private:
    std::vector<std::string> roles_;
    std::vector<Blocks> contents_;
};

std::string call_block(const ProposedCall& call, const std::string& id, const ToolNames& names) {
    return R"({"type":"tool_use","id":)" + json_quote(id) + R"(,"name":)" + json_quote(names.wire(call.tool)) +
           R"(,"input":)" + object_or_empty(call.arguments) + "}";
}

// The recorded blocks with the arguments of their calls put back; none if they do not fit the message.
Blocks recorded_blocks(const Exchange& exchange) {
    const auto& message = *exchange.said;
    const auto record = JsonText::parse(message.provider_content, wire_limits);
    if (!record) return {};
    const auto* service = record->root().find("service");
    const auto* content = record->root().find("content");
    if (!is_kind(service, JsonNode::Kind::string) || service->string != "anthropic") return {};
    if (!is_kind(content, JsonNode::Kind::array)) return {};
    Blocks out;
    std::size_t calls = 0;
    for (const auto& item : content->items) {
        std::string block(item.text);
        const auto type = type_of(item);
        if (type == "tool_use") {
            if (calls == message.calls.size()) return {};
            block = with_member(block, "id", json_quote(exchange.ids[calls]));
            block = with_member(block, "input", object_or_empty(message.calls[calls].arguments));
            ++calls;
        }
        const auto* text = item.find("text");
        if (type == "text" && is_kind(text, JsonNode::Kind::string) && is_blank(text->string)) continue;
        out.push_back(std::move(block));
    }
    return calls == message.calls.size() ? out : Blocks{};
}

Blocks assistant_blocks(const Exchange& exchange, const ToolNames& names) {
    auto out = recorded_blocks(exchange);
    // A message of thoughts alone is not taken back.
    if (!out.empty()) return std::all_of(out.begin(), out.end(), is_thinking) ? Blocks{} : out;
    const auto& message = *exchange.said;
    if (!is_blank(message.text)) out.push_back(text_block(message.text));
    for (std::size_t i = 0; i < message.calls.size(); ++i) {
        out.push_back(call_block(message.calls[i], exchange.ids[i], names));
    }
    return out;
}

Blocks result_blocks(const Exchange& exchange) {
    Blocks out;
    for (std::size_t i = 0; i < exchange.ids.size(); ++i) {
        const auto* result = exchange.results[i];
        out.push_back(R"({"type":"tool_result","tool_use_id":)" + json_quote(exchange.ids[i]) + R"(,"content":)" +
                      json_quote(result_text(result)) +
                      (result == nullptr || result->is_error ? R"(,"is_error":true})" : "}"));
    }
    return out;
}

std::string messages_json(const ServiceRequest& request, const ToolNames& names, const Blocks& paused) {
    Messages messages;
    for (const auto& exchange : exchanges(request.messages, IdRule::whole_thread)) {
        if (exchange.said->role == Role::user) {
            messages.add("user", {text_block(user_text(*exchange.said))});
            continue;
        }
        messages.add("assistant", assistant_blocks(exchange, names));
        messages.add("user", result_blocks(exchange));
    }
    messages.add("assistant", paused);
    return messages.json();
}

std::string tools_json(const ServiceRequest& request, const ToolNames& names) {
    Blocks out;
    for (const auto* tool : request.tools) {
        std::string one = R"({"name":)" + json_quote(names.wire(tool->name));
        if (!is_blank(tool->description)) one += R"(,"description":)" + json_quote(tool->description);
        out.push_back(one + R"(,"input_schema":)" + wire_schema(*tool) + "}");
    }
    return joined(out);
}

bool has_only(const JsonNode& block, std::initializer_list<std::string_view> keys) {
    return std::all_of(block.keys.begin(), block.keys.end(),
                       [&](const std::string& key) { return std::find(keys.begin(), keys.end(), key) != keys.end(); });
}

// True if the blocks are what would be written of text and calls alone.
bool is_plain(const std::vector<JsonText>& blocks) {
    for (std::size_t i = 0; i < blocks.size(); ++i) {
        const auto& block = blocks[i].root();
        const auto type = type_of(block);
        const bool text = i == 0 && type == "text" && has_only(block, {"type", "text"});
        if (!text && (type != "tool_use" || !has_only(block, {"type", "id", "name", "input"}))) return false;
    }
    return true;
}

}  // namespace

std::string write_anthropic(const AnthropicRequest& settings, const ServiceRequest& request, const ToolNames& names,
                            const std::vector<std::string>& paused) {
    std::string out =
        R"({"model":)" + json_quote(settings.model) + R"(,"max_tokens":)" + std::to_string(settings.max_tokens);
    if (!is_blank(request.system_prompt)) out += R"(,"system":)" + json_quote(request.system_prompt);
    if (!request.tools.empty()) out += R"(,"tools":[)" + tools_json(request, names) + "]";
    out += R"(,"messages":)" + messages_json(request, names, paused);
    if (settings.streaming) out += R"(,"stream":true)";
    return out + settings.more + "}";
}

std::string record_anthropic(const std::vector<std::string>& blocks) {
    std::vector<JsonText> read;
    for (const auto& block : blocks) {
        auto json = JsonText::parse(block, wire_limits);
        if (!json) return {};
        read.push_back(std::move(json).value());
    }
    if (is_plain(read)) return {};
    return R"({"service":"anthropic","content":[)" + joined(blocks) + "]}";
}

std::string with_member(const std::string& block, const std::string& key, const std::string& value) {
    const auto base = Arguments::parse(block, wire_limits);
    const auto change = Arguments::parse("{" + json_quote(key) + ":" + value + "}", wire_limits);
    if (!base || !change) return block;
    auto out = lay_over(*base, *change, wire_limits);
    return out ? out->text() : block;
}

}  // namespace assent::models
