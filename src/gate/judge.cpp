#include "gate/judge.hpp"

#include "base/display.hpp"
#include "base/json_schema.hpp"
#include "base/sha256.hpp"
#include "gate/binding.hpp"

#include <assent/rules.hpp>

#include <cxxabi.h>

#include <algorithm>

namespace assent {
namespace {

constexpr std::size_t error_text_max = 2000;

std::string safe_error(std::string_view text) {
    return safe_to_show(capped(text, error_text_max), Lines::keep).text;
}

// Members that the schema gives a default and the model left out.
Result<Arguments> with_defaults(const Tool& tool, const Arguments& arguments, const JsonLimits& limits) {
    if (tool.spec().schema.empty()) return arguments;
    const auto schema = JsonText::parse(tool.spec().schema);
    if (!schema) return arguments;
    const auto* properties = schema->root().find("properties");
    if (properties == nullptr || properties->kind != JsonNode::Kind::object) return arguments;
    std::string missing;
    for (std::size_t i = 0; i < properties->keys.size(); ++i) {
        const auto* value = properties->items[i].find("default");
        if (value == nullptr || arguments.find(properties->keys[i]) != nullptr) continue;
        missing += (missing.empty() ? "{" : ",") + json_quote(properties->keys[i]) + ":" + std::string(value->text);
    }
    if (missing.empty()) return arguments;
    const auto additions = Arguments::parse(missing + "}");
    if (!additions) return additions.failure();
    return lay_over(arguments, *additions, limits);
}

GuardedCall guarded(const std::string& thread_id, const journal::Call& call, const Tool* tool,
                    const Arguments& arguments) {
    GuardedCall seen{.thread = thread_id,
                     .turn = call.ref.turn,
                     .position = call.ref.position,
                     .tool = tool,
                     .tool_name = call.tool,
                     .arguments = &arguments};
    if (call.proposed.id) seen.tool_call_id = *call.proposed.id;
    return seen;
}

ToolContext context_of(const journal::Call& call, const Tool* tool, Arguments arguments) {
    ToolContext context{.tool = tool, .tool_name = call.tool, .arguments = std::move(arguments)};
    if (call.proposed.id) context.tool_call_id = *call.proposed.id;
    return context;
}

Judgement judge_safely(Guard& guard, const std::string& name, const GuardedCall& call) {
    try {
        auto judgement = guard.judge(call);
        if (judgement.verdict == Verdict::ask && !judgement.question) {
            return {.verdict = Verdict::deny, .reason = "the guard " + name + " asked without a question"};
        }
        return judgement;
    } catch (const abi::__forced_unwind&) {
        throw;
    } catch (const std::exception& error) {
        return {.verdict = Verdict::deny, .reason = "the guard " + name + " failed: " + safe_error(error.what())};
    } catch (...) {
        return {.verdict = Verdict::deny, .reason = "the guard " + name + " failed"};
    }
}

}  // namespace

Judge::Judge(const GateOptions& options)
    : middleware_(options.middleware),
      owned_guards_(options.guards),
      limits_(options.json_limits),
      use_by_ms_(options.use_by_ms) {
    for (const auto& tool : options.tools) {
        if (tool == nullptr) throw ConfigError("a tool of the agent is null");
        const auto& schema = tool->spec().schema;
        const KnownTool known{.tool = tool, .schema_digest = schema.empty() ? std::string() : hex(sha256(schema))};
        if (!tools_.emplace(tool->spec().name, known).second) {
            throw ConfigError("two tools are called " + tool->spec().name);
        }
        if (!schema.empty()) {
            if (auto good = check_schema_text(schema); !good) {
                throw ConfigError("the schema of tool " + tool->spec().name +
                                  " cannot be used: " + good.failure().message);
            }
        }
    }
    for (const auto& middleware : middleware_) {
        if (middleware == nullptr) throw ConfigError("a middleware of the agent is null");
        if (auto* guard = dynamic_cast<Guard*>(middleware.get())) add_guard(guard);
    }
    for (const auto& guard : owned_guards_) {
        if (guard == nullptr) throw ConfigError("a guard of the agent is null");
        add_guard(guard.get());
    }
    refuse_unguarded_commands();
}

// Path permissions that a command walks round would only look like protection.
void Judge::refuse_unguarded_commands() const {
    const bool paths_kept =
        std::any_of(tools_.begin(), tools_.end(),
                    [](const auto& known) { return known.second.tool->spec().keeps_permissions; }) ||
        std::any_of(guards_.begin(), guards_.end(), [](const Named& known) { return known.guard->judges_paths(); });
    if (!paths_kept) return;
    for (const auto& [name, known] : tools_) {
        if (!known.tool->spec().runs_commands) continue;
        const bool covered =
            std::any_of(guards_.begin(), guards_.end(), [&](const Named& guard) { return guard.guard->covers(name); });
        if (!covered)
            throw ConfigError("the tool " + name +
                              " runs commands, which do not keep the path permissions of this agent; add a guard that "
                              "asks about it or denies it, or leave it out");
    }
}

void Judge::add_guard(Guard* guard) {
    const auto taken = [this](const std::string& name) {
        return std::any_of(guards_.begin(), guards_.end(), [&](const Named& known) { return known.name == name; });
    };
    auto name = guard->name();
    // Several lists of rules need no names of their own: they are told apart by their order.
    if (name == ToolInterruptMiddleware::default_name && dynamic_cast<ToolInterruptMiddleware*>(guard) != nullptr) {
        for (int i = 2; taken(name); ++i) name = guard->name() + "-" + std::to_string(i);
    }
    if (taken(name)) throw ConfigError("two guards are called " + name + "; give each a name of its own");
    for (const auto& tool : guard->tools_named()) {
        if (!tools_.contains(tool))
            throw ConfigError("the guard " + name + " names the tool " + tool + ", which does not exist");
    }
    guards_.push_back({guard, std::move(name)});
}

Result<Arguments> Judge::checked(const Tool& tool, std::string text) const {
    auto arguments = Arguments::parse(std::move(text), limits_);
    if (!arguments) return arguments;
    if (tool.spec().schema.empty()) return arguments;
    if (auto good = check_schema(tool.spec().schema, *arguments); !good) return good.failure();
    return arguments;
}

journal::Event Judge::prepare(const journal::Call& call) const {
    const auto refuse = [&](const std::string& text) {
        return journal::Refused{.call = call.ref, .text = "Error: " + text};
    };
    const auto tool = this->tool(call.proposed.tool);
    if (tool == nullptr) return refuse("there is no tool called " + safe_error(call.proposed.tool) + "; nothing ran");
    if (!call.proposed.arguments_hex.empty()) {
        return refuse("invalid arguments for " + call.tool + ": the json text is not valid utf-8; nothing ran");
    }
    auto arguments = checked(*tool, call.proposed.arguments);
    if (arguments) arguments = with_defaults(*tool, *arguments, limits_);
    if (!arguments)
        return refuse("invalid arguments for " + call.tool + ": " + arguments.failure().message + "; nothing ran");
    for (const auto& middleware : middleware_) {
        if (dynamic_cast<Guard*>(middleware.get()) != nullptr) continue;
        try {
            auto replaced = middleware->before_tool(context_of(call, tool.get(), *arguments));
            if (!replaced) continue;
            arguments = checked(*tool, replaced->text());
        } catch (const abi::__forced_unwind&) {
            throw;
        } catch (const ToolDeniedError& error) {
            return journal::Judged{.call = call.ref, .verdict = Verdict::deny, .text = safe_error(error.what())};
        } catch (const std::exception& error) {
            return refuse(safe_error(error.what()));
        } catch (...) {
            return refuse("a middleware failed before " + call.tool + "; nothing ran");
        }
        if (!arguments) {
            return refuse("a middleware gave invalid arguments for " + call.tool + ": " + arguments.failure().message +
                          "; nothing ran");
        }
    }
    return journal::Prepared{.call = call.ref, .arguments = arguments->text()};
}

std::string Judge::check_edited(const journal::Call& call) const {
    const auto tool = this->tool(call.tool);
    if (tool == nullptr) return "Error: there is no tool called " + safe_error(call.tool) + "; nothing ran";
    const auto arguments = checked(*tool, call.arguments);
    if (arguments) return {};
    return "Error: invalid arguments for " + call.tool + ": " + arguments.failure().message + "; nothing ran";
}

Ruling Judge::rule(const std::string& thread_id, const journal::Call& call, UnixMillis now) const {
    Ruling ruling{.judged = {.call = call.ref, .verdict = Verdict::allow}};
    const auto tool = this->tool(call.tool);
    const auto arguments = Arguments::parse(call.arguments, limits_);
    if (tool == nullptr || !arguments) {
        ruling.judged.verdict = Verdict::deny;
        ruling.judged.text = denial_text(call.tool, "the call can no longer be judged");
        return ruling;
    }
    const auto seen = guarded(thread_id, call, tool.get(), *arguments);
    int ask_no = call.asks;
    std::string denial;
    for (const auto& [guard, name] : guards_) {
        const auto judgement = judge_safely(*guard, name, seen);
        ruling.judged.guards.push_back({name, guard->version(), judgement.verdict, judgement.reason});
        const bool answered = std::find(call.satisfied.begin(), call.satisfied.end(), name) != call.satisfied.end();
        if (judgement.verdict == Verdict::ask && answered) continue;
        if (judgement.verdict == Verdict::deny && ruling.judged.verdict != Verdict::deny)
            denial = judgement.told.empty() ? denial_text(call.tool, judgement.reason) : judgement.told;
        ruling.judged.verdict = std::max(ruling.judged.verdict, judgement.verdict);
        if (judgement.verdict != Verdict::ask) continue;
        ++ask_no;
        journal::Asked asked{.call = call.ref,
                             .ask_no = ask_no,
                             .tool = call.tool,
                             .arguments = call.arguments,
                             .guard = name,
                             .guard_version = guard->version(),
                             .reason = judgement.reason,
                             .question = *judgement.question,
                             .binding = binding_of(thread_id, call, ask_no, name, guard->version()),
                             .schema = schema_digest(call.tool),
                             .use_by_ms = use_by_ms_};
        if (judgement.question->timeout_ms) asked.deadline = now + *judgement.question->timeout_ms;
        ruling.asks.push_back(std::move(asked));
    }
    if (ruling.judged.verdict == Verdict::deny) {
        ruling.asks.clear();
        ruling.judged.text = denial;
    }
    return ruling;
}

bool Judge::outdated(const journal::Call& call) const {
    return call.verdicts.size() != guards_.size() ||
           std::any_of(guards_.begin(), guards_.end(),
                       [&](const Named& known) { return has_changed(call, known.name); });
}

journal::Call Judge::without_outdated_answers(const journal::Call& call) const {
    auto current = call;
    std::erase_if(current.satisfied, [&](const auto& guard) { return has_changed(call, guard); });
    return current;
}

bool Judge::has_changed(const journal::Call& call, const std::string& name) const {
    const auto guard =
        std::find_if(guards_.begin(), guards_.end(), [&](const Named& known) { return known.name == name; });
    const auto stored = std::find_if(call.verdicts.begin(), call.verdicts.end(),
                                     [&](const auto& verdict) { return verdict.guard == name; });
    return guard == guards_.end() || stored == call.verdicts.end() || stored->version != guard->guard->version();
}

ToolResult Judge::after(const journal::Call& call, ToolResult result) const {
    const auto tool = this->tool(call.tool);
    const auto arguments = Arguments::parse(call.arguments, limits_);
    if (!arguments) return result;
    auto context = context_of(call, tool.get(), *arguments);
    const auto edit = std::find_if(call.approvals.rbegin(), call.approvals.rend(),
                                   [](const journal::Ask& ask) { return ask.state == ApprovalState::edited; });
    if (edit != call.approvals.rend()) context.edited_by = edit->asked.guard;
    for (auto at = middleware_.rbegin(); at != middleware_.rend(); ++at) {
        try {
            if (auto changed = (*at)->after_tool(context, result)) result = std::move(*changed);
        } catch (const abi::__forced_unwind&) {
            throw;
        } catch (const std::exception& error) {
            // The tool has run: its result must not be lost to a hook.
            result.text += "\n(a hook after the tool failed: " + safe_error(error.what()) + ")";
        } catch (...) {
            result.text += "\n(a hook after the tool failed)";
        }
    }
    return result;
}

std::shared_ptr<Tool> Judge::tool(std::string_view name) const {
    const auto found = tools_.find(name);
    return found == tools_.end() ? nullptr : found->second.tool;
}

Receipt Judge::receipt(const journal::Call& call) const {
    const auto tool = this->tool(call.tool);
    const auto arguments = Arguments::parse(call.arguments, limits_);
    if (tool == nullptr || !arguments) return {};
    try {
        return tool->receipt(call.attempts.back().id, *arguments);
    } catch (const abi::__forced_unwind&) {
        throw;
    } catch (const std::exception& error) {
        return {.known = "its receipt cannot be read: " + safe_error(error.what())};
    } catch (...) {
        return {.known = "its receipt cannot be read"};
    }
}

void Judge::drop_receipt(std::string_view name, const std::string& attempt) const {
    const auto tool = this->tool(name);
    if (tool == nullptr) return;
    try {
        tool->drop_receipt(attempt);
    } catch (const abi::__forced_unwind&) {
        throw;
    } catch (...) {  // NOLINT(bugprone-empty-catch): said below
        // What is left over is tried again when the thread is next taken.
    }
}

std::string Judge::schema_digest(const std::string& name) const {
    const auto found = tools_.find(name);
    return found == tools_.end() ? std::string() : found->second.schema_digest;
}

std::vector<std::pair<std::string, std::string>> Judge::schemas() const {
    std::vector<std::pair<std::string, std::string>> all;
    for (const auto& [name, known] : tools_) {
        if (!known.schema_digest.empty()) all.emplace_back(known.schema_digest, known.tool->spec().schema);
    }
    return all;
}

std::vector<journal::KnownTool> Judge::known_tools() const {
    std::vector<journal::KnownTool> known;
    for (const auto& [name, tool] : tools_) known.push_back({name, tool.schema_digest});
    return known;
}

}  // namespace assent
