// Code around tool calls: replacements before a call is judged, changes of a result after it ran.
//
// Thread-safety: called by the thread that runs the agent; not for two calls of one turn at once.
#pragma once

#include <assent/arguments.hpp>
#include <assent/tool.hpp>

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace assent {

/// The call as a middleware sees it.
struct ToolContext {
    const Tool* tool = nullptr;  ///< May be null when called directly.
    std::string_view tool_name;
    std::optional<std::string_view> tool_call_id;
    Arguments arguments;
    /// After the tool ran: the guard whose approval a person answered with an edit, which is what ran. Empty:
    /// it ran as the model proposed it.
    std::string_view edited_by;
    /// Asks a person and returns the answer as JSON text. `payload` is the style's own question, `id`
    /// its interrupt id. Inside an agent the engine asks instead and this is empty.
    std::function<std::string(const std::string& payload, const std::string& id)> interrupt;
};

class Middleware {
public:
    virtual ~Middleware() = default;
    /// Runs once per call, in list order, before any guard judges. Returns the arguments to go on
    /// with, or nothing. What it returns is recorded and is what guards judge and reviewers see.
    /// An exception ends the call with an error result.
    virtual std::optional<Arguments> before_tool(const ToolContext& context) {
        (void)context;
        return std::nullopt;
    }
    /// Runs after a body returned, in reverse list order. Returns the result to go on with, or
    /// nothing. Not called for calls that did not run.
    virtual std::optional<ToolResult> after_tool(const ToolContext& context, const ToolResult& result) {
        (void)context, (void)result;
        return std::nullopt;
    }
};

}  // namespace assent
