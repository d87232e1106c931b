#include "cli/event_log.hpp"

#include "base/display.hpp"

#include <assent/clock.hpp>

#include <optional>

namespace assent::cli {
namespace {

using watch::Happening;

std::string_view to_string(LogLevel level) {
    switch (level) {
        case LogLevel::info:
            return "info";
        case LogLevel::warning:
            return "warning";
        case LogLevel::error:
            break;
    }
    return "error";
}

// The line of an event; none: it is not worth one.
struct Line {
    const Happening& happening;

    JsonObject line(LogLevel level = LogLevel::info) const {
        return log_line(level, journal::kind_of(happening.event)).text("thread", happening.thread);
    }
    static JsonObject& place(JsonObject& to, const journal::CallRef& call) {
        return to.number("turn", call.turn).number("position", call.position);
    }
    // Of an event that ends a question.
    JsonObject& question(JsonObject& to, std::int64_t number) const {
        if (!happening.question) return to.number("number", number);
        to.text("approval", happening.question->id);
        return to.number("waited_ms", happening.at - happening.question->asked_at);
    }

    std::optional<JsonObject> operator()(const journal::UserMessage& event) const {
        return line().text("by", event.by);
    }
    std::optional<JsonObject> operator()(const journal::Queued& event) const { return line().text("by", event.by); }
    std::optional<JsonObject> operator()(const journal::ModelSaid& event) const {
        return line()
            .number("turn", event.turn)
            .number("calls", static_cast<std::int64_t>(event.calls.size()))
            .number("input_tokens", event.input_tokens)
            .number("output_tokens", event.output_tokens);
    }
    std::optional<JsonObject> operator()(const journal::Refused& event) const {
        auto out = line();
        return place(out, event.call);
    }
    std::optional<JsonObject> operator()(const journal::Judged& event) const {
        auto out = line();
        return place(out, event.call).text("verdict", assent::to_string(event.verdict));
    }
    std::optional<JsonObject> operator()(const journal::Asked& event) const {
        auto out = line(event.kind == ApprovalKind::unknown ? LogLevel::warning : LogLevel::info);
        if (happening.question) out.text("approval", happening.question->id);
        place(out, event.call).text("kind", assent::to_string(event.kind)).text("tool", event.tool);
        return out.text("guard", event.guard).time("deadline", event.deadline);
    }
    std::optional<JsonObject> operator()(const journal::Answered& event) const {
        auto out = line();
        question(out, event.number).text("decision", assent::to_string(event.decision));
        return out.text("by", event.by).text("signed_in", event.signed_in);
    }
    std::optional<JsonObject> operator()(const journal::Resolved& event) const {
        auto out = line();
        question(out, event.number).text("resolution", assent::to_string(event.how));
        return out.text("by", event.by).text("signed_in", event.signed_in);
    }
    std::optional<JsonObject> operator()(const journal::TimedOut& event) const {
        auto out = line();
        return question(out, event.number);
    }
    std::optional<JsonObject> operator()(const journal::Withdrawn& event) const {
        auto out = line();
        return question(out, event.number);
    }
    std::optional<JsonObject> operator()(const journal::Claimed& event) const {
        std::vector<std::string> attempts;
        for (const auto& start : event.starts) attempts.push_back(start.attempt);
        return line().raw("attempts", json_texts(attempts));
    }
    std::optional<JsonObject> operator()(const journal::Released& event) const {
        return line().text("attempt", event.attempt);
    }
    std::optional<JsonObject> operator()(const journal::Finished& event) const {
        return line().text("attempt", event.attempt).text("outcome", assent::to_string(event.outcome));
    }
    std::optional<JsonObject> operator()(const journal::Doubted& event) const {
        return line(LogLevel::warning).text("attempt", event.attempt).boolean("may_run_again", event.may_run_again);
    }
    std::optional<JsonObject> operator()(const journal::LateFinished& event) const {
        return line(LogLevel::warning).text("attempt", event.attempt).text("outcome", assent::to_string(event.outcome));
    }
    std::optional<JsonObject> operator()(const journal::Delegated& event) const {
        auto out = line();
        return place(out, event.call).text("child", event.child);
    }
    std::optional<JsonObject> operator()(const journal::ChildFinished& event) const {
        return line().text("child", event.child).text("outcome", assent::to_string(event.outcome));
    }
    std::optional<JsonObject> operator()(const journal::Aborted& event) const { return line().text("by", event.by); }
    std::optional<JsonObject> operator()(const journal::RunFinished& event) const {
        auto out = line(event.ok ? LogLevel::info : LogLevel::warning);
        return out.boolean("ok", event.ok).text_or_null("failure", event.failure_kind);
    }
    std::optional<JsonObject> operator()(const auto& /*event*/) const { return std::nullopt; }
};

}  // namespace

JsonObject log_line(LogLevel level, std::string_view event) {
    JsonObject line;
    line.time("time", system_clock().now()).text("level", to_string(level)).text("event", event);
    return line;
}

void EventLog::happened(const Happening& happening) {
    if (const auto line = std::visit(Line{happening}, happening.event)) terminal_.log(line->str());
}

void EventLog::failed(std::string_view operation, const Failure& failure) {
    terminal_.log(log_line(LogLevel::error, "store_failed")
                      .text("operation", operation)
                      .text("message", safe_to_show(failure.message).text)
                      .str());
}

}  // namespace assent::cli
