// What a reviewer is shown in the table style, as JSON text.
#pragma once

#include <assent/guard.hpp>
#include <assent/interrupt_on.hpp>

#include <string>
#include <vector>

namespace assent {

/// One question: the call, and what may be answered.
struct TableQuestion {
    const GuardedCall& call;
    std::string description;
    const std::vector<DecisionKind>& allowed;
    const std::string& args_schema;
};

/// The payload in the mode `batched`: a batch of one.
[[nodiscard]] std::string batched_payload(const TableQuestion& question);
/// The payload in the mode `per_call`, with the schema of an answer.
[[nodiscard]] std::string per_call_payload(const TableQuestion& question);
/// Whether this payload was made by `per_call_payload`.
[[nodiscard]] bool is_per_call(const std::string& payload);

}  // namespace assent
