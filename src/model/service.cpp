#include "model/service.hpp"

#include "model/retry.hpp"
#include "model/service_key.hpp"
#include "model/wire_json.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <mutex>

namespace assent::models {
namespace {

using Again = AttemptFailure::Again;

constexpr std::size_t event_bytes_max = std::size_t{16} * 1024 * 1024;
constexpr std::size_t error_bytes_max = std::size_t{64} * 1024;
// How often what takes long to fail, or will hardly pass, is tried again.
constexpr int few_retries = 2;
// How often a paused answer is gone on with.
constexpr int pauses_max = 20;
constexpr std::size_t secret_bytes_min = 16;

Failure model_failure(std::string text) {
    return {FailureKind::model, std::move(text)};
}

bool wait_by_system(std::int64_t milliseconds, const std::stop_token& stop) {
    std::mutex mutex;
    std::condition_variable_any never;
    std::unique_lock lock(mutex);
    never.wait_for(lock, stop, std::chrono::milliseconds(milliseconds), [] { return false; });
    return !stop.stop_requested();
}

// What the listener of a turn has been told.
class Told {
public:
    Told(const OnText& on_text, const std::function<void()>& on_dropped) : on_text_(on_text), on_dropped_(on_dropped) {}

    void tell(std::string_view text) {
        if (text.empty() || !on_text_) return;
        any_ = true;
        on_text_(text);
    }
    void drop() {
        if (any_ && on_dropped_) on_dropped_();
        any_ = false;
    }

private:
    const OnText& on_text_;
    const std::function<void()>& on_dropped_;
    bool any_ = false;
};

struct Attempt {
    std::optional<Answer> answer;
    AttemptFailure failure;
    std::optional<std::int64_t> asked_pause;
};

// One request, and its answer read in whatever form it comes.
class Exchanged {
public:
    Exchanged(AnswerReader& reader, bool streaming) : reader_(reader), streaming_(streaming), sse_(event_bytes_max) {}

    net::HttpAnswer post(const net::HttpRequest& request, const Clock& clock, const std::stop_token& stop) {
        const net::OnBody on_body = [this](const net::HttpHead& head, std::string_view bytes) {
            if (head.status / 100 != 2) {
                body_ += bytes.substr(0, error_bytes_max - std::min(error_bytes_max, body_.size()));
                return true;
            }
            if (!streams(head)) {
                body_ += bytes;
                return true;
            }
            const auto state = sse_.feed(bytes, [this](const net::SseEvent& event) {
                reading_ = reader_.event(event);
                return reading_ == Reading::more;
            });
            if (state == net::SseReader::State::too_large) reading_ = Reading::broken;
            return reading_ == Reading::more;
        };
        return net::http_post(request, on_body, clock, stop);
    }

    // A server may answer in the other form than was asked for.
    [[nodiscard]] bool streams(const net::HttpHead& head) const {
        const auto type = head.find("content-type");
        return type.starts_with("text/event-stream") || (type.empty() && streaming_);
    }
    // For an answer that came to its end.
    Reading reading(const net::HttpHead& head) {
        if (reading_ == Reading::more && !streams(head)) reading_ = reader_.whole(body_);
        return reading_ == Reading::more ? Reading::broken : reading_;
    }
    [[nodiscard]] Reading reading_so_far() const noexcept { return reading_; }
    [[nodiscard]] const std::string& body() const noexcept { return body_; }

private:
    AnswerReader& reader_;
    bool streaming_;
    net::SseReader sse_;
    Reading reading_ = Reading::more;
    std::string body_;
};

class ServiceModel final : public Model {
public:
    ServiceModel(std::unique_ptr<ServiceApi> api, ServiceOptions options, std::string host)
        : api_(std::move(api)),
          options_(std::move(options)),
          host_(std::move(host)),
          clock_(options_.clock != nullptr ? *options_.clock : system_clock()),
          random_(options_.random != nullptr ? *options_.random : system_random()) {
        if (!options_.wait) options_.wait = wait_by_system;
    }

    std::string name() const override { return api_->name(); }

    Result<ModelTurn> turn(const ModelRequest& request, const OnText& on_text, const std::stop_token& stop) override {
        const Asked asked{.model = name(), .host = host_, .key_origin = options_.key_variable, .key = options_.key()};
        if (!sendable_key(asked.key)) {
            return model_failure(asked.key_origin + " holds characters that no key has; check it");
        }
        const ToolNames names(request.tools);
        Told told(on_text, request.on_text_dropped);
        auto messages = request.messages();
        if (!messages) return messages.failure();
        const ServiceRequest whole{
            .system_prompt = request.system_prompt, .messages = *messages, .tools = request.tools};
        auto said = say(whole, names, asked, told, stop);
        if (!said) told.drop();
        return said;
    }

private:
    Result<ModelTurn> say(const ServiceRequest& request, const ToolNames& names, const Asked& asked, Told& told,
                          const std::stop_token& stop) const {
        Answer sum;
        for (int pauses = 0;; ++pauses) {
            auto answer = answered(api_->body(request, names, sum.blocks), names, sum.turn.text, asked, told, stop);
            if (!answer) return answer.failure();
            add(sum, std::move(answer).value());
            // Calls of a paused answer must have their results before it can go on.
            if (sum.stop != Stop::paused || !sum.turn.calls.empty()) break;
            if (pauses == pauses_max) {
                return model_failure(asked.host + " paused the answer too often; resume to ask again");
            }
        }
        if (auto good = judge(sum, asked); !good) return good.failure();
        sum.turn.provider_content = api_->provider_content(sum.blocks);
        if (sends_key_back(sum.turn, asked.key)) {
            return model_failure(asked.host + " sent the key back within its answer, which was dropped");
        }
        return std::move(sum.turn);
    }

    static void add(Answer& sum, Answer more) {
        sum.turn.text += more.turn.text;
        sum.turn.calls = std::move(more.turn.calls);
        sum.turn.stop_reason = std::move(more.turn.stop_reason);
        sum.turn.input_tokens += more.turn.input_tokens;
        sum.turn.output_tokens += more.turn.output_tokens;
        sum.stop = more.stop;
        for (auto& block : more.blocks) sum.blocks.push_back(std::move(block));
    }

    static Result<void> judge(const Answer& answer, const Asked& asked) {
        const bool calls = !answer.turn.calls.empty();
        switch (answer.stop) {
            case Stop::cut_short:
                if (!calls && !is_blank(answer.turn.text)) return {};
                return model_failure(
                    "the answer reached its limit of tokens " +
                    std::string(calls ? "within its calls, none of which ran" : "before it said anything") +
                    "; ask for less at once, or raise max_tokens");
            case Stop::refused:
                return model_failure(asked.model + " refused to answer (" + shown_line(answer.turn.stop_reason, asked) +
                                     ")" + (calls ? "; none of its calls ran" : ""));
            case Stop::too_long:
                return too_long(asked, "");
            case Stop::unknown:
                if (!calls) return {};
                return model_failure("the answer ended for a reason that is not known here (" +
                                     shown_line(answer.turn.stop_reason, asked) + "); none of its calls ran");
            default:
                return {};
        }
    }

    static bool sends_key_back(const ModelTurn& turn, const std::string& key) {
        if (key.size() < secret_bytes_min) return false;
        return holds_key(turn.text, key) || holds_key(turn.provider_content, key) ||
               std::any_of(turn.calls.begin(), turn.calls.end(), [&](const ProposedCall& call) {
                   return holds_key(call.arguments, key) || holds_key(call.tool, key) ||
                          holds_key(call.id.value_or(""), key);
               });
    }

    // Asks until there is an answer or no hope. `before`: the text of the answer that this one goes on with.
    Result<Answer> answered(const std::string& body, const ToolNames& names, const std::string& before,
                            const Asked& asked, Told& told, const std::stop_token& stop) const {
        for (int tries = 1;; ++tries) {
            auto attempt = attempt_once(body, names, asked, told, stop);
            if (attempt.answer) return std::move(*attempt.answer);
            auto& failure = attempt.failure.failure;
            const bool few = attempt.failure.again == Again::few_times;
            const int retries = few ? std::min(few_retries, options_.retries_max) : options_.retries_max;
            if (attempt.failure.again == Again::no || stop.stop_requested()) return failure;
            if (tries > retries) {
                failure.message += " (asked " + std::to_string(tries) + (tries == 1 ? " time)" : " times)");
                return failure;
            }
            const auto pause = attempt.asked_pause.value_or(pause_ms(tries, random_));
            if (pause > options_.retry_after_max_ms) {
                failure.message += " (it asks for a pause of " + std::to_string(pause / 1000) + " seconds)";
                return failure;
            }
            told.drop();
            if (!options_.wait(pause, stop)) return model_failure("the request was stopped");
            told.tell(before);
        }
    }

    Attempt attempt_once(const std::string& body, const ToolNames& names, const Asked& asked, Told& told,
                         const std::stop_token& stop) const {
        const auto reader = api_->reader(names, [&told](std::string_view text) { told.tell(text); });
        net::HttpRequest request{.url = api_->url(), .headers = api_->headers(asked.key), .body = body};
        request.headers.push_back({"Content-Type", "application/json"});
        request.headers.push_back({"Accept", options_.streaming ? "text/event-stream" : "application/json"});
        request.headers.push_back({"User-Agent", "assent"});
        request.connect_ms = options_.connect_ms;
        request.idle_ms = options_.streaming ? options_.idle_ms : options_.answer_ms;
        Exchanged exchanged(*reader, options_.streaming);
        const auto http = exchanged.post(request, clock_, stop);
        Attempt attempt;
        // What came whole counts, even if the connection broke right after it.
        if (exchanged.reading_so_far() == Reading::more) {
            if (http.failure) {
                attempt.failure = failure_of(*http.failure);
                return attempt;
            }
            if (http.head.status / 100 != 2) {
                attempt.failure = failure_of(read_service_error(http.head.status, exchanged.body()), asked);
                note_wishes(http.head, attempt);
                return attempt;
            }
            if (!exchanged.streams(http.head) && !looks_like_json(exchanged.body())) {
                attempt.failure = no_answer(http.head, asked);
                return attempt;
            }
        }
        switch (exchanged.reading(http.head)) {
            case Reading::whole:
                attempt.answer = std::move(reader->answer());
                break;
            case Reading::failed:
                attempt.failure = failure_of(reader->error(), asked);
                break;
            default:
                attempt.failure = broken_answer(asked);
        }
        return attempt;
    }

    // An answer of nothing broke off; one of something else will not get better.
    static bool looks_like_json(std::string_view body) {
        const auto first = body.find_first_not_of(" \t\r\n");
        return first == std::string_view::npos || body[first] == '{';
    }

    // The service may say whether and when it wants to be asked again; what no asking mends stays so.
    void note_wishes(const net::HttpHead& head, Attempt& attempt) const {
        const auto wish = asked_to_retry(head);
        if (wish == false) attempt.failure.again = Again::no;
        if (wish == true && !passing(head.status)) attempt.failure.again = Again::yes;
        attempt.asked_pause = asked_pause_ms(head, clock_);
    }

    std::unique_ptr<ServiceApi> api_;
    ServiceOptions options_;
    std::string host_;
    const Clock& clock_;
    Random& random_;
};

bool wrong_numbers(const ServiceOptions& options) {
    return options.max_tokens < 0 || options.connect_ms <= 0 || options.idle_ms <= 0 || options.answer_ms <= 0 ||
           options.retries_max < 0 || options.retry_after_max_ms < 0;
}

}  // namespace

Result<std::shared_ptr<Model>> service_model(std::unique_ptr<ServiceApi> api, ServiceOptions options) {
    if (options.model.empty()) return Failure{FailureKind::usage, "a service needs the id of a model"};
    if (wrong_numbers(options)) {
        return Failure{FailureKind::usage, "the limits of a service's options are numbers above 0 (retries from 0)"};
    }
    auto host = net::host_of(api->url());
    if (!host) return host.failure();
    return std::shared_ptr<Model>(
        std::make_shared<ServiceModel>(std::move(api), std::move(options), std::move(host).value()));
}

std::string trimmed_address(std::string base) {
    while (base.ends_with('/')) base.pop_back();
    return base;
}

Result<std::string> more_members(const std::string& object) {
    if (object.empty()) return std::string();
    const auto read = Arguments::parse(object);
    if (!read) return Failure{FailureKind::usage, "request_members: " + read.failure().message};
    constexpr std::array<std::string_view, 6> own{"model", "messages", "system", "tools", "stream", "stream_options"};
    std::string out;
    const auto& root = read->root();
    for (std::size_t i = 0; i < root.keys.size(); ++i) {
        if (std::find(own.begin(), own.end(), root.keys[i]) != own.end()) {
            return Failure{FailureKind::usage, "request_members: " + root.keys[i] + " is written by Assent"};
        }
        out += "," + json_quote(root.keys[i]) + ":" + std::string(root.items[i].text);
    }
    return out;
}

}  // namespace assent::models
