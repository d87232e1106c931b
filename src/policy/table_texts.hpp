// The words of the table style: what a reviewer is told of decisions, and the model of what came of them.
#pragma once

#include <assent/approval.hpp>
#include <assent/interrupt_on.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assent {

/// A decision as this style calls it: `reject` for a denial.
[[nodiscard]] std::string_view table_word(DecisionKind kind) noexcept;
/// The kind of a decision called `word`; `deny` is another word for `reject`.
[[nodiscard]] std::optional<DecisionKind> table_decision(std::string_view word) noexcept;
[[nodiscard]] std::string table_words(const std::vector<DecisionKind>& kinds);

/// What of the options is needed where the answer is given, perhaps in another process: the details of the
/// question, JSON text of an object or empty.
[[nodiscard]] std::string question_details(const InterruptOnOptions& options);

/// What the model is told of a rejected call.
[[nodiscard]] std::string rejected_text(const Approval& approval, const std::string& reason);
/// What the model is told of a call for which a person gave the result.
[[nodiscard]] std::string responded_text(const Approval& approval, const std::string& text);
/// `result` after the notice that this ran instead of what the model proposed.
[[nodiscard]] std::string edited_result(const std::string& notice, std::string_view tool, std::string_view arguments,
                                        const std::string& result);

}  // namespace assent
