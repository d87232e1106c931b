// What the providers make of an answer: a table of things a model may say, in both APIs, streamed and not.
#include "models/service.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace assent::test {
namespace {

enum class Only { all, anthropic, openai, streams };

struct Row {
    const char* name;
    Said said;
    std::string text;
    std::vector<ProposedCall> calls;
    std::string failure = {};  // part of its text; empty: none
    Only only = Only::all;
};

std::vector<Part> many_calls(int count) {
    std::vector<Part> parts;
    for (int i = 0; i < count; ++i) {
        const auto number = std::to_string(i);
        parts.push_back(call("move", "id_" + number, R"({"from":)" + number + R"(,"to":"place )" + number + "\"}"));
    }
    return parts;
}

std::vector<ProposedCall> calls_of(const std::vector<Part>& parts) {
    std::vector<ProposedCall> calls;
    for (const auto& part : parts) {
        if (part.kind == Part::Kind::call) calls.push_back({part.tool, part.id, part.text});
    }
    return calls;
}

const std::string tricky =
    R"({"path":"ab\"c\\d\n\u00e9\ud83d\ude00","text":"é€😀 ","n":[1.10,-0,1e400,12345678901234567890]})";
const std::string large = R"({"text":")" + std::string(1024 * 1024, 'x') + "\"}";

Row calls_row(const char* name, std::vector<Part> parts, std::size_t piece = 0, bool interleaved = false,
              Only only = Only::all) {
    auto calls = calls_of(parts);
    return {name, {.parts = std::move(parts), .piece = piece, .interleaved = interleaved}, "", std::move(calls), "",
            only};
}

std::vector<Row> rows() {
    return {
        {"plain_text", {{text("Hello there.")}}, "Hello there.", {}},
        {"text_cut_at_every_byte", {.parts = {text("aé€😀 \\\"\n z")}, .piece = 1}, "aé€😀 \\\"\n z", {}},
        {"text_cut_at_every_second_byte", {.parts = {text("aé€😀é")}, .piece = 2}, "aé€😀é", {}},
        {"empty_answer", {}, "", {}},
        calls_row("one_call", {call("move", "id_1", R"({"a": 1})")}),
        {"text_and_a_call", {{text("I move it."), call("move", "id_1", "{}")}}, "I move it.", {{"move", "id_1", "{}"}}},
        calls_row("two_calls", many_calls(2)),
        calls_row("two_calls_interleaved", many_calls(2), 3, true),
        calls_row("eight_calls_interleaved", many_calls(8), 5, true),
        calls_row("eight_calls_interleaved_by_bytes", many_calls(8), 1, true),
        calls_row("arguments_cut_at_every_byte", {call("move", "id_1", tricky)}, 1),
        calls_row("arguments_cut_within_escapes", {call("move", "id_1", tricky)}, 2),
        calls_row("arguments_cut_within_characters", {call("move", "id_1", tricky)}, 3),
        calls_row("digits_and_spaces_are_kept", {call("move", "id_1", "{ \"n\" : 1.10 , \"m\":[ ] }")}),
        calls_row("no_arguments_object", {call("move", "id_1", "{}")}),
        {"no_arguments_at_all", {{call("move", "id_1", "")}}, "", {{"move", "id_1", "{}"}}},
        calls_row("invalid_arguments", {call("move", "id_1", R"({"a": 1)")}, 0, false, Only::streams),
        calls_row("arguments_of_another_kind", {call("move", "id_1", "[1,2]")}, 0, false, Only::streams),
        calls_row("arguments_with_doubled_keys", {call("move", "id_1", R"({"a":1,"a":2})")}, 0, false, Only::streams),
        calls_row("unknown_tool", {call("no such tool!", "id_1", "{}")}),
        calls_row("doubled_ids", {call("move", "id_1", R"({"a":1})"), call("move", "id_1", R"({"a":2})")}),
        calls_row("one_megabyte", {call("move", "id_1", large)}, 50'000),
        {"tool_with_a_dot", {{call("files_read", "id_1", "{}")}}, "", {{"files.read", "id_1", "{}"}}},
        {"no_ids",
         {{call("move", "", "{}"), call("move", "", R"({"a":1})")}},
         "",
         {{"move", std::nullopt, "{}"}, {"move", std::nullopt, R"({"a":1})"}},
         "",
         Only::openai},
        {"a_thought_before_a_call",
         {{thinking("Hm, é.", "sig=="), text("Now."), call("move", "id_1", "{}")}},
         "Now.",
         {{"move", "id_1", "{}"}},
         "",
         Only::anthropic},
        {"two_texts", {{text("One. "), text("Two.")}}, "One. Two.", {}},
        {"cut_within_a_call",
         {.parts = {text("Now."), call("move", "id_1", R"({"a":1})")}, .stop = "max_tokens"},
         "",
         {},
         "within its calls, none of which ran"},
        {"cut_within_a_text", {.parts = {text("And so")}, .stop = "max_tokens"}, "And so", {}},
        {"cut_before_a_text", {.parts = {}, .stop = "max_tokens"}, "", {}, "before it said anything"},
        {"refused", {.parts = {text("I")}, .stop = "refusal"}, "", {}, "refused to answer"},
        {"refused_with_a_call",
         {.parts = {call("move", "id_1", "{}")}, .stop = "refusal"},
         "",
         {},
         "none of its calls ran"},
        {"too_long",
         {.parts = {text("I")}, .stop = "model_context_window_exceeded"},
         "",
         {},
         "the conversation is too long for anthropic:test-model; nothing is lost",
         Only::anthropic},
        {"unknown_end", {.parts = {text("I")}, .stop = "bored"}, "I", {}},
        {"unknown_end_with_a_call",
         {.parts = {call("move", "id_1", "{}")}, .stop = "bored"},
         "",
         {},
         "a reason that is not known here (bored)"},
    };
}

bool applies(const Row& row, Way way) {
    switch (row.only) {
        case Only::anthropic:
            return way.api == Api::anthropic;
        case Only::openai:
            return way.api == Api::openai;
        case Only::streams:
            // Within a whole answer of the Messages API the input is a part of its JSON.
            return way.streaming || way.api == Api::openai;
        default:
            return true;
    }
}

struct Case {
    Row row;
    Way way;
};

void PrintTo(const Case& one, std::ostream* out) {
    *out << one.row.name << " " << name_of(one.way);
}

std::vector<Case> cases() {
    std::vector<Case> out;
    for (const auto& row : rows()) {
        for (const auto way : ways) {
            if (applies(row, way)) out.push_back({row, way});
        }
    }
    return out;
}

class Answers : public testing::TestWithParam<Case> {};

TEST_P(Answers, AreReadWhole) {
    const auto& [row, way] = GetParam();
    const ToolSpec move{.name = "move"};
    const ToolSpec read{.name = "files.read", .description = "Reads.", .schema = R"({"type": "object"})"};
    // At once, and in small pieces, which cuts lines and characters on the way.
    for (const std::size_t piece : {0, 7}) {
        if (piece != 0 && row.said.piece == 50'000) continue;
        Service service(way);
        service.replies(Reply{.bytes = answer_of(row.said, way), .piece = piece});
        const auto turn = take_turn(*service.model(), {{.role = Role::user, .text = "go"}}, {&move, &read});
        EXPECT_EQ(service.faults(), std::vector<std::string>());
        EXPECT_FALSE(turn.heard_broken_character);
        if (!row.failure.empty()) {
            ASSERT_FALSE(turn.result);
            EXPECT_EQ(turn.result.failure().kind, FailureKind::model);
            EXPECT_NE(turn.result.failure().message.find(row.failure), std::string::npos)
                << turn.result.failure().message;
            EXPECT_EQ(turn.heard, "");
            EXPECT_EQ(service.request_count(), 1U) << "such an answer is final";
            continue;
        }
        ASSERT_TRUE(turn.result) << turn.result.failure().message;
        EXPECT_EQ(turn.result->text, row.text);
        EXPECT_EQ(turn.heard, row.text);
        EXPECT_EQ(turn.dropped, 0);
        EXPECT_TRUE(turn.result->calls == row.calls);
        EXPECT_EQ(turn.result->input_tokens, 12);
        EXPECT_EQ(turn.result->output_tokens, 31);
        EXPECT_FALSE(turn.result->stop_reason.empty());
    }
}

INSTANTIATE_TEST_SUITE_P(Table, Answers, testing::ValuesIn(cases()), [](const auto& one) {
    return std::string(one.param.row.name) + "_" + name_of(one.param.way);
});

// Halves of one character in two pieces, as services that count in 16 bits send them.
TEST(SplitCharacters, AreJoinedAgain) {
    const std::string anthropic =
        "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{}}\n\n"
        R"(data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}})"
        "\n\n"
        R"(data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a\ud83d"}})"
        "\n\n"
        R"(data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"\ude00b\ud83d"}})"
        "\n\n"
        R"(data: {"type":"content_block_stop","index":0})"
        "\n\n"
        R"(data: {"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"i","name":"m","input":{}}})"
        "\n\n"
        R"(data: {"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"t\":\"\ud83d"}})"
        "\n\n"
        R"(data: {"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"\ude00\"}"}})"
        "\n\n"
        R"(data: {"type":"content_block_stop","index":1})"
        "\n\n"
        R"(data: {"type":"message_delta","delta":{"stop_reason":"tool_use"}})"
        "\n\n"
        R"(data: {"type":"message_stop"})"
        "\n\n";
    const std::string openai =
        R"(data: {"choices":[{"index":0,"delta":{"content":"a\ud83d"}}]})"
        "\n\n"
        R"(data: {"choices":[{"index":0,"delta":{"content":"\ude00b\ud83d"}}]})"
        "\n\n"
        R"(data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"i","function":{"name":"m","arguments":"{\"t\":\"\ud83d"}}]}}]})"
        "\n\n"
        R"(data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"\ude00\"}"}}]}}]})"
        "\n\n"
        R"(data: {"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]})"
        "\n\n"
        "data: [DONE]\n\n";
    for (const auto api : {Api::anthropic, Api::openai}) {
        Service service({api, true});
        service.replies(http_bytes(200, "text/event-stream", api == Api::anthropic ? anthropic : openai));
        const auto turn = take_turn(*service.model());
        ASSERT_TRUE(turn.result) << turn.result.failure().message;
        EXPECT_FALSE(turn.heard_broken_character);
        EXPECT_TRUE(turn.heard.starts_with("a😀b")) << turn.heard;
        EXPECT_EQ(turn.result->calls.at(0).arguments, R"({"t":"😀"})");
    }
}

// Calls that all have the number 0 must not run into one another; their ids tell them apart.
TEST(OddServers, CallsNumberedAlike) {
    Service service({Api::openai, true});
    const auto piece = [](const char* id, const char* arguments) {
        return std::string(R"(data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":")") + id +
               R"(","function":{"name":"m","arguments":")" + arguments + "\"}}]}}]}\n\n";
    };
    service.replies(http_bytes(200, "text/event-stream",
                               piece("a", "{}") + piece("b", "[") + piece("b", "]") +
                                   R"(data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]})"
                                   "\n\ndata: [DONE]\n\n"));
    const auto turn = take_turn(*service.model());
    ASSERT_TRUE(turn.result);
    EXPECT_TRUE((turn.result->calls == std::vector<ProposedCall>{{"m", "a", "{}"}, {"m", "b", "[]"}}));
}

// A server that knows no streaming answers whole, and the other way round.
TEST(OddServers, TheOtherFormIsReadToo) {
    for (const auto way : ways) {
        Service service(way);
        service.replies(answer_of({{text("Hi."), call("m", "i", "{}")}}, {way.api, !way.streaming}));
        const auto turn = take_turn(*service.model());
        ASSERT_TRUE(turn.result) << name_of(way) << turn.result.failure().message;
        EXPECT_EQ(turn.heard, "Hi.");
        EXPECT_EQ(turn.result->calls.size(), 1U);
    }
}

// A paused answer is gone on with: what was said goes back as it was.
TEST(Pauses, AreGoneOnWith) {
    for (const bool streaming : {true, false}) {
        const Way way{Api::anthropic, streaming};
        const std::string search = R"({"type":"server_tool_use","id":"srv_1","name":"search","input":{"q": 1.0}})";
        Service service(way);
        service.says({.parts = {thinking("Hm.", "sig"), text("One, "), block(search)}, .stop = "pause_turn"});
        service.replies(error_of(529, "overloaded_error", "busy", way.api));
        service.says({{text("two.")}});
        const auto turn = take_turn(*service.model());
        ASSERT_TRUE(turn.result) << turn.result.failure().message;
        EXPECT_EQ(turn.result->text, "One, two.");
        EXPECT_EQ(turn.heard, "One, two.");
        EXPECT_EQ(turn.dropped, 1);
        EXPECT_EQ(turn.result->output_tokens, 62);
        EXPECT_NE(turn.result->provider_content.find(search), std::string::npos);
        EXPECT_NE(service.requests().at(1).body.find(search), std::string::npos);
        EXPECT_EQ(service.requests().at(1).body, service.requests().at(2).body);
        EXPECT_EQ(service.faults(), std::vector<std::string>());
    }
}

TEST(Pauses, HaveALimit) {
    Service service({Api::anthropic, true});
    for (int i = 0; i <= 20; ++i) service.says({.parts = {text("More.")}, .stop = "pause_turn"});
    const auto turn = take_turn(*service.model());
    ASSERT_FALSE(turn.result);
    EXPECT_NE(turn.result.failure().message.find("paused the answer too often"), std::string::npos);
    EXPECT_EQ(turn.heard, "");
}

}  // namespace
}  // namespace assent::test
