// Who stored something rings, who waits hears of it: one connection a process, for all of its waiting.
//
// Rows are the truth: a ring may be lost, and who waits looks now and then all the same. It is made after the
// commit and by this connection alone, since the server lets commits with a notice wait for each other.
#pragma once

#include "store/postgres/connection.hpp"

#include <assent/checkpointer.hpp>
#include <assent/postgres.hpp>

#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <thread>

namespace assent::postgres {

class Bell {
public:
    Bell(std::string url, const PostgresOptions& options);
    Bell(const Bell&) = delete;
    Bell& operator=(const Bell&) = delete;
    /// Tells others what is still to be told, if the server is there.
    ~Bell();

    /// Something was stored in this thread. Does not wait for anything.
    void ring(const std::string& thread_id);
    /// Calls `changed` for each ring, those of others within milliseconds, until the returned object is gone. It
    /// may not be let go by `changed` itself.
    [[nodiscard]] std::shared_ptr<void> watch(Checkpointer::Changed changed);

private:
    struct Watchers;
    void begin();
    void run(const std::stop_token& stop);
    void connect(bool last);
    void send();
    void hear();
    void rest(int milliseconds) const;

    std::string url_;
    PostgresOptions options_;
    std::string channel_;
    std::shared_ptr<Watchers> watchers_;
    std::mutex mutex_;
    std::set<std::string> to_tell_;
    bool wanted_ = false;  // somebody watches
    int wake_fd_ = -1;
    std::unique_ptr<Connection> connection_;  // of `thread_` alone
    std::jthread thread_;
};

}  // namespace assent::postgres
