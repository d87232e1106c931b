// The path permissions of a workspace as they hold while one call of a file tool works.
//
// The guard has judged the call before; what it saw may have been swapped since. So the written path is
// judged again, and then each place once it is open.
#pragma once

#include "files/workspace_files.hpp"
#include "policy/paths/path_rules.hpp"

#include <assent/tool.hpp>

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace assent {

class PathKeeper {
public:
    struct Rules {
        const PathRules* rules = nullptr;  ///< None: everything goes.
        bool approved = false;             ///< A person approved what rules ask about.
        /// Where the path really led when the person was asked.
        std::vector<std::string> approved_places;
        const Rules* besides = nullptr;  ///< Further rules, which hold too.
    };
    PathKeeper(Rules given, const WorkspaceFiles& files, PathRequest request);

    /// The result for the model if the call may not go on.
    [[nodiscard]] const std::optional<ToolResult>& refusal() const noexcept { return refusal_; }
    /// Asks the rules about what was opened; nothing if there are none. Must not outlive this.
    [[nodiscard]] Admit admit();
    /// Whether a result may name what is there, with `parts` below the place that was admitted.
    [[nodiscard]] bool shows(std::span<const std::string> parts, bool link) const;

private:
    [[nodiscard]] bool approved_at(std::span<const std::string> place) const;
    [[nodiscard]] std::optional<Failure> judge_opened(std::span<const std::string> place, EntryKind kind);

    Rules given_;
    std::unique_ptr<PathKeeper> besides_;
    const WorkspaceFiles& files_;
    PathRequest request_;
    std::optional<RulesNow> now_;
    std::vector<std::string> written_;
    std::vector<std::string> opened_;
    std::optional<ToolResult> refusal_;
};

}  // namespace assent
