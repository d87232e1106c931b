// Asks the person at the terminal about one approval.
//
// Only a whole line that was typed after the question stood there decides. Whatever else ends it
// (closed terminal, signal, "later") leaves the approval open.
#pragma once

#include "cli/terminal.hpp"

#include <assent/approval.hpp>

#include <filesystem>
#include <string>
#include <variant>

namespace assent::cli {

/// The answer to an unknown outcome.
struct ReviewResolution {
    Resolution how = Resolution::fail;
    std::string text;  ///< Result for the model; empty: the usual words.

    bool operator==(const ReviewResolution&) const = default;
};

/// The approval stays open.
struct ReviewLater {
    bool input_ended = false;  ///< The terminal closed: nobody can be asked anything more.

    bool operator==(const ReviewLater&) const = default;
};

/// `wake_fd` ended it; the approval stays open.
struct ReviewInterrupted {
    bool operator==(const ReviewInterrupted&) const = default;
};

/// A decision carries the digest of what was shown.
using ReviewOutcome = std::variant<Decision, ReviewResolution, ReviewLater, ReviewInterrupted>;

/// Keys that were on their way when the question appeared do not count.
inline constexpr int review_dead_time_ms = 300;

struct ReviewOptions {
    int wake_fd = -1;                     ///< Becomes readable when the program is to end; never read here.
    std::filesystem::path editor_folder;  ///< Where files for the editor are made; empty: a usual place.
    UnixMillis now = 0;                   ///< For distances in time.
    int dead_time_ms = review_dead_time_ms;
};

/// Needs `terminal.interactive()`.
[[nodiscard]] ReviewOutcome review(const Approval& approval, const Terminal& terminal,
                                   const ReviewOptions& options = {});

}  // namespace assent::cli
