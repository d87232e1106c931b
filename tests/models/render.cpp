// What a model said, in the forms of the two APIs.
#include "models/service.hpp"

#include <algorithm>

namespace assent::test {
namespace {

bool has_calls(const Said& said) {
    return std::any_of(said.parts.begin(), said.parts.end(),
                       [](const Part& part) { return part.kind == Part::Kind::call; });
}

std::string anthropic_stop(const Said& said) {
    if (!said.stop.empty()) return said.stop;
    return has_calls(said) ? "tool_use" : "end_turn";
}

std::string openai_stop(const Said& said) {
    if (said.stop == "max_tokens") return "length";
    if (said.stop == "refusal") return "content_filter";
    if (!said.stop.empty()) return said.stop;
    return has_calls(said) ? "tool_calls" : "stop";
}

std::vector<std::string> cut(const std::string& text, std::size_t piece) {
    if (piece == 0) piece = std::max<std::size_t>(1, (text.size() + 1) / 2);
    std::vector<std::string> out;
    for (std::size_t at = 0; at < text.size(); at += piece) out.push_back(text.substr(at, piece));
    return out;
}

// The events of each part, one part after the other, or taking turns.
std::vector<std::string> merged(std::vector<std::vector<std::string>> events, bool interleaved) {
    std::vector<std::string> out;
    if (!interleaved) {
        for (const auto& part : events) out.insert(out.end(), part.begin(), part.end());
        return out;
    }
    for (std::size_t i = 0, left = 1; left != 0; ++i) {
        left = 0;
        for (const auto& part : events) {
            if (i >= part.size()) continue;
            out.push_back(part[i]);
            ++left;
        }
    }
    return out;
}

std::string anthropic_event(const std::string& type, const std::string& members) {
    return "event: " + type + "\ndata: {\"type\":\"" + type + "\"" + members + "}\n\n";
}

std::vector<std::string> anthropic_part(const Part& part, std::size_t index, std::size_t piece) {
    const auto at = ",\"index\":" + std::to_string(index);
    std::string start;
    std::vector<std::string> deltas;
    const auto add = [&](const char* type, const char* key, const std::string& value) {
        deltas.push_back(std::string(R"({"type":")") + type + R"(",")" + key + "\":" + quoted(value) + "}");
    };
    switch (part.kind) {
        case Part::Kind::text:
            start = R"({"type":"text","text":""})";
            for (const auto& one : cut(part.text, piece)) add("text_delta", "text", one);
            break;
        case Part::Kind::thinking:
            start = R"({"type":"thinking","thinking":"","signature":""})";
            for (const auto& one : cut(part.text, piece)) add("thinking_delta", "thinking", one);
            for (const auto& one : cut(part.id, piece)) add("signature_delta", "signature", one);
            break;
        case Part::Kind::call:
            start =
                R"({"type":"tool_use","id":)" + quoted(part.id) + R"(,"name":)" + quoted(part.tool) + R"(,"input":{}})";
            add("input_json_delta", "partial_json", "");
            for (const auto& one : cut(part.text, piece)) add("input_json_delta", "partial_json", one);
            break;
        case Part::Kind::block:
            start = part.text;
    }
    std::vector<std::string> events{anthropic_event("content_block_start", at + ",\"content_block\":" + start)};
    for (const auto& delta : deltas)
        events.push_back(anthropic_event("content_block_delta", at + ",\"delta\":" + delta));
    // Later versions may send what is not known here.
    events.push_back(anthropic_event("content_block_delta", at + R"(,"delta":{"type":"mood_delta","mood":"fine"})"));
    events.push_back(anthropic_event("content_block_stop", at));
    return events;
}

std::vector<std::string> anthropic_stream(const Said& said) {
    std::vector<std::string> out{
        anthropic_event("message_start",
                        R"(,"message":{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[],)"
                        R"("stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":5,)"
                        R"("cache_read_input_tokens":7,"output_tokens":1}})"),
        anthropic_event("ping", ""), "event: weather\ndata: {\"type\":\"weather\",\"sun\":[1,2]}\n\n",
        ": a comment\n\n"};
    std::vector<std::vector<std::string>> parts;
    for (const auto& part : said.parts) parts.push_back(anthropic_part(part, parts.size(), said.piece));
    for (auto& event : merged(std::move(parts), said.interleaved)) out.push_back(std::move(event));
    out.push_back(anthropic_event("ping", ""));
    out.push_back(anthropic_event("message_delta", R"(,"delta":{"stop_reason":")" + anthropic_stop(said) +
                                                       R"(","stop_sequence":null},"usage":{"output_tokens":31})"));
    out.push_back(anthropic_event("message_stop", ""));
    return out;
}

std::string anthropic_whole(const Said& said) {
    std::string content;
    for (const auto& part : said.parts) {
        std::string one = part.text;
        if (part.kind == Part::Kind::text) one = R"({"type":"text","text":)" + quoted(part.text) + "}";
        if (part.kind == Part::Kind::thinking) {
            one = R"({"type":"thinking","thinking":)" + quoted(part.text) + R"(,"signature":)" + quoted(part.id) + "}";
        }
        if (part.kind == Part::Kind::call) {
            one = R"({"type":"tool_use","id":)" + quoted(part.id) + R"(,"name":)" + quoted(part.tool) + R"(,"input":)" +
                  (part.text.empty() ? "{}" : part.text) + "}";
        }
        content += (content.empty() ? "" : ",") + one;
    }
    return R"({"id":"msg_1","type":"message","role":"assistant","model":"m","content":[)" + content +
           R"(],"stop_reason":")" + anthropic_stop(said) +
           R"(","stop_sequence":null,"usage":{"input_tokens":12,"output_tokens":31}})";
}

std::string chunk(const std::string& delta, const std::string& finish) {
    return R"(data: {"id":"c1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,)"
           R"("delta":)" +
           delta + R"(,"finish_reason":)" + finish + "}]}\n\n";
}

std::string function_json(const Part& part) {
    return R"({"name":)" + quoted(part.tool) + R"(,"arguments":)" + quoted(part.text) + "}";
}

std::string id_member(const Part& part) {
    return part.id.empty() ? std::string() : R"("id":)" + quoted(part.id) + ",";
}

std::vector<std::string> openai_stream(const Said& said) {
    std::vector<std::string> out{chunk(R"({"role":"assistant","content":null,"mood":"fine"})", "null"),
                                 ": a comment\n\n"};
    std::vector<std::vector<std::string>> parts;
    std::size_t index = 0;
    for (const auto& part : said.parts) {
        auto& events = parts.emplace_back();
        if (part.kind == Part::Kind::text) {
            for (const auto& one : cut(part.text, said.piece)) {
                events.push_back(chunk(R"({"content":)" + quoted(one) + "}", "null"));
            }
        }
        if (part.kind != Part::Kind::call) continue;
        const auto at = R"({"tool_calls":[{"index":)" + std::to_string(index++) + ",";
        auto first = part;
        first.text.clear();
        events.push_back(
            chunk(at + id_member(part) + R"("type":"function","function":)" + function_json(first) + "}]}", "null"));
        for (const auto& one : cut(part.text, said.piece)) {
            events.push_back(chunk(at + R"("function":{"arguments":)" + quoted(one) + "}}]}", "null"));
        }
    }
    for (auto& event : merged(std::move(parts), said.interleaved)) out.push_back(std::move(event));
    out.push_back(chunk("{}", '"' + openai_stop(said) + '"'));
    out.emplace_back(R"(data: {"id":"c1","object":"chat.completion.chunk","created":1,"model":"m","choices":[],)"
                     R"("usage":{"prompt_tokens":12,"completion_tokens":31,"total_tokens":43}})"
                     "\n\n");
    out.emplace_back("data: [DONE]\n\n");
    return out;
}

std::string openai_whole(const Said& said) {
    std::string content;
    std::string calls;
    for (const auto& part : said.parts) {
        if (part.kind == Part::Kind::text) content += part.text;
        if (part.kind != Part::Kind::call) continue;
        calls += (calls.empty() ? "" : ",") + ("{" + id_member(part)) + R"("type":"function","function":)" +
                 function_json(part) + "}";
    }
    return R"({"id":"c1","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":)"
           R"({"role":"assistant","content":)" +
           (content.empty() ? "null" : quoted(content)) + (calls.empty() ? "" : ",\"tool_calls\":[" + calls + "]") +
           R"(},"finish_reason":")" + openai_stop(said) +
           R"("}],"usage":{"prompt_tokens":12,"completion_tokens":31,"total_tokens":43}})";
}

}  // namespace

Part text(std::string text) {
    return {.kind = Part::Kind::text, .text = std::move(text)};
}
Part thinking(std::string text, std::string signature) {
    return {.kind = Part::Kind::thinking, .text = std::move(text), .id = std::move(signature)};
}
Part call(std::string tool, std::string id, std::string arguments) {
    return {.kind = Part::Kind::call, .text = std::move(arguments), .tool = std::move(tool), .id = std::move(id)};
}
Part block(std::string json) {
    return {.kind = Part::Kind::block, .text = std::move(json)};
}

std::string quoted(std::string_view text) {
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') out += '\\';
        if (c == '\n') {
            out += "\\n";
        } else {
            out += c;
        }
    }
    return out + '"';
}

std::vector<std::string> stream_of(const Said& said, Api api) {
    return api == Api::anthropic ? anthropic_stream(said) : openai_stream(said);
}

std::string whole_of(const Said& said, Api api) {
    return api == Api::anthropic ? anthropic_whole(said) : openai_whole(said);
}

std::string answer_of(const Said& said, Way way) {
    if (way.streaming) return chunked_bytes("text/event-stream; charset=utf-8", stream_of(said, way.api));
    return http_bytes(200, "application/json", whole_of(said, way.api));
}

std::string error_of(int status, const std::string& type, const std::string& message, Api api,
                     const std::string& headers) {
    const auto body = api == Api::anthropic ? R"({"type":"error","error":{"type":)" + quoted(type) + R"(,"message":)" +
                                                  quoted(message) + R"(},"request_id":"req_1"})"
                                            : R"({"error":{"message":)" + quoted(message) +
                                                  R"(,"type":"error","param":null,"code":)" + quoted(type) + "}}";
    return http_bytes(status, "application/json", body, headers);
}

}  // namespace assent::test
