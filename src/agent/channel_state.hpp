// What a stored channel is made of: the threads it looks at, and who waits.
#pragma once

#include "gate/question_tool.hpp"

#include <assent/channel.hpp>
#include <assent/gate.hpp>
#include <assent/memory.hpp>

#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string_view>

namespace assent {

/// A thread whose questions are told.
struct ChannelThread {
    Checkpointer* store = nullptr;
    std::string id;
    std::uint64_t added = 0;  ///< Tells two stores apart that were at the same address one after the other.

    auto operator<=>(const ChannelThread&) const = default;
    [[nodiscard]] bool is_same(const ChannelThread& other) const { return store == other.store && id == other.id; }
};

class StoredChannel::State {
public:
    /// `only_thread`: the one thread that agents may attach; empty: any.
    State(const ChannelOptions& options, std::unique_ptr<Checkpointer> own_store, Checkpointer* store,
          std::string only_thread);

    [[nodiscard]] const Clock& clock() const noexcept { return clock_; }
    [[nodiscard]] Random& random() const noexcept { return random_; }
    [[nodiscard]] std::optional<std::int64_t> default_timeout_ms() const {
        return options_.default_timeout.milliseconds();
    }
    [[nodiscard]] std::int64_t look_ms() const noexcept { return options_.look_ms; }
    [[nodiscard]] const std::string& only_thread() const noexcept { return only_thread_; }

    State(const State&) = delete;
    State& operator=(const State&) = delete;
    ~State();

    void add(const ChannelThread& thread);
    void remove(const ChannelThread& thread);
    [[nodiscard]] std::vector<ChannelThread> threads() const;
    /// To be held from `threads` to the last use of their stores: until then `remove` waits.
    [[nodiscard]] std::shared_lock<std::shared_mutex> use_stores() const { return std::shared_lock(stores_used_); }

    [[nodiscard]] Mark mark() const;
    bool wait(const Mark& mark, std::int64_t milliseconds, const std::stop_token& stop);
    void changed();
    void detach();

    /// The approval that a host means by `id`. Failure kinds not_found, ambiguous, database.
    Result<std::pair<ChannelThread, Approval>> find(const std::string& id);

    /// Asks what `tool` asks about these arguments, in a thread of its own, and waits. The approval as it is when
    /// the waiting ends; open: detached.
    Result<Approval> ask(const std::shared_ptr<QuestionTool>& tool, const std::string& arguments,
                         const std::optional<std::string>& call_id, const std::stop_token& stop, const Waiter& waiter);

private:
    void watch(Checkpointer& store);
    void heard(const Checkpointer& store, std::string_view thread_id);
    Result<Approval> wait_for(const Approval& asked, Gate& gate, const Mark& asked_after, const std::stop_token& stop,
                              const Waiter& waiter);

    ChannelOptions options_;
    const Clock& clock_;
    Random& random_;
    std::unique_ptr<Checkpointer> own_store_;
    Checkpointer* store_;  // of questions that belong to no agent
    std::string only_thread_;

    mutable std::mutex mutex_;
    std::condition_variable_any happened_;
    Mark mark_;
    std::vector<ChannelThread> threads_;
    std::map<Checkpointer*, std::shared_ptr<void>> watches_;
    std::uint64_t added_ = 0;
    mutable std::shared_mutex stores_used_;
};

/// What came of a question that is over.
[[nodiscard]] HitlEnd end_of(const Approval& approval) noexcept;

}  // namespace assent
