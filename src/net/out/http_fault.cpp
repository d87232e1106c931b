#include "net/out/http_fault.hpp"

#include "base/display.hpp"

#include <array>
#include <cstdlib>

namespace assent::net {
namespace {

constexpr std::size_t detail_bytes_max = 200;

std::string shown(const std::string& detail) {
    return detail.empty() ? std::string() : " (" + safe_to_show(capped(detail, detail_bytes_max)).text + ")";
}

bool proxy_in_environment() {
    constexpr std::array names{"http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"};
    for (const char* name : names) {
        if (const char* value = std::getenv(name); value != nullptr && *value != '\0') return true;
    }
    return false;
}

// curl names the peer that it could not reach: with a proxy, that is another one than ours.
bool proxy_unreachable(const TransferEnd& end) {
    if (!proxy_in_environment()) return false;
    const auto colon = end.host.rfind(':');
    const auto name = end.host.substr(0, colon);
    auto peer = "to " + name + " port";
    if (colon != std::string::npos) peer += " " + end.host.substr(colon + 1) + " ";
    return end.detail.find(peer) == std::string::npos || end.detail.find(" via ") != std::string::npos;
}

HttpFailure proxy_failure(const std::string& what) {
    return {HttpFault::proxy, "the proxy " + what + "; check HTTPS_PROXY and NO_PROXY in the environment"};
}

}  // namespace

HttpFailure failure_of(const TransferEnd& end) {
    if (end.proxy_status != 0 && end.proxy_status / 100 != 2) {
        return proxy_failure("refuses the connection to " + end.host + " (HTTP " + std::to_string(end.proxy_status) +
                             ")");
    }
    switch (end.code) {
        case CURLE_COULDNT_RESOLVE_PROXY:
            return proxy_failure("cannot be found: its name is not resolved");
        case CURLE_PROXY:
            return proxy_failure("does not let the connection through");
        case CURLE_COULDNT_RESOLVE_HOST:
            return {HttpFault::not_resolved,
                    "the name " + end.host + " is not resolved; check the address and the network"};
        case CURLE_COULDNT_CONNECT:
            if (proxy_unreachable(end)) return proxy_failure("refuses connections");
            return {HttpFault::refused, "no connection to " + end.host + "; check that the service runs there"};
        case CURLE_OPERATION_TIMEDOUT:
            return {HttpFault::not_connected, "no connection to " + end.host + " within " +
                                                  std::to_string(end.connect_ms) + " ms; check the network"};
        case CURLE_SSL_CONNECT_ERROR:
        case CURLE_SSL_CERTPROBLEM:
        case CURLE_SSL_CIPHER:
        case CURLE_PEER_FAILED_VERIFICATION:
        case CURLE_SSL_CACERT_BADFILE:
        case CURLE_SSL_ISSUER_ERROR:
        case CURLE_SSL_INVALIDCERTSTATUS:
            return {HttpFault::tls, "no trusted TLS connection to " + end.host + shown(end.detail) +
                                        "; for a certificate authority of your own set SSL_CERT_FILE"};
        default:
            return {HttpFault::broken, "the connection to " + end.host + " broke before the answer was whole" +
                                           shown(curl_easy_strerror(end.code))};
    }
}

}  // namespace assent::net
