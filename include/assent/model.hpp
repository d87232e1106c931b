// The seam to a chat model.
//
// Thread-safety: `turn` may be called from several threads when several agents share a model.
// Errors: Failure kind `model`; the run then ends as failed and can be resumed.
#pragma once

#include <assent/result.hpp>
#include <assent/tool.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace assent {

/// One tool call as the model proposed it.
struct ProposedCall {
    std::string tool;
    std::optional<std::string> id;  ///< The model's own id; data, never a key.
    std::string arguments;          ///< The model's bytes, possibly malformed.

    bool operator==(const ProposedCall&) const = default;
};

enum class Role : std::uint8_t { user, assistant, tool };
[[nodiscard]] std::string_view to_string(Role role) noexcept;

/// One message of the conversation.
struct Message {
    Role role = Role::user;
    std::string text;
    std::vector<ProposedCall> calls;  ///< Assistant only.
    // Tool only: which call this is the result of.
    std::string tool;
    std::optional<std::string> tool_call_id;
    bool is_error = false;
    std::string used_arguments;    ///< When others than the model's were used; for hosts.
    std::string provider_content;  ///< Assistant only: see ModelTurn.

    bool operator==(const Message&) const = default;
};

/// What the model said in one turn.
struct ModelTurn {
    std::string text;
    std::vector<ProposedCall> calls;
    std::string stop_reason;
    /// What the service must get back unchanged with the next request (thinking and the like), in its own
    /// form. Opaque to Assent; empty: none.
    std::string provider_content;
    std::int64_t input_tokens = 0;
    std::int64_t output_tokens = 0;

    bool operator==(const ModelTurn&) const = default;
};

struct ModelRequest {
    std::string_view system_prompt;
    /// The conversation so far, read from the store when it is first asked for. Failure kind `database`.
    std::function<Result<std::span<const Message>>()> messages;
    std::span<const ToolSpec* const> tools;
    int turn = 1;  ///< Which turn of the thread this will be, from 1.
};

class Model {
public:
    virtual ~Model() = default;
    /// Names the model for the record, such as "script:demo.json".
    [[nodiscard]] virtual std::string name() const = 0;
    /// Asks for the next turn. `on_text` gets pieces of the text as they come.
    virtual Result<ModelTurn> turn(const ModelRequest& request, const std::function<void(std::string_view)>& on_text,
                                   const std::stop_token& stop) = 0;
};

/// A model that says what a script says. `text` is the JSON
/// {"turns": [{"text": "…", "calls": [{"id": "…", "name": "…", "arguments": {…} or "raw text"}]}]}.
/// Turn n of a thread takes entry n, also after a resume; past the end the turn fails.
Result<std::shared_ptr<Model>> scripted_model(std::string name, std::string_view text);
/// The same from a file. Failure kind `usage` when it cannot be read or is no script.
Result<std::shared_ptr<Model>> scripted_model_file(const std::string& path);

}  // namespace assent
