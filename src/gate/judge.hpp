// Preparing calls and asking every guard. No store, no clock: what it says is then appended.
#pragma once

#include "journal/thread.hpp"

#include <assent/gate.hpp>

#include <map>
#include <string>
#include <variant>
#include <vector>

namespace assent {

/// The ruling on one call: its `judged` event and the questions that go with it.
struct Ruling {
    journal::Judged judged;
    std::vector<journal::Asked> asks;
};

class Judge {
public:
    /// Throws ConfigError, see Gate.
    explicit Judge(const GateOptions& options);

    /// The event that prepares a proposed call: `Prepared`, `Refused`, or a denying `Judged`.
    [[nodiscard]] journal::Event prepare(const journal::Call& call) const;
    /// Checks what a person edited. Empty: fine; else the error for the model.
    [[nodiscard]] std::string check_edited(const journal::Call& call) const;
    /// The strictest of all guards' verdicts. Guards whose question was answered for these arguments
    /// may deny but not ask again.
    [[nodiscard]] Ruling rule(const std::string& thread_id, const journal::Call& call, UnixMillis now) const;
    /// True if a guard of the stored verdicts has another version now, came or went.
    [[nodiscard]] bool outdated(const journal::Call& call) const;
    /// The call with the answers that were given to guards as they still are: what a person answered to another
    /// version of a guard does not satisfy this one.
    [[nodiscard]] journal::Call without_outdated_answers(const journal::Call& call) const;

    /// Runs `after_tool` of all middleware, last first.
    [[nodiscard]] ToolResult after(const journal::Call& call, ToolResult result) const;
    [[nodiscard]] std::shared_ptr<Tool> tool(std::string_view name) const;
    /// What the tool of a call still knows of its newest start. May wait, see Tool::receipt.
    [[nodiscard]] Receipt receipt(const journal::Call& call) const;
    /// Lets the tool drop the receipt of a start whose end is on record.
    void drop_receipt(std::string_view tool, const std::string& attempt) const;
    [[nodiscard]] std::string schema_digest(const std::string& tool) const;
    /// Digest and text of the schemas of these tools.
    [[nodiscard]] std::vector<std::pair<std::string, std::string>> schemas() const;
    [[nodiscard]] std::vector<journal::KnownTool> known_tools() const;

private:
    struct Named {
        Guard* guard;
        std::string name;
    };
    void add_guard(Guard* guard);
    void refuse_unguarded_commands() const;
    // True if this guard has another version than when it judged the call, or is not there any more.
    [[nodiscard]] bool has_changed(const journal::Call& call, const std::string& guard) const;
    [[nodiscard]] Result<Arguments> checked(const Tool& tool, std::string text) const;

    struct KnownTool {
        std::shared_ptr<Tool> tool;
        std::string schema_digest;  ///< Hex; empty: any object.
    };

    std::map<std::string, KnownTool, std::less<>> tools_;
    std::vector<std::shared_ptr<Middleware>> middleware_;
    std::vector<Named> guards_;
    std::vector<std::shared_ptr<Guard>> owned_guards_;
    JsonLimits limits_;
    std::optional<std::int64_t> use_by_ms_;
};

}  // namespace assent
