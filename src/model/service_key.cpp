#include "model/service_key.hpp"

#include <algorithm>
#include <cstdlib>

namespace assent::models {
namespace {

// Keys are copied with a line end or spaces around them all too easily.
std::string trimmed(std::string key) {
    constexpr auto blanks = " \t\r\n";
    key.erase(0, key.find_first_not_of(blanks));
    key.erase(key.find_last_not_of(blanks) + 1);
    return key;
}

}  // namespace

std::string key_in_environment(const std::string& variable) {
    const char* found = std::getenv(variable.c_str());
    return trimmed(found != nullptr ? found : "");
}

bool sendable_key(const std::string& key) {
    return std::all_of(key.begin(), key.end(), [](char c) { return c > ' ' && c < '\x7f'; });
}

Result<void> find_key(ServiceOptions& options, const std::string& usual_variable, KeyNeed need) {
    if (options.key) {
        if (options.key_variable.empty()) options.key_variable = "what the program gives as its key";
        return {};
    }
    if (options.key_variable.empty()) options.key_variable = usual_variable;
    const auto key = key_in_environment(options.key_variable);
    if (key.empty() && (need == KeyNeed::always || options.base_url.empty())) {
        return Failure{FailureKind::usage, "the model " + options.model + " needs a key; set " + options.key_variable +
                                               " in the environment"};
    }
    if (!sendable_key(key)) {
        return Failure{FailureKind::usage,
                       "the key in " + options.key_variable + " holds characters that no key has; check it"};
    }
    options.key = [key] { return std::string(key); };
    return {};
}

std::shared_ptr<Model> or_throw(Result<std::shared_ptr<Model>> made) {
    if (!made) throw ConfigError(made.failure().message);
    return std::move(made).value();
}

}  // namespace assent::models
