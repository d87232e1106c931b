#include "cli/review.hpp"

#include "base/display.hpp"
#include "cli/call_view.hpp"
#include "cli/context.hpp"
#include "cli/editor.hpp"
#include "cli/json_text.hpp"
#include "cli/person_input.hpp"

#include <assent/arguments.hpp>
#include <assent/hitl.hpp>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <vector>

namespace assent::cli {
namespace {

namespace fs = std::filesystem;
using Status = PersonInput::Status;

// Nothing yet: the question is asked again.
using Step = std::optional<ReviewOutcome>;

constexpr std::string_view word_later = "later";
constexpr std::string_view word_view = "view";
constexpr std::string_view word_help = "?";

std::string_view trimmed(std::string_view text) {
    const auto begin = text.find_first_not_of(" \t");
    if (begin == std::string_view::npos) return {};
    return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

// The one word that `typed` is, or begins; empty if there is none or more than one.
std::string word_meant(std::string_view typed, const std::vector<std::string>& words) {
    if (typed.empty()) return {};
    std::string lower(typed);
    std::transform(lower.begin(), lower.end(), lower.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
    std::vector<std::string> meant;
    for (const auto& word : words) {
        if (word == lower) return word;
        if (word.starts_with(lower)) meant.push_back(word);
    }
    return meant.size() == 1 ? meant.front() : std::string();
}

fs::path editor_folder(const fs::path& wanted) {
    if (!wanted.empty()) return wanted;
    std::error_code error;
    if (fs::is_directory(state_folder(), error)) return state_folder();
    return fs::temp_directory_path(error);
}

// The edited arguments with the exact bytes of every member that did not change.
std::string with_untouched_bytes(const Arguments& shown, const Arguments& edited) {
    std::string out = "{";
    const auto& root = edited.root();
    for (std::size_t i = 0; i < root.items.size(); ++i) {
        const auto* before = shown.find(root.keys[i]);
        const bool same = before != nullptr && same_value(*before, root.items[i]);
        out += (i == 0 ? "" : ",") + json_quote(root.keys[i]) + ":";
        out += same ? std::string(before->text) : compact_json(root.items[i]);
    }
    return out + "}";
}

class Review {
public:
    Review(const Approval& approval, const Terminal& terminal, const ReviewOptions& options)
        : approval_(approval), terminal_(terminal), options_(options), input_(terminal, options.wake_fd) {
        words_ = answers_to(approval);
        words_.emplace_back(word_later);
        words_.emplace_back(word_view);
        words_.emplace_back(word_help);
    }

    ReviewOutcome run() {
        show(false);
        Step outcome;
        if (input_.pause(options_.dead_time_ms)) outcome = ReviewInterrupted{};
        while (!outcome) outcome = step();
        // The person did not end the line; what comes next begins a new one.
        const auto* later = std::get_if<ReviewLater>(&*outcome);
        if (std::holds_alternative<ReviewInterrupted>(*outcome) || (later != nullptr && later->input_ended)) say("");
        return std::move(*outcome);
    }

private:
    Step step() {
        const auto line = input_.ask_afresh("\n" + question());
        if (auto ended = ended_by(line)) return ended;
        const auto typed = trimmed(line.text);
        const auto word = line.status == Status::too_long ? std::string() : word_meant(typed, words_);
        if (word.empty()) {
            say("Nothing is decided. Type one of these words, or as much of it as tells it apart, then Enter.");
            return {};
        }
        if (word == word_later) return ReviewLater{};
        if (word == word_view) return show(true);
        if (word == word_help) return help();
        return approval_.kind == ApprovalKind::unknown ? resolution(word) : decision(word);
    }

    Step decision(const std::string& word) {
        switch (decision_kind(word).value_or(DecisionKind::deny)) {
            case DecisionKind::approve:
                return decided(approve());
            case DecisionKind::deny:
                return deny_with_reason();
            case DecisionKind::edit:
                return edited();
            case DecisionKind::respond:
                return responded();
        }
        return {};
    }

    Step decided(Decision decision) const {
        decision.digest = approval_.digest;
        return decision;
    }

    Step deny_with_reason() {
        const auto line = input_.ask("Reason, which the model is told (may be empty):");
        if (auto ended = ended_by(line)) return ended;
        if (line.status == Status::too_long) return say_too_long();
        return decided(deny(std::string(trimmed(line.text))));
    }

    // What a person types for one question: a text, or options by their value or label.
    static std::vector<std::string> values_of(const HitlQuestion& question, std::string_view typed) {
        std::vector<std::string> values;
        while (!typed.empty()) {
            const auto comma = question.multi_select ? typed.find(',') : std::string_view::npos;
            auto value = std::string(trimmed(typed.substr(0, comma)));
            for (const auto& option : question.options) {
                if (option.label == value) value = option.value;
            }
            if (!value.empty()) values.push_back(std::move(value));
            typed = comma == std::string_view::npos ? std::string_view() : typed.substr(comma + 1);
        }
        return values;
    }

    Step answered() {
        const auto questions = hitl_request(approval_).payload.questions;
        HitlAnswers answers;
        for (const auto& question : questions) {
            const auto line = input_.ask(safe_to_show(question.prompt).text +
                                         (question.multi_select ? " (several apart by commas)" : ""));
            if (auto ended = ended_by(line)) return ended;
            if (line.status == Status::too_long) return say_too_long();
            auto values = values_of(question, trimmed(line.text));
            if (!values.empty()) answers.emplace_back(question.key, std::move(values));
        }
        return decided(answer_questions(hitl_answers_json(answers, questions)));
    }

    Step responded() {
        if (approval_.kind == ApprovalKind::ask) return answered();
        auto text = words("Result for the model instead of a run");
        if (text.ended) return text.ended;
        if (text.text.empty()) return say("No text, so nothing is decided.");
        return decided(respond(std::move(text.text)));
    }

    Step resolution(const std::string& word) {
        if (word == to_string(Resolution::retry)) {
            auto again = confirmed("It may have run already. Run it once more?");
            if (again.ended) return again.ended;
            if (!again.yes) return say("Nothing is decided.");
            return ReviewResolution{.how = Resolution::retry};
        }
        const bool done = word == to_string(Resolution::done);
        const auto line = input_.ask(done ? "Its result, for the model (may be empty):"
                                          : "What went wrong, for the model (may be empty):");
        if (auto ended = ended_by(line)) return ended;
        if (line.status == Status::too_long) return say_too_long();
        return ReviewResolution{.how = done ? Resolution::done : Resolution::fail,
                                .text = std::string(trimmed(line.text))};
    }

    struct Words {
        Step ended;
        std::string text;
    };

    // One line, or what the editor gives when the line is empty.
    Words words(const std::string& what) {
        const auto editor = editor_command();
        const auto line = input_.ask(what + (editor.empty() ? " (one line):" : " (one line; empty: in your editor):"));
        if (auto ended = ended_by(line)) return {.ended = ended};
        if (line.status == Status::too_long) {
            say_too_long();
            return {};
        }
        auto text = std::string(trimmed(line.text));
        if (!text.empty() || editor.empty()) return {.text = text};
        auto edited = in_editor(editor, "result.txt", "");
        if (edited.ended) return edited;
        while (edited.text.ends_with('\n')) edited.text.pop_back();
        if (edited.text.empty()) return {};
        say(foreign_block(edited.text, terminal_) + "This is the result that the model gets.");
        auto use = confirmed("Give it?");
        if (use.ended) return {.ended = use.ended};
        return use.yes ? edited : Words{};
    }

    Words in_editor(const std::string& editor, const std::string& file_name, const std::string& text) {
        auto edited = edit_text({.command = editor,
                                 .file_name = file_name,
                                 .text = text,
                                 .folder = editor_folder(options_.editor_folder),
                                 .wake_fd = options_.wake_fd},
                                terminal_);
        switch (edited.status) {
            case Edited::Status::saved:
                return {.text = std::move(edited.text)};
            case Edited::Status::interrupted:
                return {.ended = ReviewInterrupted{}};
            case Edited::Status::failed:
                say(safe_to_show(edited.message).text);
        }
        return {};
    }

    Step edited() {
        const auto shown = Arguments::parse(approval_.arguments);
        if (!shown) return say("These arguments cannot be edited: " + shown.failure().message);
        if (draft_.empty()) draft_ = editable_json(shown->root()) + "\n";
        const auto editor = editor_command();
        Words typed;
        if (editor.empty()) {
            const auto line = input_.ask("All arguments, as one line of JSON (empty: back):");
            if (auto ended = ended_by(line)) return ended;
            if (line.status == Status::too_long) return say_too_long();
            typed.text = std::string(trimmed(line.text));
        } else {
            typed = in_editor(editor, "arguments.json", draft_);
        }
        if (typed.ended) return typed.ended;
        if (trimmed(typed.text).empty()) return say("Nothing is changed.");
        return use_edit(*shown, typed.text);
    }

    Step use_edit(const Arguments& shown, const std::string& text) {
        draft_ = text;
        auto wanted = Arguments::parse(text);
        if (wanted) wanted = Arguments::parse(with_untouched_bytes(shown, *wanted));
        // Where edits lay keys over, what was left out stays: the person sees what will be.
        const bool merges = approval_.question.style == assent::Style::rules;
        auto result = wanted;
        if (merges && wanted) result = lay_over(shown, *wanted);
        if (!result) {
            return say("The arguments cannot be used: " + result.failure().message +
                       "\nNothing is decided. Edit again to go on where you were.");
        }
        if (same_value(shown.root(), result->root())) {
            draft_.clear();
            return say("Nothing is changed.");
        }
        say(arguments_diff(shown, *result, terminal_) + "It is judged again before it runs.");
        auto use = confirmed("Use these arguments?");
        if (use.ended) return use.ended;
        if (!use.yes) return say("Nothing is decided. Edit again to go on where you were.");
        return decided(edit(wanted->text()));
    }

    struct Confirmed {
        Step ended;
        bool yes = false;
    };

    Confirmed confirmed(const std::string& what) {
        while (true) {
            const auto line = input_.ask_afresh(what + " [yes, no]");
            if (auto ended = ended_by(line)) return {.ended = ended};
            const auto word = word_meant(trimmed(line.text), {"yes", "no"});
            if (!word.empty()) return {.yes = word == "yes"};
        }
    }

    static Step ended_by(const PersonInput::Line& line) {
        if (line.status == Status::interrupted) return ReviewInterrupted{};
        if (line.status == Status::closed) return ReviewLater{.input_ended = true};
        return {};
    }

    Step show(bool full) {
        const ViewOptions view{.full = full, .now = options_.now, .width = static_cast<std::size_t>(terminal_.width())};
        terminal_.prompt("\n" + call_view(approval_, terminal_, view));
        return {};
    }

    Step help() {
        const auto offered = [&](std::string_view word) {
            return std::find(words_.begin(), words_.end(), word) != words_.end();
        };
        const auto line = [&](std::string_view word, std::string_view what) {
            if (!offered(word)) return;
            terminal_.prompt("  " + std::string(word) + std::string(9 - word.size(), ' ') + std::string(what) + "\n");
        };
        const bool confirms = approval_.kind == ApprovalKind::confirm;
        const bool asks = approval_.kind == ApprovalKind::ask;
        line("approve", confirms ? "yes" : "run it as shown");
        line("deny", confirms ? "no"
                     : asks   ? "answer nothing; the model is told your reason"
                              : "do not run it; the model is told your reason");
        line("edit", "run it with other arguments, after it was judged again");
        line("respond", asks ? "answer each question" : "do not run it; the model gets your text as its result");
        line("done", "it ran to its end; the model gets your text as its result");
        line("retry", "run it once more");
        line("fail", "it did not run to its end; the model gets your text as an error");
        line(word_later, "decide nothing now; it stays open");
        line(word_view, "show it again, with the exact texts and the whole digest");
        return {};
    }

    Step say(const std::string& text) const {
        terminal_.prompt(text + "\n");
        return {};
    }
    Step say_too_long() const {
        return say("The terminal cuts so long a line, so it is not used. Set EDITOR and leave the line empty.");
    }

    [[nodiscard]] std::string question() const {
        std::string words;
        for (const auto& word : words_) words += (words.empty() ? "" : ", ") + word;
        return terminal_.styled(Style::bold, approval_.id + " " + safe_to_show(approval_.tool).text) + " [" + words +
               "]";
    }

    const Approval& approval_;
    const Terminal& terminal_;
    const ReviewOptions& options_;
    PersonInput input_;
    std::vector<std::string> words_;
    std::string draft_;  ///< What the person last wrote as arguments.
};

}  // namespace

ReviewOutcome review(const Approval& approval, const Terminal& terminal, const ReviewOptions& options) {
    return Review(approval, terminal, options).run();
}

}  // namespace assent::cli
