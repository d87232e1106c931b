// What really happened, written down by the played world itself: effects, answers, processes. The auditor
// believes this and the stored rows, and nothing that the engine says of itself.
#pragma once

#include "base/mutation.hpp"
#include "base/sha256.hpp"
#include "gate/process.hpp"

#include <assent/approvals.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assent::sim {

/// Moments of a world, from 1; two things never happen at the same one.
using Tick = std::int64_t;

/// A body that had its effect.
struct Effect {
    Tick started = 0;             ///< When the body was entered.
    std::int64_t started_ms = 0;  ///< The same in true time.
    int process = 0;
    std::string tool;
    std::string attempt;
    std::string arguments;
    /// What the body gave back, after the hooks; nothing if its process died inside it.
    std::optional<ToolResult> result;
};

/// What a reviewer was told of an answer; nothing if the store failed under it.
struct Told {
    Tick tick = 0;
    std::int64_t number = 0;
    Reviewer reviewer;
    Decision decision;
    bool acceptable = true;  ///< Well formed and of a kind that the question takes.
    bool together = false;   ///< Counts only if others do.
    UnixMillis at = 0;       ///< By the clock of who took the answer.
    std::optional<AnswerResult> result;
};

/// The same for the end of a doubt.
struct ToldOfDoubt {
    std::int64_t number = 0;
    Reviewer reviewer;
    Resolution how = Resolution::fail;
    std::optional<AnswerResult> result;
};

/// A row as it was when it was stored.
struct StoredRow {
    Tick tick = 0;
    int actor = 0;           ///< The process, or 0: a reviewer.
    std::int64_t fence = 0;  ///< Of the thread's lease at that moment.
    Digest digest{};         ///< Of header, salt and body.
};

/// A process, as others can know it.
struct ProcessFacts {
    std::string name;  ///< For people.
    journal::ProcessMark mark;
    std::map<std::string, std::string> guards;  ///< Name and version of each.
    Tick died = 0;                              ///< 0: it lives.
};

/// A permit that a gate gave out.
struct GivenPermit {
    std::int64_t at_ms = 0;  ///< True time.
};

struct Violation {
    Rule rule = Rule::one_door;
    std::string what;
};

struct Ledger {
    std::map<int, ProcessFacts> processes;
    std::vector<Effect> effects;
    std::vector<Told> told;
    std::vector<ToldOfDoubt> doubts;
    std::map<std::int64_t, StoredRow> rows;  ///< By position.
    std::map<std::string, GivenPermit> permits;
    std::map<std::pair<std::string, std::int64_t>, int> takers;  ///< Of leases, by thread and fence.
    std::set<std::string> recorded;     ///< Attempts whose process was told that the outcome is on record.
    std::vector<Violation> violations;  ///< Seen while it happened.
    std::map<std::string_view, std::int64_t> counts;

    void broke(Rule rule, std::string what) { violations.push_back({rule, std::move(what)}); }
    void count(std::string_view what) { ++counts[what]; }
    [[nodiscard]] const Effect* effect_of(std::string_view attempt) const {
        for (const auto& effect : effects) {
            if (effect.attempt == attempt) return &effect;
        }
        return nullptr;
    }
};

}  // namespace assent::sim
