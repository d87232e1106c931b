// A server on 127.0.0.1 that answers each request with exactly the bytes that a test gives it.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace assent::test {

struct Received {
    std::string method;
    std::string path;
    std::map<std::string, std::string> headers;  ///< Names in small letters.
    std::string body;
};

struct Reply {
    enum class End {
        close,  ///< The ordinary end of a connection.
        reset,  ///< The peer sees an error.
        hold,   ///< Nothing more comes until the server or the client ends.
    };
    std::string bytes;
    End end = End::close;
    std::size_t piece = 0;  ///< Sent in pieces of so many bytes; 0: at once.
};

/// Bytes of an answer whose body ends with the connection, or has a length.
std::string http_bytes(int status, const std::string& content_type, const std::string& body,
                       const std::string& more_headers = {}, bool with_length = true);
/// The same body in chunks, one a piece.
std::string chunked_bytes(const std::string& content_type, const std::vector<std::string>& pieces);

class LocalServer {
public:
    using Handler = std::function<Reply(const Received&)>;

    explicit LocalServer(Handler handler);
    LocalServer(const LocalServer&) = delete;
    LocalServer& operator=(const LocalServer&) = delete;
    ~LocalServer();

    [[nodiscard]] int port() const noexcept { return port_; }
    [[nodiscard]] std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }
    [[nodiscard]] std::vector<Received> received() const;
    [[nodiscard]] std::size_t count() const;

private:
    void serve();
    void answer(int peer);

    Handler handler_;
    int listener_ = -1;
    int port_ = 0;
    int stop_[2] = {-1, -1};
    mutable std::mutex mutex_;
    std::vector<Received> received_;
    std::thread thread_;
};

/// Takes proxies out of this process's environment; every LocalServer does it.
void forget_proxies();

/// A port on 127.0.0.1 where nobody listens.
int closed_port();

}  // namespace assent::test
