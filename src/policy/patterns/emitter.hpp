// Writes a tree in the few constructs of PCRE2 that we chose. No text of the pattern is passed through.
#pragma once

#include "policy/patterns/tree.hpp"

#include <string>

namespace assent {

/// Where large sets such as `\w` are written.
enum class SetPlace {
    each,    ///< At each use: fast.
    shared,  ///< Once, and called from each use: small.
};

[[nodiscard]] std::string emit_pattern(const ParsedPattern& pattern, SetPlace place);

}  // namespace assent
