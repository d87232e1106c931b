// Tools, and the one-time right to start one.
//
// A tool's body finds its arguments only in an `ApprovedCall`; only `Tool::start` makes one, and
// only from a `Permit`, which only the gate makes. So nothing that Assent starts runs without having
// been judged, approved where a guard asked, and recorded as started.
//
// Thread-safety: `start` of one tool is called from several threads when a turn has several calls.
// Errors: an exception of a body becomes a failed outcome (its text capped and made safe).
#pragma once

#include <assent/arguments.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace assent {

class Gate;
class ThreadFiles;

/// How a call ended. Stored and sent over the wire by name: never rename.
enum class OutcomeKind : std::uint8_t {
    done,       ///< The body returned.
    failed,     ///< The body failed, or the call was refused before it could be judged.
    skipped,    ///< A wrapper chose not to run the body.
    denied,     ///< A guard or a person said no.
    timed_out,  ///< Nobody answered in time.
    cancelled,  ///< The run was stopped or aborted, or the question withdrawn; if it ran, it ended early.
    answered,   ///< A person gave the result instead; nothing ran.
    unknown,    ///< The process died while it ran, or the tool cannot say; nobody knows.
};

[[nodiscard]] std::string_view to_string(OutcomeKind kind) noexcept;

/// What a body gives back.
struct ToolResult {
    std::string text;       ///< What the model reads.
    bool is_error = false;  ///< The tool itself reports a failure.
    std::string details;    ///< JSON text of an object for hosts; never sent to the model. Empty: none.
    /// The body cannot say whether its effect happened (a process that cannot be killed, say).
    bool unknown = false;
    /// The body ended early because it was told to stop. Not stored: the outcome's kind says it.
    bool cancelled = false;

    bool operator==(const ToolResult&) const = default;
};

/// What a tool does with the place that an argument names; path permissions judge it by that.
enum class PathUse : std::uint8_t {
    read,
    write,
    search,  ///< Reads everything below it.
    remove,  ///< Deletes it and everything below it.
};

/// An argument that is a path in the workspace, or a list of paths.
struct PathArgument {
    std::string name;
    PathUse use = PathUse::write;
    std::string pattern;  ///< Of a search: the argument with a pattern of paths; may be empty.

    bool operator==(const PathArgument&) const = default;
};

/// What a tool is, for models, guards and reviewers.
struct ToolSpec {
    std::string name;                 ///< ASCII letters, digits, `_`, `-`, `.`; 1 to 64 characters.
    std::string description;          ///< For the model.
    std::string schema;               ///< JSON Schema (draft 7) of the arguments; empty: any object.
    bool read_only = false;           ///< It changes nothing; the program runs such tools without asking.
    bool idempotent = false;          ///< Running it twice with the same idempotency key is harmless.
    bool runs_commands = false;       ///< It runs command lines, which open any path, whatever path permissions say.
    bool keeps_permissions = false;   ///< It keeps path permissions.
    std::vector<PathArgument> paths;  ///< Those a path guard judges; see `permissions.hpp`.
    bool delegates = false;           ///< A child thread does its calls: no permit, and its body is never run.

    bool operator==(const ToolSpec&) const = default;
};

/// The right to start one call, once. Made by the gate alone; moved-from is spent.
class Permit {
public:
    Permit(Permit&&) noexcept;
    Permit& operator=(Permit&&) = delete;
    Permit(const Permit&) = delete;
    Permit& operator=(const Permit&) = delete;
    ~Permit();

    [[nodiscard]] std::string_view tool() const noexcept;
    /// The id of this start; the right to record its outcome.
    [[nodiscard]] std::string_view attempt() const noexcept;

private:
    friend class Gate;
    friend class Tool;
    friend class ApprovedCall;
    struct State;
    explicit Permit(std::unique_ptr<State> state) noexcept;
    std::unique_ptr<State> state_;
};

/// The only place where a body finds its arguments. Lives for the length of one start.
class ApprovedCall {
public:
    ApprovedCall(const ApprovedCall&) = delete;
    ApprovedCall& operator=(const ApprovedCall&) = delete;

    [[nodiscard]] const Arguments& arguments() const noexcept;
    /// The id of this start; what a receipt of it is called by.
    [[nodiscard]] std::string_view attempt() const noexcept;
    /// The same for every start of this call; pass it on to services that know such keys.
    [[nodiscard]] std::string_view idempotency_key() const noexcept;
    /// What a person was shown and approved where a guard with these path permissions (`Guard::path_rules`) asked:
    /// the details of that question. None: nobody was asked under them.
    [[nodiscard]] std::optional<std::string_view> approved_paths(std::string_view path_rules) const noexcept;
    /// The files of the thread; valid for the length of this start.
    [[nodiscard]] ThreadFiles& files() const noexcept;
    /// Stops when the run is cancelled or the thread aborted; end soon after.
    [[nodiscard]] std::stop_token stop_token() const noexcept;

private:
    friend class Tool;
    explicit ApprovedCall(const Permit::State& state) noexcept : state_(&state) {}
    const Permit::State* state_;
};

/// What came of one start: hand it to `Gate::finish`.
struct Outcome {
    std::string attempt;
    OutcomeKind kind = OutcomeKind::failed;
    ToolResult result;
    bool started = false;  ///< False: provably not started; the gate records `released`.

    bool operator==(const Outcome&) const = default;
};

/// What a tool wrote down of a start, so that its end is known although the process that started it died.
struct Receipt {
    /// What it proves.
    enum class Proof : std::uint8_t {
        nothing,      ///< How it ended stays unknown.
        ended,        ///< It ended by itself; `result` is what the body would have returned.
        not_started,  ///< Nothing of it has run, nor will.
        no_effect,    ///< It may have run, but nothing came of it: it is started again.
    };
    Proof proof = Proof::nothing;
    ToolResult result;  ///< With `nothing`: what there is of it, for the person who must say how it ended.
    std::string known;  ///< With `nothing`: what is known, one line; may be empty.

    bool operator==(const Receipt&) const = default;
};

class Tool {
public:
    explicit Tool(ToolSpec spec);
    Tool(const Tool&) = delete;
    Tool& operator=(const Tool&) = delete;
    virtual ~Tool();

    [[nodiscard]] const ToolSpec& spec() const noexcept { return spec_; }

    /// Runs the body with what was approved. Spends the permit. Refuses (outcome `failed`, not
    /// started) a permit of another tool and one whose start-by time has passed.
    Outcome start(Permit&& permit);

    /// What this tool still knows of a start whose process is proved dead. The gate asks before it calls
    /// the outcome unknown; an exception proves nothing. May wait some seconds for what is still ending,
    /// and must give the same answer to whoever asks again. Default: it keeps no receipts.
    [[nodiscard]] virtual Receipt receipt(const std::string& attempt, const Arguments& arguments);
    /// How this start ended is on record: its receipt may go. May come more than once, and for starts
    /// that have none.
    virtual void drop_receipt(const std::string& attempt);

private:
    [[nodiscard]] virtual ToolResult run(const ApprovedCall& call) = 0;
    ToolSpec spec_;
};

}  // namespace assent
