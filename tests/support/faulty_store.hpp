// A store in front of another that fails as told.
#pragma once

#include <assent/checkpointer.hpp>

#include <deque>
#include <functional>
#include <utility>

namespace assent::test {

class FaultyStore final : public Checkpointer {
public:
    enum class Fault { none, fails, uncertain_kept, uncertain_lost };

    explicit FaultyStore(Checkpointer& store) : store_(store) {}

    std::deque<Fault> appends;            ///< What happens to the next appends.
    std::function<void()> before_append;  ///< Called once, before the next append.
    /// Called before each append; a false one is the last thing that its process does: nothing works afterwards.
    std::function<bool(const Append&)> lives_before;
    std::function<bool(const Append&)> lives_after;  ///< The same after it was kept.
    int give_backs_fail = 0;
    std::optional<std::int64_t> keeps;  ///< How long its process surely keeps its threads.
    int loads_fail = 0;
    int appended = 0;
    std::size_t rows_loaded = 0;

    Result<AppendResult> append(const Append& append) override {
        if (dead_ || (lives_before && !lives_before(append))) return die();
        ++appended;
        if (const auto meanwhile = std::exchange(before_append, nullptr)) meanwhile();
        const auto fault = appends.empty() ? Fault::none : appends.front();
        if (!appends.empty()) appends.pop_front();
        if (fault == Fault::fails) return broken();
        if (fault == Fault::uncertain_lost) return AppendResult{.status = AppendStatus::uncertain};
        auto result = store_.append(append);
        if (lives_after && !lives_after(append)) return die();
        if (fault == Fault::uncertain_kept && result->status == AppendStatus::done) {
            return AppendResult{.status = AppendStatus::uncertain, .fence = result->fence};
        }
        return result;
    }
    Result<std::optional<ThreadHead>> find_thread(const std::string& id) override { return store_.find_thread(id); }
    Result<std::vector<JournalRow>> load(const std::string& id, std::int64_t after) override {
        if (dead_) return broken();
        if (loads_fail > 0 && loads_fail-- > 0) return broken();
        auto rows = store_.load(id, after);
        if (rows) rows_loaded += rows->size();
        return rows;
    }
    Result<std::vector<ThreadHead>> threads() override { return store_.threads(); }
    Result<std::vector<ThreadHead>> descendants(const std::string& id) override { return store_.descendants(id); }
    Result<std::vector<OpenApproval>> open_approvals(const std::string& id, std::int64_t after,
                                                     std::size_t limit) override {
        return store_.open_approvals(id, after, limit);
    }
    Result<std::optional<ApprovalPlace>> find_approval(std::int64_t number) override {
        return store_.find_approval(number);
    }
    Result<std::string> schema(const std::string& digest) override { return store_.schema(digest); }
    Result<std::optional<Snapshot>> snapshot(const std::string& id) override { return store_.snapshot(id); }
    Result<void> give_back(const std::string& id, std::int64_t fence) override {
        if (dead_) return broken();
        if (give_backs_fail > 0 && give_backs_fail-- > 0) return broken();
        return store_.give_back(id, fence);
    }

    [[nodiscard]] std::optional<std::int64_t> keeps_for_ms() const override { return keeps; }

private:
    static Failure broken() { return {FailureKind::database, "the store is broken"}; }
    Failure die() {
        dead_ = true;
        return broken();
    }
    bool dead_ = false;
    Checkpointer& store_;
};

}  // namespace assent::test
