#include "cli/db_command.hpp"

#include "base/display.hpp"
#include "cli/json_out.hpp"
#include "cli/settings.hpp"
#include "cli/words.hpp"

#include <assent/clock.hpp>

namespace assent::cli {
namespace {

int show(const Context& context, const StoreFormat& format, const std::string& says, bool current) {
    if (context.terminal.json) {
        context.terminal.out(JsonObject()
                                 .text("database", context.shown_db())
                                 .number("format", format.found)
                                 .number("current", format.current)
                                 .str());
    } else {
        context.terminal.out(safe_to_show(context.shown_db()).text + ": " + says);
    }
    return current ? exit_done : exit_failed;
}

std::string found_words(const StoreFormat& format) {
    return format.found == 0 ? "no tables" : "format " + std::to_string(format.found);
}

// Tables of a newer version: opening says so, and changes nothing.
int fail_to_open(Context& context) {
    const auto opened = context.open_store();
    return opened ? exit_done : context.terminal.fail(opened.failure());
}

// Reads the whole of every thread.
int check_chains(Context& context, const StoreFormat& format) {
    if (auto opened = context.open_store(); !opened) return context.terminal.fail(opened.failure());
    const auto threads = context.store().threads();
    if (!threads) return context.terminal.fail(threads.failure());
    std::vector<std::string> broken;
    for (const auto& thread : *threads) {
        const auto history = context.approvals().history(thread.id);
        if (history) continue;
        broken.push_back(thread.id);
        context.terminal.note(safe_to_show(thread.id).text + ": " + safe_to_show(history.failure().message).text);
    }
    if (context.terminal.json) {
        context.terminal.out(JsonObject()
                                 .text("database", context.shown_db())
                                 .number("format", format.found)
                                 .number("current", format.current)
                                 .number("threads", static_cast<std::int64_t>(threads->size()))
                                 .raw("broken", json_texts(broken))
                                 .str());
    } else {
        context.terminal.out(safe_to_show(context.shown_db()).text + ": format " + std::to_string(format.current) +
                             ", the current one; " + count_words(threads->size(), "thread") + " read, " +
                             (broken.empty() ? "every chain holds" : std::to_string(broken.size()) + " damaged"));
    }
    return broken.empty() ? exit_done : exit_failed;
}

}  // namespace

int db_check_command(Context& context, bool chains) {
    if (auto located = context.locate_store(); !located) return context.terminal.fail(located.failure());
    const auto format = context.format();
    if (!format) return context.terminal.fail(format.failure());
    const auto current = std::to_string(format->current);
    if (format->found == format->current) {
        if (chains) return check_chains(context, *format);
        return show(context, *format, "format " + current + ", the current one", true);
    }
    if (format->found > format->current) return fail_to_open(context);
    const auto found = found_words(*format) + (format->found == 0 ? " yet" : "");
    return show(context, *format, found + "; db migrate would make format " + current, false);
}

int db_migrate_command(Context& context, bool dry_run) {
    if (auto located = context.locate_store(); !located) return context.terminal.fail(located.failure());
    const auto before = context.format();
    if (!before) return context.terminal.fail(before.failure());
    if (dry_run && before->found < before->current) {
        return show(context, *before,
                    "would make format " + std::to_string(before->current) + " (is: " + found_words(*before) + ")",
                    true);
    }
    if (auto opened = context.open_store(); !opened) return context.terminal.fail(opened.failure());
    const auto after = context.format();
    if (!after) return context.terminal.fail(after.failure());
    const auto current = "format " + std::to_string(after->current);
    if (*before == *after) return show(context, *after, current + " already", true);
    return show(context, *after, current + " (was: " + found_words(*before) + ")", true);
}

int db_prune_command(Context& context, const PruneOptions& options) {
    const auto age = read_duration_ms(options.older_than);
    if (!age) return context.terminal.fail({FailureKind::usage, "--older-than: " + age.failure().message});
    if (!*age) return context.terminal.fail({FailureKind::usage, "--older-than takes a length of time, not never"});
    if (auto opened = context.open_store(); !opened) return context.terminal.fail(opened.failure());
    const auto user = current_user();
    const auto pruned = context.approvals().prune(context.now() - **age, user.name, options.dry_run);
    if (!pruned) return context.terminal.fail(pruned.failure());
    if (context.terminal.json) {
        context.terminal.out(
            JsonObject().raw("threads", json_texts(*pruned)).boolean("dry_run", options.dry_run).str());
        return exit_done;
    }
    for (const auto& thread : *pruned) context.terminal.out(safe_to_show(thread).text);
    context.terminal.note(std::to_string(pruned->size()) + (options.dry_run ? " would be pruned" : " pruned") +
                          "; their headers stay");
    return exit_done;
}

}  // namespace assent::cli
