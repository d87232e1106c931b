// The seam to a chat model.
//
// Thread-safety: `turn` may be called from several threads when several agents share a model.
// Errors: Failure kind `model`; the run then ends as failed and can be resumed.
#pragma once

#include <assent/clock.hpp>
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
    std::string stop_reason;       ///< Assistant only: the service's word, or `aborted`.

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
    /// Called when the pieces of this turn that `on_text` got so far do not count: the turn failed, or is
    /// asked again and told from its beginning.
    std::function<void()> on_text_dropped;
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

// Models of services. They are the library part assent::models.
//
// A turn counts whole or not at all: when a stream breaks, or the service says that it is busy, the turn is
// asked again after a pause, and nothing of the broken answer is kept. A call is only returned when the
// service has said that the turn is complete. Proxies and certificate authorities come from the environment
// (HTTPS_PROXY, NO_PROXY, SSL_CERT_FILE). The key is in no text, record or message.

struct ServiceOptions {
    std::string model;     ///< The service's own id of the model.
    std::string base_url;  ///< http or https; empty: the service's own address.
    /// Environment variable with the key, read when the model is made; empty: ANTHROPIC_API_KEY or
    /// OPENAI_API_KEY. Without a key a model is made only for `openai` with a base_url.
    std::string key_variable;
    std::function<std::string()> key;  ///< Where the key comes from instead; called before each turn.
    int max_tokens = 0;                ///< What a turn may produce; 0: 32000 (anthropic), the service's own (openai).
    bool streaming = true;
    /// JSON object of further members of each request, such as {"temperature": 0}. Constant: a conversation
    /// is only ever appended to.
    std::string request_members;
    std::int64_t connect_ms = 10'000;
    std::int64_t idle_ms = 120'000;    ///< How long a stream may be silent.
    std::int64_t answer_ms = 600'000;  ///< How long an answer that does not stream may take.
    int retries_max = 4;
    std::int64_t retry_after_max_ms = 120'000;  ///< A service that asks for a longer pause ends the turn.
    const Clock* clock = nullptr;
    Random* random = nullptr;
    /// Waits so many milliseconds; false: stopped before. None: by the system.
    std::function<bool(std::int64_t, const std::stop_token&)> wait;
};

/// Messages API. Failure kind `usage`: no key, a wrong base_url or other option.
Result<std::shared_ptr<Model>> anthropic_model(ServiceOptions options);
/// Chat Completions; with base_url also other servers that speak it.
Result<std::shared_ptr<Model>> openai_model(ServiceOptions options);
/// The same with the key of the environment. Throws ConfigError where those fail.
[[nodiscard]] std::shared_ptr<Model> anthropic(std::string model);
[[nodiscard]] std::shared_ptr<Model> openai(std::string model);

}  // namespace assent
