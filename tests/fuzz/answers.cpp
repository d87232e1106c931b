// People's answers as text: those of `--answers` (lists, apart by NUL), and those of each style.
#include "fuzz/fuzz.hpp"

#include "cli/answers_list.hpp"
#include "policy/policy_answer.hpp"
#include "policy/table_answer.hpp"

#include <assent/parse_answer.hpp>
#include <assent/rules.hpp>

#include <algorithm>
#include <variant>
#include <vector>

namespace assent {
namespace {

using fuzz::require;

// An answer as a person would have typed it.
std::string typed(const cli::ListedAnswer& answer) {
    if (!answer) return "later";
    switch (answer->kind) {
        case DecisionKind::approve:
            return "approve";
        case DecisionKind::deny:
            return "deny:" + answer->message;
        case DecisionKind::edit:
            return "edit:" + answer->arguments.value_or("");
        case DecisionKind::respond:
            break;
    }
    return "respond:" + answer->message;
}

void check_lists(fuzz::Bytes bytes) {
    std::vector<std::string> lists;
    while (!bytes.empty()) lists.push_back(bytes.part());
    const auto answers = cli::read_answers(lists);
    if (!answers) {
        require(answers.failure().kind == FailureKind::usage, "a wrong list is its author's mistake");
        return;
    }
    std::vector<std::string> again;
    for (const auto& answer : *answers) again.push_back(typed(answer));
    const auto read = cli::read_answers(again);
    require(read && *read == *answers, "answers typed one by one are the same answers");
}

void check_rules_answer(const std::string& text) {
    const auto answer = read_rules_answer(text);
    if (!answer) {
        require(answer.failure().kind == FailureKind::refused, "what is no json is refused");
        fuzz::require_plain(answer.failure().message);
        return;
    }
    using Kind = RulesAnswer::Kind;
    require(answer->changes.has_value() == (answer->kind == Kind::run_edited), "an edit has changes, nothing else has");
    require((answer->kind == Kind::deny) == !answer->reason.empty(), "a denial has a reason, nothing else has");
    const bool runs_plain = answer->kind == Kind::run;
    require(!runs_plain || text.contains("true") || text.contains("approve") || text.contains('\\'),
            "nothing runs that nobody approved");
}

// Both of an approval that takes everything and of one that takes one kind.
void check_table_decision(const std::string& text) {
    for (const auto& allowed : {Question{}.allowed, std::vector{DecisionKind::respond}}) {
        const Approval approval{.tool = "t", .question = {.style = Style::table, .allowed = allowed}};
        const auto read = read_table_decision(approval, text);
        if (const auto* refusal = std::get_if<AnswerRefusal>(&read)) {
            fuzz::require_plain(refusal->message);
            continue;
        }
        const auto& decision = std::get<Decision>(read);
        require(std::ranges::find(allowed, decision.kind) != allowed.end(), "only what is allowed is taken");
        const bool edits = decision.kind == DecisionKind::edit;
        require(edits == decision.arguments.has_value() && edits == !decision.tool.empty(),
                "an edit has a tool and arguments, nothing else has");
        require(!edits || Arguments::parse(*decision.arguments).ok(), "edited arguments are an object");
    }
}

void check_table_answer(const std::string& text) {
    const auto answer = read_table_answer(text);
    if (const auto* refusal = std::get_if<AnswerRefusal>(&answer)) fuzz::require_plain(refusal->message);
    if (const auto* list = std::get_if<DecisionList>(&answer)) {
        for (const auto& decision : *list) check_table_decision(decision);
    }
    if (const auto* keyed = std::get_if<KeyedDecisions>(&answer)) {
        require(!keyed->empty(), "an answer by id answers something");
        for (const auto& [id, decision] : *keyed) check_table_decision(decision);
    }
    check_table_decision(text);
}

void check_policy_answer(const std::string& text) {
    const auto read = read_policy_answer(text);
    if (const auto* refusal = std::get_if<AnswerRefusal>(&read)) return fuzz::require_plain(refusal->message);
    const auto& decision = std::get<Decision>(read);
    require(decision.kind != DecisionKind::respond, "this style has no responses");
    const bool edits = decision.kind == DecisionKind::edit;
    require(edits == decision.arguments.has_value(), "an edit has arguments, nothing else has");
    require(!edits || Arguments::parse(*decision.arguments).ok(), "edited arguments are an object");
}

void check_parsed(const std::string& text) {
    for (const auto style : {Style::assent, Style::rules, Style::table, Style::policy}) {
        const auto parsed = parse_answer(style, text);
        if (parsed) continue;
        require(parsed.failure().kind == FailureKind::refused, "what is no answer is refused");
        fuzz::require_plain(parsed.failure().message);
    }
}

}  // namespace
}  // namespace assent

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    assent::check_lists({data, size});
    const auto text = assent::fuzz::Bytes(data, size).rest();
    assent::check_rules_answer(text);
    assent::check_table_answer(text);
    assent::check_policy_answer(text);
    assent::check_parsed(text);
    return 0;
}
