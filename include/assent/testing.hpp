// For the tests of those who build on Assent: time that stands still, and people who answer as they are told.
//
// Thread-safety: ManualClock as any clock. The channels answer on the thread that waits; their scripts are not to
// be changed meanwhile.
#pragma once

#include <assent/channel.hpp>
#include <assent/clock.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace assent {

/// Stands still unless the test moves it. Who waits by it looks again every millisecond of real time, so a
/// deadline is over as soon as the clock has passed it.
class ManualClock final : public Clock {
public:
    explicit ManualClock(UnixMillis now = 1'800'000'000'000) : now_(now) {}

    [[nodiscard]] UnixMillis now() const override { return now_; }
    [[nodiscard]] std::int64_t monotonic() const override { return passed_; }
    void wait(std::condition_variable_any& changed, std::unique_lock<std::mutex>& lock, std::int64_t) const override {
        changed.wait_for(lock, std::chrono::milliseconds(1));
    }
    void pass(std::chrono::milliseconds time) {
        now_ += time.count();
        passed_ += time.count();
    }

private:
    std::atomic<UnixMillis> now_;
    std::atomic<std::int64_t> passed_ = 0;
};

/// Answers each request with the next answer of its script, at the moment somebody waits for it.
class ScriptedChannel : public InMemoryChannel {
public:
    /// Nothing: the request stays open.
    using Answerer = std::function<std::optional<HitlAnswer>(const HitlRequest& request)>;

    explicit ScriptedChannel(std::vector<HitlAnswer> answers = {}, const ChannelOptions& options = {})
        : InMemoryChannel(options) {
        for (auto& answer : answers) then(std::move(answer));
    }
    /// The next answer.
    void then(HitlAnswer answer) {
        script_.push_back([answer = std::move(answer)](const HitlRequest&) { return std::optional(answer); });
    }
    void then(Answerer answerer) { script_.push_back(std::move(answerer)); }

    /// Every request so far, in the order in which they came.
    [[nodiscard]] const std::vector<HitlRequest>& history() const noexcept { return history_; }

    /// Throws std::logic_error if the script is at its end, or an answer of it is refused.
    bool wait(const Mark& mark, std::int64_t milliseconds, const std::stop_token& stop) override {
        answer_new();
        return InMemoryChannel::wait(mark, milliseconds, stop);
    }

protected:
    /// What answers this request.
    virtual Answerer next_answer(const HitlRequest& request) {
        if (script_.empty()) throw std::logic_error("the script has no answer left for " + request.payload.tool_name);
        auto next = std::move(script_.front());
        script_.pop_front();
        return next;
    }

private:
    void answer_new() {
        const auto open = pending();
        if (!open) throw std::logic_error(open.failure().message);
        for (const auto& request : *open) {
            const auto same = [&](const auto& known) { return known.id == request.id; };
            if (std::any_of(history_.begin(), history_.end(), same)) continue;
            history_.push_back(request);
            const auto given = next_answer(request)(request);
            if (!given) continue;
            const auto told = answer(request.id, *given, {.name = "script", .signed_in = "test"});
            if (!told) throw std::logic_error(told.failure().message);
            if (told->status != AnswerResult::Status::decided) throw std::logic_error(told->message);
        }
    }
    std::deque<Answerer> script_;
    std::vector<HitlRequest> history_;
};

/// Says yes to everything: approves, confirms, and answers questions with the first option or the text `none`.
class NoOpChannel final : public ScriptedChannel {
public:
    explicit NoOpChannel(const ChannelOptions& options = {}) : ScriptedChannel({}, options) {}

protected:
    Answerer next_answer(const HitlRequest&) override {
        return [](const HitlRequest& request) -> std::optional<HitlAnswer> {
            if (request.payload.kind == ApprovalKind::confirm) return HitlAnswer(true);
            if (request.payload.kind == ApprovalKind::approve)
                return HitlAnswer(ApproveAnswer{.decision = DecisionKind::approve});
            HitlAnswers answers;
            for (const auto& question : request.payload.questions) {
                const auto& options = question.options;
                answers.push_back({question.key, {options.empty() ? std::string("none") : options.front().value}});
            }
            return HitlAnswer::json(hitl_answers_json(answers, request.payload.questions));
        };
    }
};

}  // namespace assent
