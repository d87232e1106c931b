// Preparing calls and asking every guard. No store, no clock: what it says is then appended.
#pragma once

#include "journal/thread.hpp"

#include <assent/gate.hpp>

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
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
    /// may deny but not ask again. `files` are the thread's, to look at.
    [[nodiscard]] Ruling rule(const std::string& thread_id, const journal::Call& call, UnixMillis now,
                              const RunContext& run, ThreadFiles& files) const;
    /// True if a guard of the stored verdicts has another version now, came or went.
    [[nodiscard]] bool outdated(const journal::Call& call) const;
    /// True if this guard has another version than when it judged the call, or is not there any more.
    [[nodiscard]] bool has_changed(const journal::Call& call, const std::string& guard) const;

    /// The path permissions that this guard judges by, see `Guard::path_rules`.
    [[nodiscard]] std::string path_rules(std::string_view guard) const;

    /// Runs `after_tool` of all middleware, last first.
    [[nodiscard]] ToolResult after(const journal::Call& call, ToolResult result) const;
    [[nodiscard]] std::shared_ptr<Tool> tool(std::string_view name) const;
    /// Whether calls of this tool are done by a child thread.
    [[nodiscard]] bool delegates(std::string_view tool) const;
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
        std::optional<std::size_t> joined;  ///< Of a table the path permissions, of these the table.
    };
    using Judgements = std::vector<std::optional<Judgement>>;
    void inherit(const std::shared_ptr<Guard>& guard);
    void join(std::size_t first);
    [[nodiscard]] std::optional<journal::Asked> asked_by(std::size_t index, const Judgements& asking,
                                                         const GuardedCall& call) const;
    void add_guard(Guard* guard, const std::vector<std::string>& tools_below);
    void refuse_unguarded_commands() const;
    [[nodiscard]] bool is_inherited(const Guard* guard) const;
    [[nodiscard]] bool is_taken(const std::string& name) const;
    [[nodiscard]] std::string edited_by(const journal::Call& call, const Middleware& middleware) const;
    [[nodiscard]] Result<Arguments> checked(const Tool& tool, std::string text) const;

    struct KnownTool {
        std::shared_ptr<Tool> tool;
        std::string schema_digest;  ///< Hex; empty: any object.
    };

    std::map<std::string, KnownTool, std::less<>> tools_;
    std::vector<std::shared_ptr<Middleware>> middleware_;
    std::vector<Named> guards_;
    std::size_t inherited_ = 0;  // of guards_, the first ones
    std::vector<std::shared_ptr<Guard>> owned_guards_;
    JsonLimits limits_;
    std::optional<std::int64_t> use_by_ms_;
    bool paths_kept_above_ = false;
};

}  // namespace assent
