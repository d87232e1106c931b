#include "cli/model_choice.hpp"

#include "cli/demo_script.hpp"
#include "model/service_key.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string_view>

namespace assent::cli {
namespace {

constexpr std::string_view script_scheme = "script:";
constexpr std::array services{"anthropic", "openai"};
constexpr const char* anthropic_variable = "ANTHROPIC_API_KEY";
constexpr const char* openai_variable = "OPENAI_API_KEY";

// Takes a key out of the environment, once. Workers make models on several threads.
std::string taken_key(const std::string& variable) {
    static std::mutex mutex;
    static std::map<std::string, std::string> taken;
    const std::lock_guard lock(mutex);
    const auto found = taken.find(variable);
    if (found != taken.end()) return found->second;
    const auto key = models::key_in_environment(variable);
    // What the process was started with stays readable in /proc unless it is overwritten in its place.
    if (char* value = std::getenv(variable.c_str())) std::fill(value, value + std::strlen(value), '\0');
    taken.emplace(variable, key);
    return key;
}

Result<std::shared_ptr<Model>> service_model(const std::string& service, const ModelChoice& choice) {
    const bool anthropic = service == "anthropic";
    const auto key = taken_key(anthropic ? anthropic_variable : openai_variable);
    ServiceOptions options{.model = choice.model.substr(service.size() + 1),
                           .base_url = choice.base_url,
                           .key_variable = anthropic ? anthropic_variable : openai_variable};
    if (!key.empty()) options.key = [key] { return std::string(key); };
    return anthropic ? anthropic_model(std::move(options)) : openai_model(std::move(options));
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
    // Also when neither is used: tools are started either way.
    (void)taken_key(anthropic_variable);
    (void)taken_key(openai_variable);
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
