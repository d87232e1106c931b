// What a guard says about one call.
//
// Thread-safety: plain values.
#pragma once

#include <assent/clock.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assent {

/// From weakest to strictest: of several verdicts the largest wins.
/// Stored and sent over the wire by name: never rename.
enum class Verdict : std::uint8_t {
    allow,  ///< Run it now.
    ask,    ///< Wait for a person.
    deny,   ///< Never run it.
};

/// What a person may answer. Stored and sent over the wire by name: never rename.
enum class DecisionKind : std::uint8_t {
    approve,  ///< Run it as it was shown.
    deny,     ///< Do not run it; the model is told why.
    edit,     ///< Run it with other arguments, after the guards judged them again.
    respond,  ///< Do not run it; this text is its result.
};

[[nodiscard]] std::string_view to_string(Verdict verdict) noexcept;
[[nodiscard]] std::string_view to_string(DecisionKind kind) noexcept;
[[nodiscard]] std::optional<DecisionKind> decision_kind(std::string_view name) noexcept;

/// How the arguments of an edit are meant.
enum class EditMode : std::uint8_t {
    merge,    ///< Their keys are laid over the shown arguments.
    replace,  ///< They are all the arguments.
};

/// Which texts and answer forms an approval has. Stored by name: never rename.
enum class Style : std::uint8_t {
    assent,  ///< Assent's own guards and the program.
    rules,   ///< Rules with predicates (`ToolInterruptMiddleware`).
    table,   ///< A table by tool name (`InterruptOnMiddleware`).
    policy,  ///< A policy function (`ApprovalPolicyMiddleware`): its answers say approve, deny or edit.
};

[[nodiscard]] std::string_view to_string(Style style) noexcept;

/// What a person is asked, when a verdict is `ask`.
struct Question {
    Style style = Style::assent;
    std::string description;   ///< For the reviewer; the operator's own words.
    std::string details;       ///< JSON text of an object with more facts; empty: none.
    std::string payload;       ///< JSON text of the style's own form of the question; empty: none.
    std::string interrupt_id;  ///< The style's own id (policy: its question id); empty: none.
    std::vector<DecisionKind> allowed{DecisionKind::approve, DecisionKind::deny, DecisionKind::edit,
                                      DecisionKind::respond};
    /// How long the question may wait, in milliseconds. 0 is over at once; none is for ever.
    std::optional<std::int64_t> timeout_ms;

    bool operator==(const Question&) const = default;
};

/// One guard's verdict. A default-made one lets nothing run.
struct Judgement {
    Verdict verdict = Verdict::deny;
    std::string reason;                               ///< For people and, on a denial, for the model.
    std::optional<Question> question = std::nullopt;  ///< Given exactly when the verdict is `ask`.
    /// On a denial: what the model reads, as it is. Empty: the usual text with `reason`.
    std::string told;
    Style style = Style::assent;  ///< On a denial: in which words the model is told.
    bool failed = false;          ///< On a denial: nobody said no, the guard could not judge.

    bool operator==(const Judgement&) const = default;
};

}  // namespace assent
