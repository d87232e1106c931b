// Denials that no rule and no person takes back: a guard for agents whose tools could reach what decides
// about them. The strictest guard wins, so having it is enough; it never asks and allows all else.
//
// It reads the arguments `command` and `cmd` as lines of a shell, and `path` and `file_path` as paths, of
// whatever tool. A line can say the same in ways that no reader sees: what holds against those is that
// the shell tool cannot open `ShellOptions::closed`. This one answers the plain tries with a reason.
#pragma once

#include <assent/guard.hpp>

#include <memory>
#include <string>
#include <vector>

namespace assent {

struct BuiltInOptions {
    std::string workspace;            ///< Absolute; relative paths start here.
    std::string home;                 ///< What `~` and `$HOME` stand for in a line; may be empty.
    std::vector<std::string> closed;  ///< As in `ShellOptions`.
};

/// The guard `built-in`. Denies a line that names a closed path (as given, without links, through a link,
/// from the home or the workspace) or runs `assent` to approve, deny, edit, respond, resolve, resume or
/// abort, and a path argument that leads to a closed path. Looks at the file system, writes nothing.
[[nodiscard]] std::shared_ptr<Guard> built_in_guard(BuiltInOptions options);

}  // namespace assent
