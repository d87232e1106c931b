// What a tool may reach, as a Landlock domain.
//
// Landlock only adds rights: no rule takes a folder out of one that is open. So everything else is
// opened: on the way to something closed, each sibling of each folder. What is created beside them
// later is closed too, and those folders themselves cannot be listed.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace assent {

struct Reach {
    std::vector<std::string> writable;  ///< Folders, absolute and without links.
    std::vector<std::string> closed;    ///< The same; neither read nor written, also inside the others.
};

/// The descriptor of a ruleset that lets everything be read and executed but what is closed and all
/// devices, and lets only `writable` and devices such as /dev/null be written. Nothing if this kernel
/// has no Landlock; -1 with errno if it has and refuses.
[[nodiscard]] std::optional<int> make_ruleset(const Reach& reach);

/// From now on this process, and all that come from it, have only these rights. It must have
/// PR_SET_NO_NEW_PRIVS. False with errno if the kernel refuses.
[[nodiscard]] bool enter_domain(int ruleset);

}  // namespace assent
