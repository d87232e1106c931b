// Path permissions as they are judged. Pure: the world is an oracle.
#pragma once

#include "policy/paths/path_pattern.hpp"

#include <assent/permissions.hpp>
#include <assent/tool.hpp>
#include <assent/verdict.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assent {

/// The names of a path as a model writes it, without empty ones and `.`. Failure kind `usage`: a `..`, a
/// `~` in front, a drive, a NUL byte.
Result<std::vector<std::string>> read_written_path(std::string_view text);

/// What a call wants with a path.
struct PathRequest {
    PathUse use = PathUse::write;
    std::string_view path;     ///< Empty: the workspace.
    std::string_view pattern;  ///< Of a search for files; may be empty.
};

struct PathRuling {
    Verdict verdict = Verdict::allow;
    std::string told;    ///< On a denial: what the model reads.
    std::string reason;  ///< On a question: for people, one line.
};

class RulesNow;

class PathRules {
public:
    /// Throws ConfigError, naming the rule and the path that cannot be used.
    explicit PathRules(std::vector<FilesystemPermission> rules);

    [[nodiscard]] bool empty() const noexcept { return rules_.empty(); }
    [[nodiscard]] bool can_ask() const noexcept;
    /// A short text that is another one for other rules.
    [[nodiscard]] const std::string& digest() const noexcept { return digest_; }

    /// Before a tool runs.
    [[nodiscard]] PathRuling judge(const PathRequest& request, const PathOracle& oracle) const;

private:
    friend class RulesNow;
    struct Rule {
        std::vector<PathOperation> operations;
        std::vector<std::string> texts;
        std::vector<PathPattern> patterns;
        PathMode mode = PathMode::allow;
    };
    std::vector<Rule> rules_;
    std::string digest_;
};

/// The rules with the links that their patterns name followed, for the length of one call.
class RulesNow {
public:
    RulesNow(const PathRules& rules, const PathOracle& oracle);

    struct Match {
        PathMode mode = PathMode::allow;
        std::string_view pattern;  ///< Empty: no rule speaks of the path.
    };
    /// The first match.
    [[nodiscard]] Match at(PathOperation operation, std::span<const std::string> place) const;
    /// The deny patterns for writing that meet what is at `place` or below it.
    [[nodiscard]] std::vector<std::string> against_removal(std::span<const std::string> place) const;
    /// Whether a rule that asks speaks of something at `place`, below it or above it.
    [[nodiscard]] bool asks_near(PathOperation operation, std::span<const std::string> place) const;

private:
    struct Pattern {
        const std::string* text = nullptr;
        std::vector<PatternPath> paths;
    };
    struct Rule {
        const PathRules::Rule* rule = nullptr;
        std::vector<Pattern> patterns;
    };
    std::vector<Rule> rules_;
};

/// What the model reads when it may not do something.
[[nodiscard]] std::string denied_text(PathUse use, std::string_view path,
                                      const std::vector<std::string>& patterns = {});

}  // namespace assent
