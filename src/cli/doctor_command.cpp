#include "cli/doctor_command.hpp"

#include "base/display.hpp"
#include "cli/json_out.hpp"

#include <algorithm>
#include <iterator>

namespace assent::cli {
namespace {

constexpr std::size_t standing_width = 7;

std::string_view to_string(Standing standing) {
    switch (standing) {
        case Standing::ok:
            return "ok";
        case Standing::weak:
            return "weak";
        case Standing::missing:
            return "missing";
    }
    return "missing";
}

Style style_of(Standing standing) {
    if (standing == Standing::ok) return Style::green;
    return standing == Standing::weak ? Style::yellow : Style::red;
}

std::string padded(std::string_view text, std::size_t width) {
    std::string out(text);
    out.append(width > text.size() ? width - text.size() : 0, ' ');
    return out;
}

void show_lines(const Terminal& terminal, const std::vector<Check>& checks) {
    std::size_t width = 0;
    for (const auto& check : checks) width = std::max(width, check.name.size());
    for (const auto& check : checks) {
        terminal.out(terminal.styled(style_of(check.standing), padded(to_string(check.standing), standing_width)) +
                     "  " + padded(check.name, width) + "  " + safe_to_show(check.says).text);
        if (!check.next.empty())
            terminal.out(std::string(standing_width + width + 4, ' ') + "→ " + safe_to_show(check.next).text);
    }
}

void show_json(const Terminal& terminal, const std::vector<Check>& checks, std::int64_t missing) {
    std::vector<std::string> items;
    for (const auto& check : checks) {
        items.push_back(JsonObject()
                            .text("name", check.name)
                            .text("standing", to_string(check.standing))
                            .text("says", check.says)
                            .text_or_null("next", check.next)
                            .str());
    }
    terminal.out(JsonObject().raw("checks", json_array(items)).number("missing", missing).str());
}

}  // namespace

int doctor_command(Context& context) {
    if (auto located = context.locate_store(); !located) return context.terminal.fail(located.failure());
    auto checks = standing_checks(context);
    auto tried = denied_calls(context);
    std::move(tried.begin(), tried.end(), std::back_inserter(checks));
    const auto missing = std::count_if(checks.begin(), checks.end(),
                                       [](const Check& check) { return check.standing == Standing::missing; });
    if (context.terminal.json) {
        show_json(context.terminal, checks, missing);
    } else {
        show_lines(context.terminal, checks);
    }
    return missing == 0 ? exit_done : exit_failed;
}

}  // namespace assent::cli
