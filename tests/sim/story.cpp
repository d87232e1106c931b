#include "sim/story.hpp"

#include "journal/encoding.hpp"

#include <variant>

namespace assent::sim {
namespace {

// The members that tell two events of a kind apart; the rest only makes the line long.
class Line {
public:
    explicit Line(std::string beginning) : text_(std::move(beginning)) {}

    std::string operator()(const journal::Configured&) { return text_; }
    std::string operator()(const journal::UserMessage& event) { return text_ + " " + event.text; }
    std::string operator()(const journal::Queued& event) { return text_ + " " + event.text; }
    std::string operator()(const journal::ModelSaid& event) {
        text_ += " " + std::to_string(event.turn) + ":";
        for (const auto& call : event.calls) text_ += " " + call.tool + call.arguments;
        return text_;
    }
    std::string operator()(const journal::Prepared& event) { return at(event.call) + " " + event.arguments; }
    std::string operator()(const journal::Refused& event) { return at(event.call) + " " + event.text; }
    std::string operator()(const journal::Judged& event) {
        at(event.call) += " " + std::string(to_string(event.verdict)) + ":";
        for (const auto& guard : event.guards) {
            text_ += " " + guard.guard + "/" + guard.version + "=" + std::string(to_string(guard.verdict));
        }
        return text_;
    }
    std::string operator()(const journal::Asked& event) {
        at(event.call) +=
            " question " + std::to_string(event.number) + " of " + event.guard + "/" + event.guard_version;
        if (event.deadline) text_ += " until " + std::to_string(*event.deadline);
        return text_ + " " + event.tool + event.arguments + named(event.attempt);
    }
    std::string operator()(const journal::Answered& event) {
        at(event.call) += " question " + std::to_string(event.number) + ": " + std::string(to_string(event.decision));
        return text_ + " " + event.tool + event.arguments + " by " + event.by;
    }
    std::string operator()(const journal::Claimed& event) {
        for (const auto& start : event.starts) at(start.call) += named(start.attempt);
        return text_;
    }
    std::string operator()(const journal::Released& event) { return text_ + named(event.attempt) + " " + event.reason; }
    std::string operator()(const journal::Finished& event) { return ended(event.attempt, event.outcome, event.result); }
    std::string operator()(const journal::LateFinished& event) {
        return ended(event.attempt, event.outcome, event.result);
    }
    std::string operator()(const journal::Doubted& event) {
        text_ += named(event.attempt) + " " + event.reason;
        if (event.may_run_again) text_ += ", may run again";
        return text_ + (event.returned ? ", came back" : "");
    }
    std::string operator()(const journal::Delegated& event) { return at(event.call) + " to " + event.child; }
    std::string operator()(const journal::ChildFinished& event) {
        return text_ + " " + event.child + " " + std::string(to_string(event.outcome)) + ": " + event.result.text;
    }
    std::string operator()(const journal::Pruned& event) { return text_ + " up to " + std::to_string(event.upto); }
    std::string operator()(const journal::FilesChanged& event) { return text_ + named(event.attempt); }
    std::string operator()(const journal::Resolved& event) {
        at(event.call) += " question " + std::to_string(event.number) + ": " + std::string(to_string(event.how));
        return text_ + " by " + event.by;
    }
    std::string operator()(const journal::Withdrawn& event) {
        return text_ + " question " + std::to_string(event.number);
    }
    std::string operator()(const journal::TimedOut& event) {
        return text_ + " question " + std::to_string(event.number);
    }
    std::string operator()(const journal::Aborted& event) { return text_ + " by " + event.by; }
    std::string operator()(const journal::RunFinished& event) { return text_ + (event.ok ? "" : " " + event.message); }

private:
    std::string& at(const journal::CallRef& call) {
        return text_ += " " + std::to_string(call.turn) + "." + std::to_string(call.position);
    }
    // The beginning tells attempts apart.
    static std::string named(const std::string& attempt) {
        return attempt.empty() ? std::string() : " attempt " + attempt.substr(0, 4);
    }
    std::string ended(const std::string& attempt, OutcomeKind outcome, const ToolResult& result) {
        return text_ + named(attempt) + " " + std::string(to_string(outcome)) + ": " + result.text;
    }

    std::string text_;
};

}  // namespace

void tell_journals(World& world, std::vector<std::string>& story) {
    for (const auto& thread : world.threads) {
        const auto rows = world.store.rows.load(thread, 0);
        if (!rows || rows->empty()) continue;
        story.push_back("-- journal of " + thread);
        for (const auto& row : *rows) {
            const auto header = journal::decode_header(row.header);
            const auto events = header ? journal::decode(row.body, header->first_number) : header.failure();
            if (!events) continue;
            const int actor = world.ledger.rows[row.pos].actor;
            const auto who = actor == 0 ? std::string("desk") : world.ledger.processes[actor].name;
            for (const auto& event : *events) {
                if (std::holds_alternative<journal::Configured>(event)) continue;
                story.push_back(std::visit(Line(who + " " + std::string(journal::kind_of(event))), event));
            }
        }
    }
}

}  // namespace assent::sim
