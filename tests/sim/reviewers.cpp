#include "sim/reviewers.hpp"

#include "sim/host_code.hpp"

#include <algorithm>
#include <utility>

namespace assent::sim {
namespace {

using Status = AnswerResult::Status;

std::string_view name_of(Status status) {
    switch (status) {
        case Status::decided:
            return "answer: decided";
        case Status::already:
            return "answer: already";
        case Status::conflict:
            return "answer: conflict";
        case Status::expired:
            return "answer: expired";
        case Status::not_found:
            return "answer: not found";
        case Status::ambiguous:
            return "answer: ambiguous";
        case Status::refused:
            return "answer: refused";
    }
    return "answer";
}

bool takes(const Approval& approval, DecisionKind kind) {
    const auto& allowed = approval.question.allowed;
    return std::find(allowed.begin(), allowed.end(), kind) != allowed.end();
}

}  // namespace

Reviewer Reviewers::any_reviewer() {
    return {.name = world_.dice().pick({"ada", "ada", "bea"}), .signed_in = "played"};
}

std::vector<Approval> Reviewers::open(const std::string& thread, ApprovalKind kind) {
    auto all = approvals_.pending(thread);
    if (!all) return {};
    std::erase_if(*all, [&](const Approval& approval) { return approval.kind != kind; });
    return std::move(all).value();
}

DraftAnswer Reviewers::draft(const Approval& approval) {
    auto& dice = world_.dice();
    DraftAnswer draft{.approval = approval, .decision = approve()};
    const auto roll = dice.roll(100);
    if (roll >= 55 && roll < 68) draft.decision = deny(dice.pick({"", "no"}));
    if (roll >= 68 && roll < 90) draft_edit(draft);
    if (roll >= 90) draft.decision = respond("I did it");
    draft.acceptable = draft.acceptable && takes(approval, draft.decision.kind);
    if (dice.chance(10)) draft.decision.digest = approval.digest;
    if (dice.chance(3)) {
        draft.decision.digest = std::string(64, '0');
        draft.acceptable = false;
    }
    return draft;
}

void Reviewers::draft_edit(DraftAnswer& draft) {
    auto& dice = world_.dice();
    if (dice.chance(25)) {
        draft.decision = edit_keys(R"({"n": )" + std::to_string(dice.roll(100)) + "}");
    } else {
        draft.decision = edit(any_arguments(dice));
    }
    if (dice.chance(15)) draft.decision.tool = dice.pick({"pay", "note", "job"});
    if (dice.chance(90)) return;
    draft.acceptable = false;
    switch (dice.roll(3)) {
        case 0:
            draft.decision.tool = "nothing";
            break;
        case 1:
            draft.decision = edit(R"({"n":1,"n":2})");
            break;
        default:
            draft.decision = edit(R"({"n":"many"})");
            draft.decision.tool = "pay";
    }
}

std::vector<DraftAnswer> Reviewers::some_answers(const std::string& thread) {
    std::vector<DraftAnswer> answers;
    for (const auto& approval : open(thread, ApprovalKind::approve)) {
        if (world_.dice().chance(80)) answers.push_back(draft(approval));
    }
    return answers;
}

void Reviewers::record(const DraftAnswer& answer, const Reviewer& reviewer, std::optional<AnswerResult> result) {
    world_.ledger.count(result ? name_of(result->status) : "answer: the store failed");
    world_.say([&] {
        auto line = reviewer.name + " answers " + std::to_string(answer.approval.number) + ": " +
                    std::string(to_string(answer.decision.kind));
        if (answer.decision.arguments) line += " " + answer.decision.tool + *answer.decision.arguments;
        return line + (result ? " (" + std::string(name_of(result->status)) + ")" : " (the store failed)");
    });
    world_.ledger.told.push_back({.tick = world_.store.tick(),
                                  .number = answer.approval.number,
                                  .reviewer = reviewer,
                                  .decision = answer.decision,
                                  .acceptable = answer.acceptable,
                                  .together = answer.together,
                                  .at = clock_.now(),
                                  .result = std::move(result)});
}

Status Reviewers::give(const DraftAnswer& answer, const Reviewer& reviewer) {
    auto given = approvals_.answer(answer.approval.id, answer.decision, reviewer);
    std::optional<AnswerResult> result;
    if (given) result = std::move(given).value();
    const auto status = result ? result->status : Status::not_found;
    record(answer, reviewer, std::move(result));
    return status;
}

void Reviewers::answer(const std::string& thread) {
    const auto questions = open(thread, ApprovalKind::approve);
    if (questions.empty()) return;
    (void)give(draft(world_.dice().pick(questions)), any_reviewer());
}

void Reviewers::answer_again() {
    const auto& told = world_.ledger.told;
    if (told.empty()) return;
    const auto before = world_.dice().pick(told);
    if (!before.result || before.result->approval.id.empty()) return;
    DraftAnswer answer{.approval = before.result->approval, .decision = before.decision};
    answer.acceptable = before.acceptable;
    if (world_.dice().chance(50)) answer = draft(answer.approval);
    (void)give(answer, world_.dice().chance(50) ? before.reviewer : any_reviewer());
}

Status Reviewers::resolve_as(const Approval& approval, Resolution how) {
    const auto reviewer = any_reviewer();
    auto given = approvals_.resolve(approval.id, how, how == Resolution::retry ? "" : "seen", reviewer);
    ToldOfDoubt told{.number = approval.number, .reviewer = reviewer, .how = how};
    if (given) told.result = std::move(given).value();
    const auto status = told.result ? told.result->status : Status::not_found;
    world_.ledger.count(status == Status::decided ? "doubt resolved" : "doubt not resolved");
    world_.say([&] {
        return reviewer.name + " resolves " + std::to_string(approval.number) + " as " + std::string(to_string(how)) +
               " (" + std::string(name_of(status)) + ")";
    });
    world_.ledger.doubts.push_back(std::move(told));
    return status;
}

void Reviewers::resolve(const std::string& thread) {
    const auto doubts = open(thread, ApprovalKind::unknown);
    if (doubts.empty()) return;
    const auto how = world_.dice().pick({Resolution::retry, Resolution::retry, Resolution::done, Resolution::fail});
    (void)resolve_as(world_.dice().pick(doubts), how);
}

void Reviewers::abort(const std::string& thread) {
    const auto aborted = approvals_.abort(thread, "enough", any_reviewer().name);
    world_.ledger.count("abort");
    world_.say([&] { return "somebody aborts " + thread + (aborted && aborted->aborted ? "" : ", in vain"); });
}

int Reviewers::answer_all(const std::string& thread) {
    int open_before = 0;
    for (const auto& approval : open(thread, ApprovalKind::approve)) {
        ++open_before;
        const bool yes = world_.dice().chance(70);
        const auto status = give({.approval = approval, .decision = yes ? approve() : deny("no")}, any_reviewer());
        // An append that comes late may have decided it meanwhile.
        const bool over = status == Status::expired || status == Status::conflict || status == Status::already;
        if (status != Status::decided && !over) return -1;
    }
    for (const auto& approval : open(thread, ApprovalKind::unknown)) {
        ++open_before;
        auto status = resolve_as(approval, world_.dice().pick({Resolution::retry, Resolution::done}));
        // Its old process may live still.
        if (status == Status::refused) status = resolve_as(approval, Resolution::fail);
        if (status != Status::decided) return -1;
    }
    return open_before;
}

}  // namespace assent::sim
