// The reader of server-sent events at every cut, and the HTTP client against a local server.
#include "net/out/http_client.hpp"
#include "net/out/sse_reader.hpp"
#include "support/fakes.hpp"
#include "support/local_server.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <thread>

namespace assent::net {
namespace {

using test::closed_port;
using test::http_bytes;
using test::LocalServer;
using test::Received;
using test::Reply;

struct SseCase {
    const char* name;
    std::string stream;
    std::vector<SseEvent> events;
};

void PrintTo(const SseCase& row, std::ostream* out) {
    *out << row.name;
}

const std::vector<SseCase> sse_cases{
    {"one", "data: a\n\n", {{"", "a"}}},
    {"named", "event: ping\ndata: {}\n\n", {{"ping", "{}"}}},
    {"carriage_returns", "event: x\rdata: a\r\rdata: b\r\r", {{"x", "a"}, {"", "b"}}},
    {"both_line_ends", "event: x\r\ndata: a\r\n\r\ndata: b\r\n\r\n", {{"x", "a"}, {"", "b"}}},
    {"mixed_line_ends", "data: a\r\ndata: b\rdata: c\n\r\ndata: d\n\n", {{"", "a\nb\nc"}, {"", "d"}}},
    {"many_lines", "data: a\ndata:\ndata:  b\n\n", {{"", "a\n\n b"}}},
    {"no_space", "data:a\n\n", {{"", "a"}}},
    {"comments", ": hello\n:\ndata: a\n: in between\ndata: b\n\n: end\n\n", {{"", "a\nb"}}},
    {"unknown_fields", "id: 7\nretry: 10\nwhat: ever\ndata: a\n\n", {{"", "a"}}},
    {"field_alone", "data\n\ndata\ndata\n\n", {{"", ""}, {"", "\n"}}},
    {"event_without_data", "event: ping\n\ndata: a\n\n", {{"", "a"}}},
    {"mark_at_the_beginning",
     "\xEF\xBB\xBF"
     "data: a\n\n",
     {{"", "a"}}},
    {"mark_later",
     "data: a\n\n\xEF\xBB\xBF"
     "data: b\n\n",
     {{"", "a"}}},
    {"not_ended", "data: a\n\ndata: b\n", {{"", "a"}}},
    {"characters", "data: é€😀\n\n", {{"", "é€😀"}}},
    {"not_utf8", "data: \xff\xc3\n\n", {{"", "\xff\xc3"}}},
    {"empty_lines", "\n\n\r\n\rdata: a\n\n\n\n", {{"", "a"}}},
    {"colons", "data: a: b::c\n\n", {{"", "a: b::c"}}},
};

class Sse : public testing::TestWithParam<SseCase> {};

TEST_P(Sse, IsReadAtEveryCut) {
    const auto& row = GetParam();
    for (std::size_t first = 0; first <= row.stream.size(); ++first) {
        for (std::size_t second = first; second <= row.stream.size(); ++second) {
            std::vector<SseEvent> events;
            const auto keep = [&](const SseEvent& event) {
                events.push_back(event);
                return true;
            };
            SseReader reader(1000);
            const std::string_view stream = row.stream;
            reader.feed(stream.substr(0, first), keep);
            reader.feed(stream.substr(first, second - first), keep);
            EXPECT_EQ(reader.feed(stream.substr(second), keep), SseReader::State::more);
            ASSERT_EQ(events, row.events) << "cut at " << first << " and " << second;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Streams, Sse, testing::ValuesIn(sse_cases), [](const auto& row) { return row.param.name; });

TEST(SseLimits, AnEventThatGrowsTooLargeEndsTheStream) {
    for (const auto* stream :
         {"data: 123456789\n\n", "data: 1234\ndata: 5678\n\n", "123456789012", "event: 12345678\n"}) {
        SseReader reader(10);
        int events = 0;
        const auto count = [&](const SseEvent&) { return ++events > 0; };
        EXPECT_EQ(reader.feed(stream, count), SseReader::State::too_large) << stream;
        EXPECT_EQ(reader.feed("\n\ndata: a\n\n", count), SseReader::State::too_large);
        EXPECT_EQ(events, 0);
    }
}

TEST(SseLimits, SmallEventsMayBeManyAndTheReaderMayEndEarly) {
    SseReader reader(10);
    int events = 0;
    std::string stream;
    for (int i = 0; i < 1000; ++i) stream += "data: 1\n\n";
    EXPECT_EQ(reader.feed(stream, [&](const SseEvent&) { return ++events < 500; }), SseReader::State::ended);
    EXPECT_EQ(events, 500);
    EXPECT_EQ(reader.feed(stream, [&](const SseEvent&) { return true; }), SseReader::State::ended);
}

struct Posted {
    HttpAnswer answer;
    std::string body;
};

Posted post(HttpRequest request, const std::stop_token& stop = {}) {
    Posted out;
    const OnBody keep = [&out](const HttpHead&, std::string_view bytes) {
        out.body += bytes;
        return true;
    };
    if (request.body.data() == nullptr) request.body = "{}";
    out.answer = http_post(request, keep, system_clock(), stop);
    return out;
}

TEST(Http, SendsAndReceivesHeadersAndBody) {
    LocalServer server(
        [](const Received&) { return Reply{http_bytes(200, "text/plain", "hello", "X-Own:  a b \r\n")}; });
    const auto sent = std::string(300'000, 'x');
    const auto posted = post({.url = server.url() + "/v1/x", .headers = {{"X-Key", "secret"}}, .body = sent});
    EXPECT_FALSE(posted.answer.failure);
    EXPECT_EQ(posted.answer.head.status, 200);
    EXPECT_EQ(posted.answer.head.find("x-OWN"), "a b");
    EXPECT_EQ(posted.answer.head.find("nothing"), "");
    EXPECT_EQ(posted.body, "hello");
    const auto received = server.received().at(0);
    EXPECT_EQ(received.method, "POST");
    EXPECT_EQ(received.path, "/v1/x");
    EXPECT_EQ(received.headers.at("x-key"), "secret");
    EXPECT_FALSE(received.headers.contains("expect"));
    EXPECT_EQ(received.body, sent);
}

TEST(Http, AnErrorStatusIsAnAnswer) {
    LocalServer server([](const Received&) { return Reply{http_bytes(529, "text/plain", "busy")}; });
    const auto posted = post({.url = server.url()});
    EXPECT_FALSE(posted.answer.failure);
    EXPECT_EQ(posted.answer.head.status, 529);
    EXPECT_EQ(posted.body, "busy");
}

TEST(Http, ARedirectIsNotFollowed) {
    LocalServer other([](const Received&) { return Reply{http_bytes(200, "text/plain", "stolen")}; });
    LocalServer server(
        [&](const Received&) { return Reply{http_bytes(307, "text/plain", "", "Location: " + other.url() + "\r\n")}; });
    const auto posted = post({.url = server.url(), .headers = {{"X-Key", "secret"}}});
    EXPECT_EQ(posted.answer.head.status, 307);
    EXPECT_EQ(other.count(), 0U);
}

TEST(Http, TheRestOfAnAnswerNeedNotBeWaitedFor) {
    LocalServer server(
        [](const Received&) { return Reply{http_bytes(200, "text/plain", "enough", {}, false), Reply::End::hold}; });
    const OnBody enough = [](const HttpHead&, std::string_view) { return false; };
    EXPECT_FALSE(http_post({.url = server.url(), .body = "{}"}, enough, system_clock(), {}).failure);
}

void expect_failure(const Posted& posted, HttpFault fault, const std::string& text) {
    ASSERT_TRUE(posted.answer.failure);
    EXPECT_EQ(posted.answer.failure->fault, fault) << posted.answer.failure->text;
    EXPECT_EQ(posted.answer.failure->text, text);
}

TEST(Http, SilenceEndsTheRequest) {
    for (const auto* said : {"", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc"}) {
        LocalServer server([&](const Received&) { return Reply{said, Reply::End::hold}; });
        expect_failure(post({.url = server.url(), .idle_ms = 60}), HttpFault::idle,
                       "nothing came from 127.0.0.1:" + std::to_string(server.port()) + " for 60 ms");
    }
}

TEST(Http, AStopEndsTheRequestAtOnce) {
    std::stop_source stop;
    LocalServer server([&](const Received&) {
        stop.request_stop();
        return Reply{"", Reply::End::hold};
    });
    expect_failure(post({.url = server.url()}, stop.get_token()), HttpFault::stopped, "the request was stopped");
}

TEST(Http, AnAnswerHasALimit) {
    for (const bool with_length : {true, false}) {
        LocalServer server([&](const Received&) {
            return Reply{http_bytes(200, "text/plain", std::string(100'000, 'x'), {}, with_length)};
        });
        expect_failure(post({.url = server.url(), .answer_bytes_max = 50'000}), HttpFault::too_large,
                       "the answer of 127.0.0.1:" + std::to_string(server.port()) + " is larger than 50000 bytes");
    }
    LocalServer server([](const Received&) {
        return Reply{http_bytes(200, "text/plain", "",
                                "X: " + std::string(90'000, 'x') + "\r\nY: " + std::string(90'000, 'x') +
                                    "\r\nZ: " + std::string(90'000, 'x') + "\r\n")};
    });
    EXPECT_TRUE(post({.url = server.url()}).answer.failure);
}

TEST(Http, ABrokenAnswerIsTold) {
    const std::string whole = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n0123456789";
    for (const auto end : {Reply::End::close, Reply::End::reset}) {
        for (std::size_t cut = 0; cut < whole.size(); ++cut) {
            LocalServer server([&](const Received&) { return Reply{whole.substr(0, cut), end}; });
            const auto posted = post({.url = server.url()});
            ASSERT_TRUE(posted.answer.failure) << cut;
            EXPECT_EQ(posted.answer.failure->fault, HttpFault::broken) << cut << posted.answer.failure->text;
        }
    }
}

TEST(Http, NobodyListening) {
    test::forget_proxies();
    const auto host = "127.0.0.1:" + std::to_string(closed_port());
    expect_failure(post({.url = "http://" + host + "/v1"}), HttpFault::refused,
                   "no connection to " + host + "; check that the service runs there");
}

TEST(Http, ANameThatDoesNotExist) {
    test::forget_proxies();
    setenv("RES_OPTIONS", "attempts:1 timeout:1", 1);
    expect_failure(post({.url = "https://nothing.invalid/v1"}), HttpFault::not_resolved,
                   "the name nothing.invalid is not resolved; check the address and the network");
}

TEST(Http, AProxyThatRefuses) {
    test::forget_proxies();
    const auto closed = std::to_string(closed_port());
    setenv("HTTPS_PROXY", ("http://127.0.0.1:" + closed).c_str(), 1);
    expect_failure(post({.url = "https://service.test/v1"}), HttpFault::proxy,
                   "the proxy refuses connections; check HTTPS_PROXY and NO_PROXY in the environment");
    LocalServer proxy([](const Received&) { return Reply{http_bytes(407, "text/plain", "who are you")}; });
    setenv("HTTPS_PROXY", proxy.url().c_str(), 1);
    expect_failure(post({.url = "https://service.test/v1", .headers = {{"X-Key", "secret"}}}), HttpFault::proxy,
                   "the proxy refuses the connection to service.test (HTTP 407); "
                   "check HTTPS_PROXY and NO_PROXY in the environment");
    EXPECT_EQ(proxy.received().at(0).method, "CONNECT");
    EXPECT_FALSE(proxy.received().at(0).headers.contains("x-key"));
    setenv("HTTPS_PROXY", "http://nothing.invalid:80", 1);
    setenv("RES_OPTIONS", "attempts:1 timeout:1", 1);
    expect_failure(post({.url = "https://service.test/v1"}), HttpFault::proxy,
                   "the proxy cannot be found: its name is not resolved; "
                   "check HTTPS_PROXY and NO_PROXY in the environment");
    unsetenv("HTTPS_PROXY");
}

TEST(Http, AServerWithoutTls) {
    LocalServer server([](const Received&) { return Reply{"HTTP/1.1 400 Bad\r\n\r\n"}; });
    const auto posted = post({.url = "https://127.0.0.1:" + std::to_string(server.port()), .connect_ms = 300});
    ASSERT_TRUE(posted.answer.failure);
}

TEST(Http, AHeaderCannotHoldTwo) {
    EXPECT_THROW(post({.url = "http://127.0.0.1:1", .headers = {{"X-Key", "a\r\nX-Other: b"}}}), std::invalid_argument);
}

TEST(Addresses, HostOf) {
    const auto host = [](const std::string& url) {
        const auto found = host_of(url);
        return found ? found.value() : "! " + found.failure().message;
    };
    EXPECT_EQ(host("https://a.example"), "a.example");
    EXPECT_EQ(host("http://a.example:8080/v1"), "a.example:8080");
    EXPECT_EQ(host("http://[::1]:8080/v1"), "[::1]:8080");
    const std::string wrong = "! the address of a service begins with http:// or https:// and a host";
    for (const auto* url :
         {"", "a.example", "localhost:8080", "ftp://a.example", "file:///etc/passwd", "http://", "x y"}) {
        EXPECT_EQ(host(url), wrong) << url;
    }
    EXPECT_EQ(host(std::string("http://a.example/\0x", 18)), wrong);
    EXPECT_EQ(host("http://me:secret@a.example"),
              "! the address of a service holds a user or a password; keys come from the environment");
    EXPECT_EQ(host("http://me@a.example"),
              "! the address of a service holds a user or a password; keys come from the environment");
    EXPECT_EQ(host("http://a.example/v1?key=secret"),
              "! the address of a service ends with its path; leave out what follows ? or #");
}

TEST(Dates, AreReadFromHeaders) {
    EXPECT_EQ(http_date("Thu, 01 Jan 1970 00:01:00 GMT"), 60'000);
    EXPECT_EQ(http_date("soon"), std::nullopt);
}

}  // namespace
}  // namespace assent::net
