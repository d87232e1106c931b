// A channel: how a live host hears of what people are asked, and answers it.
//
// With `AgentOptions::channel` a prompt waits for people until all that is open is answered, expires, is aborted
// or detached, wherever that happens: in this process or in another that can open the store. Any number of
// requests may be open at once and are answered in any order. Questions and answers are in a store, never in the
// channel: nothing is lost with it but the waiting.
//
// Thread-safety: all members, from any thread, also while an agent waits.
// Errors: Failure kind `database` where the store fails.
#pragma once

#include <assent/approvals.hpp>
#include <assent/checkpointer.hpp>
#include <assent/hitl.hpp>
#include <assent/timeout.hpp>

#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace assent {

/// How a question of somebody who waits has ended.
enum class HitlEnd : std::uint8_t {
    answered,
    cancelled,
    timed_out,
    aborted,   ///< Its thread was aborted, or the asker was told to stop.
    detached,  ///< Nobody waits any more; the question stays open.
};

/// What came of a question.
template <class T>
struct HitlReply {
    HitlEnd end = HitlEnd::detached;
    T answer{};          ///< When answered.
    std::string reason;  ///< When cancelled or aborted.
    std::string id;      ///< The approval's id.
    std::string by;      ///< Who answered; empty: not known.
    UnixMillis at = 0;   ///< When.
};

// Questions that belong to no call of an agent. The time-out is the channel's default unless it is said.
struct ApproveQuestion {
    std::string tool_name;
    std::optional<std::string> tool_call_id;
    Arguments args;
    std::string prompt;
    Arguments details;
    Timeout timeout;
};
struct ConfirmQuestion {
    std::string prompt;
    Arguments details;
    Timeout timeout;
};
struct AskQuestions {
    std::vector<HitlQuestion> questions;
    Timeout timeout;
};

/// The answer to a request, in the form of its kind.
class HitlAnswer {
public:
    HitlAnswer(const ApproveAnswer& answer) : json_(answer.json()) {}
    /// Only a bool: a text or a pointer would be a yes.
    template <std::same_as<bool> Bool>
    HitlAnswer(Bool yes) : json_(yes ? "true" : "false") {}
    /// JSON text: {"decision": …}, true or false, or {KEY: "text" or ["value", …]}.
    [[nodiscard]] static HitlAnswer json(std::string text) { return HitlAnswer(Json{std::move(text)}); }

    [[nodiscard]] const std::string& text() const noexcept { return json_; }

private:
    struct Json {
        std::string text;
    };
    explicit HitlAnswer(Json json) : json_(std::move(json.text)) {}
    std::string json_;
};

/// Hears of every request once: first of those that are open, then of each as it is asked. It holds no queue and
/// may be read as slowly as one likes; a request that was over before it was read is not told.
class HitlSubscription {
public:
    virtual ~HitlSubscription() = default;
    /// Waits for the next request. Nothing: `stop` was requested or the subscription closed.
    virtual Result<std::optional<HitlRequest>> next(const std::stop_token& stop = {}) = 0;
    /// The next request if there is one now.
    virtual Result<std::optional<HitlRequest>> poll() = 0;
    /// Ends all waiting in `next`. What is open stays open.
    virtual void close() = 0;
};

class Channel {
public:
    virtual ~Channel() = default;

    // For whoever asks. Each stores its question, in a thread of its own, and waits until it is over.
    virtual Result<HitlReply<ApproveAnswer>> approve(const ApproveQuestion& question,
                                                     const std::stop_token& stop = {}) = 0;
    virtual Result<HitlReply<bool>> confirm(const ConfirmQuestion& question, const std::stop_token& stop = {}) = 0;
    virtual Result<HitlReply<HitlAnswers>> ask(const AskQuestions& questions, const std::stop_token& stop = {}) = 0;

    // For the host. `id` is a request's `id` or `question_id`.
    virtual Result<std::vector<HitlRequest>> pending() = 0;
    [[nodiscard]] virtual std::unique_ptr<HitlSubscription> subscribe() = 0;
    virtual Result<AnswerResult> answer(const std::string& id, const HitlAnswer& answer,
                                        const Reviewer& reviewer = {}) = 0;
    /// Ends the call that is asked about; the model is told `cancelled: REASON`.
    virtual Result<AnswerResult> cancel(const std::string& id, const std::string& reason,
                                        const Reviewer& reviewer = {}) = 0;
    /// Ends all waiting of agents and askers now. What is open stays open.
    virtual void detach() = 0;
    /// How long a request waits whose asker does not say, in milliseconds; none: for ever.
    [[nodiscard]] virtual std::optional<std::int64_t> default_timeout_ms() const = 0;

    // For agents.
    /// What is asked in this thread is told and answered here too. Throws ConfigError if the channel is for another
    /// thread. The store must live until `leave`.
    virtual void attach(Checkpointer& store, const std::string& thread_id) = 0;
    virtual void leave(Checkpointer& store, const std::string& thread_id) = 0;
    /// Something was stored: who waits looks at it.
    virtual void changed() = 0;
    /// How far things have come.
    struct Mark {
        std::uint64_t changes = 0;
        std::uint64_t detaches = 0;
    };
    [[nodiscard]] virtual Mark mark() const = 0;
    /// Waits until something has changed since `mark` or it is time to look at the store again, at most
    /// `milliseconds`. False: it was detached since.
    virtual bool wait(const Mark& mark, std::int64_t milliseconds, const std::stop_token& stop) = 0;
};

struct ChannelOptions {
    Timeout default_timeout;  ///< Not said: for ever.
    /// How often who waits looks at what other processes stored, in milliseconds.
    std::int64_t look_ms = 50;
    const Clock* clock = nullptr;  ///< None: the store's.
    Random* random = nullptr;      ///< None: the system's.
};

/// A channel over a store. Its members may be called from any thread.
class StoredChannel : public Channel {
public:
    ~StoredChannel() override;

    Result<HitlReply<ApproveAnswer>> approve(const ApproveQuestion& question,
                                             const std::stop_token& stop = {}) override;
    Result<HitlReply<bool>> confirm(const ConfirmQuestion& question, const std::stop_token& stop = {}) override;
    Result<HitlReply<HitlAnswers>> ask(const AskQuestions& questions, const std::stop_token& stop = {}) override;
    Result<std::vector<HitlRequest>> pending() override;
    [[nodiscard]] std::unique_ptr<HitlSubscription> subscribe() override;
    Result<AnswerResult> answer(const std::string& id, const HitlAnswer& answer,
                                const Reviewer& reviewer = {}) override;
    Result<AnswerResult> cancel(const std::string& id, const std::string& reason,
                                const Reviewer& reviewer = {}) override;
    void detach() override;
    [[nodiscard]] std::optional<std::int64_t> default_timeout_ms() const override;
    void attach(Checkpointer& store, const std::string& thread_id) override;
    void leave(Checkpointer& store, const std::string& thread_id) override;
    void changed() override;
    [[nodiscard]] Mark mark() const override;
    bool wait(const Mark& mark, std::int64_t milliseconds, const std::stop_token& stop) override;

protected:
    class State;
    explicit StoredChannel(std::shared_ptr<State> state) noexcept;

private:
    using Waiter = std::function<bool(const Mark& mark)>;
    [[nodiscard]] Waiter waiter(const std::stop_token& stop);

    std::shared_ptr<State> state_;
};

/// For hosts and tests in one process. Questions of its own are kept in memory; those of an agent are where the
/// agent keeps its thread.
class InMemoryChannel : public StoredChannel {
public:
    explicit InMemoryChannel(const ChannelOptions& options = {});
};

/// For one thread of a store, also in a process that does not run the agent.
class CheckpointedChannel : public StoredChannel {
public:
    /// `store` must outlive the channel. Throws ConfigError: no thread id.
    CheckpointedChannel(Checkpointer& store, const std::string& thread_id, const ChannelOptions& options = {});
};

}  // namespace assent
