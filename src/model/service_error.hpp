// What a service or the way to it refused, told in our words.
//
// Thread-safety: functions without state. No text holds the key: what a service says is searched for it.
#pragma once

#include "net/out/http_client.hpp"

#include <assent/result.hpp>

#include <string>
#include <string_view>

namespace assent::models {

/// Who is asked, as far as texts name it.
struct Asked {
    std::string model;       ///< As Model::name gives it.
    std::string host;        ///< Without path, query or user.
    std::string key_origin;  ///< Such as "ANTHROPIC_API_KEY".
    std::string key;         ///< To be kept out of every text.
};

/// An error as the service wrote it: the status (200 within a stream) and the fields of its body.
struct ServiceError {
    int status = 0;
    std::string type;
    std::string code;
    std::string message;
};

/// Why an attempt failed, and whether another may succeed.
struct AttemptFailure {
    enum class Again {
        no,
        few_times,  ///< It takes long to fail, or will hardly pass.
        yes,
    };
    Failure failure;
    Again again = Again::no;
};

/// Reads the error bodies that services and those that imitate them send; anything else gives no message.
[[nodiscard]] ServiceError read_service_error(int status, std::string_view body);
[[nodiscard]] AttemptFailure failure_of(const ServiceError& error, const Asked& asked);
[[nodiscard]] AttemptFailure failure_of(const net::HttpFailure& failure);
/// What a service answered that is no answer at all: a page for people, say.
[[nodiscard]] AttemptFailure no_answer(const net::HttpHead& head, const Asked& asked);
[[nodiscard]] AttemptFailure broken_answer(const Asked& asked);
[[nodiscard]] Failure too_long(const Asked& asked, const std::string& message);

/// One short line of what a service said, safe to show and without the key.
[[nodiscard]] std::string shown_line(std::string_view text, const Asked& asked);
/// True if `text` holds the key, unless the key is too short to tell.
[[nodiscard]] bool holds_key(std::string_view text, std::string_view key);

}  // namespace assent::models
