// Tells who waits that something was committed, by whichever process.
//
// SQLite wakes nobody in another process, but says for next to nothing whether somebody committed: that is asked every
// few milliseconds, as long as somebody waits.
#pragma once

#include "store/sqlite/database.hpp"

#include <assent/checkpointer.hpp>

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

namespace assent::sqlite {

class CommitWatch {
public:
    using Connect = std::function<std::unique_ptr<Database>()>;

    /// `connect` is called on a thread of this object and may throw Error: then again later.
    explicit CommitWatch(Connect connect);

    /// Calls `changed` after commits until the returned object is gone. It may not be let go by `changed` itself.
    [[nodiscard]] std::shared_ptr<void> watch(Checkpointer::Changed changed);
    /// Closes its connection; another is opened later.
    void disconnect();

private:
    struct Watchers;
    void run(const std::stop_token& stop);
    [[nodiscard]] bool committed();

    Connect connect_;
    std::shared_ptr<Watchers> watchers_;
    std::mutex mutex_;  // of the next three
    std::unique_ptr<Database> database_;
    std::int64_t version_ = 0;
    std::jthread thread_;
};

}  // namespace assent::sqlite
