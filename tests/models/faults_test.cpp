// What the providers make of a service or a network that fails: what is asked again, what is not, and
// what is said about it.
#include "models/service.hpp"

#include "model/retry.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

namespace assent::test {
namespace {

const Said answer{{text("Now é."), call("move", "id_1", R"({"a": "é"})")}};

class Faults : public testing::TestWithParam<Way> {
protected:
    [[nodiscard]] Way way() const { return GetParam(); }
    [[nodiscard]] std::string error(int status, const std::string& type, const std::string& message,
                                    const std::string& headers = {}) const {
        return error_of(status, type, message, way().api, headers);
    }
    /// An error in the middle of an answer whose status was good.
    [[nodiscard]] std::string late_error(const std::string& type, const std::string& message) const {
        auto said = error(200, type, message);
        said = said.substr(said.find("\r\n\r\n") + 4);
        if (!way().streaming) return http_bytes(200, "application/json", said);
        auto events = stream_of(answer, way().api);
        events.resize(events.size() / 2);
        events.push_back("event: error\ndata: " + said + "\n\n");
        return chunked_bytes("text/event-stream", events);
    }
    [[nodiscard]] std::string host(const Service& service) const { return service.url().substr(7); }
    [[nodiscard]] std::string model_name() const {
        return way().api == Api::anthropic ? "anthropic:test-model" : "openai:test-model";
    }
};

void expect_answer(const Turn& turn) {
    ASSERT_TRUE(turn.result) << turn.result.failure().message;
    EXPECT_EQ(turn.result->text, "Now é.");
    EXPECT_EQ(turn.heard, "Now é.");
    EXPECT_TRUE((turn.result->calls == std::vector<ProposedCall>{{"move", "id_1", R"({"a": "é"})"}}));
}

void expect_failure(const Turn& turn, const std::string& message) {
    ASSERT_FALSE(turn.result);
    EXPECT_EQ(turn.result.failure().kind, FailureKind::model);
    EXPECT_EQ(turn.result.failure().message, message);
    EXPECT_EQ(turn.heard, "");
    EXPECT_EQ(message.find(test_key), std::string::npos);
}

// The connection breaks after each byte of a recorded answer, by an end and by an error; the turn is asked
// again, and nothing of the broken answer is left.
TEST_P(Faults, AnAnswerCutAtEveryByte) {
    const auto whole = answer_of(answer, way());
    // A close without a length is all that some servers give; only the stream itself tells its end.
    const auto without_length = way().streaming
                                    ? http_bytes(
                                          200, "text/event-stream",
                                          [this] {
                                              std::string body;
                                              for (const auto& event : stream_of(answer, way().api)) body += event;
                                              return body;
                                          }(),
                                          {}, false)
                                    : http_bytes(200, "application/json", whole_of(answer, way().api), {}, false);
    Service service(way());
    const auto model = service.model();
    std::size_t asked_again = 0;
    std::size_t cuts = 0;
    for (const auto& [bytes, end] : {std::pair{whole, Reply::End::close}, std::pair{whole, Reply::End::reset},
                                     std::pair{without_length, Reply::End::close}}) {
        for (std::size_t cut = 0; cut < bytes.size(); ++cut) {
            const auto before = service.request_count();
            service.replies(bytes.substr(0, cut), end).says(answer);
            const auto turn = take_turn(*model);
            expect_answer(turn);
            if (HasFailure()) FAIL() << "cut at " << cut;
            const auto requests = service.request_count() - before;
            ASSERT_LE(turn.dropped, 1);
            ++cuts;
            if (requests == 2) {
                ++asked_again;
                continue;
            }
            // The end of the answer had come; the reply for the second request is left over.
            ASSERT_EQ(requests, 1U);
            ASSERT_GT(cut + 8, bytes.size()) << "an answer counted before it was whole";
            service.skip();
        }
    }
    RecordProperty("cuts", static_cast<int>(cuts));
    EXPECT_GT(asked_again, cuts - 30);
    EXPECT_EQ(service.faults(), std::vector<std::string>());
}

TEST_P(Faults, ABrokenAnswerIsAskedAgainOnlySoOften) {
    Service service(way());
    const auto whole = answer_of(answer, way());
    for (int i = 0; i < 5; ++i) service.replies(whole.substr(0, whole.size() - 40), Reply::End::reset);
    const auto turn = take_turn(*service.model());
    expect_failure(turn, "the connection to " + host(service) +
                             " broke before the answer was whole (Failure when receiving data from the peer); "
                             "resume to ask again (asked 5 times)");
    EXPECT_EQ(turn.dropped, way().streaming ? 5 : 0);
    ASSERT_EQ(service.pauses.size(), 4U);
    for (std::size_t i = 0; i < 4; ++i) {
        EXPECT_LE(service.pauses[i], 500 << i);
        EXPECT_GE(service.pauses[i], 375 << i);
    }
}

TEST_P(Faults, WhatMakesNoSenseIsAskedAgain) {
    const std::string nonsense = way().api == Api::anthropic
                                     ? R"(data: {"type":"content_block_delta","index":3,"delta":{"type":"text_delta"}})"
                                     : R"(data: {"choices":[)";
    for (const auto& body :
         {nonsense + "\n\n", std::string("data: nonsense\n\n"), std::string("data: [1]\n\n"), std::string()}) {
        Service service(way());
        service.replies(http_bytes(200, "text/event-stream", body)).says(answer);
        expect_answer(take_turn(*service.model()));
    }
    for (const auto* body : {"{", "{}", "{\"content\":1}", "{\"choices\":[]}", ""}) {
        Service service(way());
        service.replies(http_bytes(200, "application/json", body)).says(answer);
        expect_answer(take_turn(*service.model()));
    }
    Service service(way());
    for (int i = 0; i < 5; ++i) service.replies(http_bytes(200, "application/json", "{}"));
    expect_failure(
        take_turn(*service.model()),
        "the answer of " + host(service) + " broke off or makes no sense; resume to ask again (asked 5 times)");
}

// The connection ends in good order, but the service has not said that the turn, or a call of it, is whole.
TEST_P(Faults, WhatWasNotConfirmedDoesNotCount) {
    const auto parts = way().api == Api::anthropic
                           ? std::vector<std::string>{"content_block_stop", "\"message_delta\"", "\"message_stop\""}
                           : std::vector<std::string>{"tool_calls\"}", "[DONE]"};
    for (const auto& missing : parts) {
        std::vector<std::string> events;
        for (const auto& event : stream_of(answer, way().api)) {
            if (event.find(missing) == std::string::npos) events.push_back(event);
        }
        auto whole = whole_of(answer, way().api);
        const auto reason =
            whole.find(way().api == Api::anthropic ? "\"tool_use\",\"stop_sequence" : "\"tool_calls\"}]");
        whole.replace(reason, whole.find('"', reason + 1) + 1 - reason, "null");
        Service service(way());
        service.replies(way().streaming ? chunked_bytes("text/event-stream", events)
                                        : http_bytes(200, "application/json", whole));
        service.says(answer);
        expect_answer(take_turn(*service.model()));
        EXPECT_EQ(service.request_count(), 2U) << missing;
    }
}

TEST_P(Faults, PassingErrorsAreAskedAgain) {
    for (const int status : {408, 409, 429, 500, 502, 503, 504, 529}) {
        Service service(way());
        service.replies(error(status, "overloaded_error", "busy")).says(answer);
        const auto turn = take_turn(*service.model());
        expect_answer(turn);
        EXPECT_EQ(turn.dropped, 0);
        EXPECT_EQ(service.pauses.size(), 1U) << status;
    }
    for (const auto* type : {"overloaded_error", "api_error", "rate_limit_error", "what_error"}) {
        Service service(way());
        service.replies(late_error(type, "busy")).says(answer);
        const auto turn = take_turn(*service.model());
        expect_answer(turn);
        EXPECT_EQ(turn.dropped, way().streaming ? 1 : 0);
    }
}

TEST_P(Faults, PassingErrorsThatDoNotPass) {
    Service busy(way());
    for (int i = 0; i < 5; ++i) busy.replies(error(529, "overloaded_error", "Overloaded"));
    expect_failure(take_turn(*busy.model()),
                   host(busy) + " failed (HTTP 529): Overloaded; resume to ask again (asked 5 times)");
    Service limited(way());
    for (int i = 0; i < 5; ++i) limited.replies(error(429, "rate_limit_error", "slow down"));
    expect_failure(take_turn(*limited.model()),
                   host(limited) + " limits how often it is asked (HTTP 429): slow down; resume later (asked 5 times)");
    Service page(way());
    for (int i = 0; i < 5; ++i) page.replies(http_bytes(502, "text/html", "<html>Bad gateway</html>"));
    expect_failure(take_turn(*page.model()), host(page) + " failed (HTTP 502); resume to ask again (asked 5 times)");
    Service once(way());
    once.replies(error(500, "api_error", "oh"));
    auto options = once.options();
    options.retries_max = 0;
    expect_failure(take_turn(*once.model(options)),
                   host(once) + " failed (HTTP 500): oh; resume to ask again (asked 1 time)");
}

TEST_P(Faults, TheServiceSaysHowLongToWait) {
    FakeClock clock;
    struct Row {
        const char* headers;
        std::int64_t pause;
    };
    for (const auto& [headers, pause] :
         {Row{"retry-after: 7\r\n", 7000}, Row{"Retry-After: 0\r\n", 0}, Row{"retry-after: 1.5\r\n", 1500},
          Row{"retry-after-ms: 12\r\n", 12}, Row{"retry-after: 7\r\nretry-after-ms: 12.2\r\n", 13},
          Row{"retry-after: Mon, 30 Nov 2026 00:53:25 GMT\r\n", 5000},
          Row{"retry-after: Mon, 02 Nov 2026 21:20:05 GMT\r\n", 0}}) {
        for (const int status : {429, 529}) {
            Service service(way());
            service.replies(error(status, "rate_limit_error", "slow down", headers)).says(answer);
            auto options = service.options();
            options.clock = &clock;
            expect_answer(take_turn(*service.model(options)));
            EXPECT_EQ(service.pauses, std::vector<std::int64_t>{pause}) << headers;
        }
    }
    Service service(way());
    service.replies(error(429, "rate_limit_error", "slow down", "retry-after: 3600\r\n"));
    expect_failure(take_turn(*service.model()), host(service) +
                                                    " limits how often it is asked (HTTP 429): slow down; resume later "
                                                    "(it asks for a pause of 3600 seconds)");
}

TEST_P(Faults, TheServiceSaysWhetherToAskAgain) {
    Service never(way());
    never.replies(error(500, "api_error", "no use", "x-should-retry: false\r\n"));
    expect_failure(take_turn(*never.model()), host(never) + " failed (HTTP 500): no use; resume to ask again");
    Service again(way());
    again.replies(error(400, "invalid_request_error", "try again", "x-should-retry: true\r\n")).says(answer);
    expect_answer(take_turn(*again.model()));
}

struct Refusal {
    int status;
    const char* type;
    const char* message;
    std::string text;  // HOST and MODEL are filled in
};

const std::vector<Refusal> refusals{
    {400, "invalid_request_error", "messages: wrong", "HOST refuses the request (HTTP 400): messages: wrong"},
    {422, "unprocessable", "no", "HOST refuses the request (HTTP 422): no"},
    {501, "not_implemented", "no", "HOST refuses the request (HTTP 501): no"},
    {400, "invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum",
     "the conversation is too long for MODEL (prompt is too long: 210000 tokens > 200000 maximum); nothing is lost: "
     "resume with a model that takes more, or go on in a new thread"},
    {400, "context_length_exceeded", "shorter please",
     "the conversation is too long for MODEL (shorter please); nothing is lost: "
     "resume with a model that takes more, or go on in a new thread"},
    {413, "request_too_large", "Request exceeds the maximum size",
     "the conversation is too long for MODEL (Request exceeds the maximum size); nothing is lost: "
     "resume with a model that takes more, or go on in a new thread"},
    {401, "authentication_error", "wrong: sk-test-0123456789abcdef",
     "HOST does not accept the key (HTTP 401); check what the program gives as its key"},
    {402, "billing_error", "pay", "HOST wants to be paid (HTTP 402): pay; check the account"},
    {403, "permission_error", "not for sk-test-0123456789abcdef",
     "HOST does not allow this (HTTP 403): not for [key]; check what the key may do"},
    {404, "not_found_error", "model: test-model",
     "HOST does not know MODEL (HTTP 404): model: test-model; check the model and the address"},
    {429, "insufficient_quota", "You exceeded your quota",
     "what the account of HOST may spend is spent (HTTP 429): You exceeded your quota; check the account, then resume"},
    {429, "enforced_spend_limit_reached", "spent",
     "what the account of HOST may spend is spent (HTTP 429): spent; check the account, then resume"},
    {307, "redirect", "there", "HOST sends elsewhere (HTTP 307), which is never followed; give the final address"},
};

TEST_P(Faults, RefusalsAreFinal) {
    for (const auto& row : refusals) {
        Service service(way());
        service.replies(error(row.status, row.type, row.message));
        auto text = row.text;
        for (const auto& [from, to] :
             {std::pair<std::string, std::string>{"HOST", host(service)}, {"MODEL", model_name()}}) {
            if (const auto at = text.find(from); at != std::string::npos) text.replace(at, from.size(), to);
        }
        expect_failure(take_turn(*service.model()), text);
        EXPECT_EQ(service.request_count(), 1U) << row.status;
        EXPECT_TRUE(service.pauses.empty());
    }
}

TEST_P(Faults, RefusalsWithinAStreamAreFinalToo) {
    for (const auto* type :
         {"invalid_request_error", "authentication_error", "insufficient_quota", "context_length_exceeded"}) {
        if (way().api == Api::openai && std::string_view(type).ends_with("_error")) continue;  // a type there, no code
        Service service(way());
        service.replies(late_error(type, "no"));
        const auto turn = take_turn(*service.model());
        ASSERT_FALSE(turn.result);
        EXPECT_EQ(turn.heard, "");
        EXPECT_EQ(service.request_count(), 1U) << type << turn.result.failure().message;
    }
}

TEST_P(Faults, APageForPeople) {
    Service service(way());
    service.replies(http_bytes(200, "text/html; charset=utf-8", "<html>Sign in</html>"));
    expect_failure(take_turn(*service.model()), host(service) +
                                                    " answers with text/html; charset=utf-8 instead of JSON; "
                                                    "check the address");
    EXPECT_EQ(service.request_count(), 1U);
}

TEST_P(Faults, ErrorsInOtherForms) {
    struct Row {
        const char* body;
        const char* said;
    };
    for (const auto& [body, said] :
         {Row{R"({"error":"plain words"})", "plain words"}, Row{R"({"detail":"not here"})", "not here"},
          Row{R"({"object":"error","message":"without an inner object","code":400})", "without an inner object"},
          Row{R"({"error":{"code":400,"message":"two\nlines \u001b[31m"}})", "two\\nlines \\u{1b}[31m"}}) {
        Service service(way());
        service.replies(http_bytes(400, "application/json", body));
        expect_failure(take_turn(*service.model()), host(service) + " refuses the request (HTTP 400): " + said);
    }
    Service service(way());
    service.replies(http_bytes(400, "text/plain", std::string(100'000, 'x')));
    expect_failure(take_turn(*service.model()), host(service) + " refuses the request (HTTP 400)");
}

TEST_P(Faults, SilenceIsAskedAgainTwice) {
    Service service(way());
    const auto whole = answer_of(answer, way());
    service.replies("", Reply::End::hold).replies(whole.substr(0, whole.size() / 2), Reply::End::hold).says(answer);
    auto options = service.options();
    (way().streaming ? options.idle_ms : options.answer_ms) = 80;
    expect_answer(take_turn(*service.model(options)));
    for (int i = 0; i < 3; ++i) service.replies("", Reply::End::hold);
    expect_failure(take_turn(*service.model(options)),
                   "nothing came from " + host(service) + " for 80 ms; resume to ask again (asked 3 times)");
}

TEST_P(Faults, AStopEndsTheTurn) {
    Service service(way());
    std::stop_source stop;
    service.replies(error(529, "overloaded_error", "busy"));
    auto options = service.options();
    options.wait = [&](std::int64_t, const std::stop_token& token) {
        stop.request_stop();
        return !token.stop_requested();
    };
    expect_failure(take_turn(*service.model(options), {{.text = "go"}}, {}, stop.get_token()),
                   "the request was stopped");
    EXPECT_EQ(service.request_count(), 1U);
}

TEST_P(Faults, NobodyThere) {
    Service service(way());
    auto options = service.options();
    const auto host = "127.0.0.1:" + std::to_string(closed_port());
    options.base_url = "http://" + host;
    expect_failure(take_turn(*service.model(options)),
                   "no connection to " + host + "; check that the service runs there (asked 3 times)");
}

TEST_P(Faults, AKeyThatIsSentBackIsDropped) {
    for (const auto& part : {text(std::string("your key is ") + test_key),
                             call("move", "id", std::string("{\"k\":\"") + test_key + "\"}")}) {
        Service service(way());
        service.says({{part}});
        expect_failure(take_turn(*service.model()),
                       host(service) + " sent the key back within its answer, which was dropped");
    }
}

INSTANTIATE_TEST_SUITE_P(Ways, Faults, testing::ValuesIn(ways), [](const auto& one) { return name_of(one.param); });

TEST(Options, WhatCannotWorkIsRefused) {
    const auto refused = [](const ServiceOptions& options, bool anthropic = true) {
        auto made = anthropic ? anthropic_model(options) : openai_model(options);
        return made ? "made " + made.value()->name() : made.failure().message;
    };
    unsetenv("ANTHROPIC_API_KEY");
    unsetenv("OPENAI_API_KEY");
    EXPECT_EQ(refused({.model = "m"}), "the model m needs a key; set ANTHROPIC_API_KEY in the environment");
    EXPECT_EQ(refused({.model = "m", .base_url = "http://127.0.0.1:1"}),
              "the model m needs a key; set ANTHROPIC_API_KEY in the environment");
    EXPECT_EQ(refused({.model = "m"}, false), "the model m needs a key; set OPENAI_API_KEY in the environment");
    EXPECT_EQ(refused({.model = "m", .key_variable = "OTHER_KEY"}, false),
              "the model m needs a key; set OTHER_KEY in the environment");
    EXPECT_EQ(refused({.model = "m", .base_url = "http://127.0.0.1:1"}, false), "made openai:m");
    EXPECT_THROW((void)assent::anthropic("m"), ConfigError);
    EXPECT_THROW((void)assent::openai("m"), ConfigError);
    setenv("OPENAI_API_KEY", "sk-with a space", 1);
    EXPECT_EQ(refused({.model = "m"}, false), "the key in OPENAI_API_KEY holds characters that no key has; check it");
    setenv("OPENAI_API_KEY", " sk-good\n", 1);
    EXPECT_EQ(assent::openai("m")->name(), "openai:m");
    unsetenv("OPENAI_API_KEY");
    const auto key = [] { return std::string("k"); };
    EXPECT_EQ(refused({.key = key}), "a service needs the id of a model");
    EXPECT_EQ(refused({.model = "m", .key = key, .max_tokens = -1}),
              "the limits of a service's options are numbers above 0 (retries from 0)");
    EXPECT_EQ(refused({.model = "m", .base_url = "example", .key = key}),
              "the address of a service begins with http:// or https:// and a host");
    EXPECT_EQ(refused({.model = "m", .key = key, .request_members = "[]"}).substr(0, 17), "request_members: ");
    EXPECT_EQ(refused({.model = "m", .key = key, .request_members = R"({"stream":true})"}),
              "request_members: stream is written by Assent");
    EXPECT_EQ(refused({.model = "m", .key = key, .request_members = R"({"temperature":0})"}), "made anthropic:m");
}

TEST(Options, TheAddressMayEndInSeveralWays) {
    for (const auto way : {ways[0], ways[2]}) {
        const bool anthropic = way.api == Api::anthropic;
        for (const auto* end : {"", "/", "/v1", "/v1/", anthropic ? "/v1/messages" : "/v1/chat/completions"}) {
            Service service(way);
            service.says(answer);
            auto options = service.options();
            options.base_url += end;
            expect_answer(take_turn(*service.model(options)));
        }
    }
}

TEST(Options, FurtherMembersStandInEachRequest) {
    for (const auto way : ways) {
        Service service(way);
        service.says(answer);
        auto options = service.options();
        options.max_tokens = 77;
        options.request_members = R"({"temperature": 0.50, "thinking": {"type": "enabled"}})";
        expect_answer(take_turn(*service.model(options)));
        const auto body = service.requests().at(0).body;
        EXPECT_NE(body.find(R"("temperature":0.50,"thinking":{"type": "enabled"})"), std::string::npos) << body;
        EXPECT_NE(body.find(R"("max_tokens":77)"), std::string::npos) << body;
    }
}

TEST(Pause, GrowsToABoundAndIsSpread) {
    FakeRandom random;
    std::int64_t least = 1 << 20;
    std::int64_t most = 0;
    for (int i = 0; i < 200; ++i) {
        const auto pause = models::pause_ms(3, random);
        least = std::min(least, pause);
        most = std::max(most, pause);
    }
    EXPECT_GE(least, 1500);
    EXPECT_LT(least, 1600);
    EXPECT_GT(most, 1900);
    EXPECT_LE(most, 2000);
    EXPECT_LE(models::pause_ms(1'000'000, random), 16'000);
}

}  // namespace
}  // namespace assent::test
