// From a path to an open descriptor, never leaving the folder.
//
// Two ways with the same meaning: openat2(2), and a walk that opens one component at a time without
// following links, for kernels and containers that have no openat2 and to find the place of a link.
#pragma once

#include "base/unique_fd.hpp"

#include <assent/result.hpp>

#include <span>
#include <string>
#include <vector>

namespace assent {

enum class PathWay {
    automatic,  ///< openat2 where the kernel has it.
    openat2,
    walk,
};

/// Asked once: openat2 is missing in old kernels (ENOSYS) and forbidden in some containers (EPERM).
[[nodiscard]] bool kernel_has_openat2() noexcept;

/// Where a path ends once every link has been followed.
struct Place {
    UniqueFd folder;  ///< O_PATH. Not open if the target was reached by `..` of a link.
    std::string name;
    UniqueFd target;                 ///< O_PATH. Not open: nothing has this name yet.
    std::vector<std::string> parts;  ///< The names by which it was reached, links taken out.
};

struct PlaceOptions {
    bool follow_last = true;
    /// Names may follow a missing one; then neither folder nor target is open.
    bool missing = false;
};

class Resolver {
public:
    /// `root` is the folder, open for as long as this object lives.
    Resolver(int root, PathWay way) noexcept;

    /// Opens what the parts lead to, with O_PATH (and O_DIRECTORY if `folder`). Relative links that
    /// stay inside are followed; absolute ones, ones that lead out and the kernel's magic links are
    /// refused and named. Failure kind `not_found` if there is nothing, else `tool`.
    [[nodiscard]] Result<UniqueFd> open(std::span<const std::string> parts, bool folder = false) const;

    /// The folder and name the parts lead to; only the last component may be missing. Each name is opened
    /// in the folder opened before, so what is open is what had these names.
    [[nodiscard]] Result<Place> place(std::span<const std::string> parts, PlaceOptions options = {}) const;

private:
    int root_;
    bool openat2_;
};

}  // namespace assent
