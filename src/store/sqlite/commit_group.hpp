// Group commit: many appends at once, one sync for all of them.
//
// The first to come commits for itself; whoever comes meanwhile waits, and one of them then commits for
// all who wait. Nobody waits for others to come, so a lonely append costs one commit.
#pragma once

#include <assent/checkpointer.hpp>

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace assent::sqlite {

/// Shared: whoever wakes a waiter must not find its append gone.
struct PendingAppend {
    explicit PendingAppend(const Append& wanted);
    const Append& append;
    std::string body_digest;  ///< Made by who appends: while one commits, the others have time.
    /// Nobody knows what became of an append that was given no result.
    Result<AppendResult> result{AppendResult{.status = AppendStatus::uncertain}};

    enum class Turn { waits, leads, done };
    /// Sleeps until it is no longer this append's turn to wait.
    [[nodiscard]] Turn wait();
    void wake(Turn turn);

private:
    // Its own: who is woken must not queue for the group with all the others that are.
    std::mutex mutex_;
    std::condition_variable woken_;
    Turn turn_ = Turn::waits;
};

class CommitGroup {
public:
    /// Gives every append of a group its result. What it throws reaches its caller alone; the others of the
    /// group then have the results they were given so far.
    using Commit = std::function<void(const std::vector<std::shared_ptr<PendingAppend>>&)>;

    /// Has `commit` called once with a group that holds this append, on some caller's thread, and returns
    /// this append's result.
    Result<AppendResult> append(const Append& append, const Commit& commit);

    /// How many appends wait for the next commit.
    [[nodiscard]] std::size_t waiting() const;

private:
    using Batch = std::vector<std::shared_ptr<PendingAppend>>;
    void lead(const PendingAppend& own, const Commit& commit);
    void hand_over(const PendingAppend& own, const Batch& batch);

    mutable std::mutex mutex_;
    std::vector<std::shared_ptr<PendingAppend>> waiting_;
    bool busy_ = false;
};

}  // namespace assent::sqlite
