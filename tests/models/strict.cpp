// What the real services refuse in a request.
#include "models/service.hpp"

#include <algorithm>
#include <set>
#include <stdexcept>

namespace assent::test {
namespace {

using Kind = JsonNode::Kind;

void require(bool good, const std::string& what) {
    if (!good) throw std::runtime_error(what);
}

const JsonNode& need(const JsonNode& object, const char* key, Kind kind) {
    const auto* found = object.find(key);
    require(found != nullptr && found->kind == kind, std::string(key) + " is missing or of another kind");
    return *found;
}

std::string string_of(const JsonNode& object, const char* key) {
    return need(object, key, Kind::string).string;
}

bool blank(const std::string& text) {
    return text.find_first_not_of(" \t\r\n") == std::string::npos;
}

bool plain(const std::string& name) {
    return !name.empty() && name.size() <= 64 && std::all_of(name.begin(), name.end(), [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-';
    });
}

void check_schema(const JsonNode& schema) {
    require(schema.kind == Kind::object && string_of(schema, "type") == "object", "a tool's schema is no object");
    need(schema, "properties", Kind::object);
}

using Ids = std::vector<std::string>;

// One message's content; gives the ids of calls, and takes those of results away from `waiting`.
Ids check_blocks(const JsonNode& message, bool user, std::set<std::string>& waiting, std::set<std::string>& all) {
    Ids calls;
    bool only_results = true;
    const auto& content = need(message, "content", Kind::array);
    require(!content.items.empty(), "a message without content");
    for (const auto& one : content.items) {
        const auto type = string_of(one, "type");
        if (type == "tool_result") {
            require(user && only_results, "a result that does not stand at the beginning of a user message");
            require(waiting.erase(string_of(one, "tool_use_id")) == 1, "a result without its call");
            require(!blank(string_of(one, "content")), "a result without content");
            continue;
        }
        only_results = false;
        if (type == "text") require(!blank(string_of(one, "text")), "an empty text");
        if (type == "thinking") require(!string_of(one, "signature").empty() && !user, "a thought without signature");
        if (type != "tool_use") continue;
        const auto id = string_of(one, "id");
        require(!user && plain(id) && all.insert(id).second, "the id of a call is not unique: " + id);
        require(plain(string_of(one, "name")), "a wrong name of a tool");
        need(one, "input", Kind::object);
        calls.push_back(id);
    }
    return calls;
}

void check_anthropic(const Received& request, const JsonNode& root) {
    require(request.path == "/v1/messages", "path " + request.path);
    require(request.headers.at("x-api-key") == test_key, "the key is not in x-api-key");
    require(!request.headers.contains("authorization"), "a second key");
    require(request.headers.at("anthropic-version") == "2023-06-01", "no version of the API");
    require(std::stoi(std::string(need(root, "max_tokens", Kind::number).text)) > 0, "max_tokens");
    if (const auto* system = root.find("system")) require(!blank(system->string), "an empty system prompt");
    std::set<std::string> waiting;
    std::set<std::string> all;
    bool user_next = true;
    for (const auto& message : need(root, "messages", Kind::array).items) {
        const bool user = string_of(message, "role") == "user";
        require(user == user_next, "roles do not take turns");
        user_next = !user;
        const auto calls = check_blocks(message, user, waiting, all);
        require(waiting.empty(), "a call without its result");
        waiting.insert(calls.begin(), calls.end());
    }
    require(waiting.empty(), "a call without its result at the end");
    if (const auto* tools = root.find("tools")) {
        for (const auto& tool : tools->items) {
            require(plain(string_of(tool, "name")), "a wrong name of a tool");
            check_schema(need(tool, "input_schema", Kind::object));
        }
    }
}

// The ids of an assistant's message.
Ids check_assistant(const JsonNode& message) {
    Ids ids;
    const auto* content = message.find("content");
    const bool has_text = content != nullptr && content->kind == Kind::string;
    require(!has_text || !blank(content->string), "an empty text");
    const auto* calls = message.find("tool_calls");
    require(has_text || calls != nullptr, "a message without content");
    if (calls == nullptr) return ids;
    require(calls->kind == Kind::array && !calls->items.empty(), "an empty list of calls");
    for (const auto& one : calls->items) {
        const auto id = string_of(one, "id");
        require(!id.empty() && std::find(ids.begin(), ids.end(), id) == ids.end(), "the id of a call is not unique");
        require(string_of(one, "type") == "function", "a call that is no function");
        const auto& function = need(one, "function", Kind::object);
        require(plain(string_of(function, "name")), "a wrong name of a tool");
        need(function, "arguments", Kind::string);
        ids.push_back(id);
    }
    return ids;
}

void check_openai(const Received& request, const JsonNode& root) {
    require(request.path == "/v1/chat/completions", "path " + request.path);
    require(request.headers.at("authorization") == std::string("Bearer ") + test_key,
            "the key is not in Authorization");
    require(!request.headers.contains("x-api-key"), "a second key");
    Ids waiting;
    bool first = true;
    for (const auto& message : need(root, "messages", Kind::array).items) {
        const auto role = string_of(message, "role");
        if (role == "tool") {
            require(!waiting.empty() && string_of(message, "tool_call_id") == waiting.front(), "a result out of order");
            require(!blank(string_of(message, "content")), "a result without content");
            waiting.erase(waiting.begin());
            continue;
        }
        require(waiting.empty(), "a call without its result");
        require(role == "user" || role == "assistant" || (role == "system" && first), "role " + role);
        first = false;
        if (role == "assistant") {
            waiting = check_assistant(message);
        } else {
            require(!blank(string_of(message, "content")), "an empty text");
        }
    }
    require(waiting.empty(), "a call without its result at the end");
    require((root.find("stream_options") != nullptr) == (root.find("stream") != nullptr), "stream_options");
    if (const auto* tools = root.find("tools")) {
        for (const auto& tool : tools->items) {
            require(string_of(tool, "type") == "function", "a tool that is no function");
            require(plain(string_of(need(tool, "function", Kind::object), "name")), "a wrong name of a tool");
            check_schema(need(need(tool, "function", Kind::object), "parameters", Kind::object));
        }
    }
}

}  // namespace

std::string fault_of(const Received& request, Way way) {
    try {
        require(request.method == "POST", "method " + request.method);
        require(request.headers.at("content-type") == "application/json", "content type");
        const auto json = JsonText::parse(request.body, {.bytes_max = 1 << 28});
        require(json.ok(), "the body is no JSON");
        const auto& root = json->root();
        require(string_of(root, "model") == "test-model", "another model");
        const auto* stream = root.find("stream");
        require((stream != nullptr && stream->boolean) == way.streaming, "stream");
        if (way.api == Api::anthropic) {
            check_anthropic(request, root);
        } else {
            check_openai(request, root);
        }
        return {};
    } catch (const std::exception& error) {
        return error.what();
    }
}

}  // namespace assent::test
