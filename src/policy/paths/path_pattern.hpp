// Patterns of paths: `**` for any number of folders (also none), `*` and `?` inside one name, classes
// such as `[a-c]` and `[!x]`, and `{a,b}`, `{a..c}`, `{1..5}`.
//
// `/secrets/**` is the folder and all below it. Names that begin with a dot are names like others.
#pragma once

#include "policy/paths/path_names.hpp"

#include <assent/result.hpp>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assent {

/// Longer patterns are refused, and so are those whose braces stand for more than so many paths.
inline constexpr std::size_t pattern_bytes_max = 4096;
inline constexpr std::size_t pattern_paths_max = 1000;

/// How a pattern sees names.
enum class NameMatch {
    exact,    ///< As they are written.
    loose,    ///< Letter case and Unicode form do not count.
    no_dots,  ///< As written, but a wildcard stands for no dot at the beginning of a name.
};

/// One name of a pattern.
struct NamePattern {
    struct Token {
        enum class Kind { character, one, many, set } kind = Kind::character;
        char32_t character = 0;
        std::vector<std::pair<char32_t, char32_t>> ranges;
        bool negated = false;
    };
    bool any_depth = false;  ///< `**`
    std::vector<Token> tokens;

    [[nodiscard]] bool is_literal() const noexcept;
    [[nodiscard]] bool matches(std::u32string_view name, bool dots_explicit = false) const;
};

/// One path that a pattern stands for, without braces.
struct PatternPath {
    std::vector<NamePattern> exact;
    std::vector<NamePattern> loose;
    /// The names before the first wildcard.
    std::vector<std::string> anchor;

    [[nodiscard]] bool matches(const PathNames& path, NameMatch how) const;
    /// Whether something below `path` may match.
    [[nodiscard]] bool leads_below(const PathNames& path, NameMatch how) const;
    /// The same path from another place on: `anchor` replaced.
    [[nodiscard]] PatternPath moved_to(std::span<const std::string> new_anchor) const;

private:
    struct Reach {
        bool whole = false;   ///< The whole pattern stands for the whole path.
        bool beyond = false;  ///< Names may follow.
    };
    [[nodiscard]] Reach reach(const PathNames& path, NameMatch how) const;
};

class PathPattern {
public:
    /// Takes out empty names and `.`; a backslash is a slash. Failure kind `usage`: one line without the pattern.
    static Result<PathPattern> read(std::string_view text);

    [[nodiscard]] bool matches(const PathNames& path, NameMatch how) const;
    [[nodiscard]] bool leads_below(const PathNames& path, NameMatch how) const;
    [[nodiscard]] const std::vector<PatternPath>& paths() const noexcept { return paths_; }

private:
    std::vector<PatternPath> paths_;
};

}  // namespace assent
