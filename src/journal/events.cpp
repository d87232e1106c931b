#include "journal/events.hpp"

#include <algorithm>

namespace assent::journal {
namespace {

struct KindOf {
    std::string_view operator()(const Configured&) const { return "configured"; }
    std::string_view operator()(const UserMessage&) const { return "user_message"; }
    std::string_view operator()(const Queued&) const { return "queued"; }
    std::string_view operator()(const ModelSaid&) const { return "model_turn"; }
    std::string_view operator()(const Prepared&) const { return "prepared"; }
    std::string_view operator()(const Refused&) const { return "refused"; }
    std::string_view operator()(const Judged&) const { return "judged"; }
    std::string_view operator()(const Asked&) const { return "asked"; }
    std::string_view operator()(const Answered&) const { return "answered"; }
    std::string_view operator()(const Claimed&) const { return "claimed"; }
    std::string_view operator()(const Released&) const { return "released"; }
    std::string_view operator()(const Finished&) const { return "finished"; }
    std::string_view operator()(const Doubted&) const { return "doubted"; }
    std::string_view operator()(const LateFinished&) const { return "late_finished"; }
    std::string_view operator()(const Delegated&) const { return "delegated"; }
    std::string_view operator()(const ChildFinished&) const { return "child_finished"; }
    std::string_view operator()(const Resolved&) const { return "resolved"; }
    std::string_view operator()(const Withdrawn&) const { return "withdrawn"; }
    std::string_view operator()(const TimedOut&) const { return "timed_out"; }
    std::string_view operator()(const Aborted&) const { return "aborted"; }
    std::string_view operator()(const RunFinished&) const { return "run_finished"; }
    std::string_view operator()(const FilesChanged&) const { return "files_changed"; }
    std::string_view operator()(const Pruned&) const { return "pruned"; }
};

}  // namespace

std::string_view kind_of(const Event& event) noexcept {
    return std::visit(KindOf{}, event);
}

bool asks_for(const Asked& asked, std::string_view guard) noexcept {
    return asked.guard == guard || std::ranges::find(asked.also, guard, &GuardVersion::guard) != asked.also.end();
}

}  // namespace assent::journal
