// Patterns that the engine below would read differently from Python.
#pragma once

#include "policy/patterns/tree.hpp"

namespace assent {

/// Refuses (std::invalid_argument with the position) a reference to a group inside a repeat that may
/// match nothing: which text such a group keeps differs between the two engines.
void refuse_unfaithful(const ParsedPattern& pattern);

}  // namespace assent
