// The table style: a table by tool name says which calls wait for a person, and what the person may answer.
//
// A tool that is not in the table is not affected. A decision, as JSON:
//   {"type": "approve"}
//   {"type": "edit", "edited_action": {"name": TOOL, "args": {…}}}   all arguments; may name another tool
//   {"type": "reject", "message": "why"}                             message optional; `deny` means the same
//   {"type": "respond", "message": "the result"}
// An answer that is none of them, or that the approval does not take, is refused and the approval stays open.
//
// Thread-safety: everything here is immutable after construction; functions that are given must allow calls
// from several threads when several agents share a table.
// Errors: a wrong table throws ConfigError, which names the tool.
// Source of the behaviour: `docs/coming-from/table.md`.
#pragma once

#include <assent/approval.hpp>
#include <assent/guard.hpp>
#include <assent/middleware.hpp>
#include <assent/rules.hpp>

#include <concepts>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assent {

/// What a reviewer reads about a call: a fixed text, or one made from the call. A function that throws denies.
class ReviewText {
public:
    ReviewText() = default;
    ReviewText(std::string text) : text_(std::move(text)) {}
    ReviewText(const char* text) : text_(text) {}
    template <std::invocable<const GuardedCall&> Make>
    ReviewText(Make make) : make_(std::move(make)) {}

    [[nodiscard]] bool empty() const noexcept { return !make_ && text_.empty(); }
    [[nodiscard]] std::string of(const GuardedCall& call) const { return make_ ? make_(call) : text_; }

private:
    std::string text_;
    std::function<std::string(const GuardedCall&)> make_;
};

/// Whether a call asks: a condition on its arguments (`gt` and its like), or a function of the call. It is called
/// once for each time that the call is judged, never again because somebody answered.
class ReviewWhen {
public:
    ReviewWhen() = default;
    template <std::predicate<const GuardedCall&> Condition>
    ReviewWhen(Condition condition) : condition_(std::move(condition)) {}
    template <std::predicate<const JsonText&> Condition>
        requires(!std::predicate<Condition, const GuardedCall&>)
    ReviewWhen(Condition condition) {
        if (Predicate given = std::move(condition))
            condition_ = [given](const GuardedCall& call) { return given(call.arguments->json()); };
    }

    /// True also without a condition, and when the condition throws.
    [[nodiscard]] bool holds(const GuardedCall& call) const;

private:
    std::function<bool(const GuardedCall&)> condition_;
};

struct InterruptOnConfig {
    /// Of approve, edit, reject (or deny), respond; at least one.
    std::vector<std::string> allowed_decisions;
    ReviewText description;   ///< None: the prefix, the tool and its arguments.
    std::string args_schema;  ///< JSON Schema for the reviewer's form; shown, not enforced.
    ReviewWhen when;          ///< None: every call asks.
};

/// True: every call asks and all four decisions are open. False: as if the tool were not in the table.
class InterruptOnSetting {
public:
    /// Only a bool: a text or a pointer would be true.
    template <std::same_as<bool> Bool>
    InterruptOnSetting(Bool ask) : asks_(ask) {
        if (ask) config_.allowed_decisions = {"approve", "edit", "reject", "respond"};
    }
    InterruptOnSetting(InterruptOnConfig config) : config_(std::move(config)) {}

    [[nodiscard]] bool asks() const noexcept { return asks_; }
    [[nodiscard]] const InterruptOnConfig& config() const noexcept { return config_; }

private:
    bool asks_ = true;
    InterruptOnConfig config_;
};
using InterruptOnTable = std::vector<std::pair<std::string, InterruptOnSetting>>;

enum class InterruptMode : std::uint8_t {
    batched,   ///< The question of a call is one entry of `action_requests`.
    per_call,  ///< It is a `tool_approval` with a schema of the answer, and an edit keeps the tool.
};
/// Throws ConfigError unless `name` is "batched" or "per_call".
[[nodiscard]] InterruptMode interrupt_mode(std::string_view name);

/// What the model is told of a rejection with a reason.
enum class RejectText : std::uint8_t {
    framed,  ///< The reason, and which call was rejected.
    reason,  ///< The reason alone.
};

inline constexpr std::string_view default_edit_notice =
    "A person replaced this tool call on purpose. Do not make the first call again unless the user asks.";

struct InterruptOnOptions {
    InterruptMode interrupt_mode = InterruptMode::batched;
    /// What stands before the result of an edited call, followed by what ran instead; none: nothing does.
    std::optional<std::string> edit_notice = std::string(default_edit_notice);
    std::string description_prefix = "Tool execution requires approval";
    /// What stands before a person's text that is the result of a call that did not run; empty: nothing.
    std::string respond_notice;
    RejectText reject_text = RejectText::framed;
    /// How long an approval may wait. 0 is over at once; none is for ever.
    std::optional<std::int64_t> timeout_seconds;
    std::string version = "1";          ///< See Guard::version.
    std::string name = "interrupt_on";  ///< Tells several tables of one agent apart.
};

/// Asks people about the tools of a table, and marks the results of calls that they edited.
class InterruptOnMiddleware final : public Middleware, public Guard {
public:
    /// Throws ConfigError: no or unknown decisions, a tool that stands twice, a schema that is no JSON object, a
    /// negative time-out.
    explicit InterruptOnMiddleware(InterruptOnTable table, InterruptOnOptions options = {});

    std::optional<ToolResult> after_tool(const ToolContext& context, const ToolResult& result) override;

    [[nodiscard]] std::string name() const override { return options_.name; }
    [[nodiscard]] std::string version() const override { return options_.version; }
    [[nodiscard]] bool can_ask() const override;
    [[nodiscard]] std::vector<std::string> tools_named() const override;
    /// A row that says false names the tool, and asks nobody.
    [[nodiscard]] bool covers(std::string_view tool) const override;
    [[nodiscard]] Judgement judge(const GuardedCall& call) override;

    /// For the gate: what path permissions of the same agent ask, as a question of this table. With `own`, which the
    /// table itself asks about the call, it is one question for both, and takes only what both take.
    [[nodiscard]] Question with_paths(const GuardedCall& call, const Question* own, const Judgement& paths) const;

private:
    struct Row {
        bool asks = false;
        InterruptOnConfig config;
        std::vector<DecisionKind> allowed;
    };
    struct Shown {
        const GuardedCall& call;
        std::string words;  ///< The operator's; empty: there are none.
        std::vector<DecisionKind> allowed;
        std::string args_schema;
        std::string paths;  ///< Why path permissions ask; empty: they do not.
    };
    [[nodiscard]] Question question(const Shown& shown) const;

    std::map<std::string, Row, std::less<>> rows_;
    InterruptOnOptions options_;
};

[[nodiscard]] std::shared_ptr<InterruptOnMiddleware> interrupt_on(InterruptOnTable table,
                                                                  InterruptOnOptions options = {});
/// The table from JSON text: {TOOL: true | false | {"allowed_decisions": […], "description": "…",
/// "args_schema": {…}, "when": {"field": …, "op": …, "value": …}}}. `op` is eq, gt, ge, lt, le or matches.
/// Throws ConfigError, also for a key that is not one of these.
[[nodiscard]] InterruptOnTable interrupt_on_table(std::string_view json);

/// What is asked in one batch, as JSON text: {"action_requests": [{id, name, args, description}, …],
/// "review_configs": [{action_name, allowed_decisions}, …]}, both in the order of `open`. Approvals of other
/// styles and of the mode per_call are left out.
[[nodiscard]] std::string action_requests(std::span<const Approval> open);

}  // namespace assent
