// approve, deny, edit, respond, resolve, abort, judge: one answer or question from the command line.
#pragma once

#include "cli/context.hpp"
#include "cli/settings.hpp"

#include <optional>
#include <string>
#include <vector>

namespace assent::cli {

struct AnswerOptions {
    std::string id;
    std::string thread;
    std::string message;
    std::string digest;
    std::string tool;                 ///< edit
    std::vector<std::string> set;     ///< edit: key=JSON
    std::optional<std::string> args;  ///< edit: all arguments
};
int answer_command(Context& context, DecisionKind kind, const AnswerOptions& options);

struct ResolveOptions {
    std::string id;
    std::string thread;
    std::optional<std::string> done;
    bool retry = false;
    std::optional<std::string> fail;
};
int resolve_command(Context& context, const ResolveOptions& options);

int abort_command(Context& context, const std::string& thread, const std::string& reason);

/// What would happen to a call, without a thread.
int judge_command(Context& context, const RunOptions& options, const std::string& tool, const std::string& arguments);

}  // namespace assent::cli
