#include "cli/list_commands.hpp"

#include "base/base32.hpp"
#include "base/display.hpp"
#include "cli/approval_json.hpp"
#include "cli/call_view.hpp"
#include "cli/history_text.hpp"
#include "cli/json_out.hpp"
#include "cli/page.hpp"
#include "cli/words.hpp"
#include "gate/session.hpp"

#include <unistd.h>

#include <algorithm>
#include <optional>
#include <vector>

namespace assent::cli {
namespace {

// How much of a text a list shows; `show` has all of it.
constexpr std::size_t cell_bytes_max = 80;

std::string cell(std::string_view text) {
    return safe_to_show(capped(text, cell_bytes_max)).text;
}

using Row = std::vector<std::string>;

// Columns as wide as their widest cell; the last is not filled up.
void print_table(const Terminal& terminal, const Row& names, const std::vector<Row>& rows) {
    std::vector<std::size_t> widths;
    for (const auto& name : names) widths.push_back(columns(name));
    for (const auto& row : rows) {
        for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], columns(row[i]));
    }
    const auto line = [&](const Row& row) {
        std::string text;
        for (std::size_t i = 0; i < row.size(); ++i) {
            text += row[i];
            if (i + 1 < row.size()) text.append(widths[i] - columns(row[i]) + 2, ' ');
        }
        return text;
    };
    terminal.out(terminal.styled(Style::dim, line(names)));
    for (const auto& row : rows) terminal.out(line(row));
}

std::string when(UnixMillis time, UnixMillis now) {
    return now == 0 ? time_words(time) : duration_words(now - time) + " ago";
}

Result<void> require_thread(const Context& context, const std::string& thread) {
    auto head = context.store().find_thread(thread);
    if (!head) return head.failure();
    if (head->has_value()) return {};
    return Failure{FailureKind::unknown_thread, "no thread is called " + thread + "; list them with threads"};
}

// The command for the page after `last`, to be typed as it is.
std::string next_page(const Context& context, const PendingOptions& options, const Approval& last) {
    auto command = "assent" + context.db_option() + " pending";
    if (options.limit != pending_limit_default) command += " --limit " + std::to_string(options.limit);
    if (!options.thread.empty()) command += " --thread " + shell_word(safe_to_show(options.thread).text);
    return command + " --after " + last.id;
}

// The conversation when the model had said the turn of the approval.
Result<std::vector<Message>> messages_before(const Context& context, const Approval& approval) {
    std::vector<Message> messages;
    auto walked = walk_thread(
        context.store(), approval.thread,
        [&](const journal::ThreadState& state, const journal::Event& event, const JournalRow&, const std::string&) {
            const auto* said = std::get_if<journal::ModelSaid>(&event);
            if (said != nullptr && said->turn == approval.turn) messages = state.messages;
        });
    if (!walked) return walked.failure();
    return messages;
}

void print_message(const Terminal& terminal, const Message& message) {
    std::string head(to_string(message.role));
    if (message.role == Role::tool) {
        head += " " + one_line(message.tool) + (message.is_error ? ", an error" : "");
    }
    terminal.out(terminal.styled(Style::bold, head));
    auto text = foreign_block(message.text, terminal);
    for (const auto& call : message.calls) {
        text += "  calls " + one_line(call.tool) + "\n" + foreign_block(call.arguments, terminal);
    }
    if (!text.empty()) text.pop_back();
    if (!text.empty()) terminal.out(text);
}

std::string ended_calls_json(const std::vector<EndedCall>& calls) {
    std::vector<std::string> items;
    items.reserve(calls.size());
    for (const auto& call : calls) {
        items.push_back(JsonObject()
                            .number("turn", call.turn)
                            .number("position", call.position)
                            .text("tool", call.tool)
                            .text("outcome", to_string(call.outcome))
                            .str());
    }
    return json_array(items);
}

std::string history_json(const HistoryEntry& entry) {
    JsonObject json;
    json.number("seq", entry.seq).time("at", entry.at).text("event", entry.event).text("hash", entry.hash);
    JsonLimits limits;
    limits.bytes_max = entry.fields.size();
    bool own_calls = false;
    if (const auto fields = JsonText::parse(entry.fields, limits)) {
        const auto& root = fields->root();
        for (std::size_t i = 0; i < root.keys.size(); ++i) {
            if (root.keys[i] == "event") continue;
            own_calls = own_calls || root.keys[i] == "calls";
            json.raw(root.keys[i], root.items[i].text);
        }
    }
    // A turn of the model has calls of its own, and ends none.
    if (!own_calls && !entry.calls.empty()) json.raw("calls", ended_calls_json(entry.calls));
    return json.str();
}

// The beginning of a prompt as the store keeps it may end inside a character.
std::string whole_characters(std::string text) {
    for (int i = 0; i < 4 && !text.empty() && !valid_utf8(text); ++i) text.pop_back();
    return text;
}

}  // namespace

std::string_view thread_state(const ThreadHead& head) {
    switch (head.status) {
        case ThreadStatus::done:
            return "done";
        case ThreadStatus::failed:
            return "failed";
        case ThreadStatus::aborted:
            return "aborted";
        case ThreadStatus::active:
            break;
    }
    return head.open == 0 && head.runner_alive ? "running" : "waiting";
}

int pending_command(Context& context, const PendingOptions& options) {
    const auto& terminal = context.terminal;
    if (options.limit == 0 || options.limit > pending_limit_max) {
        return terminal.fail(
            {FailureKind::usage, "--limit takes a number from 1 to " + std::to_string(pending_limit_max)});
    }
    std::int64_t after = 0;
    if (!options.after.empty()) {
        const auto read = read_public_id(options.after);
        if (!read) return terminal.fail({FailureKind::usage, "--after takes the id of an approval"});
        after = read->number;
    }
    if (!options.thread.empty()) {
        if (auto known = require_thread(context, options.thread); !known) return terminal.fail(known.failure());
    }
    auto open = context.approvals().pending(options.thread, after, options.limit + 1);
    if (!open) return terminal.fail(open.failure());
    const bool more = open->size() > options.limit;
    if (more) open->resize(options.limit);
    if (terminal.json) {
        std::vector<std::string> items;
        for (const auto& approval : *open) items.push_back(approval_json(approval).str());
        terminal.out(json_array(items));
        return exit_done;
    }
    if (open->empty()) {
        terminal.note("nothing waits for a person");
        return exit_done;
    }
    std::vector<Row> rows;
    for (const auto& approval : *open) {
        const auto arguments = fold_blanks(cell(approval.arguments));
        rows.push_back({approval.id, cell(approval.tool), cell(approval.thread), when(approval.asked_at, options.now),
                        approval.kind == ApprovalKind::unknown ? "outcome unknown" : cell(approval.guard), arguments});
    }
    print_table(terminal, {"ID", "TOOL", "THREAD", "ASKED", "GUARD", "ARGUMENTS"}, rows);
    if (more) terminal.note("more are open: " + next_page(context, options, open->back()));
    return exit_done;
}

int show_command(Context& context, const ShowOptions& options) {
    const auto& terminal = context.terminal;
    auto approval = context.approvals().find(options.id, options.thread);
    if (!approval) return terminal.fail(approval.failure());
    auto messages = messages_before(context, *approval);
    if (!messages) return terminal.fail(messages.failure());
    if (terminal.json) {
        std::vector<std::string> items;
        for (const auto& message : *messages) items.push_back(message_json(message));
        terminal.out(approval_json(*approval).raw("transcript", json_array(items)).str());
        return exit_done;
    }
    for (const auto& message : *messages) print_message(terminal, message);
    ViewOptions view{.full = options.full, .now = options.now};
    if (isatty(terminal.streams().out) == 1) view.width = static_cast<std::size_t>(terminal.width());
    auto text = call_view(*approval, terminal, view);
    text.pop_back();
    terminal.out("\n" + text);
    return exit_done;
}

int threads_command(Context& context, const ThreadsOptions& options) {
    const auto& terminal = context.terminal;
    auto heads = context.store().threads();
    if (!heads) return terminal.fail(heads.failure());
    if (terminal.json) {
        std::vector<std::string> items;
        for (const auto& head : *heads) {
            items.push_back(JsonObject()
                                .text("id", head.id)
                                .text("state", thread_state(head))
                                .number("open", head.open)
                                .time("updated_at", head.updated_at)
                                .text("task", whole_characters(head.task))
                                .str());
        }
        terminal.out(json_array(items));
        return exit_done;
    }
    if (heads->empty()) {
        terminal.note("there are no threads");
        return exit_done;
    }
    std::vector<Row> rows;
    for (const auto& head : *heads) {
        rows.push_back({cell(head.id), std::string(thread_state(head)), std::to_string(head.open),
                        when(head.updated_at, options.now), fold_blanks(cell(whole_characters(head.task)))});
    }
    print_table(terminal, {"THREAD", "STATE", "OPEN", "UPDATED", "TASK"}, rows);
    return exit_done;
}

int history_command(Context& context, const HistoryOptions& options) {
    const auto& terminal = context.terminal;
    auto entries = context.approvals().history(options.thread);
    if (!entries) return terminal.fail(entries.failure());
    if (terminal.json) {
        std::vector<std::string> items;
        for (const auto& entry : *entries) items.push_back(history_json(entry));
        terminal.out(json_array(items));
        return exit_done;
    }
    for (const auto& line : history_lines(*entries, terminal)) terminal.out(line);
    return exit_done;
}

}  // namespace assent::cli
