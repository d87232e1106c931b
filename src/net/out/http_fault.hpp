// What went wrong in a transfer, in our words.
#pragma once

#include "net/out/http_client.hpp"

#include <curl/curl.h>

#include <string>

namespace assent::net {

struct TransferEnd {
    CURLcode code = CURLE_OK;
    long proxy_status = 0;  ///< What a proxy answered to the wish for a tunnel; 0: none did.
    std::string detail;     ///< curl's own words; may name hosts, never headers.
    std::string host;       ///< As host_of gives it.
    std::int64_t connect_ms = 0;
};

[[nodiscard]] HttpFailure failure_of(const TransferEnd& end);

}  // namespace assent::net
