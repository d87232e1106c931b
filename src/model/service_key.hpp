// Where the key of a service comes from.
//
// Thread-safety: reads the environment, so no other thread may change it meanwhile.
#pragma once

#include <assent/model.hpp>

#include <memory>
#include <string>

namespace assent::models {

enum class KeyNeed { always, own_address_only };

/// Fills in `options.key` and `options.key_variable`. Failure kind `usage`: there is no key and one is
/// needed, or it cannot be sent. No text holds the key.
Result<void> find_key(ServiceOptions& options, const std::string& usual_variable, KeyNeed need);

/// What the variable holds, without blanks around it; empty: nothing.
[[nodiscard]] std::string key_in_environment(const std::string& variable);

/// True if `key` can stand in a header.
[[nodiscard]] bool sendable_key(const std::string& key);

/// Throws ConfigError with the failure's text.
[[nodiscard]] std::shared_ptr<Model> or_throw(Result<std::shared_ptr<Model>> made);

}  // namespace assent::models
