// The rules style: rules with predicates say which calls wait for a person.
//
// Thread-safety: everything here is immutable after construction.
// Errors: wrong rules are refused when they are built (std::invalid_argument with the position in a
// pattern); a predicate called alone throws PredicateError.
// Source of the behaviour: `docs/coming-from/rules.md`.
#pragma once

#include <assent/arguments.hpp>
#include <assent/guard.hpp>
#include <assent/middleware.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace assent {

/// A condition could not be evaluated. In a rule it counts as a match.
class PredicateError : public std::runtime_error {
public:
    enum class Kind {
        lookup,     ///< The field is missing, or the arguments are no object.
        type,       ///< The field has a kind that cannot be compared.
        value,      ///< The field has a value that cannot be compared.
        malformed,  ///< The text breaks a rule for exact arguments.
        limit,      ///< A pattern took more steps than allowed.
    };
    PredicateError(Kind kind, std::string field, const std::string& message);
    [[nodiscard]] Kind kind() const noexcept { return kind_; }
    [[nodiscard]] const std::string& field() const noexcept { return field_; }

private:
    Kind kind_;
    std::string field_;
};

/// A JSON value to compare with. Built from C++ values, or from JSON text by `json_threshold`.
/// A NaN, also inside a list, and a text that is no UTF-8 are refused: std::invalid_argument.
class Threshold {
public:
    Threshold(std::nullptr_t);
    Threshold(bool value);
    Threshold(int value) : Threshold(static_cast<std::int64_t>(value)) {}
    Threshold(std::int64_t value);
    Threshold(double value);
    Threshold(const char* value) : Threshold(std::string(value)) {}
    Threshold(const std::string& value);
    Threshold(JsonText value) : json_(std::move(value)) {}

    [[nodiscard]] const JsonNode& node() const noexcept { return json_.root(); }
    /// 1 or -1 for the double that is positive or negative infinity, which JSON cannot write; else 0.
    [[nodiscard]] int infinite() const noexcept { return infinite_; }

private:
    JsonText json_;
    int infinite_ = 0;
};
/// A threshold from JSON text, digits kept exactly. Throws std::invalid_argument if it is no JSON.
[[nodiscard]] Threshold json_threshold(std::string text);

/// A condition on the arguments. Returns whether it holds; throws PredicateError if it cannot say.
/// Any other callable of this shape works too; what it throws counts as a match.
using Predicate = std::function<bool(const JsonText& arguments)>;

/// The argument `field` compared with `value`. Numbers compare by the exact value of their digits,
/// texts by code point, lists element by element; null and objects have no order.
[[nodiscard]] Predicate gt(std::string field, Threshold value);
[[nodiscard]] Predicate ge(std::string field, Threshold value);
[[nodiscard]] Predicate lt(std::string field, Threshold value);
[[nodiscard]] Predicate le(std::string field, Threshold value);
[[nodiscard]] Predicate eq(std::string field, Threshold value);

/// A pattern searched for in the text argument `field` (the dialect: `docs/reference/patterns.md`). Throws
/// std::invalid_argument with the position of what is wrong in it. What a search may cost has a limit, the
/// same on every machine; at the limit the condition cannot say.
[[nodiscard]] Predicate matches(std::string field, std::string_view pattern);

using FieldPatterns = std::vector<std::pair<std::string, std::string>>;
/// Every, or at least one, of the text arguments matches its pattern. All are looked at, in the given
/// order, before an answer; the first that is missing or no text is the one reported.
[[nodiscard]] Predicate all_fields(const FieldPatterns& patterns);
[[nodiscard]] Predicate any_field(const FieldPatterns& patterns);

/// Which calls need a person.
struct InterruptRule {
    /// `tool_name`: exactly and with regard to case, or "*" for every tool.
    InterruptRule(std::string tool_name, Predicate condition = nullptr);
    InterruptRule(const char* tool_name, Predicate condition = nullptr)
        : InterruptRule(std::string(tool_name), std::move(condition)) {}
    InterruptRule(const Tool& named, Predicate condition = nullptr);

    std::string tool;
    Predicate match;  ///< None: every call.
};

/// What a reviewer is shown; `kind` is always "tool_interrupt".
struct ToolInterrupt {
    std::string tool_name;
    std::optional<std::string> tool_call_id;
    std::string arguments = "{}";  ///< JSON text: the arguments the tool would run with.

    /// The JSON form: kind, tool_name, tool_call_id, arguments.
    [[nodiscard]] std::string json() const;
    bool operator==(const ToolInterrupt&) const = default;
};

/// A reviewer's answer in this style.
struct ToolDecision {
    std::string action;                    ///< "approve", "deny" or "edit".
    std::optional<std::string> arguments;  ///< JSON text of the keys that replace (edit only).
    std::optional<std::string> message;    ///< The reason of a denial.

    [[nodiscard]] std::string json() const;
    bool operator==(const ToolDecision&) const = default;
};

/// A call was denied. Text: `Tool 'NAME' denied`, then `: REASON` if there is one.
class ToolDeniedError : public std::runtime_error {
public:
    ToolDeniedError(std::string tool_name, std::string reason);
    [[nodiscard]] const std::string& tool_name() const noexcept { return tool_name_; }
    [[nodiscard]] const std::string& reason() const noexcept { return reason_; }

private:
    std::string tool_name_;
    std::string reason_;
};
[[nodiscard]] std::string tool_denied_text(std::string_view tool_name, std::string_view reason);

/// Does any rule require a person? Rules are tried in order; the first whose condition holds or
/// cannot be evaluated says yes, later ones are not called. Malformed `arguments` say yes.
[[nodiscard]] bool should_interrupt(const std::vector<InterruptRule>& rules, std::string_view tool,
                                    std::string_view arguments = "null");
[[nodiscard]] bool should_interrupt(const std::vector<InterruptRule>& rules, const Tool& tool,
                                    std::string_view arguments = "null");
/// The same for arguments that are parsed already.
[[nodiscard]] bool should_interrupt(const std::vector<InterruptRule>& rules, std::string_view tool,
                                    const JsonText& arguments);

/// `approve_` and the call id, every character but an ASCII letter, digit, `_` or `-` written as `.`
/// and two hex digits a UTF-8 byte. Throws std::invalid_argument if the id is no valid UTF-8.
[[nodiscard]] std::string interrupt_id(std::string_view tool_call_id);

/// What an answer means for a call with these arguments.
struct RulesAnswer {
    enum class Kind { run, run_edited, deny };
    Kind kind = Kind::deny;
    std::optional<Arguments> changes;  ///< run_edited: the keys to lay over.
    std::string reason;                ///< deny: what the model is told.
};
/// Reads an answer given as JSON text. Well-formed JSON that is no decision denies with
/// `invalid approval response` (the value is never echoed); Failure `refused` if it is no JSON.
Result<RulesAnswer> read_rules_answer(std::string_view json);

class RulesByTool;

/// Pauses calls that match a rule until a person answers. What a decision costs does not grow with the rules
/// of other tools.
class ToolInterruptMiddleware final : public Middleware, public Guard {
public:
    static constexpr std::string_view default_name = "rules";

    /// `name` tells several of them apart; those with the default name are numbered in list order
    /// ("rules", "rules-2"), so give names if that order may change while calls wait.
    explicit ToolInterruptMiddleware(std::vector<InterruptRule> rules, std::string version = "1",
                                     std::string name = std::string(default_name));

    /// Called directly: nothing (run as it is) or the replacement (edited arguments). Asks through
    /// `context.interrupt`. Throws std::invalid_argument naming `tool_call_id` if the call needs a
    /// person and has none, ToolDeniedError if the reviewer denies.
    std::optional<Arguments> before_tool(const ToolContext& context) override;

    [[nodiscard]] std::string name() const override { return name_; }
    [[nodiscard]] std::string version() const override { return version_; }
    [[nodiscard]] bool can_ask() const override;
    [[nodiscard]] std::vector<std::string> tools_named() const override;
    /// Also every tool, if "*" asks without a condition.
    [[nodiscard]] bool covers(std::string_view tool) const override;
    [[nodiscard]] Judgement judge(const GuardedCall& call) override;

private:
    std::shared_ptr<const RulesByTool> rules_;
    std::string version_;
    std::string name_;
};

}  // namespace assent
