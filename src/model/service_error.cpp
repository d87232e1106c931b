#include "model/service_error.hpp"

#include "base/display.hpp"
#include "model/retry.hpp"
#include "model/wire_json.hpp"

#include <algorithm>
#include <array>

namespace assent::models {
namespace {

using Again = AttemptFailure::Again;

constexpr std::size_t line_bytes_max = 300;
// A shorter one is no secret of a service, and is found in ordinary words.
constexpr std::size_t key_bytes_min = 8;

// How services say that the conversation does not fit. Some have a code for it, some only words.
constexpr std::array<std::string_view, 9> too_long_words{
    "context_length_exceeded", "exceed_context_size", "prompt is too long", "context length", "context size",
    "context window",          "context limit",       "maximum context",    "too many tokens"};
// A 429 that no waiting ends.
constexpr std::array<std::string_view, 4> spent_words{"insufficient_quota", "enforced_spend_limit_reached",
                                                      "billing_hard_limit_reached", "billing_error"};

std::string in_small_letters(std::string text) {
    for (auto& c : text) {
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    }
    return text;
}

template <std::size_t Size>
bool says_any(const ServiceError& error, const std::array<std::string_view, Size>& words) {
    const auto said = in_small_letters(error.type + "\n" + error.code + "\n" + error.message);
    return std::any_of(words.begin(), words.end(), [&](auto word) { return said.find(word) != std::string::npos; });
}

// The status that an error within a stream would have had.
int status_within_stream(const ServiceError& error) {
    struct Known {
        std::string_view type;
        int status;
    };
    static constexpr std::array known{Known{"invalid_request_error", 400}, Known{"authentication_error", 401},
                                      Known{"permission_error", 403}, Known{"not_found_error", 404},
                                      Known{"request_too_large", 413}};
    for (const auto& one : known) {
        if (error.type == one.type) return one.status;
    }
    constexpr int least = 400;
    const int code = std::atoi(error.code.c_str());
    return code >= least && code < 600 ? code : 500;
}

Failure model_failure(std::string text) {
    return {FailureKind::model, std::move(text)};
}

std::string quoted(const ServiceError& error, const Asked& asked) {
    const auto& text = error.message.empty() ? error.type : error.message;
    return text.empty() ? std::string() : ": " + shown_line(text, asked);
}

}  // namespace

ServiceError read_service_error(int status, std::string_view body) {
    ServiceError error{.status = status};
    const auto json = WireJson::parse(body);
    if (!json) return error;
    const auto* inner = json->root().find("error");
    const auto* from = is_kind(inner, JsonNode::Kind::object) ? inner : &json->root();
    error.type = json->string(member(from, "type"));
    const auto* code = member(from, "code");
    error.code = is_kind(code, JsonNode::Kind::number) ? json->raw(code) : json->string(code);
    error.message = json->string(member(from, "message"));
    if (error.message.empty()) error.message = json->string(inner);
    if (error.message.empty()) error.message = json->string(member(from, "detail"));
    return error;
}

AttemptFailure failure_of(const ServiceError& error, const Asked& asked) {
    const int status = error.status / 100 == 2 ? status_within_stream(error) : error.status;
    const auto number = " (HTTP " + std::to_string(status) + ")";
    const auto said = quoted(error, asked);
    if (status == 413 || (status != 429 && says_any(error, too_long_words))) {
        return {too_long(asked, error.message)};
    }
    switch (status) {
        case 401:
            return {model_failure(asked.key.empty() ? asked.host + " wants a key" + number + "; set " + asked.key_origin
                                                    : asked.host + " does not accept the key" + number + "; check " +
                                                          asked.key_origin)};
        case 402:
            return {model_failure(asked.host + " wants to be paid" + number + said + "; check the account")};
        case 403:
            return {model_failure(asked.host + " does not allow this" + number + said + "; check what the key may do")};
        case 404:
            return {model_failure(asked.host + " does not know " + asked.model + number + said +
                                  "; check the model and the address")};
        default:
            break;
    }
    if (says_any(error, spent_words)) {
        return {model_failure("what the account of " + asked.host + " may spend is spent" + number + said +
                              "; check the account, then resume")};
    }
    if (status / 100 == 3) {
        return {model_failure(asked.host + " sends elsewhere" + number +
                              ", which is never followed; give the final address")};
    }
    if (status == 429) {
        return {model_failure(asked.host + " limits how often it is asked" + number + said + "; resume later"),
                Again::yes};
    }
    if (passing(status)) {
        return {model_failure(asked.host + " failed" + number + said + "; resume to ask again"), Again::yes};
    }
    return {model_failure(asked.host + " refuses the request" + number + said)};
}

AttemptFailure failure_of(const net::HttpFailure& failure) {
    switch (failure.fault) {
        case net::HttpFault::broken:
            return {model_failure(failure.text + "; resume to ask again"), Again::yes};
        case net::HttpFault::idle:
            return {model_failure(failure.text + "; resume to ask again"), Again::few_times};
        case net::HttpFault::not_resolved:
        case net::HttpFault::refused:
        case net::HttpFault::not_connected:
            return {model_failure(failure.text), Again::few_times};
        default:
            return {model_failure(failure.text)};
    }
}

AttemptFailure no_answer(const net::HttpHead& head, const Asked& asked) {
    const auto type = shown_line(head.find("content-type"), asked);
    return {model_failure(asked.host + " answers with " + (type.empty() ? "something else" : type) +
                          " instead of JSON; check the address")};
}

AttemptFailure broken_answer(const Asked& asked) {
    return {model_failure("the answer of " + asked.host + " broke off or makes no sense; resume to ask again"),
            Again::yes};
}

Failure too_long(const Asked& asked, const std::string& message) {
    const auto said = message.empty() ? std::string() : " (" + shown_line(message, asked) + ")";
    return model_failure("the conversation is too long for " + asked.model + said +
                         "; nothing is lost: resume with a model that takes more, or go on in a new thread");
}

std::string shown_line(std::string_view text, const Asked& asked) {
    std::string line(text);
    if (holds_key(line, asked.key)) {
        for (auto at = line.find(asked.key); at != std::string::npos; at = line.find(asked.key, at)) {
            line.replace(at, asked.key.size(), "[key]");
        }
    }
    return safe_to_show(capped(line, line_bytes_max)).text;
}

bool holds_key(std::string_view text, std::string_view key) {
    return key.size() >= key_bytes_min && text.find(key) != std::string_view::npos;
}

}  // namespace assent::models
