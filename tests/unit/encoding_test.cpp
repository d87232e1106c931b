// Events, headers and snapshots as bytes: what was written once must be read for ever.
#include "journal/encoding.hpp"
#include "support/journal_events.hpp"

#include <gtest/gtest.h>
#include <boost/json.hpp>

#include <fstream>
#include <limits>
#include <sstream>

namespace assent::journal {
namespace {

namespace json = boost::json;
using namespace assent::test;

constexpr const char* damaged_row =
    "a journal row cannot be read; the database is damaged or was written by a newer version";

// A thread with a decided question, an open one, an attempt and a result.
ThreadState full_state() {
    ThreadState state;
    UnixMillis at = 1'796'000'000'000;
    const auto take = [&](const Event& event) { apply(state, event, at += 7); };
    const auto events = full_events();
    take(events[0]);
    take(events[1]);
    auto said = std::get<ModelSaid>(events[2]);
    said.calls.push_back({.tool = "note", .id = "call_3", .arguments = "{}"});
    take(said);
    take(events[3]);
    take(events[5]);
    auto asked = std::get<Asked>(events[6]);
    asked.kind = ApprovalKind::approve;
    take(asked);
    auto answered = std::get<Answered>(events[7]);
    answered.decision = DecisionKind::approve;
    take(answered);
    take(events[8]);
    take(events[11]);
    asked.call = {3, 0};
    asked.number = 6;
    take(asked);
    take(Refused{.call = {3, 1}, .text = "Error: no"});
    take(Aborted{.reason = "tab closed", .by = "alice"});
    return state;
}

Header full_header() {
    return {.thread = "session \"1\"",
            .seq = 12,
            .at = 1'796'000'000'000,
            .kinds = {"judged", "asked"},
            .first_number = 5,
            .body_digest = std::string(64, 'a')};
}

Approval full_approval() {
    return {.id = "5abcd",
            .number = 5,
            .kind = ApprovalKind::unknown,
            .thread = "t",
            .turn = 3,
            .position = 2,
            .ask_no = 4,
            .tool = "pay",
            .tool_call_id = "call_1",
            .arguments = R"({"n":2})",
            .arguments_raw = R"({"n": 1.50})",
            .digest = std::string(64, 'b'),
            .guard = "rules",
            .guard_version = "7",
            .reason = "a rule for pay asks",
            .question = full_question(),
            .schema = std::string(64, 'c'),
            .state = ApprovalState::approved,
            .asked_at = 1000,
            .deadline = 2000,
            .use_by = 3000,
            .use_by_ms = 1000,
            .decision = DecisionKind::approve,
            .decided_by = "bob",
            .decided_at = 1500,
            .attempt = "attempt-1",
            .process = "process 42 on h"};
}

// What is written today, in the form of the golden file.
json::object written_today() {
    json::object bodies;
    const auto events = full_events();
    for (const auto& event : events) bodies[kind_of(event)] = encode(std::span(&event, 1));
    return {{"bodies", std::move(bodies)},
            {"body_of_two", encode(std::span(events).subspan(5, 2))},
            {"header", encode(full_header())},
            {"snapshot", encode_state(full_state())},
            {"question", encode_question(full_approval())}};
}

json::object golden() {
    std::ifstream file(ASSENT_TESTS_DIR "/golden/journal-v1.json");
    std::ostringstream text;
    text << file.rdbuf();
    return json::parse(text.str()).as_object();
}

std::string text_of(const json::object& object, const char* key) {
    return std::string(object.at(key).as_string());
}

TEST(Golden, WhatIsWrittenTodayIsWhatWasWrittenThen) {
    const auto today = written_today();
    // ASSENT_WRITE_GOLDEN=FILE writes what a new version of the form needs.
    if (const char* out = std::getenv("ASSENT_WRITE_GOLDEN")) std::ofstream(out) << json::serialize(today) << '\n';
    const auto then = golden();
    for (const auto& [kind, body] : today.at("bodies").as_object()) {
        EXPECT_EQ(body, then.at("bodies").as_object().at(kind)) << kind;
    }
    for (const auto* part : {"body_of_two", "header", "snapshot", "question"}) {
        EXPECT_EQ(text_of(today, part), text_of(then, part)) << part;
    }
}

TEST(Golden, WhatWasWrittenThenIsReadToday) {
    const auto then = golden();
    const auto& bodies = then.at("bodies").as_object();
    const auto events = full_events();
    EXPECT_EQ(bodies.size(), std::variant_size_v<Event>);
    for (const auto& event : events) {
        const auto read = decode(text_of(bodies, std::string(kind_of(event)).c_str()), 5);
        ASSERT_TRUE(read.ok()) << kind_of(event);
        EXPECT_EQ(*read, std::vector{event}) << kind_of(event);
    }
    const auto header = *decode_header(text_of(then, "header"));
    EXPECT_EQ(encode(header), encode(full_header()));
    EXPECT_EQ(header.kinds, full_header().kinds);
    EXPECT_EQ(*decode_question(text_of(then, "question")), full_approval());
    EXPECT_EQ(encode_state(*decode_state(text_of(then, "snapshot"))), encode_state(full_state()));
}

TEST(Encoding, AHeaderIsTheSameWhenItsNumberIsPutInLater) {
    for (const std::int64_t number : {0, 7, 1'234'567'890}) {
        // What could be taken for the place of the number.
        for (const std::string thread : {"t", R"(,"n":0,)", R"(a,"n":1)"}) {
            auto header = full_header();
            header.thread = thread;
            header.kinds.push_back(thread);
            header.first_number = number;
            const auto parts = encode_without_number(header);
            EXPECT_EQ(parts.before + std::to_string(number) + parts.after, encode(header));
        }
    }
}

TEST(Encoding, WhatOlderVersionsDidNotWriteHasADefault) {
    const Doubted old{.attempt = "a", .reason = "r"};
    auto marked = old;
    marked.returned = true;
    for (const auto& doubted : {old, marked}) {
        const Event event = doubted;
        const auto body = encode(std::span(&event, 1));
        EXPECT_EQ(body.find("returned") != std::string::npos, doubted.returned) << body;
        EXPECT_EQ(*decode(body, 0), std::vector<Event>{event});
    }
}

TEST(Encoding, APromptWithoutAKeyIsStoredAsItWasBeforeThereWereKeys) {
    for (const auto* key : {"", "key-1"}) {
        const UserMessage message{.text = "pay it", .by = "alice", .key = key};
        const Event event = message;
        const auto body = encode(std::span(&event, 1));
        EXPECT_EQ(body.contains("key"), *key != '\0') << body;
        EXPECT_EQ(std::get<UserMessage>(decode(body, 1)->front()), message);
    }
}

TEST(Encoding, MembersThatCameLaterAreWrittenOnlyIfTheySaySomething) {
    const std::tuple<Event, Event, std::vector<std::string>> rows[] = {
        {Judged{.text = "no"}, Judged{.text = "no", .style = Style::policy, .failed = true}, {"style", "failed"}},
        {Asked{.tool = "pay"},
         Asked{.tool = "pay", .answers_call = true, .also = {{.guard = "permissions", .version = "3f"}}},
         {"answers_call", "also"}},
        {Answered{.by = "bob"}, Answered{.by = "bob", .empty_reason = true}, {"empty_reason"}},
        {Withdrawn{.reason = "r"}, Withdrawn{.reason = "r", .text = "t", .by = "bob"}, {"text", "by"}},
    };
    for (const auto& [plain, full, members] : rows) {
        const auto written = encode(std::span(&plain, 1));
        const auto written_full = encode(std::span(&full, 1));
        for (const auto& member : members) {
            EXPECT_FALSE(json::parse(written).at("events").at(0).as_object().contains(member)) << written;
            EXPECT_TRUE(json::parse(written_full).at("events").at(0).as_object().contains(member)) << written_full;
        }
        EXPECT_EQ(*decode(written, 0), std::vector<Event>{plain});
        EXPECT_EQ(*decode(written_full, 0), std::vector<Event>{full});
    }
}

TEST(Encoding, EveryKindOfEventIsThereAndHasItsOwnName) {
    std::set<std::string_view> kinds;
    for (const auto& event : full_events()) kinds.insert(kind_of(event));
    EXPECT_EQ(kinds.size(), std::variant_size_v<Event>);
}

TEST(Encoding, EveryStyleIsStoredByItsName) {
    for (const auto style : {Style::assent, Style::rules, Style::table, Style::policy}) {
        const std::vector<Event> events{Asked{.number = 1, .question = {.style = style}}};
        const auto body = encode(events);
        EXPECT_NE(body.find(R"("style":")" + std::string(to_string(style)) + '"'), std::string::npos) << body;
        EXPECT_EQ(*decode(body, 1), events);
    }
}

TEST(Encoding, ARowGivesItsQuestionsTheirNumbersInOrder) {
    Asked question{.call = {1, 0}};
    const std::vector<Event> events{question, Judged{.call = {1, 1}}, question, question};
    const auto read = *decode(encode(events), 17);
    EXPECT_EQ(std::get<Asked>(read[0]).number, 17);
    EXPECT_EQ(std::get<Asked>(read[2]).number, 18);
    EXPECT_EQ(std::get<Asked>(read[3]).number, 19);
}

TEST(Encoding, EventsAtTheirDefaultsComeBackToo) {
    std::vector<Event> events;
    for (const auto& event : full_events()) {
        std::visit([&](const auto& full) { events.emplace_back(std::remove_cvref_t<decltype(full)>{}); }, event);
    }
    EXPECT_EQ(*decode(encode(events), 0), events);
}

TEST(Encoding, AnyTextComesBack) {
    constexpr std::string_view text("\0\x01\x1f\"\\/\x7f\xc2\x80\xe2\x80\xae\xf0\x9f\x98\x80\n", 17);
    const std::vector<Event> events{UserMessage{.text = std::string(text), .by = std::string(text)}};
    EXPECT_EQ(*decode(encode(events), 0), events);
}

TEST(Encoding, BytesThatAreNoUtf8AreWrittenSoThatTheRowCanBeRead) {
    const std::vector<Event> events{UserMessage{.text = "a\xff\xc3", .by = "\xed\xa0\x80"}};
    const auto read = decode(encode(events), 0);
    ASSERT_TRUE(read.ok());
    EXPECT_EQ(std::get<UserMessage>(read->at(0)).text, "a\xef\xbf\xbd\xef\xbf\xbd");
    EXPECT_TRUE(decode_header(encode(Header{.thread = "\xff"})).ok());
    EXPECT_TRUE(decode_question(encode_question({.tool = "\xff"})).ok());
    ThreadState state;
    apply(state, events[0], 0);
    EXPECT_TRUE(decode_state(encode_state(state)).ok());
}

TEST(Encoding, ADamagedOrNewerRowIsAnError) {
    for (
        const auto* body : {
            "",
            "{",
            "[]",
            "null",
            R"({"events":[]})",
            R"({"v":1})",
            R"({"v":2,"events":[]})",
            R"({"v":0,"events":[]})",
            R"({"v":"1","events":[]})",
            R"({"v":1,"events":{}})",
            R"({"v":1,"events":[1]})",
            R"({"v":1,"events":[{}]})",
            R"({"v":1,"events":[{"event":1}]})",
            R"({"v":1,"events":[{"event":"unheard_of"}]})",
            R"({"v":1,"events":[{"event":"delegated"}]})",
            R"({"v":1,"events":[{"event":"child_finished","child":"t/1.0"}]})",
            R"({"v":1,"events":[{"event":"user_message"}]})",
            R"({"v":1,"events":[{"event":"user_message","text":"a"}]})",
            R"({"v":1,"events":[{"event":"user_message","text":"a","by":1}]})",
            R"({"v":1,"events":[{"event":"user_message","text":"a","by":"b","more":1}]})",
            R"({"v":1,"events":[{"event":"timed_out","number":1.5,"text":"a"}]})",
            R"({"v":1,"events":[{"event":"timed_out","number":99999999999999999999,"text":"a"}]})",
            R"({"v":1,"events":[{"event":"judged","call":{"turn":1,"position":0},"verdict":"perhaps","guards":[],"text":""}]})",
            R"({"v":1,"events":[{"event":"judged","call":{"turn":1},"verdict":"allow","guards":[],"text":""}]})",
            R"({"v":1,"events":[]} x)",
            "{\"v\":1,\"events\":[{\"event\":\"user_message\",\"text\":\"\xff\",\"by\":\"\"}]}",
        }) {
        const auto read = decode(body, 1);
        ASSERT_FALSE(read.ok()) << body;
        EXPECT_EQ(read.failure().kind, FailureKind::database);
        EXPECT_EQ(read.failure().message, damaged_row);
    }
    EXPECT_TRUE(decode(R"({"v":1,"events":[]})", 1)->empty());
}

TEST(Encoding, EveryRowThatIsCutOffIsAnError) {
    const auto body = encode(full_events());
    for (std::size_t size = 0; size < body.size(); ++size) ASSERT_FALSE(decode(body.substr(0, size), 1).ok()) << size;
    ASSERT_TRUE(decode(body, 1).ok());
}

TEST(Encoding, ADamagedHeaderQuestionOrSnapshotIsAnError) {
    const std::string rest = " cannot be read; the database is damaged or was written by a newer version";
    for (const auto* text : {"", "{", "[]", "1", "{}", R"({"v":1})", R"({"v":2,"d":{}})", R"({"v":1,"d":{}})",
                             R"({"v":1,"d":[]})", R"({"v":1,"t":"a","s":1,"at":1,"k":[1],"n":1,"b":""})",
                             R"({"v":1,"t":"a","s":"1","at":1,"k":[],"n":1,"b":""})"}) {
        EXPECT_EQ(decode_header(text).failure().message, "a journal header" + rest) << text;
        EXPECT_EQ(decode_question(text).failure().message, "an open approval" + rest) << text;
        EXPECT_EQ(decode_state(text).failure().message, "a snapshot" + rest) << text;
    }
}

TEST(Encoding, CountsThatCannotBeAreDamage) {
    EXPECT_TRUE(decode(encode(std::vector<Event>{ModelSaid{.turn = 1'000'000'000}}), 1).ok());
    for (const std::vector<Event>& events :
         {std::vector<Event>{ModelSaid{.turn = 1'000'000'001}}, std::vector<Event>{ModelSaid{.turn = -1}},
          std::vector<Event>{Asked{.ask_no = 1'000'000'001}},
          std::vector<Event>{ChildFinished{.turns_used = 1'000'000'001}},
          std::vector<Event>{ChildFinished{.calls_used = -1}}}) {
        EXPECT_EQ(decode(encode(events), 1).failure().message, damaged_row);
    }
    for (const auto& state :
         {ThreadState{.turns = -1}, ThreadState{.run_turns = 1'000'000'001}, ThreadState{.run_calls = 1'000'000'001},
          ThreadState{.calls = {Call{.asks = -1}}}, ThreadState{.seq = std::numeric_limits<std::int64_t>::max()}}) {
        EXPECT_FALSE(decode_state(encode_state(state)).ok());
    }
}

TEST(Chain, EachHeadCoversEverythingBefore) {
    const Digest none{};
    const auto first = chain(none, "a");
    EXPECT_NE(first, none);
    EXPECT_NE(chain(first, "b"), chain(none, "b"));
    EXPECT_NE(chain(first, "b"), chain(first, "c"));
    EXPECT_NE(body_digest("ab", "c"), body_digest("a", "bc"));
    // SHA-256 of: 32 as 8 bytes, lowest first; 32 zero bytes; 0 as 8 bytes.
    EXPECT_EQ(hex(chain(none, "")), "7db9108b3e9382a6de9f254a406953bd4639372920611acbfd85cb629b4e74f8");
}

}  // namespace
}  // namespace assent::journal
