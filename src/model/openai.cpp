#include "model/openai_answer.hpp"
#include "model/openai_request.hpp"
#include "model/service.hpp"
#include "model/service_key.hpp"

namespace assent {
namespace models {
namespace {

constexpr std::string_view own_address = "https://api.openai.com/v1";

// A bare host gets the usual path; a path that somebody gave is kept.
std::string completions_url(const std::string& base_url) {
    auto base = trimmed_address(base_url.empty() ? std::string(own_address) : base_url);
    if (base.ends_with("/chat/completions")) return base;
    const auto host = base.find("://");
    const bool bare = host == std::string::npos || base.find('/', host + 3) == std::string::npos;
    return base + (bare ? "/v1/chat/completions" : "/chat/completions");
}

class OpenaiApi final : public ServiceApi {
public:
    OpenaiApi(const ServiceOptions& options, std::string more)
        : url_(completions_url(options.base_url)),
          settings_{.model = options.model,
                    .max_tokens = options.max_tokens,
                    .max_tokens_name = options.base_url.empty() ? "max_completion_tokens" : "max_tokens",
                    .streaming = options.streaming,
                    .more = std::move(more)} {}

    std::string name() const override { return "openai:" + settings_.model; }
    std::string url() const override { return url_; }
    std::vector<net::HttpHeader> headers(const std::string& key) const override {
        if (key.empty()) return {};
        return {{"Authorization", "Bearer " + key}};
    }
    std::string body(const ServiceRequest& request, const ToolNames& names,
                     const std::vector<std::string>&) const override {
        return write_openai(settings_, request, names);
    }
    std::unique_ptr<AnswerReader> reader(const ToolNames& names, OnText on_text) const override {
        return std::make_unique<OpenaiReader>(names, std::move(on_text));
    }
    std::string provider_content(const std::vector<std::string>&) const override { return {}; }

private:
    std::string url_;
    OpenaiRequest settings_;
};

}  // namespace
}  // namespace models

Result<std::shared_ptr<Model>> openai_model(ServiceOptions options) {
    if (auto found = models::find_key(options, "OPENAI_API_KEY", models::KeyNeed::own_address_only); !found) {
        return found.failure();
    }
    auto more = models::more_members(options.request_members);
    if (!more) return more.failure();
    auto api = std::make_unique<models::OpenaiApi>(options, std::move(more).value());
    return models::service_model(std::move(api), std::move(options));
}

std::shared_ptr<Model> openai(std::string model) {
    return models::or_throw(openai_model({.model = std::move(model)}));
}

}  // namespace assent
