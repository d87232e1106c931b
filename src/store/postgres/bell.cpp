#include "store/postgres/bell.hpp"

#include "base/sha256.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <system_error>
#include <utility>
#include <vector>

namespace assent::postgres {
namespace {

// Rings within so many milliseconds are one notice.
constexpr int together_ms = 5;
// After an error the next try waits so long at first, at most so long.
constexpr int pause_ms = 100;
constexpr int pause_ms_max = 5'000;
// The server takes a text below 8,000 bytes; more threads than fit into it are told as "any".
constexpr std::size_t payload_bytes_max = 4'000;
constexpr char between = '\n';

// The server cuts longer names.
std::string channel_of(const std::string& schema) {
    constexpr std::size_t digits = 16;
    return "assent_" + hex(sha256(schema)).substr(0, digits);
}

}  // namespace

struct Bell::Watchers {
    std::mutex mutex;  // held while they are called: whoever lets go of its watch is not called afterwards
    std::map<std::int64_t, Checkpointer::Changed> all;
    std::int64_t last = 0;

    void tell(std::string_view thread_id) {
        const std::lock_guard lock(mutex);
        for (const auto& [number, changed] : all) changed(thread_id);
    }
};

Bell::Bell(std::string url, const PostgresOptions& options)
    : url_(std::move(url)),
      options_(options),
      channel_(channel_of(options.schema)),
      watchers_(std::make_shared<Watchers>()),
      wake_fd_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    if (wake_fd_ < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
}

Bell::~Bell() {
    if (thread_.joinable()) {
        thread_.request_stop();
        eventfd_write(wake_fd_, 1);
        thread_.join();
    }
    close(wake_fd_);
}

void Bell::ring(const std::string& thread_id) {
    watchers_->tell(thread_id);
    const std::lock_guard lock(mutex_);
    to_tell_.insert(thread_id);
    try {
        begin();
    } catch (const std::system_error&) {  // NOLINT(bugprone-empty-catch): it is stored; others look by themselves
    }
}

std::shared_ptr<void> Bell::watch(Checkpointer::Changed changed) {
    std::int64_t number = 0;
    {
        const std::lock_guard lock(watchers_->mutex);
        number = ++watchers_->last;
        watchers_->all.emplace(number, std::move(changed));
    }
    {
        const std::lock_guard lock(mutex_);
        wanted_ = true;
        begin();
    }
    return {nullptr, [watchers = watchers_, number](void*) {
                const std::lock_guard lock(watchers->mutex);
                watchers->all.erase(number);
            }};
}

// A process that neither stores nor waits has no connection for it.
void Bell::begin() {
    if (!thread_.joinable()) thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
    eventfd_write(wake_fd_, 1);
}

void Bell::run(const std::stop_token& stop) {
    int pause = pause_ms;
    while (true) {
        // Asked before what is to be told is taken: what was rung before the end is told.
        const bool last = stop.stop_requested();
        int until = -1;
        try {
            connect(last);
            send();
            hear();
            pause = pause_ms;
        } catch (const Error&) {
            connection_.reset();
            until = pause;
            pause = std::min(2 * pause, pause_ms_max);
        }
        if (last) return;
        if (!stop.stop_requested()) rest(until);
        if (!stop.stop_requested()) poll(nullptr, 0, together_ms);
    }
}

void Bell::connect(bool last) {
    bool listens = false;
    {
        const std::lock_guard lock(mutex_);
        if (connection_ == nullptr && to_tell_.empty() && (last || !wanted_)) return;
        listens = options_.listen && wanted_;
    }
    if (connection_ == nullptr) {
        connection_ = std::make_unique<Connection>(url_, options_);
        // A notice that is lost with the server costs nothing but time. Not through a pooler: it would stay.
        if (options_.listen) connection_->execute("SET synchronous_commit TO off");
    }
    if (!listens || connection_->listens()) return;
    connection_->listen(channel_);
    // Nobody knows what was rung before.
    watchers_->tell({});
}

void Bell::send() {
    std::set<std::string> told;
    {
        const std::lock_guard lock(mutex_);
        told.swap(to_tell_);
    }
    if (told.empty()) return;
    std::string payload;
    for (const auto& id : told) payload += (payload.empty() ? "" : std::string(1, between)) + id;
    if (payload.size() > payload_bytes_max) payload.clear();
    connection_->run("SELECT pg_notify($1, $2)", Parameters().add(channel_).add(payload));
}

void Bell::hear() {
    if (connection_ == nullptr) return;
    for (const auto& notice : connection_->notices()) {
        if (notice.empty()) watchers_->tell({});
        for (std::size_t begin = 0; begin < notice.size();) {
            const auto end = std::min(notice.find(between, begin), notice.size());
            watchers_->tell(std::string_view(notice).substr(begin, end - begin));
            begin = end + 1;
        }
    }
}

// Until something comes from the server or somebody of this process rings.
void Bell::rest(int milliseconds) const {
    std::array<pollfd, 2> waits{pollfd{.fd = wake_fd_, .events = POLLIN}, pollfd{.fd = -1, .events = POLLIN}};
    if (connection_ != nullptr) waits[1].fd = connection_->socket();
    poll(waits.data(), waits.size(), milliseconds);
    eventfd_t rung = 0;
    eventfd_read(wake_fd_, &rung);
}

}  // namespace assent::postgres
