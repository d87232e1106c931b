// Patterns in the dialect of Python's `re.search` (3.11, Unicode 14), or a clear refusal.
//
// A pattern is parsed by our own grammar and written anew for PCRE2's interpreter, never its JIT
// compiler: where that is missing, a limit would be hit elsewhere and the verdict would change.
//
// Thread-safety: immutable; `search` may be called from several threads at once.
#pragma once

#include <memory>
#include <string_view>

namespace assent {

class PythonPattern {
public:
    /// Throws std::invalid_argument with the position of what is wrong or not supported.
    explicit PythonPattern(std::string_view pattern);

    enum class Found {
        yes,
        no,
        cannot_say,  ///< A limit was hit, or the text is not UTF-8.
    };
    /// Does the pattern match anywhere in `text` (UTF-8)?
    [[nodiscard]] Found search(std::string_view text) const;

private:
    struct Code;
    std::shared_ptr<const Code> code_;
};

}  // namespace assent
