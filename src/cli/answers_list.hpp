// Answers given beforehand with --answers: approve, deny:why, edit:{…}, respond:text, later.
#pragma once

#include <assent/approval.hpp>
#include <assent/result.hpp>

#include <optional>
#include <string>
#include <vector>

namespace assent::cli {

/// One answer of the list; none: later.
using ListedAnswer = std::optional<Decision>;

/// Reads the lists in order. A comma ends an answer when a word of the list follows it. Failure kind
/// `usage`.
Result<std::vector<ListedAnswer>> read_answers(const std::vector<std::string>& lists);

}  // namespace assent::cli
