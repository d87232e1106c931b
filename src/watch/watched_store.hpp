// A store in front of another that tells what is stored through it, for metrics and logs.
//
// What this process appends is told once. What others appended is told when it is read here, if nobody has gone on
// with the thread since: an answer that was given elsewhere is told by the runner that acts on it. So the sums over all
// runners of a store are right but for threads that two of them read before either goes on.
//
// Thread-safety: all members may be called from several threads; so are those of the watchers, outside of any lock.
// Cost: an append's events are read once more, and a small record of each thread and question in hand is kept, of a
// bounded number.
#pragma once

#include "journal/events.hpp"

#include <assent/checkpointer.hpp>

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace assent::watch {

/// What is known of the question that an event is about.
struct KnownQuestion {
    std::string id;
    UnixMillis asked_at = 0;
    ApprovalKind kind = ApprovalKind::approve;
    bool answers_call = false;
};

struct Happening {
    const std::string& thread;
    UnixMillis at = 0;
    const journal::Event& event;
    /// Of an event that asks or ends one; none: it was asked too long ago.
    std::optional<KnownQuestion> question;
};

/// Told while a store is used; may not use it and must not throw.
class Watcher {
public:
    virtual ~Watcher() = default;
    virtual void happened(const Happening& happening) = 0;
    /// How an append came out, and how long it took.
    virtual void appended(AppendStatus status, std::int64_t milliseconds) = 0;
    /// The store failed. `operation`: a member of Checkpointer.
    virtual void failed(std::string_view operation, const Failure& failure) = 0;
};

class WatchedStore final : public Checkpointer {
public:
    /// All must outlive this.
    WatchedStore(Checkpointer& store, std::vector<Watcher*> watchers);

    Result<AppendResult> append(const Append& append) override;
    Result<std::optional<ThreadHead>> find_thread(const std::string& id) override;
    Result<std::vector<JournalRow>> load(const std::string& thread_id, std::int64_t after) override;
    Result<std::vector<ThreadHead>> threads() override;
    Result<std::vector<ThreadHead>> descendants(const std::string& thread_id) override;
    Result<std::vector<OpenApproval>> open_approvals(const std::string& thread_id, std::int64_t after,
                                                     std::size_t limit) override;
    Result<OpenCount> count_open() override;
    Result<std::optional<ApprovalPlace>> find_approval(std::int64_t number) override;
    Result<std::string> schema(const std::string& digest) override;
    Result<std::optional<Snapshot>> snapshot(const std::string& thread_id) override;
    Result<void> give_back(const std::string& thread_id, std::int64_t fence) override;
    Result<std::vector<ReadyThread>> take_ready(std::size_t limit, UnixMillis now) override;
    Result<void> put_back(const std::string& thread_id, std::int64_t delay_ms) override;
    [[nodiscard]] std::optional<std::int64_t> keeps_for_ms() const override;
    [[nodiscard]] std::shared_ptr<void> when_lost(std::function<void()> lost) const override;
    [[nodiscard]] const Clock& clock() const override;
    [[nodiscard]] std::shared_ptr<void> watch(Changed changed) override;

private:
    using Command = std::array<std::uint8_t, 16>;
    // How far a thread's journal was told.
    struct Told {
        std::int64_t upto = 0;
        std::set<std::int64_t> own;      // rows after `upto` that this process appended
        std::optional<Command> doubted;  // an append of which nobody knows whether it was kept
    };
    struct ToTell {
        UnixMillis at = 0;
        journal::Event event;
        std::optional<KnownQuestion> question;
    };

    template <class T>
    Result<T> noted(std::string_view operation, Result<T> result);
    void stored(const Append& append, const AppendResult& result);
    void read(const std::string& thread, const std::vector<JournalRow>& rows);
    Told& told_of(const std::string& thread);
    void take(std::vector<ToTell>& out, std::vector<journal::Event> events, UnixMillis at);
    void remember(const journal::Event& event, UnixMillis at);
    void tell(const std::string& thread, const std::vector<ToTell>& all);

    Checkpointer& store_;
    std::vector<Watcher*> watchers_;
    std::mutex mutex_;
    std::map<std::string, Told> told_;                 // under `mutex_`, as the next; by thread
    std::map<std::int64_t, KnownQuestion> questions_;  // open ones, by number
};

}  // namespace assent::watch
