// Events of every kind: one of each with all fields set, and random sequences as a gate would write.
#pragma once

#include "journal/lineage.hpp"
#include "journal/thread.hpp"
#include "support/dice.hpp"

#include <set>

namespace assent::test {

inline Question full_question() {
    return {.style = Style::rules,
            .description = "pay \"a lot\"",
            .details = R"({"impact":"high"})",
            .payload = R"({"kind":"tool_interrupt"})",
            .interrupt_id = "approve_call.201",
            .allowed = {DecisionKind::approve, DecisionKind::deny, DecisionKind::edit, DecisionKind::respond},
            .timeout_ms = 180'000};
}

/// One event of every kind, no field left at its default. Order and values are part of the golden files.
inline std::vector<journal::Event> full_events() {
    using namespace journal;
    const CallRef call{3, 2};
    const ToolResult result{.text = "paid\n\xc3\xa4", .is_error = true, .details = R"({"exit":1})", .unknown = true};
    return {
        Configured{.settings = R"({"model":"x"})", .tools = {{"pay", std::string(64, 'a')}, {"look", ""}}},
        UserMessage{.text = "pay it", .by = "alice"},
        ModelSaid{.turn = 3,
                  .text = "I will pay",
                  .calls = {{.tool = "pay", .id = "call_1", .arguments = R"({"n": 1.50})", .arguments_hex = "7bff"},
                            {.tool = "look", .id = std::nullopt, .arguments = "{}"}},
                  .stop_reason = "tool_use",
                  .provider_content = R"([{"type":"thinking"}])",
                  .input_tokens = 12,
                  .output_tokens = 9'000'000'000},
        Prepared{.call = call, .arguments = R"({"n": 1.50})"},
        Refused{.call = call, .text = "Error: no"},
        Judged{.call = call,
               .verdict = Verdict::ask,
               .guards = {{"rules", "1", Verdict::ask, "a rule"}, {"b", "2", Verdict::deny, ""}},
               .text = "told"},
        Asked{.number = 5,
              .call = call,
              .ask_no = 4,
              .kind = ApprovalKind::unknown,
              .tool = "pay",
              .arguments = R"({"n": 1.50})",
              .guard = "rules",
              .guard_version = "7",
              .reason = "a rule for pay asks",
              .question = full_question(),
              .binding = std::string(64, 'b'),
              .schema = std::string(64, 'c'),
              .deadline = 1'796'000'180'000,
              .use_by_ms = 86'400'000,
              .attempt = "attempt-1",
              .idempotent = true},
        Answered{.number = 5,
                 .call = call,
                 .decision = DecisionKind::edit,
                 .tool = "pay",
                 .arguments = R"({"n":2})",
                 .message = "less",
                 .text = "told",
                 .by = "bob",
                 .signed_in = "terminal",
                 .shown = std::string(64, 'd'),
                 .answer = std::string(64, 'e')},
        Claimed{.starts = {{.call = call, .attempt = "attempt-1", .arguments_sha256 = std::string(64, 'f')}},
                .process = {.host = "h", .boot = "b", .pid = 42, .started = 4711}},
        Released{.attempt = "attempt-1", .reason = "not in time"},
        Finished{.attempt = "attempt-1", .outcome = OutcomeKind::done, .result = result},
        Doubted{.attempt = "attempt-1", .reason = "its process ended", .may_run_again = true},
        LateFinished{.attempt = "attempt-1", .outcome = OutcomeKind::skipped, .result = result},
        Resolved{
            .number = 5, .call = call, .how = Resolution::retry, .text = "again", .by = "bob", .signed_in = "library"},
        Withdrawn{.number = 5, .reason = "judged again"},
        TimedOut{.number = 5, .text = "too late"},
        Aborted{.reason = "tab closed", .by = "alice"},
        RunFinished{.ok = true, .failure_kind = "model", .message = "the model failed"},
        Queued{.text = "and then?", .by = "bob", .key = "key-1"},
        Delegated{.call = call, .child = "t/3.2"},
        ChildFinished{
            .child = "t/3.2", .outcome = OutcomeKind::cancelled, .result = result, .turns_used = 4, .calls_used = 17},
        FilesChanged{.attempt = "attempt-1",
                     .changes = {{.path = "/notes/\xc3\xa4.md", .at = 3, .cut = 2, .text = "\xe2\x82\xac"},
                                 {.path = "/old", .removed = true}}},
        Pruned{.upto = 40, .by = "bob"},
    };
}

/// Random events, each one that a gate could write next.
class EventMaker {
public:
    explicit EventMaker(Dice& dice) : dice_(dice) {}

    journal::Event next(const journal::ThreadState& state) {
        auto event = make(state);
        kinds_.insert(journal::kind_of(event));
        return event;
    }
    const std::set<std::string_view>& kinds_made() const { return kinds_; }

private:
    using Event = journal::Event;

    Event make(const journal::ThreadState& state) {
        using namespace journal;
        if (dice_.chance(2)) return Configured{.settings = std::to_string(dice_.roll(99)), .tools = {{"pay", ""}}};
        if (state.running && dice_.chance(2)) return Aborted{.reason = "enough", .by = "alice"};
        if (state.running && dice_.chance(2)) return RunFinished{.ok = false, .failure_kind = "model", .message = "m"};
        if (state.running && dice_.chance(5)) return Queued{.text = "more", .by = "user", .key = "key"};
        if (!state.running && dice_.chance(5)) return Pruned{.upto = state.seq, .by = "bob"};
        if (!state.running) return UserMessage{.text = "prompt " + std::to_string(dice_.roll(99)), .by = "user"};
        if (!state.turn_open) {
            if (state.run_turns > 0 && dice_.chance(20)) return RunFinished{.ok = true};
            return said(state.turns + 1);
        }
        std::vector<const Call*> open;
        for (const auto& call : state.calls) {
            if (call.stage != CallStage::ended) open.push_back(&call);
        }
        return about(*dice_.pick(open));
    }

    journal::ModelSaid said(int turn) {
        journal::ModelSaid event{.turn = turn, .text = "turn " + std::to_string(turn), .provider_content = "p"};
        for (int i = dice_.roll(4); i > 0; --i) {
            event.calls.push_back({.tool = "pay", .id = "c" + std::to_string(i), .arguments = "{}"});
        }
        return event;
    }

    Event about(const journal::Call& call) {
        using namespace journal;
        switch (call.stage) {
            case CallStage::proposed:
                if (call.arguments.empty()) {
                    if (dice_.chance(15)) return Refused{.call = call.ref, .text = "no"};
                    return Prepared{.call = call.ref, .arguments = arguments()};
                }
                return judged(call);
            case CallStage::edited:
                return judged(call);
            case CallStage::asked:
                return about_asked(call);
            case CallStage::ready:
                if (dice_.chance(20)) return judged(call);
                if (dice_.chance(20)) return Delegated{.call = call.ref, .child = child_id("t", call.ref)};
                return Claimed{.starts = {{.call = call.ref, .attempt = "a" + std::to_string(++attempts_)}},
                               .process = {.host = "h", .pid = attempts_}};
            case CallStage::claimed:
                return about_claimed(call);
            case CallStage::delegated:
                return ChildFinished{.child = call.attempts.back().id,
                                     .outcome = dice_.pick({OutcomeKind::done, OutcomeKind::cancelled}),
                                     .result = {.text = "from the child", .details = "{}"},
                                     .turns_used = dice_.roll(5),
                                     .calls_used = dice_.roll(9)};
            case CallStage::unknown:
                return about_unknown(call);
            case CallStage::ended:
                break;
        }
        return Configured{};
    }

    journal::Judged judged(const journal::Call& call) {
        return {.call = call.ref,
                .verdict = dice_.pick({Verdict::allow, Verdict::ask, Verdict::ask, Verdict::deny}),
                .guards = {{"rules", std::to_string(dice_.roll(3)), Verdict::ask, "because"}},
                .text = "denied"};
    }

    Event about_asked(const journal::Call& call) {
        using namespace journal;
        const auto open = open_ask(call);
        if (open == 0 || dice_.chance(20)) return asked(call, ApprovalKind::approve, "");
        if (dice_.chance(15)) return TimedOut{.number = open, .text = "late"};
        if (dice_.chance(10)) return Withdrawn{.number = open, .reason = "moot"};
        return Answered{.number = open,
                        .call = call.ref,
                        .decision = dice_.pick({DecisionKind::approve, DecisionKind::approve, DecisionKind::deny,
                                                DecisionKind::edit, DecisionKind::respond}),
                        .tool = "pay",
                        .arguments = arguments(),
                        .text = "told",
                        .by = "bob"};
    }

    Event about_claimed(const journal::Call& call) {
        using namespace journal;
        const auto& attempt = call.attempts.back().id;
        if (dice_.chance(15)) return Released{.attempt = attempt, .reason = "not in time"};
        if (dice_.chance(15))
            return FilesChanged{
                .attempt = attempt,
                .changes = {{.path = "/a" + std::to_string(dice_.roll(3)), .at = dice_.roll(4), .text = "b"}}};
        if (dice_.chance(40)) return Doubted{.attempt = attempt, .reason = "gone", .may_run_again = dice_.chance(30)};
        return Finished{.attempt = attempt,
                        .outcome = dice_.pick({OutcomeKind::done, OutcomeKind::failed}),
                        .result = {.text = "result", .details = "{}"}};
    }

    Event about_unknown(const journal::Call& call) {
        using namespace journal;
        const auto open = open_ask(call);
        if (open == 0) return asked(call, ApprovalKind::unknown, call.attempts.back().id);
        if (dice_.chance(30)) return LateFinished{.attempt = call.attempts.back().id, .outcome = OutcomeKind::done};
        return Resolved{.number = open,
                        .call = call.ref,
                        .how = dice_.pick({Resolution::done, Resolution::retry, Resolution::fail}),
                        .by = "bob"};
    }

    journal::Asked asked(const journal::Call& call, ApprovalKind kind, std::string attempt) {
        return {.number = ++numbers_,
                .call = call.ref,
                .ask_no = call.asks + 1,
                .kind = kind,
                .tool = call.tool,
                .arguments = call.arguments,
                .guard = dice_.pick({"rules", "second"}),
                .question = full_question(),
                .deadline = numbers_,
                .attempt = std::move(attempt)};
    }

    static std::int64_t open_ask(const journal::Call& call) {
        for (const auto& ask : call.approvals) {
            if (ask.state == ApprovalState::open) return ask.asked.number;
        }
        return 0;
    }
    std::string arguments() { return R"({"n":)" + std::to_string(dice_.roll(1000)) + "}"; }

    Dice& dice_;
    std::set<std::string_view> kinds_;
    std::int64_t numbers_ = 0;
    int attempts_ = 0;
};

}  // namespace assent::test
