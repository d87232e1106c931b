#include "base/display.hpp"
#include "base/mutation.hpp"
#include "base/test_point.hpp"
#include "gate/permit_state.hpp"
#include "gate/recorded.hpp"

#include <cxxabi.h>

#include <algorithm>
#include <stdexcept>

namespace assent {
namespace {

constexpr std::size_t error_text_max = 2000;

bool good_name(std::string_view name) {
    constexpr std::string_view allowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";
    return !name.empty() && name.size() <= 64 && name.find_first_not_of(allowed) == std::string_view::npos;
}

ToolResult failed(std::string_view why) {
    return {.text = "Error: " + safe_to_show(capped(why, error_text_max), Lines::keep).text, .is_error = true};
}

}  // namespace

Permit::Permit(std::unique_ptr<State> state) noexcept : state_(std::move(state)) {}
Permit::Permit(Permit&&) noexcept = default;
Permit::~Permit() = default;

std::string_view Permit::tool() const noexcept {
    return state_ ? std::string_view(state_->tool) : std::string_view();
}
std::string_view Permit::attempt() const noexcept {
    return state_ ? std::string_view(state_->attempt) : std::string_view();
}

const Arguments& ApprovedCall::arguments() const noexcept {
    return state_->arguments;
}
std::string_view ApprovedCall::attempt() const noexcept {
    return state_->attempt;
}
std::string_view ApprovedCall::idempotency_key() const noexcept {
    return state_->idempotency_key;
}
std::optional<std::string_view> ApprovedCall::approved_paths(std::string_view path_rules) const noexcept {
    const auto found = std::ranges::find(state_->approved_paths, path_rules, &Permit::State::ApprovedPaths::path_rules);
    if (found == state_->approved_paths.end()) return std::nullopt;
    return found->details;
}
ThreadFiles& ApprovedCall::files() const noexcept {
    return *state_->files;
}
std::stop_token ApprovedCall::stop_token() const noexcept {
    return state_->stop;
}

Tool::Tool(ToolSpec spec) : spec_(std::move(spec)) {
    if (!good_name(spec_.name)) {
        throw ConfigError("a tool's name must have 1 to 64 ASCII letters, digits, _, - or .");
    }
    if (!spec_.schema.empty() && !Arguments::parse(spec_.schema)) {
        throw ConfigError("the schema of tool " + spec_.name + " is no json object");
    }
}

Tool::~Tool() = default;

Outcome Tool::start(Permit&& permit) {
    // Taken out first: whatever happens below, this permit is spent.
    const auto state = std::move(permit.state_);
    if (!state) throw std::logic_error("a permit can be spent only once");
    Outcome outcome{.attempt = state->attempt};
    if (state->tool != spec_.name && !mutated(Rule::one_door)) {
        outcome.result = failed("the permit is for another tool");
        return outcome;
    }
    if (state->arguments.sha256() != state->sha256) {
        outcome.result = failed("the arguments are not the approved ones");
        return outcome;
    }
    if (state->stop.stop_requested()) {
        outcome.result = failed("the run was cancelled before the tool started");
        return outcome;
    }
    if (state->clock->monotonic() > state->start_by) {
        outcome.result = failed("the tool was not started in time");
        return outcome;
    }
    outcome.started = true;
    test_point("tool:start");
    try {
        outcome.result = run(ApprovedCall(*state));
    } catch (const abi::__forced_unwind&) {
        throw;  // the thread is being cancelled; swallowing this ends the process
    } catch (const std::exception& error) {
        outcome.result = failed(error.what());
    } catch (...) {
        outcome.result = failed("the tool failed");
    }
    test_point("tool:end");
    outcome.kind = outcome_of(outcome.result);
    return outcome;
}

Receipt Tool::receipt(const std::string&, const Arguments&) {
    return {};
}

void Tool::drop_receipt(const std::string&) {}

}  // namespace assent
