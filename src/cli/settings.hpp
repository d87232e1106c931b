// What a thread runs with: given by options, recorded with the thread, read back by resume.
#pragma once

#include "cli/context.hpp"
#include "cli/program_guard.hpp"

#include <assent/agent.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace assent::cli {

/// Options of `run` and `resume` as given; what is not given comes from the thread's record.
struct RunOptions {
    std::optional<std::string> model;
    std::optional<std::string> base_url;
    std::optional<std::string> workspace;
    std::vector<std::string> ask;
    std::vector<std::string> allow;
    std::vector<std::string> deny;
    std::vector<std::string> writable;
    std::optional<int> max_turns;
    std::optional<int> max_calls;
    std::optional<std::string> use_by;
    std::optional<int> lease;
    std::vector<std::string> answers;
    std::string decisions;  ///< Resume: JSON text of decisions about what is open; empty: none.
    std::string thread;
    bool abort_open = false;
    bool queue = false;
    std::string idempotency_key;
    std::string notify;  ///< A command of the host's, not recorded.
};

/// The recorded form.
struct RunSettings {
    std::string model;
    std::string base_url;   ///< Of a service; never a key.
    std::string workspace;  ///< Absolute.
    ToolNames names;
    std::vector<std::string> writable;  ///< Absolute.
    int max_turns = 50;
    int max_calls = 200;
    std::optional<std::int64_t> use_by_ms = 24LL * 60 * 60 * 1000;
    int lease_seconds = 10;

    [[nodiscard]] std::string json() const;
    /// Failure kind `database` if it is no such record.
    static Result<RunSettings> read(const std::string& json);
};

/// `recorded` with the options laid over; paths become absolute. Failure kind `usage`.
Result<RunSettings> lay_options_over(RunSettings recorded, const RunOptions& options);

/// The agent that these settings describe. Failure kinds usage (a workspace that holds the database or
/// the configuration, a wrong script) and tool (workspace missing).
Result<AgentOptions> agent_options(const Context& context, const RunSettings& settings);

/// "90s", "3m", "24h", "7d", a number of seconds, or "never" (none). Failure kind `usage`.
Result<std::optional<std::int64_t>> read_duration_ms(const std::string& text);

}  // namespace assent::cli
