#include "net/out/http_client.hpp"

#include "net/out/http_fault.hpp"

#include <curl/curl.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <new>
#include <stdexcept>
#include <utility>

namespace assent::net {
namespace {

// How long the loop sleeps at most when nothing happens; a stop wakes it at once.
constexpr int poll_ms_max = 1000;
constexpr std::size_t head_bytes_max = std::size_t{256} * 1024;

template <auto Free>
struct Freed {
    template <class T>
    void operator()(T* pointer) const {
        Free(pointer);
    }
};
using Easy = std::unique_ptr<CURL, Freed<curl_easy_cleanup>>;
using Multi = std::unique_ptr<CURLM, Freed<curl_multi_cleanup>>;
using List = std::unique_ptr<curl_slist, Freed<curl_slist_free_all>>;
using Url = std::unique_ptr<CURLU, Freed<curl_url_cleanup>>;

void start_curl() {
    static const CURLcode started = curl_global_init(CURL_GLOBAL_DEFAULT);
    if (started != CURLE_OK) throw std::runtime_error("curl cannot be started");
}

template <class T>
T* not_null(T* pointer) {
    if (pointer == nullptr) throw std::bad_alloc();
    return pointer;
}

template <class Value>
void set(const Easy& easy, CURLoption option, Value value) {
    if (curl_easy_setopt(easy.get(), option, value) != CURLE_OK) {
        throw std::runtime_error("curl lacks an option that is needed");
    }
}

// Null as well when it is empty.
const char* set_variable(const char* name) {
    const char* value = std::getenv(name);
    return value != nullptr && *value != '\0' ? value : nullptr;
}

char small(char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool same_name(std::string_view a, std::string_view b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) { return small(x) == small(y); });
}

List header_list(const std::vector<HttpHeader>& headers) {
    List list;
    const auto add = [&list](const std::string& line) {
        auto* longer = not_null(curl_slist_append(list.get(), line.c_str()));
        if (list.get() != longer) list.reset(longer);  // a longer list keeps its beginning
    };
    for (const auto& header : headers) {
        if ((header.name + header.value).find_first_of(std::string_view("\r\n\0", 3)) != std::string::npos) {
            throw std::invalid_argument("a header holds a line end");
        }
        add(header.name + ": " + header.value);
    }
    add("Expect:");  // the body is sent without asking first
    return list;
}

// One POST. curl's callbacks only collect; what is collected is handed on outside of curl.
class Transfer {
public:
    Transfer(const HttpRequest& request, const OnBody& on_body, const Clock& clock)
        : request_(request),
          on_body_(on_body),
          clock_(clock),
          multi_(not_null(curl_multi_init())),
          easy_(not_null(curl_easy_init())),
          headers_(header_list(request.headers)) {
        set_up();
        curl_multi_add_handle(multi_.get(), easy_.get());
    }
    Transfer(const Transfer&) = delete;
    Transfer& operator=(const Transfer&) = delete;
    ~Transfer() { curl_multi_remove_handle(multi_.get(), easy_.get()); }

    HttpAnswer run(const std::stop_token& stop) {
        const std::stop_callback wake(stop, [this] { curl_multi_wakeup(multi_.get()); });
        last_byte_at_ = clock_.monotonic();
        int running = 1;
        while (true) {
            const auto performed = curl_multi_perform(multi_.get(), &running);
            if (performed != CURLM_OK) return failed(HttpFault::broken, curl_multi_strerror(performed));
            if (!hand_on()) return {.head = head_};
            if (running == 0) return finished();
            if (stop.stop_requested()) {
                // Does not wait for a name that is still being resolved.
                set(easy_, CURLOPT_QUICK_EXIT, 1L);
                return failed(HttpFault::stopped, "the request was stopped");
            }
            const auto left = idle_left();
            if (left <= 0) {
                return failed(HttpFault::idle,
                              "nothing came from " + host() + " for " + std::to_string(request_.idle_ms) + " ms");
            }
            const auto wait = static_cast<int>(std::min<std::int64_t>(left, poll_ms_max));
            curl_multi_poll(multi_.get(), nullptr, 0, wait, nullptr);
        }
    }

private:
    void set_up() {
        set(easy_, CURLOPT_URL, request_.url.c_str());
        set(easy_, CURLOPT_PROTOCOLS_STR, "http,https");
        set(easy_, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
        set(easy_, CURLOPT_FOLLOWLOCATION, 0L);
        set(easy_, CURLOPT_SSL_VERIFYPEER, 1L);
        set(easy_, CURLOPT_SSL_VERIFYHOST, 2L);
        if (const char* file = set_variable("SSL_CERT_FILE")) set(easy_, CURLOPT_CAINFO, file);
        if (const char* folder = set_variable("SSL_CERT_DIR")) set(easy_, CURLOPT_CAPATH, folder);
        set(easy_, CURLOPT_NOSIGNAL, 1L);
        set(easy_, CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(request_.connect_ms));
        set(easy_, CURLOPT_ERRORBUFFER, error_.data());
        // The proxy that opens a tunnel does not see what goes through it.
        set(easy_, CURLOPT_HEADEROPT, static_cast<long>(CURLHEADER_SEPARATE));
        set(easy_, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
        set(easy_, CURLOPT_POST, 1L);
        set(easy_, CURLOPT_POSTFIELDS, request_.body.data());
        set(easy_, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request_.body.size()));
        set(easy_, CURLOPT_HTTPHEADER, headers_.get());
        set(easy_, CURLOPT_HEADERFUNCTION, &Transfer::take_header);
        set(easy_, CURLOPT_HEADERDATA, this);
        set(easy_, CURLOPT_WRITEFUNCTION, &Transfer::take_body);
        set(easy_, CURLOPT_WRITEDATA, this);
    }

    static std::size_t take_header(char* bytes, std::size_t, std::size_t size, void* self) noexcept {
        try {
            return static_cast<Transfer*>(self)->add_header({bytes, size}) ? size : 0;
        } catch (const std::exception&) {
            return 0;
        }
    }

    static std::size_t take_body(char* bytes, std::size_t, std::size_t size, void* self) noexcept {
        try {
            return static_cast<Transfer*>(self)->add_body({bytes, size}) ? size : 0;
        } catch (const std::exception&) {
            return 0;
        }
    }

    bool add_header(std::string_view line) {
        head_bytes_ += line.size();
        got_bytes_ = true;
        if (head_bytes_ > head_bytes_max) {
            too_large_ = true;
            return false;
        }
        if (line.starts_with("HTTP/")) {
            head_.headers.clear();  // those of an interim answer
            head_ended_ = false;
            return true;
        }
        while (!line.empty() && (line.back() == '\r' || line.back() == '\n' || line.back() == ' ')) {
            line.remove_suffix(1);
        }
        if (line.empty()) head_ended_ = true;
        const auto colon = line.find(':');
        if (colon == std::string_view::npos) return true;
        const auto value = line.find_first_not_of(" \t", colon + 1);
        head_.headers.push_back({std::string(line.substr(0, colon)),
                                 std::string(value == std::string_view::npos ? "" : line.substr(value))});
        return true;
    }

    bool add_body(std::string_view bytes) {
        body_bytes_ += bytes.size();
        got_bytes_ = true;
        if (body_bytes_ > request_.answer_bytes_max) {
            too_large_ = true;
            return false;
        }
        collected_ += bytes;
        return true;
    }

    bool hand_on() {
        long status = 0;
        curl_easy_getinfo(easy_.get(), CURLINFO_RESPONSE_CODE, &status);
        head_.status = static_cast<int>(status);
        if (collected_.empty()) return true;
        const auto bytes = std::exchange(collected_, {});
        return on_body_(head_, bytes);
    }

    std::int64_t idle_left() {
        curl_off_t sent = 0;
        curl_easy_getinfo(easy_.get(), CURLINFO_SIZE_UPLOAD_T, &sent);
        const auto now = clock_.monotonic();
        if (std::exchange(got_bytes_, false) || std::exchange(sent_, sent) != sent) last_byte_at_ = now;
        return last_byte_at_ + request_.idle_ms - now;
    }

    HttpAnswer finished() {
        int left = 0;
        TransferEnd end{.code = CURLE_RECV_ERROR, .connect_ms = request_.connect_ms};
        while (const auto* message = curl_multi_info_read(multi_.get(), &left)) {
            if (message->msg == CURLMSG_DONE) end.code = message->data.result;
        }
        if (end.code == CURLE_OK && head_ended_) return {.head = head_};
        if (end.code == CURLE_OK) end.code = CURLE_GOT_NOTHING;  // cut between two headers
        if (too_large_) {
            return failed(HttpFault::too_large, "the answer of " + host() + " is larger than " +
                                                    std::to_string(request_.answer_bytes_max) + " bytes");
        }
        curl_easy_getinfo(easy_.get(), CURLINFO_HTTP_CONNECTCODE, &end.proxy_status);
        end.detail = error_.data();
        end.host = host();
        return {.head = head_, .failure = failure_of(end)};
    }

    HttpAnswer failed(HttpFault fault, std::string text) { return {head_, HttpFailure{fault, std::move(text)}}; }

    std::string host() const {
        auto host = host_of(request_.url);
        return host ? std::move(host).value() : "the host";
    }

    const HttpRequest& request_;
    const OnBody& on_body_;
    const Clock& clock_;
    std::array<char, CURL_ERROR_SIZE> error_{};
    HttpHead head_;
    std::string collected_;
    std::size_t head_bytes_ = 0;
    std::size_t body_bytes_ = 0;
    curl_off_t sent_ = 0;
    std::int64_t last_byte_at_ = 0;
    bool got_bytes_ = false;
    bool head_ended_ = false;
    bool too_large_ = false;
    Multi multi_;
    Easy easy_;
    List headers_;
};

std::string part(const Url& url, CURLUPart which) {
    char* text = nullptr;
    if (curl_url_get(url.get(), which, &text, 0) != CURLUE_OK) return {};
    std::string out = text;
    curl_free(text);
    return out;
}

}  // namespace

std::string_view HttpHead::find(std::string_view name) const noexcept {
    for (const auto& header : headers) {
        if (same_name(header.name, name)) return header.value;
    }
    return {};
}

HttpAnswer http_post(const HttpRequest& request, const OnBody& on_body, const Clock& clock,
                     const std::stop_token& stop) {
    start_curl();
    return Transfer(request, on_body, clock).run(stop);
}

Result<std::string> host_of(const std::string& url) {
    start_curl();
    const Url parsed(not_null(curl_url()));
    const bool good =
        url.find('\0') == std::string::npos && curl_url_set(parsed.get(), CURLUPART_URL, url.c_str(), 0) == CURLUE_OK;
    const auto scheme = part(parsed, CURLUPART_SCHEME);
    if (!good || (scheme != "http" && scheme != "https")) {
        return Failure{FailureKind::usage, "the address of a service begins with http:// or https:// and a host"};
    }
    if (!part(parsed, CURLUPART_USER).empty() || !part(parsed, CURLUPART_PASSWORD).empty()) {
        return Failure{FailureKind::usage,
                       "the address of a service holds a user or a password; keys come from the environment"};
    }
    if (!part(parsed, CURLUPART_QUERY).empty() || !part(parsed, CURLUPART_FRAGMENT).empty()) {
        return Failure{FailureKind::usage,
                       "the address of a service ends with its path; leave out what follows ? or #"};
    }
    const auto port = part(parsed, CURLUPART_PORT);
    return part(parsed, CURLUPART_HOST) + (port.empty() ? "" : ":" + port);
}

std::optional<UnixMillis> http_date(const std::string& text) {
    const auto seconds = curl_getdate(text.c_str(), nullptr);
    if (seconds < 0) return std::nullopt;
    return static_cast<UnixMillis>(seconds) * 1000;
}

}  // namespace assent::net
