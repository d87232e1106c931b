// Patterns in the dialect of Python's `re.search` (3.11, Unicode 14), or a clear refusal.
//
// Parser, tree, steps and matcher are our own. No other engine agrees with the dialect in what groups
// remember, in letters without case, and in what is an error; and its limits would be in its own measure.
//
// Thread-safety: immutable; `search` may be called from several threads at once.
#pragma once

#include <memory>
#include <string_view>

namespace assent {

struct Program;

class PythonPattern {
public:
    /// Throws std::invalid_argument with the position of what is wrong or not supported.
    explicit PythonPattern(std::string_view pattern);

    enum class Found {
        yes,
        no,
        cannot_say,  ///< A limit was hit, or the text is not UTF-8.
    };
    /// Does the pattern match anywhere in `text` (UTF-8)? The cost has a limit, the same on every
    /// machine: under a second of work and 64 MiB, beside four bytes for each character of the text.
    [[nodiscard]] Found search(std::string_view text) const;

private:
    std::shared_ptr<const Program> program_;
};

}  // namespace assent
