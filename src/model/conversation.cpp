#include "model/conversation.hpp"

#include "model/wire_json.hpp"

#include <algorithm>
#include <set>

namespace assent::models {
namespace {

constexpr std::size_t name_bytes_max = 64;

bool plain(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
}

bool plain_name(std::string_view text) {
    return !text.empty() && text.size() <= name_bytes_max && std::all_of(text.begin(), text.end(), plain);
}

std::string plain_form(std::string_view text) {
    std::string out(text.substr(0, name_bytes_max));
    std::replace_if(out.begin(), out.end(), [](char c) { return !plain(c); }, '_');
    return out.empty() ? "unnamed" : out;
}

// `wanted`, or with a number behind it when it is taken.
template <class Taken>
std::string free_form(const std::string& wanted, const Taken& taken) {
    auto form = wanted;
    for (int i = 2; taken.contains(form); ++i) {
        const auto tail = "_" + std::to_string(i);
        form = wanted.substr(0, name_bytes_max - tail.size()) + tail;
    }
    return form;
}

std::string id_of(const ProposedCall& call, std::size_t number, IdRule rule, std::set<std::string>& taken) {
    auto id = call.id.value_or("");
    if (id.empty()) id = "call_" + std::to_string(number);
    if (rule == IdRule::whole_thread && !plain_name(id)) id = plain_form(id);
    id = free_form(id, taken);
    taken.insert(id);
    return id;
}

}  // namespace

ToolNames::ToolNames(std::span<const ToolSpec* const> tools) {
    const auto add = [this](const std::string& own, const std::string& wire) {
        wire_of_.emplace(own, wire);
        own_of_.emplace(wire, own);
    };
    for (const auto* tool : tools) {
        if (plain_name(tool->name)) add(tool->name, tool->name);
    }
    for (const auto* tool : tools) {
        if (!plain_name(tool->name)) add(tool->name, free_form(plain_form(tool->name), own_of_));
    }
}

std::string ToolNames::wire(std::string_view own) const {
    const auto found = wire_of_.find(own);
    return found != wire_of_.end() ? found->second : plain_form(own);
}

std::string ToolNames::own(std::string_view wire) const {
    const auto found = own_of_.find(wire);
    return found != own_of_.end() ? found->second : std::string(wire);
}

std::vector<Exchange> exchanges(std::span<const Message> messages, IdRule rule) {
    std::vector<Exchange> out;
    std::set<std::string> taken;
    std::size_t calls = 0;
    std::size_t next_result = 0;
    for (const auto& message : messages) {
        if (message.role == Role::tool) {
            if (!out.empty() && next_result < out.back().results.size()) out.back().results[next_result++] = &message;
            continue;
        }
        auto& exchange = out.emplace_back(Exchange{.said = &message});
        next_result = 0;
        if (rule == IdRule::one_turn) taken.clear();
        for (const auto& call : message.calls) exchange.ids.push_back(id_of(call, ++calls, rule, taken));
        exchange.results.resize(message.calls.size());
    }
    return out;
}

std::string wire_schema(const ToolSpec& tool) {
    auto schema = Arguments::parse(tool.schema.empty() ? "{}" : tool.schema, wire_limits);
    if (!schema) return tool.schema;
    for (const auto* missing : {R"({"type":"object"})", R"({"properties":{}})"}) {
        const auto member = Arguments::parse(missing);
        if (!member || schema->find(member->root().keys.front()) != nullptr) continue;
        schema = lay_over(*schema, *member, wire_limits);
        if (!schema) return tool.schema;
    }
    return schema->text();
}

std::string object_or_empty(const std::string& arguments) {
    return Arguments::parse(arguments, wire_limits).ok() ? arguments : "{}";
}

std::string result_text(const Message* result) {
    if (result == nullptr) return "No result of this call is recorded.";
    return is_blank(result->text) ? "(no visible output)" : result->text;
}

std::string user_text(const Message& message) {
    return is_blank(message.text) ? "(an empty message)" : message.text;
}

}  // namespace assent::models
