#include "tools/path_keeper.hpp"

#include "base/test_point.hpp"
#include "base/test_switch.hpp"
#include "files/folder_path.hpp"
#include "tools/call_arguments.hpp"

#include <algorithm>

namespace assent {
namespace {

Failure unasked(std::string_view path) {
    return {FailureKind::tool, "a person has to be asked about " + quoted_path(path) +
                                   " and was not; nothing was done, call the tool again"};
}

}  // namespace

PathKeeper::PathKeeper(Rules given, const WorkspaceFiles& files, PathRequest request)
    : given_(std::move(given)), files_(files), request_(request) {
    if (given_.besides != nullptr) besides_ = std::make_unique<PathKeeper>(*given_.besides, files, request);
    if (besides_ != nullptr) refusal_ = besides_->refusal_;
    if (refusal_ || given_.rules == nullptr) return;
    const auto ruling = given_.rules->judge(request_, files_);
    if (ruling.verdict == Verdict::deny) {
        refusal_ = ToolResult{.text = ruling.told, .is_error = true};
    } else if (ruling.verdict == Verdict::ask && !given_.approved) {
        refusal_ = error_result(unasked(request_.path).message);
    } else {
        now_.emplace(*given_.rules, files_);
        // Good, as it was judged.
        written_ = *read_written_path(request_.path);
        test_point("path:judged");
    }
}

Admit PathKeeper::admit() {
    if (!now_ || switched_off("open-check")) return {};
    if (besides_ == nullptr)
        return [this](std::span<const std::string> place, EntryKind kind) { return judge_opened(place, kind); };
    return [this, besides = besides_->admit()](std::span<const std::string> place, EntryKind kind) {
        auto refused = besides(place, kind);
        return refused ? refused : judge_opened(place, kind);
    };
}

std::optional<Failure> PathKeeper::judge_opened(std::span<const std::string> place, EntryKind kind) {
    test_point("path:opened");
    opened_.assign(place.begin(), place.end());
    const bool reads = request_.use == PathUse::read || request_.use == PathUse::search;
    const auto operation = reads ? PathOperation::read : PathOperation::write;
    bool asks = false;
    if (request_.use == PathUse::remove && kind == EntryKind::folder) {
        if (const auto patterns = now_->against_removal(place); !patterns.empty())
            return Failure{FailureKind::tool, denied_text(request_.use, request_.path, patterns)};
        asks = now_->asks_near(operation, place);
    } else {
        const auto match = now_->at(operation, place);
        if (match.mode == PathMode::deny)
            return Failure{FailureKind::tool, denied_text(request_.use, request_.path, {std::string(match.pattern)})};
        asks =
            match.mode == PathMode::interrupt || (request_.use == PathUse::search && now_->asks_near(operation, place));
    }
    if (asks && !approved_at(place)) return unasked(request_.path);
    return std::nullopt;
}

// The person saw the path as it is written, and where it led then.
bool PathKeeper::approved_at(std::span<const std::string> place) const {
    if (!given_.approved) return false;
    return std::ranges::equal(place, written_) ||
           std::ranges::find(given_.approved_places, path_text(place)) != given_.approved_places.end();
}

bool PathKeeper::shows(std::span<const std::string> parts, bool link) const {
    if (!now_) return true;
    if (besides_ != nullptr && !besides_->shows(parts, link)) return false;
    const auto denied = [&](const std::vector<std::string>& place) {
        return now_->at(PathOperation::read, place).mode == PathMode::deny;
    };
    const auto below = [&](std::vector<std::string> place) {
        place.insert(place.end(), parts.begin(), parts.end());
        return place;
    };
    const auto named = below(written_);
    if (denied(named) || (opened_ != written_ && denied(below(opened_)))) return false;
    if (!link) return true;
    // A link that leads out is shown: it says no more than its name.
    const auto facts = files_.look(named, true);
    return !facts.ok() || !denied(facts->place);
}

}  // namespace assent
