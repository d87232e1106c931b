#include "cli/settings.hpp"

#include "cli/closed_places.hpp"
#include "cli/json_out.hpp"
#include "cli/model_choice.hpp"

#include <assent/ask_user.hpp>
#include <assent/built_in_guard.hpp>
#include <assent/tools.hpp>

#include <charconv>

namespace assent::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view script_scheme = "script:";

// Reads members of the record. What is not there keeps its default; what is there and is not of its kind
// makes the whole record unreadable: a limit that was lost must not become none.
class Record {
public:
    explicit Record(const JsonNode& object) : object_(object) {}

    [[nodiscard]] bool good() const noexcept { return good_; }

    void text(std::string_view key, std::string& value) {
        if (const auto* found = member(key, JsonNode::Kind::string)) value = found->string;
    }
    void texts(std::string_view key, std::vector<std::string>& values) {
        const auto* found = member(key, JsonNode::Kind::array);
        if (found == nullptr) return;
        for (const auto& item : found->items) {
            good_ = good_ && item.kind == JsonNode::Kind::string;
            values.push_back(item.string);
        }
    }
    template <class Number>
    void number(std::string_view key, Number& value) {
        const auto* found = member(key, JsonNode::Kind::number);
        if (found == nullptr) return;
        const auto* end = found->text.data() + found->text.size();
        const auto [stopped, error] = std::from_chars(found->text.data(), end, value);
        good_ = good_ && error == std::errc() && stopped == end;
    }
    void number_or_null(std::string_view key, std::optional<std::int64_t>& value) {
        const auto* found = object_.find(key);
        if (found != nullptr && found->kind == JsonNode::Kind::null) {
            value.reset();
        } else if (found != nullptr) {
            number(key, value.emplace());
        }
    }

private:
    const JsonNode* member(std::string_view key, JsonNode::Kind kind) {
        const auto* found = object_.find(key);
        if (found == nullptr || found->kind == kind) return found;
        good_ = false;
        return nullptr;
    }

    const JsonNode& object_;
    bool good_ = true;
};

}  // namespace

std::string RunSettings::json() const {
    JsonObject json;
    json.number("version", 1).text("model", model);
    if (!base_url.empty()) json.text("base_url", base_url);
    json.text("workspace", workspace);
    json.raw("ask", json_texts(names.ask)).raw("allow", json_texts(names.allow)).raw("deny", json_texts(names.deny));
    if (!writable.empty()) json.raw("writable", json_texts(writable));
    json.number("max_turns", max_turns).number("max_calls", max_calls).number("lease_seconds", lease_seconds);
    if (use_by_ms) {
        json.number("use_by_ms", *use_by_ms);
    } else {
        json.null("use_by_ms");
    }
    return json.str();
}

Result<RunSettings> RunSettings::read(const std::string& json) {
    const auto parsed = JsonText::parse(json);
    const JsonNode nothing;
    Record record(parsed ? parsed->root() : nothing);
    int version = 0;
    record.number("version", version);
    if (!record.good() || version != 1) {
        return Failure{FailureKind::database,
                       "the thread was not made by this program; resume it with the program that made it"};
    }
    RunSettings settings;
    record.text("model", settings.model);
    record.text("base_url", settings.base_url);
    record.text("workspace", settings.workspace);
    record.texts("ask", settings.names.ask);
    record.texts("allow", settings.names.allow);
    record.texts("deny", settings.names.deny);
    record.texts("writable", settings.writable);
    record.number("max_turns", settings.max_turns);
    record.number("max_calls", settings.max_calls);
    record.number("lease_seconds", settings.lease_seconds);
    record.number_or_null("use_by_ms", settings.use_by_ms);
    if (!record.good()) {
        return Failure{FailureKind::database,
                       "what the thread runs with cannot be read; the database is damaged or "
                       "was written by a newer version"};
    }
    return settings;
}

Result<std::optional<std::int64_t>> read_duration_ms(const std::string& text) {
    if (text == "never") return std::optional<std::int64_t>();
    std::int64_t value = 0;
    const auto* end = text.data() + text.size();
    const auto [stopped, error] = std::from_chars(text.data(), end, value);
    const std::string_view unit(stopped, static_cast<std::size_t>(end - stopped));
    std::int64_t factor = 0;
    if (unit.empty() || unit == "s") factor = 1000;
    if (unit == "m") factor = 60'000;
    if (unit == "h") factor = 3'600'000;
    if (unit == "d") factor = 86'400'000;
    constexpr std::int64_t days_max = 3650;
    if (error != std::errc() || factor == 0 || value < 0 || value > days_max * 86'400'000 / factor) {
        return Failure{FailureKind::usage, "a duration is a number with s, m, h or d, or never, not " + text};
    }
    return std::optional(value * factor);
}

Result<RunSettings> lay_options_over(RunSettings settings, const RunOptions& options) {
    std::error_code error;
    if (options.model) {
        // The address of one service is not told to the other, nor its key sent there.
        if (service_of(*options.model) != service_of(settings.model)) settings.base_url.clear();
        settings.model = *options.model;
        if (settings.model.starts_with(script_scheme)) {
            const auto path = fs::absolute(settings.model.substr(script_scheme.size()), error);
            settings.model = std::string(script_scheme) + path.lexically_normal().string();
        }
    }
    if (options.base_url) settings.base_url = *options.base_url;
    if (options.workspace || settings.workspace.empty()) {
        settings.workspace = fs::absolute(options.workspace.value_or("."), error).lexically_normal().string();
    }
    if (!options.ask.empty()) settings.names.ask = options.ask;
    if (!options.allow.empty()) settings.names.allow = options.allow;
    if (!options.deny.empty()) settings.names.deny = options.deny;
    if (!options.writable.empty()) {
        settings.writable.clear();
        for (const auto& folder : options.writable) settings.writable.push_back(fs::absolute(folder, error).string());
    }
    if (options.max_turns) settings.max_turns = *options.max_turns;
    if (options.max_calls) settings.max_calls = *options.max_calls;
    if (options.lease) settings.lease_seconds = *options.lease;
    if (options.use_by) {
        auto use_by = read_duration_ms(*options.use_by);
        if (!use_by) return Failure{FailureKind::usage, "--use-by: " + use_by.failure().message};
        settings.use_by_ms = *use_by;
    }
    if (settings.max_turns < 1 || settings.max_calls < 0 || settings.lease_seconds < 1) {
        return Failure{FailureKind::usage, "--max-turns and --lease take a number above 0, --max-calls one from 0"};
    }
    return settings;
}

Result<AgentOptions> agent_options(const Context& context, const RunSettings& settings) {
    auto model = make_model({settings.model, settings.base_url});
    if (!model) return model.failure();
    auto workspace = Workspace::open(settings.workspace);
    if (!workspace) return workspace.failure();
    if (auto outside = check_outside(context, workspace->path()); !outside) return outside.failure();
    for (const auto& folder : settings.writable) {
        std::error_code error;
        const auto real = fs::canonical(folder, error);
        if (error || !fs::is_directory(real, error))
            return Failure{FailureKind::usage, "--writable " + folder + " is no folder; make it first"};
        if (auto outside = check_outside(context, real); !outside) return outside.failure();
    }
    const auto closed = closed_paths(context);
    ShellOptions shell{.workspace = *workspace, .closed = closed, .writable = settings.writable};
    if (context.durable()) shell.receipts = context.receipts_path().string();
    if (auto there = check_shell(shell); !there) return there.failure();
    AgentOptions options{.model = std::move(model).value(),
                         .tools = {read_file_tool(*workspace), write_file_tool(*workspace), edit_file_tool(*workspace),
                                   delete_file_tool(*workspace), ls_tool(*workspace), glob_tool(*workspace),
                                   grep_tool(*workspace), shell_tool(shell), ask_user_tool(), confirm_tool()},
                         .guards = {std::make_shared<ProgramGuard>(settings.names),
                                    built_in_guard({workspace->path(), home_folder().string(), closed})},
                         .checkpointer = &context.store(),
                         .turns_max = settings.max_turns,
                         .calls_max = settings.max_calls,
                         .use_by_ms = settings.use_by_ms,
                         .start_within_ms = std::int64_t{settings.lease_seconds} * 1000,
                         .settings = settings.json()};
    return options;
}

}  // namespace assent::cli
