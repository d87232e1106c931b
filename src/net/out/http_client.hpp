// HTTP requests to services: one POST, its answer handed on piece by piece.
//
// Certificates are always verified (CA of the system, or SSL_CERT_FILE and SSL_CERT_DIR). Proxies come
// from the environment as curl reads it. A redirect is never followed: its status is the answer, and what
// was sent goes nowhere else. Failures are one line that names the host alone: neither the path and query
// of the address nor any header shows in it.
//
// Thread-safety: all functions may be called from several threads. `on_body` is called on the caller's.
#pragma once

#include <assent/clock.hpp>
#include <assent/result.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace assent::net {

struct HttpHeader {
    std::string name;
    std::string value;  ///< Without line ends; http_post throws std::invalid_argument otherwise.

    bool operator==(const HttpHeader&) const = default;
};

struct HttpRequest {
    std::string url;
    std::vector<HttpHeader> headers;
    std::string_view body;
    std::int64_t connect_ms = 10'000;  ///< Name, connection and TLS handshake together.
    std::int64_t idle_ms = 120'000;    ///< Without a byte in either direction.
    std::size_t answer_bytes_max = std::size_t{64} * 1024 * 1024;
};

/// Status and headers of an answer.
struct HttpHead {
    int status = 0;
    std::vector<HttpHeader> headers;

    /// The value of the first header called `name` (in any case), or empty.
    [[nodiscard]] std::string_view find(std::string_view name) const noexcept;
};

enum class HttpFault : std::uint8_t {
    not_resolved,   ///< The host has no address.
    refused,        ///< No connection to the host.
    tls,            ///< No trusted TLS connection.
    proxy,          ///< The proxy does not let through.
    not_connected,  ///< No connection in time.
    idle,           ///< Nothing came for too long.
    broken,         ///< The connection ended before the answer did.
    too_large,      ///< The answer is larger than the limit.
    stopped,        ///< The stop token was used.
};

struct HttpFailure {
    HttpFault fault = HttpFault::broken;
    std::string text;

    bool operator==(const HttpFailure&) const = default;
};

struct HttpAnswer {
    HttpHead head;  ///< As far as it came.
    std::optional<HttpFailure> failure;
};

/// Gets pieces of the body as they come; false: the rest is not wanted, and the answer counts as whole.
using OnBody = std::function<bool(const HttpHead&, std::string_view)>;

/// Sends a POST and waits for the end of the answer, whatever its status.
HttpAnswer http_post(const HttpRequest& request, const OnBody& on_body, const Clock& clock,
                     const std::stop_token& stop);

/// "host" or "host:port" of an address to which requests may be sent: http or https, with no user,
/// password, query or fragment. Failure kind `usage`; its text does not repeat the address.
Result<std::string> host_of(const std::string& url);

/// Milliseconds since 1970 of a date in a header; none if it is no date.
[[nodiscard]] std::optional<UnixMillis> http_date(const std::string& text);

}  // namespace assent::net
