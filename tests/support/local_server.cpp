#include "support/local_server.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <cstdlib>
#include <stdexcept>

namespace assent::test {
namespace {

int listen_on_loopback(int& port) {
    const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    if (listener < 0 || bind(listener, reinterpret_cast<sockaddr*>(&address), size) != 0 ||
        getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
        throw std::runtime_error("no port on 127.0.0.1");
    }
    port = ntohs(address.sin_port);
    return listener;
}

// Reads one request; false: the peer went away.
bool receive(int peer, Received& request) {
    std::string bytes;
    std::size_t head_end = std::string::npos;
    std::size_t length = 0;
    while (head_end == std::string::npos || bytes.size() < head_end + 4 + length) {
        std::array<char, 65536> buffer{};
        const auto count = recv(peer, buffer.data(), buffer.size(), 0);
        if (count <= 0) return false;
        bytes.append(buffer.data(), static_cast<std::size_t>(count));
        if (head_end != std::string::npos) continue;
        head_end = bytes.find("\r\n\r\n");
        if (head_end == std::string::npos) continue;
        const auto first = bytes.substr(0, bytes.find("\r\n"));
        request.method = first.substr(0, first.find(' '));
        request.path = first.substr(request.method.size() + 1, first.rfind(' ') - request.method.size() - 1);
        for (auto at = bytes.find("\r\n") + 2; at < head_end;) {
            const auto line = bytes.substr(at, bytes.find("\r\n", at) - at);
            auto name = line.substr(0, line.find(':'));
            for (auto& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
            request.headers[name] = line.substr(std::min(line.size(), line.find(':') + 2));
            at += line.size() + 2;
        }
        const auto& text = request.headers["content-length"];
        std::from_chars(text.data(), text.data() + text.size(), length);
    }
    request.body = bytes.substr(head_end + 4, length);
    return true;
}

}  // namespace

std::string http_bytes(int status, const std::string& content_type, const std::string& body,
                       const std::string& more_headers, bool with_length) {
    std::string out = "HTTP/1.1 " + std::to_string(status) + " Said\r\nConnection: close\r\n";
    if (!content_type.empty()) out += "Content-Type: " + content_type + "\r\n";
    if (with_length) out += "Content-Length: " + std::to_string(body.size()) + "\r\n";
    return out + more_headers + "\r\n" + body;
}

std::string chunked_bytes(const std::string& content_type, const std::vector<std::string>& pieces) {
    std::string out = "HTTP/1.1 200 OK\r\nContent-Type: " + content_type + "\r\nTransfer-Encoding: chunked\r\n\r\n";
    for (const auto& piece : pieces) {
        std::array<char, 20> size{};
        const auto end = std::to_chars(size.data(), size.data() + size.size(), piece.size(), 16).ptr;
        out += std::string(size.data(), end) + "\r\n" + piece + "\r\n";
    }
    return out + "0\r\n\r\n";
}

void forget_proxies() {
    for (const char* name : {"http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"}) unsetenv(name);
}

LocalServer::LocalServer(Handler handler) : handler_(std::move(handler)) {
    forget_proxies();
    listener_ = listen_on_loopback(port_);
    if (listen(listener_, 64) != 0 || pipe(stop_) != 0) throw std::runtime_error("the local server cannot listen");
    thread_ = std::thread([this] { serve(); });
}

LocalServer::~LocalServer() {
    close(stop_[1]);
    thread_.join();
    close(stop_[0]);
    close(listener_);
}

std::vector<Received> LocalServer::received() const {
    const std::lock_guard lock(mutex_);
    return received_;
}

std::size_t LocalServer::count() const {
    const std::lock_guard lock(mutex_);
    return received_.size();
}

void LocalServer::serve() {
    while (true) {
        std::array<pollfd, 2> waits{pollfd{listener_, POLLIN, 0}, pollfd{stop_[0], POLLIN, 0}};
        poll(waits.data(), waits.size(), -1);
        if (waits[1].revents != 0) return;
        const int peer = accept(listener_, nullptr, nullptr);
        if (peer < 0) continue;
        const int on = 1;
        setsockopt(peer, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
        answer(peer);
        close(peer);
    }
}

void LocalServer::answer(int peer) {
    Received request;
    if (!receive(peer, request)) return;
    {
        const std::lock_guard lock(mutex_);
        received_.push_back(request);
    }
    const auto reply = handler_(request);
    std::string_view left = reply.bytes;
    while (!left.empty()) {
        const auto size = reply.piece == 0 ? left.size() : std::min(reply.piece, left.size());
        const auto count = send(peer, left.data(), size, MSG_NOSIGNAL);
        if (count <= 0) return;
        left.remove_prefix(static_cast<std::size_t>(count));
    }
    if (reply.end == Reply::End::reset) {
        const linger at_once{.l_onoff = 1, .l_linger = 0};
        setsockopt(peer, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
    }
    if (reply.end == Reply::End::hold) {
        std::array<pollfd, 2> waits{pollfd{peer, POLLIN, 0}, pollfd{stop_[0], POLLIN, 0}};
        poll(waits.data(), waits.size(), -1);
    }
}

int closed_port() {
    int port = 0;
    close(listen_on_loopback(port));
    return port;
}

}  // namespace assent::test
