#include <assent/interrupt_on.hpp>

#include "policy/rules_by_tool.hpp"
#include "policy/table_payload.hpp"
#include "policy/table_texts.hpp"

#include <algorithm>
#include <array>

namespace assent {
namespace {

constexpr std::int64_t ms_per_second = 1000;
// More than a hundred years is a mistake, and would overflow in milliseconds sooner or later.
constexpr std::int64_t timeout_seconds_max = 100LL * 366 * 24 * 60 * 60;

constexpr std::array all_decisions{DecisionKind::approve, DecisionKind::edit, DecisionKind::deny,
                                   DecisionKind::respond};

// Whether the arguments alone do not show where each path leads: an operator's own words say nothing of it either.
bool leads_elsewhere(const GuardedCall& call, const Result<Arguments>& details) {
    const auto* places = details ? details->find("places") : nullptr;
    if (places == nullptr) return true;
    return std::ranges::any_of(places->items,
                               [&](const JsonNode& place) { return !call.arguments->text().contains(place.string); });
}

std::vector<DecisionKind> read_allowed(const std::string& tool, const std::vector<std::string>& words) {
    if (words.empty()) {
        throw ConfigError("interrupt_on: the tool " + tool +
                          " has no allowed_decisions, so nobody could answer; list some of approve, edit, reject, "
                          "respond, or say true");
    }
    std::vector<DecisionKind> allowed;
    for (const auto& word : words) {
        const auto kind = table_decision(word);
        if (!kind) {
            throw ConfigError("interrupt_on: the tool " + tool + " allows " + json_quote(word) +
                              ", which is no decision; take approve, edit, reject or respond");
        }
        if (std::ranges::find(allowed, *kind) == allowed.end()) allowed.push_back(*kind);
    }
    return allowed;
}

}  // namespace

bool ReviewWhen::holds(const GuardedCall& call) const {
    if (!condition_) return true;
    return condition_holds([&](const JsonText&) { return condition_(call); }, call.arguments->json());
}

InterruptMode interrupt_mode(std::string_view name) {
    if (name == "batched") return InterruptMode::batched;
    if (name == "per_call") return InterruptMode::per_call;
    throw ConfigError("interrupt_mode must be batched or per_call, not " + json_quote(name));
}

InterruptOnMiddleware::InterruptOnMiddleware(InterruptOnTable table, InterruptOnOptions options)
    : options_(std::move(options)) {
    if (options_.timeout_seconds &&
        (*options_.timeout_seconds < 0 || *options_.timeout_seconds > timeout_seconds_max)) {
        throw ConfigError("interrupt_on: timeout_seconds must be between 0 and " + std::to_string(timeout_seconds_max) +
                          "; leave it out to wait for ever");
    }
    for (auto& [tool, setting] : table) {
        Row row{.asks = setting.asks(), .config = setting.config()};
        if (row.asks) {
            row.allowed = read_allowed(tool, row.config.allowed_decisions);
            if (!row.config.args_schema.empty() && !Arguments::parse(row.config.args_schema)) {
                throw ConfigError("interrupt_on: the args_schema of the tool " + tool + " is no json object");
            }
        }
        if (!rows_.emplace(tool, std::move(row)).second) {
            throw ConfigError("interrupt_on: the tool " + tool + " stands twice in the table; keep one of them");
        }
    }
}

std::optional<ToolResult> InterruptOnMiddleware::after_tool(const ToolContext& context, const ToolResult& result) {
    if (!options_.edit_notice || context.edited_by != options_.name) return std::nullopt;
    auto marked = result;
    marked.text = edited_result(*options_.edit_notice, context.tool_name, context.arguments.text(), result.text);
    return marked;
}

bool InterruptOnMiddleware::can_ask() const {
    return std::ranges::any_of(rows_, [](const auto& row) { return row.second.asks; });
}

std::vector<std::string> InterruptOnMiddleware::tools_named() const {
    std::vector<std::string> names;
    for (const auto& [tool, row] : rows_) names.push_back(tool);
    return names;
}

bool InterruptOnMiddleware::covers(std::string_view tool) const {
    const auto found = rows_.find(tool);
    return found != rows_.end() && found->second.asks;
}

Judgement InterruptOnMiddleware::judge(const GuardedCall& call) {
    const auto found = rows_.find(call.tool_name);
    if (found == rows_.end() || !found->second.asks || !found->second.config.when.holds(call)) {
        return {.verdict = Verdict::allow, .reason = {}, .question = std::nullopt};
    }
    const auto& [asks, config, allowed] = found->second;
    return {.verdict = Verdict::ask,
            .reason = "the table asks about " + std::string(call.tool_name),
            .question = question({.call = call,
                                  .words = config.description.empty() ? std::string() : config.description.of(call),
                                  .allowed = allowed,
                                  .args_schema = config.args_schema,
                                  .paths = {}})};
}

Question InterruptOnMiddleware::with_paths(const GuardedCall& call, const Question* own, const Judgement& paths) const {
    Shown shown{.call = call, .words = {}, .allowed = {}, .args_schema = {}, .paths = paths.reason};
    const auto theirs = Arguments::parse(paths.question->details);
    const auto row = rows_.find(call.tool_name);
    if (own != nullptr && row != rows_.end()) {
        // Made from the call once: a function may say something else now.
        if (!row->second.config.description.empty()) shown.words = own->description;
        if (!shown.words.empty() && leads_elsewhere(call, theirs)) shown.words += "\nPaths: " + paths.reason;
        shown.args_schema = row->second.config.args_schema;
    }
    const auto taken =
        own == nullptr ? std::span<const DecisionKind>(all_decisions) : std::span<const DecisionKind>(own->allowed);
    for (const auto kind : taken) {
        if (std::ranges::find(paths.question->allowed, kind) != paths.question->allowed.end())
            shown.allowed.push_back(kind);
    }
    // Nobody could answer otherwise.
    if (shown.allowed.empty()) shown.allowed.push_back(DecisionKind::deny);
    auto both = question(shown);
    const auto ours = Arguments::parse(both.details.empty() ? "{}" : both.details);
    // Without them the file tools find no place that was approved, and refuse.
    if (ours && theirs) {
        if (const auto joined = lay_over(*ours, *theirs)) both.details = joined->text();
    }
    const auto& other = paths.question->timeout_ms;
    if (other) both.timeout_ms = std::min(both.timeout_ms.value_or(*other), *other);
    return both;
}

Question InterruptOnMiddleware::question(const Shown& shown) const {
    const auto& call = shown.call;
    Question question{.style = Style::table,
                      .description = shown.words.empty() ? options_.description_prefix : shown.words,
                      .details = question_details(options_),
                      .allowed = shown.allowed};
    if (options_.timeout_seconds) question.timeout_ms = *options_.timeout_seconds * ms_per_second;
    if (call.tool_call_id) question.interrupt_id = interrupt_id(*call.tool_call_id);
    const auto usual = options_.description_prefix + "\n\nTool: " + std::string(call.tool_name) +
                       "\nArgs: " + call.arguments->text() + (shown.paths.empty() ? "" : "\nPaths: " + shown.paths);
    const TableQuestion table{.call = call,
                              .description = shown.words.empty() ? usual : shown.words,
                              .allowed = shown.allowed,
                              .args_schema = shown.args_schema};
    question.payload =
        options_.interrupt_mode == InterruptMode::per_call ? per_call_payload(table) : batched_payload(table);
    return question;
}

std::shared_ptr<InterruptOnMiddleware> interrupt_on(InterruptOnTable table, InterruptOnOptions options) {
    return std::make_shared<InterruptOnMiddleware>(std::move(table), std::move(options));
}

}  // namespace assent
