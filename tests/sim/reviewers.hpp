// People who answer, from programs that know the store alone. They repeat themselves, contradict each
// other, make mistakes, and are told what came of it.
#pragma once

#include "sim/world.hpp"

#include <string>
#include <vector>

namespace assent::sim {

/// An answer before it is given.
struct DraftAnswer {
    Approval approval;
    Decision decision;
    bool acceptable = true;
    bool together = false;  ///< See Told.
};

class Reviewers {
public:
    Reviewers(World& world, Checkpointer& store, const Clock& clock, Random& random)
        : world_(world), clock_(clock), approvals_(store, clock, random) {}

    /// One answer to an open question.
    void answer(const std::string& thread);
    /// An answer that was given before, by the same person or another, the same or another one.
    void answer_again();
    void resolve(const std::string& thread);
    void abort(const std::string& thread);
    /// Answers whatever is open, sensibly. How many questions there were; -1: one cannot be ended.
    int answer_all(const std::string& thread);

    [[nodiscard]] Reviewer any_reviewer();
    [[nodiscard]] std::vector<DraftAnswer> some_answers(const std::string& thread);
    void record(const DraftAnswer& answer, const Reviewer& reviewer, std::optional<AnswerResult> result);

private:
    [[nodiscard]] DraftAnswer draft(const Approval& approval);
    void draft_edit(DraftAnswer& draft);
    AnswerResult::Status give(const DraftAnswer& answer, const Reviewer& reviewer);
    AnswerResult::Status resolve_as(const Approval& approval, Resolution how);
    [[nodiscard]] std::vector<Approval> open(const std::string& thread, ApprovalKind kind);

    World& world_;
    const Clock& clock_;
    Approvals approvals_;
};

}  // namespace assent::sim
