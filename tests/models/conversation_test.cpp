// Whole conversations of an agent with a service that checks every request, in both APIs, streamed and not.
#include "models/service.hpp"

#include <assent/agent.hpp>
#include <assent/memory.hpp>

#include <gtest/gtest.h>

#include <algorithm>

namespace assent::test {
namespace {

class Conversation : public testing::TestWithParam<Way> {
protected:
    Conversation() {
        guard->verdicts["transfer"] = Verdict::ask;
        guard->verdicts["forbidden"] = Verdict::deny;
        guard->reason = "not today";
    }

    [[nodiscard]] Way way() const { return GetParam(); }
    [[nodiscard]] bool anthropic() const { return way().api == Api::anthropic; }

    AgentOptions options(std::shared_ptr<Model> model) {
        return {.model = std::move(model),
                .system_prompt = "You are tested.",
                .tools = {read, transfer, forbidden, silent, silent_error, dotted},
                .guards = {guard},
                .checkpointer = &store,
                .thread_id = "t",
                .listener = [this](const AgentEvent& event) { events.push_back(event); }};
    }
    Agent agent() { return Agent(options(service.model())); }

    void expect_no_faults() {
        EXPECT_EQ(service.faults(), std::vector<std::string>());
        EXPECT_EQ(service.replies_left(), 0U);
    }
    [[nodiscard]] std::string body(std::size_t index) const { return service.requests().at(index).body; }
    [[nodiscard]] bool sent(std::size_t index, const std::string& part) const {
        return body(index).find(part) != std::string::npos;
    }

    MemoryCheckpointer store;
    Service service{GetParam()};
    std::shared_ptr<FakeGuard> guard = std::make_shared<FakeGuard>();
    std::shared_ptr<FakeTool> read = fake_tool("read");
    std::shared_ptr<FakeTool> transfer = fake_tool("transfer");
    std::shared_ptr<FakeTool> forbidden = fake_tool("forbidden");
    std::shared_ptr<FakeTool> silent =
        std::make_shared<FakeTool>(ToolSpec{.name = "silent"}, [](const ApprovedCall&) { return ToolResult{}; });
    std::shared_ptr<FakeTool> silent_error =
        std::make_shared<FakeTool>(ToolSpec{.name = "silent_error"},
                                   [](const ApprovedCall&) { return ToolResult{.text = " \n", .is_error = true}; });
    std::shared_ptr<FakeTool> dotted =
        std::make_shared<FakeTool>(ToolSpec{.name = "files.read", .schema = R"({"required":["p"]})"});
    std::vector<AgentEvent> events;
};

TEST_P(Conversation, EveryKindOfCallAndResult) {
    service.says({{text("Let me see."), call("read", "id_1", "{ \"n\" : 1.10, \"big\": 12345678901234567890 }"),
                   call("transfer", "id_2", R"({"amount": 5})"), call("forbidden", "id_3", "{}")}});
    service.says({.parts = {call("silent", "id_1", "{}"), call("silent_error", "id_1", "{}"), call("read", "id_4", "")},
                  .interleaved = true});
    service.says({{call("no such tool!", "id_5", "{}"), call("files_read", "id_6", R"({"p":1})")}});
    service.says({{text(" \n"), call("read", "id_7", R"({"a":1,"a":2})")}});
    service.says({{text("All done.")}});
    service.says({{text("You are welcome.")}});
    auto one = agent();
    auto run = one.prompt("go");
    ASSERT_EQ(run.status, RunStatus::waiting);
    ASSERT_EQ(run.interrupts.size(), 1U);
    EXPECT_EQ(run.interrupts[0].arguments, R"({"amount": 5})");
    EXPECT_EQ(service.request_count(), 1U);
    run = one.resume({{run.interrupts[0].id, deny("too much")}});
    ASSERT_EQ(run.status, RunStatus::done) << (run.failure ? run.failure->message : "");
    EXPECT_EQ(run.text, "All done.");
    run = one.prompt("thanks");
    EXPECT_EQ(run.text, "You are welcome.");
    expect_no_faults();
    EXPECT_EQ(read->runs, (std::vector<std::string>{"{ \"n\" : 1.10, \"big\": 12345678901234567890 }", "{}"}));
    EXPECT_TRUE(transfer->runs.empty());
    EXPECT_TRUE(forbidden->runs.empty());
    EXPECT_EQ(silent->runs.size(), 1U);
    EXPECT_TRUE(silent_error->runs.empty()) << "its id was taken in the same turn";
    EXPECT_EQ(dotted->runs, std::vector<std::string>{R"({"p":1})"});
    EXPECT_TRUE(sent(0, R"({"required":["p"],"type":"object","properties":{}})")) << body(0);
    // What the model wrote goes back byte for byte.
    const std::string written = "{ \"n\" : 1.10, \"big\": 12345678901234567890 }";
    EXPECT_TRUE(sent(1, anthropic() ? "\"input\":" + written : "\"arguments\":" + json_quote(written))) << body(1);
    // What cannot be an object stands there as text, or not at all.
    EXPECT_TRUE(sent(4, anthropic() ? R"("name":"read","input":{})" : R"({\"a\":1,\"a\":2})")) << body(4);
}

TEST_P(Conversation, ArgumentsThatAreNoJson) {
    if (anthropic() && !way().streaming) return;  // there the arguments are a part of the answer's JSON
    service.says({{call("read", "id_1", R"({"a": )"), call("read", "id_2", "[1]"), call("read", "id_3", "\xff{}")}});
    service.says({{text("Sorry.")}});
    auto one = agent();
    EXPECT_EQ(one.prompt("go").text, "Sorry.");
    EXPECT_TRUE(read->runs.empty());
    expect_no_faults();
    EXPECT_TRUE(sent(1, anthropic() ? R"("is_error":true)" : R"("arguments":"{\"a\": ")"));
}

TEST_P(Conversation, OneMegabyteOfArguments) {
    const auto arguments = R"({"text":")" + std::string(1024 * 1024 - 11, 'x') + "\"}";
    service.says({.parts = {call("read", "id_1", arguments)}, .piece = 10'000});
    service.says({{text("Done.")}});
    auto one = agent();
    EXPECT_EQ(one.prompt("go").text, "Done.");
    EXPECT_EQ(read->runs, std::vector<std::string>{arguments});
    expect_no_faults();
}

TEST_P(Conversation, ThoughtsGoBackUnchanged) {
    if (!anthropic()) return;  // no thoughts in this API
    const std::string redacted = R"({"type":"redacted_thinking","data":"abc=="})";
    service.says({.parts = {thinking("Hm,\n\"é\" €.", "sig+/=="), block(redacted), text("One."),
                            call("read", "id_1", R"({"n":1.0})"), text("Two.")},
                  .piece = 2});
    service.says({{thinking("Second.", "sig2"), call("transfer", "id_1", R"({"n":2.0})")}});
    service.says({{text("Done.")}});
    auto first = agent();
    auto run = first.prompt("go");
    ASSERT_EQ(run.status, RunStatus::waiting);
    // Another process: what goes back comes from the journal.
    auto second = agent();
    run = second.resume({{run.interrupts[0].id, approve()}});
    EXPECT_EQ(run.text, "Done.");
    expect_no_faults();
    const std::string thought =
        R"({"type":"thinking","thinking":)" + json_quote("Hm,\n\"é\" €.") + R"(,"signature":"sig+/=="})";
    EXPECT_TRUE(sent(1, thought + "," + redacted + R"(,{"type":"text","text":"One."})")) << body(1);
    EXPECT_TRUE(sent(1, R"("input":{"n":1.0}},{"type":"text","text":"Two."}])")) << body(1);
    EXPECT_TRUE(sent(2, R"({"type":"thinking","thinking":"Second.","signature":"sig2"})")) << body(2);
    // The second call of that id has a number behind it, in the call and in its result.
    EXPECT_TRUE(sent(2, R"("id":"id_1_2")")) << body(2);
    EXPECT_TRUE(sent(2, R"("tool_use_id":"id_1_2")")) << body(2);
}

TEST_P(Conversation, TooLongLosesNothing) {
    service.says({{call("transfer", "id_1", R"({"amount":1})"), call("transfer", "id_2", R"({"amount":2})")}});
    auto first = agent();
    auto run = first.prompt("go");
    ASSERT_EQ(run.interrupts.size(), 2U);
    const auto other = run.interrupts[1].id;
    run = first.resume({{run.interrupts[0].id, approve()}});
    ASSERT_EQ(run.status, RunStatus::waiting);
    service.replies(error_of(400, "invalid_request_error", "prompt is too long: 3 tokens > 2 maximum", way().api));
    auto second = agent();
    run = second.resume({{other, approve()}});
    ASSERT_EQ(run.status, RunStatus::failed);
    EXPECT_EQ(run.failure->kind, FailureKind::model);
    EXPECT_NE(run.failure->message.find("the conversation is too long for"), std::string::npos) << run.failure->message;
    EXPECT_EQ(transfer->runs.size(), 2U);
    service.says({{text("Done.")}});
    auto third = agent();
    run = third.resume();
    EXPECT_EQ(run.text, "Done.");
    EXPECT_EQ(transfer->runs.size(), 2U);
    expect_no_faults();
}

TEST_P(Conversation, AFailedTurnCanBeFollowedByANewPrompt) {
    service.replies(error_of(401, "authentication_error", "no", way().api));
    service.says({{text("Yes.")}});
    auto one = agent();
    EXPECT_EQ(one.prompt("go").status, RunStatus::failed);
    EXPECT_EQ(one.prompt(" ").text, "Yes.");
    expect_no_faults();
}

TEST_P(Conversation, AnAbortCanBeFollowedByANewPrompt) {
    service.says({{text("I."), call("transfer", "id_1", "{}")}});
    service.says({{}});
    service.says({{text("Yes.")}});
    auto one = agent();
    EXPECT_EQ(one.prompt("go").status, RunStatus::waiting);
    EXPECT_TRUE(one.abort("enough"));
    EXPECT_EQ(one.prompt("again").status, RunStatus::done);
    EXPECT_EQ(one.prompt("and again").text, "Yes.");
    expect_no_faults();
}

TEST_P(Conversation, ALimitCanBeFollowedByANewPrompt) {
    service.says({{call("read", "id_1", "{}"), call("read", "id_2", "{}")}});
    service.says({{text("Yes.")}});
    auto limited = options(service.model());
    limited.calls_max = 1;
    Agent one(std::move(limited));
    EXPECT_EQ(one.prompt("go").status, RunStatus::failed);
    EXPECT_EQ(one.prompt("again").text, "Yes.");
    EXPECT_TRUE(read->runs.empty());
    expect_no_faults();
}

TEST_P(Conversation, AThreadOfAnotherModel) {
    const auto script = scripted_model("first", R"({"turns": [
        {"text": "Hm.", "calls": [{"name": "read", "arguments": {"a": 1}}, {"name": "files.read", "arguments": "no json"}]},
        {"text": "Done."}]})");
    Agent first(options(*script));
    EXPECT_EQ(first.prompt("go").text, "Done.");
    service.says({{text("Yes.")}});
    auto second = agent();
    EXPECT_EQ(second.prompt("and now").text, "Yes.");
    expect_no_faults();
}

// The same conversation in the other API: what one service wanted back is not for the other.
TEST_P(Conversation, AThreadOfTheOtherService) {
    Service other({anthropic() ? Api::openai : Api::anthropic, way().streaming});
    other.says(
        {{anthropic() ? text("Hm.") : thinking("Hm.", "sig"), call("read", "a.b:c", "{}"), call("read", "x", "{}")}});
    other.says({{text("Done.")}});
    Agent first(options(other.model()));
    EXPECT_EQ(first.prompt("go").text, "Done.") << other.faults().size();
    service.says({{text("Yes.")}});
    auto second = agent();
    EXPECT_EQ(second.prompt("and now").text, "Yes.");
    expect_no_faults();
    EXPECT_FALSE(sent(0, "signature"));
}

TEST_P(Conversation, PartialTextsAndCallsAreDroppedFromSight) {
    const Said said{{text("Now I transfer."), call("transfer", "id_1", R"({"amount":5})")}};
    const auto whole = answer_of(said, way());
    service.replies(whole.substr(0, whole.size() - 50), Reply::End::reset);
    service.says({{text("No."), call("read", "id_1", "{}")}}).says({{text("Done.")}});
    auto one = agent();
    EXPECT_EQ(one.prompt("go").text, "Done.");
    std::string seen;
    for (const auto& event : events) {
        if (event.kind == AgentEvent::Kind::text) seen += event.text;
        if (event.kind == AgentEvent::Kind::text_dropped) seen += "|";
        if (event.kind == AgentEvent::Kind::turn) seen += "/";
        EXPECT_NE(event.kind, AgentEvent::Kind::asked);
    }
    EXPECT_EQ(seen, way().streaming ? "Now I transfer.|No./Done." : "No./Done.");
    for (const auto& message : one.messages().value()) EXPECT_EQ(message.text.find("transfer"), std::string::npos);
    expect_no_faults();
}

INSTANTIATE_TEST_SUITE_P(Ways, Conversation, testing::ValuesIn(ways),
                         [](const auto& one) { return name_of(one.param); });

}  // namespace
}  // namespace assent::test
