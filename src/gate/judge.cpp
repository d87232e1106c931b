#include "gate/judge.hpp"

#include "base/display.hpp"
#include "base/json_schema.hpp"
#include "base/mutation.hpp"
#include "base/sha256.hpp"
#include "gate/binding.hpp"
#include "gate/question_tool.hpp"
#include "policy/policy_texts.hpp"

#include <assent/interrupt_on.hpp>
#include <assent/policy.hpp>
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

// A call that is a question. `prepare` has seen that it asks something.
journal::Asked question_of(const QuestionTool& tool, const journal::Call& call, const Arguments& arguments, int ask_no,
                           const RunContext& run) {
    auto question = tool.question(arguments, run.timeout_ms);
    if (question) question->interrupt_id = call.proposed.id.value_or("");
    return {.call = call.ref,
            .ask_no = ask_no,
            .kind = tool.kind(),
            .guard = tool.spec().name,
            .guard_version = "1",
            .reason = "the agent asks a person",
            .question = question ? *question : Question{.allowed = {DecisionKind::deny}},
            .answers_call = true};
}

InterruptOnMiddleware* as_table(Guard* guard) {
    return dynamic_cast<InterruptOnMiddleware*>(guard);
}

Judgement failed(std::string reason) {
    return {.verdict = Verdict::deny, .reason = std::move(reason), .failed = true};
}

Judgement judge_safely(Guard& guard, const std::string& name, const GuardedCall& call) {
    try {
        auto judgement = guard.judge(call);
        if (judgement.verdict == Verdict::ask && !judgement.question) {
            return failed("the guard " + name + " asked without a question");
        }
        return judgement;
    } catch (const abi::__forced_unwind&) {
        throw;
    } catch (const std::exception& error) {
        if (mutated(Rule::closed_in_doubt)) return {.verdict = Verdict::allow};
        return failed("the guard " + name + " failed: " + safe_error(error.what()));
    } catch (...) {
        return failed("the guard " + name + " failed");
    }
}

}  // namespace

Judge::Judge(const GateOptions& options)
    : limits_(options.json_limits), use_by_ms_(options.use_by_ms), paths_kept_above_(options.paths_kept_above) {
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
    for (const auto& agent : options.inherited) {
        const auto first = guards_.size();
        for (const auto& guard : agent) inherit(guard);
        join(first);
    }
    inherited_ = guards_.size();
    for (const auto& middleware : options.middleware) {
        if (middleware == nullptr) throw ConfigError("a middleware of the agent is null");
        auto* guard = dynamic_cast<Guard*>(middleware.get());
        if (guard != nullptr && is_inherited(guard)) continue;
        middleware_.push_back(middleware);
        if (guard != nullptr) add_guard(guard, options.tools_below);
    }
    for (const auto& guard : options.guards) {
        if (guard == nullptr) throw ConfigError("a guard of the agent is null");
        if (is_inherited(guard.get())) continue;
        owned_guards_.push_back(guard);
        add_guard(guard.get(), options.tools_below);
    }
    join(inherited_);
    refuse_unguarded_commands();
}

// Path permissions that a command walks round would only look like protection.
void Judge::refuse_unguarded_commands() const {
    const bool paths_kept =
        paths_kept_above_ ||
        std::any_of(tools_.begin(), tools_.end(),
                    [](const auto& known) { return known.second.tool->spec().keeps_permissions; }) ||
        std::any_of(guards_.begin(), guards_.end(),
                    [](const Named& known) { return !known.guard->path_rules().empty(); });
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

// The agents above have checked it. What it does after a call it does here too.
void Judge::inherit(const std::shared_ptr<Guard>& guard) {
    const auto is_same = [&](const Named& known) { return known.guard == guard.get(); };
    if (std::any_of(guards_.begin(), guards_.end(), is_same)) return;
    auto name = guard->name();
    for (int i = 2; is_taken(name); ++i) name = guard->name() + "-" + std::to_string(i);
    guards_.push_back({.guard = guard.get(), .name = std::move(name), .joined = {}});
    owned_guards_.push_back(guard);
    if (auto middleware = std::dynamic_pointer_cast<Middleware>(guard)) middleware_.push_back(std::move(middleware));
}

// One that is given to an agent and to its sub-agent judges once.
bool Judge::is_inherited(const Guard* guard) const {
    const auto above = guards_.begin() + static_cast<std::ptrdiff_t>(inherited_);
    return std::any_of(guards_.begin(), above, [&](const Named& known) { return known.guard == guard; });
}

bool Judge::is_taken(const std::string& name) const {
    return std::any_of(guards_.begin(), guards_.end(), [&](const Named& known) { return known.name == name; });
}

void Judge::add_guard(Guard* guard, const std::vector<std::string>& tools_below) {
    const auto above = guards_.begin() + static_cast<std::ptrdiff_t>(inherited_);
    auto name = guard->name();
    // Several lists of rules or policies need no names of their own: they are told apart by their order. So are a guard
    // of this agent and one of an agent above, which do not know of each other.
    const bool rules =
        name == ToolInterruptMiddleware::default_name && dynamic_cast<ToolInterruptMiddleware*>(guard) != nullptr;
    const bool policy =
        name == ApprovalPolicyMiddleware::default_name && dynamic_cast<ApprovalPolicyMiddleware*>(guard) != nullptr;
    const bool numbered =
        rules || policy || std::any_of(guards_.begin(), above, [&](const Named& known) { return known.name == name; });
    for (int i = 2; numbered && is_taken(name); ++i) name = guard->name() + "-" + std::to_string(i);
    if (is_taken(name)) throw ConfigError("two guards are called " + name + "; give each a name of its own");
    for (const auto& tool : guard->tools_named()) {
        if (!tools_.contains(tool) && std::ranges::find(tools_below, tool) == tools_below.end())
            throw ConfigError("the guard " + name + " names the tool " + tool + ", which does not exist");
    }
    guards_.push_back({.guard = guard, .name = std::move(name), .joined = {}});
}

// The table and the path permissions of one agent, whose guards stand from `first` on, ask as one guard.
void Judge::join(std::size_t first) {
    const auto begin = guards_.begin() + static_cast<std::ptrdiff_t>(first);
    const auto table = std::find_if(begin, guards_.end(), [](const Named& known) { return as_table(known.guard); });
    const auto paths =
        std::find_if(begin, guards_.end(), [](const Named& known) { return !known.guard->path_rules().empty(); });
    if (table == guards_.end() || paths == guards_.end() || table == paths) return;
    table->joined = paths - guards_.begin();
    paths->joined = table - guards_.begin();
}

std::string Judge::path_rules(std::string_view guard) const {
    const auto found = std::ranges::find(guards_, guard, &Named::name);
    return found == guards_.end() ? std::string() : found->guard->path_rules();
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
    if (const auto* asks = dynamic_cast<const QuestionTool*>(tool.get())) {
        if (auto question = asks->question(*arguments, std::nullopt); !question)
            return refuse("invalid arguments for " + call.tool + ": " + question.failure().message +
                          "; nobody was asked");
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

Ruling Judge::rule(const std::string& thread_id, const journal::Call& call, UnixMillis now, const RunContext& run,
                   ThreadFiles& files) const {
    Ruling ruling{.judged = {.call = call.ref, .verdict = Verdict::allow}};
    const auto tool = this->tool(call.tool);
    const auto arguments = Arguments::parse(call.arguments, limits_);
    if (tool == nullptr || !arguments) {
        ruling.judged.verdict = Verdict::deny;
        ruling.judged.text = denial_text(call.tool, "the call can no longer be judged");
        return ruling;
    }
    auto seen = guarded(thread_id, call, tool.get(), *arguments);
    seen.run = &run;
    seen.files = &files;
    Judgements asking(guards_.size());
    std::optional<Judgement> denial;
    for (std::size_t i = 0; i < guards_.size(); ++i) {
        const auto& [guard, name, joined] = guards_[i];
        const auto judgement = judge_safely(*guard, name, seen);
        ruling.judged.guards.push_back({name, guard->version(), judgement.verdict, judgement.reason});
        const bool answered = std::find(call.satisfied.begin(), call.satisfied.end(), name) != call.satisfied.end();
        if (judgement.verdict == Verdict::ask && answered) continue;
        if (judgement.verdict == Verdict::deny && !denial) denial = judgement;
        ruling.judged.verdict =
            mutated(Rule::strictest_wins) ? judgement.verdict : std::max(ruling.judged.verdict, judgement.verdict);
        if (judgement.verdict == Verdict::ask) asking[i] = judgement;
    }
    int ask_no = call.asks;
    for (std::size_t i = 0; i < guards_.size(); ++i) {
        auto asked = asking[i] ? asked_by(i, asking, seen) : std::nullopt;
        if (!asked) continue;
        asked->call = call.ref;
        asked->ask_no = ++ask_no;
        ruling.asks.push_back(std::move(*asked));
    }
    if (const auto* asks = dynamic_cast<const QuestionTool*>(tool.get()); asks != nullptr && !denial) {
        ruling.judged.verdict = Verdict::ask;
        ruling.asks.push_back(question_of(*asks, call, *arguments, ask_no + 1, run));
    }
    for (auto& asked : ruling.asks) {
        asked.tool = call.tool;
        asked.arguments = call.arguments;
        asked.binding = binding_of(thread_id, call, asked);
        asked.schema = schema_digest(call.tool);
        if (asked.question.timeout_ms) asked.deadline = now + *asked.question.timeout_ms;
    }
    if (denial) {
        ruling.asks.clear();
        const bool plain = denial->style == Style::policy;
        const auto usual = plain ? blocked_text(denial->reason) : denial_text(call.tool, denial->reason);
        ruling.judged.text = denial->told.empty() ? usual : denial->told;
        ruling.judged.style = denial->style;
        ruling.judged.failed = denial->failed;
    }
    return ruling;
}

// What people are asked for a guard that asks; nothing where the table asks for the path permissions too.
std::optional<journal::Asked> Judge::asked_by(std::size_t index, const Judgements& asking,
                                              const GuardedCall& call) const {
    const auto& [guard, name, joined] = guards_[index];
    const auto& own = *asking[index];
    journal::Asked asked{.guard = name,
                         .guard_version = guard->version(),
                         .reason = own.reason,
                         .question = *own.question,
                         .use_by_ms = use_by_ms_};
    if (!joined) return asked;
    const auto& [other, other_name, back] = guards_[*joined];
    const auto& also = asking[*joined];
    if (const auto* table = as_table(guard)) {
        if (!also) return asked;
        asked.reason += "; " + also->reason;
        asked.question = table->with_paths(call, &*own.question, *also);
        asked.also.push_back({.guard = other_name, .version = other->version()});
        return asked;
    }
    if (also) return std::nullopt;
    asked.question = as_table(other)->with_paths(call, nullptr, own);
    return asked;
}

bool Judge::outdated(const journal::Call& call) const {
    return call.verdicts.size() != guards_.size() ||
           std::any_of(guards_.begin(), guards_.end(),
                       [&](const Named& known) { return has_changed(call, known.name); });
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
    for (auto at = middleware_.rbegin(); at != middleware_.rend(); ++at) {
        const auto edited_by = this->edited_by(call, **at);
        context.edited_by = edited_by;
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

// The guard whose approval was answered with an edit, as `middleware` knows it: a guard that was numbered
// knows itself by its own name, and no other guard by that.
std::string Judge::edited_by(const journal::Call& call, const Middleware& middleware) const {
    const auto edit = std::find_if(call.approvals.rbegin(), call.approvals.rend(),
                                   [](const journal::Ask& ask) { return ask.state == ApprovalState::edited; });
    if (edit == call.approvals.rend()) return {};
    const auto& name = edit->asked.guard;
    const auto* guard = dynamic_cast<const Guard*>(&middleware);
    const auto own =
        std::find_if(guards_.begin(), guards_.end(), [&](const Named& known) { return known.guard == guard; });
    if (guard == nullptr || own == guards_.end()) return name;
    const bool for_both = own->joined && guards_[*own->joined].name == name && as_table(own->guard) != nullptr;
    if (own->name == name || for_both) return guard->name();
    return name == guard->name() ? std::string() : name;
}

bool Judge::delegates(std::string_view name) const {
    const auto tool = this->tool(name);
    return tool != nullptr && tool->spec().delegates;
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
