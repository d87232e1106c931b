// What the services have in common: one turn is asked, read as it streams, and asked again when the way
// to it or the service fails. An attempt counts whole or not at all.
//
// Thread-safety: a ServiceModel may be used from several threads; an AnswerReader belongs to one attempt.
#pragma once

#include "model/conversation.hpp"
#include "model/service_error.hpp"
#include "net/out/sse_reader.hpp"

#include <assent/model.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assent::models {

/// Why an answer ended.
enum class Stop {
    whole,      ///< The model was done, or wants its calls run.
    paused,     ///< The service wants to be asked to go on.
    cut_short,  ///< The limit of tokens was reached.
    refused,    ///< The model or the service would not answer.
    too_long,   ///< The conversation does not fit.
    unknown,    ///< A reason that this version does not know.
};

struct Answer {
    ModelTurn turn;
    Stop stop = Stop::whole;
    std::vector<std::string> blocks;  ///< The content in the service's form, where that must go back.
};

enum class Reading {
    more,    ///< Not at its end.
    whole,   ///< `answer()` is complete.
    broken,  ///< It makes no sense, or ended too early.
    failed,  ///< The service says that it failed: `error()`.
};

class AnswerReader {
public:
    AnswerReader() = default;
    AnswerReader(const AnswerReader&) = delete;
    AnswerReader& operator=(const AnswerReader&) = delete;
    virtual ~AnswerReader() = default;

    /// The next event of a stream.
    virtual Reading event(const net::SseEvent& event) = 0;
    /// An answer that did not stream.
    virtual Reading whole(std::string_view body) = 0;

    Answer& answer() noexcept { return answer_; }
    [[nodiscard]] const ServiceError& error() const noexcept { return error_; }

protected:
    Reading fail(ServiceError error) {
        error_ = std::move(error);
        return Reading::failed;
    }

private:
    Answer answer_;
    ServiceError error_;
};

using OnText = std::function<void(std::string_view)>;

/// How one service is asked.
class ServiceApi {
public:
    ServiceApi() = default;
    ServiceApi(const ServiceApi&) = delete;
    ServiceApi& operator=(const ServiceApi&) = delete;
    virtual ~ServiceApi() = default;

    [[nodiscard]] virtual std::string name() const = 0;
    [[nodiscard]] virtual std::string url() const = 0;
    [[nodiscard]] virtual std::vector<net::HttpHeader> headers(const std::string& key) const = 0;
    /// `paused`: the blocks of an answer that is to be gone on with.
    [[nodiscard]] virtual std::string body(const ServiceRequest& request, const ToolNames& names,
                                           const std::vector<std::string>& paused) const = 0;
    [[nodiscard]] virtual std::unique_ptr<AnswerReader> reader(const ToolNames& names, OnText on_text) const = 0;
    /// What is recorded of the blocks, see ModelTurn::provider_content.
    [[nodiscard]] virtual std::string provider_content(const std::vector<std::string>& blocks) const = 0;
};

/// The model that asks through `api`. Failure kind `usage`: no key where one is needed, a wrong address.
Result<std::shared_ptr<Model>> service_model(std::unique_ptr<ServiceApi> api, ServiceOptions options);

/// `base` without slashes at its end.
[[nodiscard]] std::string trimmed_address(std::string base);
/// The members of ServiceOptions::request_members as ",\"key\":value…". Failure kind `usage`: no object,
/// or one of the members that Assent writes itself.
Result<std::string> more_members(const std::string& object);

}  // namespace assent::models
