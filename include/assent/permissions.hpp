// Path permissions: which paths of a workspace tools may read and write, and for which a person is asked.
//
// Rules are tried in order; the first that lists the operation and has a pattern for the path decides, and
// a path that none speaks of is allowed. A path is judged by its written name and by the place it really
// leads to; the stricter counts. `Workspace::with_permissions` makes its tools keep them, `path_guard` asks.
//
// Patterns begin with a slash, which is the workspace. `**` stands for any number of folders, so that
// `/secrets/**` is the folder and all in it; `*` and `?` for characters of one name; also `[a-c]`, `[!x]`,
// `{a,b}`, `{1..5}`. Names that begin with a dot are names like others. Denying and asking does not look at
// letter case and Unicode form; allowing does.
//
// What they do not see: another name of the same file (a hard link), what a command of the shell tool does,
// and a link whose name only a wildcard of a pattern stands for.
//
// Thread-safety: plain values; an oracle is used from several threads.
#pragma once

#include <assent/result.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace assent {

enum class PathOperation : std::uint8_t { read, write };

enum class PathMode : std::uint8_t {
    allow,
    deny,       ///< An error for the model; nobody is asked. Not listed, not found, not searched.
    interrupt,  ///< A person is asked.
};

struct FilesystemPermission {
    std::vector<PathOperation> operations;
    std::vector<std::string> paths;
    PathMode mode = PathMode::allow;

    bool operator==(const FilesystemPermission&) const = default;
};

/// From JSON: a list of objects with `operations` (of "read", "write"), `paths` and `mode` ("allow" if it is
/// left out, "deny", "interrupt"). Failure kind `usage`. The paths are checked by who uses the rules.
[[nodiscard]] Result<std::vector<FilesystemPermission>> read_permissions(std::string_view json);

/// What there is at a path.
struct PathFacts {
    enum class Kind : std::uint8_t { missing, file, folder };  ///< A link that was not followed is a file.
    /// The names of the place below the workspace, all links followed; with those that do not exist yet.
    std::vector<std::string> place;
    Kind kind = Kind::missing;
};

/// What the rules know of the world.
class PathOracle {
public:
    virtual ~PathOracle() = default;
    /// Looks at the names below the workspace; the last one is followed only if asked for. Failure: it
    /// leads out of the workspace, in circles or through a file, or cannot be looked at.
    [[nodiscard]] virtual Result<PathFacts> look(std::span<const std::string> parts, bool follow_last) const = 0;
};

}  // namespace assent
