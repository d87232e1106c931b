#include "cli/call_view.hpp"

#include "base/display.hpp"
#include "base/look_alikes.hpp"
#include "base/sha256.hpp"
#include "cli/json_text.hpp"
#include "cli/page.hpp"
#include "cli/words.hpp"

#include <assent/hitl.hpp>

#include <algorithm>
#include <functional>
#include <initializer_list>
#include <limits>
#include <optional>

namespace assent::cli {
namespace {

constexpr std::size_t digest_letters = 12;
constexpr std::size_t one_line_max = 60;
constexpr std::size_t name_width_max = 20;
constexpr std::size_t context_lines = 3;
constexpr std::size_t look_alikes_max = 5;
constexpr std::size_t all_lines = std::numeric_limits<std::size_t>::max();

using Kind = JsonNode::Kind;

std::string size_words(std::string_view text) {
    if (text.empty()) return "empty";
    const auto feeds = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
    const auto words = count_words(feeds + (text.ends_with('\n') ? 0 : 1), "line");
    return words + ", " + count_words(text.size(), "byte");
}

// A value that fits beside its name, safe to show; nothing if it needs lines of its own.
std::optional<std::string> short_value(const JsonNode& value) {
    if (value.kind == Kind::string) {
        const bool fits = value.string.find('\n') == std::string::npos && columns(value.string) <= one_line_max;
        return fits ? std::optional(one_line(value.string)) : std::nullopt;
    }
    auto text = fold_blanks(safe_to_show(compact_json(value)).text);
    if (columns(text) <= one_line_max) return text;
    return std::nullopt;
}

struct Named {
    std::string_view name;
    std::size_t name_width = 0;
    std::string remark;  ///< In our own words.
};

std::string with_remark(const Page& page, std::string text, const std::string& remark) {
    if (remark.empty()) return text;
    return text + (text.empty() ? "" : "  ") + page.terminal().styled(Style::yellow, "(" + remark + ")");
}

void show_value(Page& page, const Named& named, const JsonNode& value) {
    page.look_at(value);
    if (const auto text = short_value(value)) {
        page.named(named.name, named.name_width, with_remark(page, *text, named.remark));
        return;
    }
    if (value.kind == Kind::string) {
        const auto size = page.terminal().styled(Style::dim, size_words(value.string));
        page.named(named.name, named.name_width, with_remark(page, size, named.remark));
        page.block(value.string, Numbers::lines);
        return;
    }
    page.named(named.name, named.name_width, with_remark(page, {}, named.remark));
    page.block(pretty_json(value));
}

std::size_t width_of_names(const JsonNode& object) {
    std::size_t width = 0;
    for (const auto& key : object.keys) width = std::max(width, columns(shown_name(key)) + 1);
    return std::min(width, name_width_max);
}

// What the model sent, as far as it is known and differs from what would run.
class Sent {
public:
    explicit Sent(const Approval& approval) : differs_(!approval.arguments_raw.empty()) {
        if (!differs_) return;
        if (auto parsed = Arguments::parse(approval.arguments_raw)) arguments_ = std::move(parsed).value();
    }
    [[nodiscard]] bool differs() const noexcept { return differs_; }
    [[nodiscard]] const Arguments* arguments() const { return arguments_ ? &*arguments_ : nullptr; }

    [[nodiscard]] std::string remark(const std::string& name, const JsonNode& value) const {
        if (!arguments_) return {};
        const auto* sent = arguments_->find(name);
        if (sent == nullptr) return "not sent by the model";
        return same_value(*sent, value) ? "" : "changed, the model sent something else";
    }

private:
    bool differs_;
    std::optional<Arguments> arguments_;
};

const std::string* text_of(const Arguments& arguments, std::string_view name) {
    const auto* value = arguments.find(name);
    return value != nullptr && value->kind == Kind::string ? &value->string : nullptr;
}

struct Replacement {
    const std::string* before = nullptr;
    const std::string* after = nullptr;
};

// The call of a tool that replaces one text by another is read as a diff.
std::optional<Replacement> replacement(const Approval& approval, const Arguments& arguments) {
    if (approval.tool != "edit_file") return std::nullopt;
    const Replacement found{text_of(arguments, "old_string"), text_of(arguments, "new_string")};
    if (found.before == nullptr || found.after == nullptr) return std::nullopt;
    return found;
}

// Long texts that are always shown as a block, however short they are this time.
bool always_a_block(const Approval& approval, std::string_view name) {
    return (approval.tool == "write_file" && name == "content") ||
           (approval.tool == "shell" && (name == "command" || name == "cmd"));
}

void show_replacement(Page& page, const Replacement& texts, const Arguments& arguments, const ViewOptions& options) {
    const auto* all = arguments.find("replace_all");
    const bool everywhere = all != nullptr && all->kind == Kind::boolean && all->boolean;
    page.line(
        "  " +
        page.terminal().styled(Style::cyan, everywhere ? "change, wherever the old text occurs"
                                                       : "change, where the old text occurs exactly once") +
        ":  " +
        page.terminal().styled(Style::dim, "old " + size_words(*texts.before) + "; new " + size_words(*texts.after)));
    if (*texts.before == *texts.after) {
        page.line("    (old_string and new_string are the same)");
        page.block(*texts.before);
        return;
    }
    page.diff(*texts.before, *texts.after, options.full ? all_lines : context_lines);
}

void show_arguments(Page& page, const Approval& approval, const ViewOptions& options) {
    page.line();
    const auto parsed = Arguments::parse(approval.arguments, {.bytes_max = all_lines});
    if (!parsed) {
        page.line(page.terminal().styled(Style::bold, "Arguments") + ", which are no readable JSON");
        page.block(approval.arguments);
        return;
    }
    const Sent sent(approval);
    const auto& root = parsed->root();
    page.line(page.terminal().styled(Style::bold, "Arguments") + (root.items.empty() ? "  none" : ""));
    const auto texts = replacement(approval, *parsed);
    const auto width = width_of_names(root);
    for (std::size_t i = 0; i < root.items.size(); ++i) {
        const auto& name = root.keys[i];
        const auto& value = root.items[i];
        if (texts && (name == "old_string" || name == "new_string")) {
            page.look_at(value);
            continue;
        }
        const Named named{.name = name, .name_width = width, .remark = sent.remark(name, value)};
        if (value.kind == Kind::string && !value.string.empty() && always_a_block(approval, name)) {
            const auto size = page.terminal().styled(Style::dim, size_words(value.string));
            page.named(name, width, with_remark(page, size, named.remark));
            page.block(value.string, Numbers::lines);
        } else {
            show_value(page, named, value);
        }
    }
    if (texts) show_replacement(page, *texts, *parsed, options);
}

// Members of what the model sent that would run otherwise or not at all.
void show_sent(Page& page, const Approval& approval, const ViewOptions& options) {
    const Sent sent(approval);
    const auto arguments = Arguments::parse(approval.arguments, {.bytes_max = all_lines});
    if (!sent.differs() || !arguments) return;
    const auto title = page.terminal().styled(Style::bold, "The model sent");
    if (sent.arguments() == nullptr) {
        page.line();
        page.line(title + ", which is no readable JSON");
        page.block(approval.arguments_raw);
        return;
    }
    const auto& root = sent.arguments()->root();
    bool said = false;
    for (std::size_t i = 0; i < root.items.size(); ++i) {
        const auto* now = arguments->find(root.keys[i]);
        if (now != nullptr && same_value(*now, root.items[i])) continue;
        if (!said) {
            page.line();
            page.line(title);
            said = true;
        }
        const std::string remark = now == nullptr ? "removed: it would not be passed on" : "";
        show_value(page, {.name = root.keys[i], .name_width = width_of_names(root), .remark = remark}, root.items[i]);
    }
    if (!options.full) return;
    page.line();
    page.line(title + ", its exact text");
    page.block(approval.arguments_raw);
}

void show_time_limits(Page& page, const Approval& approval, const ViewOptions& options) {
    if (approval.deadline && approval.state == ApprovalState::open) {
        const bool over = options.now != 0 && *approval.deadline <= options.now;
        page.fact("answer by", time_and_distance(*approval.deadline, options.now) + (over ? ", which is over" : ""));
    }
    if (approval.use_by) {
        page.fact("use by", time_and_distance(*approval.use_by, options.now));
    } else if (approval.use_by_ms && approval.state == ApprovalState::open && approval.kind == ApprovalKind::approve) {
        page.fact("use", "within " + duration_words(*approval.use_by_ms) + " of the answer, else it is asked again");
    }
}

std::string_view title_of(ApprovalKind kind) {
    switch (kind) {
        case ApprovalKind::unknown:
            return "Unknown outcome";
        case ApprovalKind::confirm:
        case ApprovalKind::ask:
            return "Question";
        case ApprovalKind::approve:
            break;
    }
    return "Approval";
}

void show_head(Page& page, const Approval& approval, const ViewOptions& options) {
    const auto& terminal = page.terminal();
    page.line(terminal.styled(
        Style::bold, std::string(title_of(approval.kind)) + " " + approval.id + "  " + one_line(approval.tool)));
    page.fact("thread", approval.thread);
    if (!approval.parent.empty()) page.fact("works for", approval.parent.front());
    page.fact("call", std::to_string(approval.position + 1) + " of turn " + std::to_string(approval.turn) +
                          (options.full && approval.tool_call_id ? ", id " + *approval.tool_call_id : ""));
    page.fact("guard",
              approval.guard +
                  (options.full && !approval.guard_version.empty() ? ", version " + approval.guard_version : ""));
    page.fact("reason", approval.reason);
    page.fact("asked", time_and_distance(approval.asked_at, options.now));
    show_time_limits(page, approval, options);
    page.fact("digest", options.full ? approval.digest : approval.digest.substr(0, digest_letters));
    if (options.full) page.fact("sha-256", hex(sha256(approval.arguments)) + " of the arguments");
    if (approval.state == ApprovalState::open) return;
    std::string state(to_string(approval.state));
    if (!approval.decided_by.empty()) state += " by " + approval.decided_by;
    if (approval.decided_at) state += ", " + time_and_distance(*approval.decided_at, options.now);
    page.fact("state", state);
}

void show_unknown(Page& page, const Approval& approval) {
    page.line();
    page.fact("started by", approval.process.empty() ? "a process that is not known" : approval.process);
    page.line("  Nobody knows how it ended. The call may have run, in whole or in part.");
}

// What its tool still knew of it. It may quote what ran, so it stands behind the gutter.
void show_seen(Page& page, const Question& question) {
    if (!question.description.empty()) {
        page.line();
        page.line(page.terminal().styled(Style::bold, "What is there of its result"));
        page.block(question.description);
    }
    if (question.details.empty()) return;
    page.line();
    page.line(page.terminal().styled(Style::bold, "Details") + ", from the tool");
    const auto details = JsonText::parse(question.details);
    page.block(details ? pretty_json(details->root()) : question.details);
}

// What the operator or the guard adds. It may quote the model, so it stands behind the gutter too.
void show_question(Page& page, const Question& question) {
    if (!question.description.empty()) {
        page.line();
        page.line(page.terminal().styled(Style::bold, "Description") + ", from the operator");
        page.block(question.description);
    }
    if (question.details.empty()) return;
    page.line();
    page.line(page.terminal().styled(Style::bold, "Details") + ", from the guard");
    const auto details = JsonText::parse(question.details);
    page.block(details ? pretty_json(details->root()) : question.details);
}

// What the agent asks a person. All of it is the model's, so it stands behind the gutter.
void show_asked(Page& page, const Approval& approval) {
    page.line();
    page.line(page.terminal().styled(Style::bold, "Question") + ", from the model");
    if (approval.kind == ApprovalKind::confirm) return page.block(approval.question.description);
    std::string text;
    for (const auto& question : hitl_request(approval).payload.questions) {
        text += (text.empty() ? "" : "\n") + question.key + ": " + question.prompt;
        if (!question.required) text += " (may be left out)";
        if (!question.options.empty()) text += question.multi_select ? "\n  any of:" : "\n  one of:";
        for (const auto& option : question.options) {
            text += "\n  - " + option.value;
            if (option.label != option.value) text += ": " + option.label;
            if (!option.description.empty()) text += ", " + option.description;
        }
    }
    page.block(text);
}

// Every text of the call that a person reads, joined so that no words run together.
void gather_texts(std::string& texts, const JsonNode& node) {
    texts += node.string + '\n';
    for (const auto& key : node.keys) texts += key + '\n';
    for (const auto& item : node.items) gather_texts(texts, item);
}

using Texts = std::initializer_list<std::reference_wrapper<const std::string>>;

std::vector<LookAlike> look_alikes_of(const Texts& json_texts) {
    std::string texts;
    for (const std::string& json : json_texts) {
        const auto parsed = JsonText::parse(json, {.bytes_max = all_lines});
        if (parsed) {
            gather_texts(texts, parsed->root());
        } else {
            texts += json + '\n';
        }
    }
    return look_alikes(texts, look_alikes_max);
}

void show_warnings(Page& page, const Texts& json_texts, const ViewOptions& options) {
    const auto warn = [&](const std::string& text) { page.line(page.terminal().styled(Style::yellow, "! " + text)); };
    const bool too_wide = options.width != 0 && page.widest() > options.width;
    const auto alike = look_alikes_of(json_texts);
    if (page.hidden_characters() || too_wide || !alike.empty()) page.line();
    if (page.hidden_characters()) {
        warn("it holds hidden or misleading characters; they are shown as \\u{...}, \\x.. or \\r");
    }
    for (const auto& [word, escaped, reads] : alike) {
        warn("it says " + word + ", which is " + escaped + ": it reads as " + reads + " and is something else");
    }
    if (too_wide) {
        warn("its longest line takes " + std::to_string(page.widest()) +
             " columns: it goes on at the left edge of the rows below it");
    }
}

void show_choices(Page& page, const Approval& approval) {
    if (approval.state != ApprovalState::open) return;
    page.line();
    if (approval.kind == ApprovalKind::unknown) {
        page.line("done   it ran to its end; the model gets your text as its result");
        page.line("retry  run it once more; refused while a process may still run it");
        page.line("fail   it did not run to its end; the model gets your text as an error");
        return;
    }
    if (approval.kind == ApprovalKind::confirm) {
        page.line("You may answer: approve, which is yes, or deny, which is no");
        return;
    }
    std::string names;
    for (const auto& name : answers_to(approval)) names += (names.empty() ? "" : ", ") + name;
    page.line("You may answer: " + names);
}

}  // namespace

std::vector<std::string> answers_to(const Approval& approval) {
    if (approval.kind == ApprovalKind::unknown) return {"done", "retry", "fail"};
    std::vector<std::string> names;
    names.reserve(approval.question.allowed.size());
    for (const auto kind : approval.question.allowed) names.emplace_back(to_string(kind));
    return names;
}

std::string call_view(const Approval& approval, const Terminal& terminal, const ViewOptions& options) {
    Page page(terminal);
    show_head(page, approval, options);
    if (approval.kind == ApprovalKind::unknown) {
        show_unknown(page, approval);
        show_seen(page, approval.question);
    } else if (approval.kind != ApprovalKind::approve) {
        show_asked(page, approval);
    } else {
        show_question(page, approval.question);
    }
    show_arguments(page, approval, options);
    show_sent(page, approval, options);
    if (options.full) {
        page.line();
        page.line(terminal.styled(Style::bold, "Exact arguments"));
        page.block(approval.arguments);
    }
    show_warnings(page, {approval.arguments, approval.arguments_raw}, options);
    show_choices(page, approval);
    return page.text();
}

std::string arguments_diff(const Arguments& before, const Arguments& after, const Terminal& terminal) {
    Page page(terminal);
    const auto changed = [&](std::string_view name, const JsonNode* old_value, const JsonNode* new_value) {
        const auto remark = old_value == nullptr ? "added" : new_value == nullptr ? "removed" : "changed";
        page.named(name, 0, with_remark(page, {}, remark));
        const auto text = [](const JsonNode* value, bool plain) {
            if (value == nullptr) return std::string();
            return plain ? value->string : pretty_json(*value);
        };
        const bool plain = old_value != nullptr && new_value != nullptr && old_value->kind == Kind::string &&
                           new_value->kind == Kind::string;
        page.diff(text(old_value, plain), text(new_value, plain), context_lines);
    };
    const auto& old_root = before.root();
    for (std::size_t i = 0; i < old_root.items.size(); ++i) {
        const auto* now = after.find(old_root.keys[i]);
        if (now == nullptr || !same_value(old_root.items[i], *now)) changed(old_root.keys[i], &old_root.items[i], now);
    }
    const auto& new_root = after.root();
    for (std::size_t i = 0; i < new_root.items.size(); ++i) {
        if (before.find(new_root.keys[i]) == nullptr) changed(new_root.keys[i], nullptr, &new_root.items[i]);
    }
    show_warnings(page, {after.text()}, {});
    return page.text();
}

std::string foreign_block(std::string_view text, const Terminal& terminal) {
    Page page(terminal);
    page.block(text);
    return page.text();
}

}  // namespace assent::cli
