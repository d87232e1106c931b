// Ways of a search that are known to fail, so that none is tried twice.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace assent {

/// All that decides whether the rest of a pattern without references matches.
struct Way {
    std::uint32_t step = std::numeric_limits<std::uint32_t>::max();
    std::uint32_t at = 0;
    std::uint64_t repeats = 0;  ///< How far those around the step have come, as one number.

    bool operator==(const Way&) const = default;
};

/// A set with a limit: what comes after it is full is not remembered.
class FailedWays {
public:
    void add(const Way& way);
    [[nodiscard]] bool contains(const Way& way);
    /// The cost since the last time this was asked, in steps of a search.
    [[nodiscard]] std::uint64_t take_cost() noexcept;

private:
    // Where the way is, or the free place where it belongs.
    std::size_t place_of(const Way& way) noexcept;
    void grow();

    std::vector<Way> places_;  // a power of two of them, or none
    std::size_t used_ = 0;
    std::uint64_t cost_ = 0;
};

}  // namespace assent
