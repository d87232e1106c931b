#include "cli/model_choice.hpp"

#include "cli/demo_script.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string_view>

namespace assent::cli {
namespace {

constexpr std::string_view script_scheme = "script:";
constexpr std::array services{"anthropic", "openai"};

// Keeps a key out of the environment except while a model is made. Only the main thread makes models.
class KeyInEnvironment {
public:
    explicit KeyInEnvironment(const char* variable) : variable_(variable) {
        const auto hidden = keys().find(variable);
        if (hidden != keys().end()) setenv(variable, hidden->second.c_str(), 0);
    }
    KeyInEnvironment(const KeyInEnvironment&) = delete;
    KeyInEnvironment& operator=(const KeyInEnvironment&) = delete;
    ~KeyInEnvironment() {
        char* value = std::getenv(variable_);
        if (value == nullptr) return;
        keys()[variable_] = value;
        // What the process was started with stays readable in /proc unless it is overwritten in its place.
        std::fill(value, value + std::strlen(value), '\0');
        unsetenv(variable_);
    }

private:
    static std::map<std::string, std::string>& keys() {
        static std::map<std::string, std::string> hidden;
        return hidden;
    }
    const char* variable_;
};

Result<std::shared_ptr<Model>> service_model(const std::string& service, const ModelChoice& choice) {
    // Both are taken out, whichever is used.
    const KeyInEnvironment anthropic_key("ANTHROPIC_API_KEY");
    const KeyInEnvironment openai_key("OPENAI_API_KEY");
    ServiceOptions options{.model = choice.model.substr(service.size() + 1), .base_url = choice.base_url};
    return service == "anthropic" ? anthropic_model(std::move(options)) : openai_model(std::move(options));
}

}  // namespace

std::string service_of(const std::string& model) {
    for (const std::string service : services) {
        if (model.starts_with(service + ":")) return service;
    }
    return {};
}

Result<std::shared_ptr<Model>> make_model(const ModelChoice& choice) {
    const auto& model = choice.model;
    if (const auto service = service_of(model); !service.empty()) return service_model(service, choice);
    if (!choice.base_url.empty()) {
        return Failure{FailureKind::usage, "--base-url is for --model anthropic:ID and openai:ID"};
    }
    if (model == demo_model) return scripted_model("the demo", demo_script);
    if (model.starts_with(script_scheme)) return scripted_model_file(model.substr(script_scheme.size()));
    return Failure{FailureKind::usage, model.empty()
                                           ? "give a model with --model anthropic:ID, openai:ID or script:FILE"
                                           : "--model takes anthropic:ID, openai:ID or script:FILE, not " + model};
}

}  // namespace assent::cli
