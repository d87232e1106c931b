// What a live host is asked and answers, and what it is told of that: the words of a channel.
//
// Thread-safety: plain values.
#pragma once

#include <assent/approval.hpp>
#include <assent/arguments.hpp>
#include <assent/clock.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace assent {

/// One of the answers that a person can choose.
struct HitlOption {
    std::string label;  ///< What the person reads.
    std::string value;  ///< What is answered.
    std::string description;
    bool allow_input = false;  ///< Choosing it lets the person write a text, which is answered instead.

    bool operator==(const HitlOption&) const = default;
};

struct HitlQuestion {
    std::string key;  ///< What the answer is called by; one of its kind.
    std::string prompt;
    std::vector<HitlOption> options;  ///< None: a free text.
    bool multi_select = false;        ///< Any number of options.
    bool required = true;             ///< An answer must be there and not be empty.

    bool operator==(const HitlQuestion&) const = default;
};

/// What is asked. Which members count depends on the kind.
struct HitlPayload {
    ApprovalKind kind = ApprovalKind::approve;
    // approve
    std::string tool_name;
    std::optional<std::string> tool_call_id;
    Arguments args;  ///< Those the tool would run with.
    // approve and confirm
    std::string prompt;
    Arguments details;
    // ask
    std::vector<HitlQuestion> questions;

    bool operator==(const HitlPayload&) const = default;
};

/// One open question to people.
struct HitlRequest {
    std::string id;  ///< The approval's, unique for ever.
    /// The style's own id: of policies and questions the model's id of the call, which a model may use again. Without
    /// one, `id`.
    std::string question_id;
    std::string thread_id;
    HitlPayload payload;
    UnixMillis created_at = 0;
    std::optional<UnixMillis> deadline;     ///< None: it waits for ever.
    std::optional<double> timeout_seconds;  ///< From `created_at` to `deadline`.

    bool operator==(const HitlRequest&) const = default;
};
/// An open approval of any style as a host of a channel sees it.
[[nodiscard]] HitlRequest hitl_request(const Approval& approval);

/// The answer to a request of kind `approve`.
struct ApproveAnswer {
    DecisionKind decision = DecisionKind::deny;             ///< approve, deny or edit.
    std::optional<std::string> edited_args = std::nullopt;  ///< Edit: JSON text of an object with all arguments.
    std::optional<std::string> reason = std::nullopt;       ///< Deny: what the model is told.

    /// {"decision": …, "edited_args": …, "reason": …}; what is not there is left out.
    [[nodiscard]] std::string json() const;
    bool operator==(const ApproveAnswer&) const = default;
};

/// The answers to a request of kind `ask`: by key a text, or the values that were chosen.
using HitlAnswers = std::vector<std::pair<std::string, std::vector<std::string>>>;
/// {KEY: "text" or ["value", …], …}: a list for each question with `multi_select`.
[[nodiscard]] std::string hitl_answers_json(const HitlAnswers& answers, const std::vector<HitlQuestion>& questions);

/// Questions as the tool `ask_user` takes them.
[[nodiscard]] std::string hitl_questions_json(const std::vector<HitlQuestion>& questions);

// What happens on a channel. `hitl_event_name` gives the names that go over the wire.

/// A person is needed.
struct HitlRequestEvent {
    HitlRequest request;
};
/// A request is over. `answer` is JSON text in the form of its kind, empty if nobody answered.
struct HitlAnswerEvent {
    std::string id;
    std::string question_id;
    std::string answer;
    std::string answered_by;
    bool cancelled = false;  ///< By a host, or because another decision ended the call.
    bool timed_out = false;
};
/// Nobody waits here any more; the requests stay open and may be answered anywhere.
struct AgentSuspendedEvent {
    std::vector<HitlRequest> pending;
};
/// The conversation was aborted; nothing of it is open.
struct AgentAbortedEvent {
    std::string reason;
};
using HitlEvent = std::variant<HitlRequestEvent, HitlAnswerEvent, AgentSuspendedEvent, AgentAbortedEvent>;

/// hitl_request, hitl_answer, agent_suspended or agent_aborted.
[[nodiscard]] std::string_view hitl_event_name(const HitlEvent& event) noexcept;

}  // namespace assent
