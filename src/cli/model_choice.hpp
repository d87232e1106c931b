// The model that `--model` and `--base-url` name.
#pragma once

#include <assent/model.hpp>

#include <memory>
#include <string>

namespace assent::cli {

/// What a person chose; recorded with a thread.
struct ModelChoice {
    std::string model;     ///< anthropic:ID, openai:ID, script:FILE, or the demo's.
    std::string base_url;  ///< For models of services; empty: the service's own.

    bool operator==(const ModelChoice&) const = default;
};

/// "anthropic" or "openai"; empty for a model that is no service's.
[[nodiscard]] std::string service_of(const std::string& model);

/// Makes the model. Keys come from the environment and are taken out of it, so that no process started
/// later, and nobody who looks at this process, finds them there. Failure kind `usage`.
Result<std::shared_ptr<Model>> make_model(const ModelChoice& choice);

}  // namespace assent::cli
