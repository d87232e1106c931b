#include "model/anthropic_answer.hpp"
#include "model/anthropic_request.hpp"
#include "model/service.hpp"
#include "model/service_key.hpp"

namespace assent {
namespace models {
namespace {

constexpr std::string_view own_address = "https://api.anthropic.com";
constexpr std::string_view api_version = "2023-06-01";
constexpr int usual_max_tokens = 32'000;

std::string messages_url(const std::string& base_url) {
    auto base = trimmed_address(base_url.empty() ? std::string(own_address) : base_url);
    if (base.ends_with("/messages")) return base;
    return base + (base.ends_with("/v1") ? "/messages" : "/v1/messages");
}

class AnthropicApi final : public ServiceApi {
public:
    AnthropicApi(const ServiceOptions& options, std::string more)
        : url_(messages_url(options.base_url)),
          settings_{.model = options.model,
                    .max_tokens = options.max_tokens > 0 ? options.max_tokens : usual_max_tokens,
                    .streaming = options.streaming,
                    .more = std::move(more)} {}

    std::string name() const override { return "anthropic:" + settings_.model; }
    std::string url() const override { return url_; }
    std::vector<net::HttpHeader> headers(const std::string& key) const override {
        return {{"x-api-key", key}, {"anthropic-version", std::string(api_version)}};
    }
    std::string body(const ServiceRequest& request, const ToolNames& names,
                     const std::vector<std::string>& paused) const override {
        return write_anthropic(settings_, request, names, paused);
    }
    std::unique_ptr<AnswerReader> reader(const ToolNames& names, OnText on_text) const override {
        return std::make_unique<AnthropicReader>(names, std::move(on_text));
    }
    std::string provider_content(const std::vector<std::string>& blocks) const override {
        return record_anthropic(blocks);
    }

private:
    std::string url_;
    AnthropicRequest settings_;
};

}  // namespace
}  // namespace models

Result<std::shared_ptr<Model>> anthropic_model(ServiceOptions options) {
    if (auto found = models::find_key(options, "ANTHROPIC_API_KEY", models::KeyNeed::always); !found) {
        return found.failure();
    }
    auto more = models::more_members(options.request_members);
    if (!more) return more.failure();
    auto api = std::make_unique<models::AnthropicApi>(options, std::move(more).value());
    return models::service_model(std::move(api), std::move(options));
}

std::shared_ptr<Model> anthropic(std::string model) {
    return models::or_throw(anthropic_model({.model = std::move(model)}));
}

}  // namespace assent
