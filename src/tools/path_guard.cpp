#include "base/display.hpp"
#include "files/workspace_files.hpp"
#include "policy/paths/path_rules.hpp"
#include "tools/asked_places.hpp"

#include <assent/guard.hpp>
#include <assent/tools.hpp>

#include <algorithm>
#include <utility>

namespace assent {
namespace {

class PathGuard final : public Guard {
public:
    explicit PathGuard(Workspace workspace)
        : workspace_(std::move(workspace)),
          rules_(workspace_.rules() != nullptr ? *workspace_.rules() : PathRules(std::vector<FilesystemPermission>{})) {
    }

    [[nodiscard]] std::string name() const override { return std::string(path_guard_name); }
    [[nodiscard]] std::string version() const override { return rules_.digest(); }
    [[nodiscard]] bool can_ask() const override { return rules_.can_ask(); }
    [[nodiscard]] std::string path_rules() const override { return rules_.empty() ? std::string() : rules_.digest(); }

    [[nodiscard]] Judgement judge(const GuardedCall& call) override {
        if (call.tool == nullptr || call.arguments == nullptr)
            return {.verdict = Verdict::deny, .reason = "the call cannot be judged"};
        const auto files = workspace_.files(call.files);
        Judgement all{.verdict = Verdict::allow};
        std::vector<std::string> places;
        for (const auto& argument : call.tool->spec().paths) {
            auto one = judge_argument(argument, *call.arguments, *files, places);
            if (one.verdict > all.verdict) all = std::move(one);
        }
        // An approval is for these: the tool compares them with what it has opened.
        if (all.question) all.question->details = places_json(places);
        return all;
    }

private:
    static Judgement denial(std::string told) {
        return {.verdict = Verdict::deny, .reason = "a path rule denies it", .told = std::move(told)};
    }

    [[nodiscard]] Judgement judge_argument(const PathArgument& argument, const Arguments& arguments,
                                           const PathOracle& files, std::vector<std::string>& places) const {
        PathRequest request{.use = argument.use};
        if (const auto* pattern = arguments.find(argument.pattern);
            pattern != nullptr && pattern->kind == JsonNode::Kind::string)
            request.pattern = pattern->string;
        const auto* node = arguments.find(argument.name);
        if (node == nullptr || node->kind == JsonNode::Kind::null) {
            // Without a path a search is one of everything; other tools have nothing to use.
            return argument.use == PathUse::search ? judge_path(request, files, places)
                                                   : Judgement{.verdict = Verdict::allow};
        }
        const bool list = node->kind == JsonNode::Kind::array;
        Judgement all{.verdict = Verdict::allow};
        for (const auto& path : list ? std::span<const JsonNode>(node->items) : std::span<const JsonNode>(node, 1)) {
            if (path.kind != JsonNode::Kind::string)
                return denial("Error: argument '" + capped(safe_to_show(argument.name).text, 100) +
                              "' must be a path or a list of paths");
            request.path = path.string;
            auto one = judge_path(request, files, places);
            if (one.verdict > all.verdict) all = std::move(one);
        }
        return all;
    }

    [[nodiscard]] Judgement judge_path(const PathRequest& request, const PathOracle& files,
                                       std::vector<std::string>& places) const {
        auto ruling = rules_.judge(request, files);
        if (ruling.verdict == Verdict::deny) return denial(std::move(ruling.told));
        if (ruling.verdict == Verdict::allow) return {.verdict = Verdict::allow};
        places.push_back(std::move(ruling.place));
        return {.verdict = Verdict::ask, .reason = std::move(ruling.reason), .question = Question{}};
    }

    Workspace workspace_;
    PathRules rules_;
};

}  // namespace

std::shared_ptr<Guard> path_guard(Workspace workspace) {
    return std::make_shared<PathGuard>(std::move(workspace));
}

}  // namespace assent
