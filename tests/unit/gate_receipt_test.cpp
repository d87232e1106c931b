// Taking a thread over from a runner that died while tools ran: what their receipts prove is recorded.
#include "support/fakes.hpp"
#include "support/faulty_store.hpp"
#include "support/other_process.hpp"
#include "support/stores.hpp"

#include <assent/gate.hpp>

#include <gtest/gtest.h>

namespace assent {
namespace {

using namespace assent::test;
using AnswerStatus = AnswerResult::Status;
using Fault = FaultyStore::Fault;
using Proof = Receipt::Proof;

// Says what the test wants of an attempt, and remembers what it was asked.
class ReceiptTool final : public Tool {
public:
    explicit ReceiptTool(Receipt receipt, bool idempotent = false)
        : Tool({.name = "pay", .idempotent = idempotent}), receipt_(std::move(receipt)) {}

    Receipt receipt(const std::string& attempt, const Arguments& arguments) override {
        asked.push_back(attempt + " " + arguments.text());
        if (throws) throw std::runtime_error("out\nof order");
        return receipt_;
    }
    void drop_receipt(const std::string& attempt) override { dropped.push_back(attempt); }

    std::vector<std::string> asked;
    std::vector<std::string> dropped;
    bool throws = false;
    int runs = 0;

private:
    ToolResult run(const ApprovedCall& call) override {
        ++runs;
        return {.text = std::string(call.attempt())};
    }
    Receipt receipt_;
};

// Takes something out of every result.
class Redaction final : public Middleware {
public:
    std::optional<ToolResult> after_tool(const ToolContext&, const ToolResult& result) override {
        auto changed = result;
        if (const auto at = changed.text.find("secret"); at != std::string::npos) changed.text.replace(at, 6, "***");
        return changed;
    }
};

class GateReceipt : public testing::Test {
protected:
    std::unique_ptr<Gate> gate(Checkpointer& store, std::shared_ptr<Tool> tool) const {
        return std::make_unique<Gate>(GateOptions{.checkpointer = &store,
                                                  .thread_id = "t",
                                                  .tools = {std::move(tool)},
                                                  .middleware = {std::make_shared<Redaction>()}});
    }
    // Another process that has claimed a call, and perhaps started it; it says the attempt.
    std::unique_ptr<OtherProcess> runner(const std::string& path) const {
        return std::make_unique<OtherProcess>([&, path](const Talk& talk) {
            SqliteCheckpointer store(path);
            auto gate = this->gate(store, std::make_shared<ReceiptTool>(Receipt{}));
            const ProposedCall call{.tool = "pay", .id = "a", .arguments = R"({"n":1})"};
            const bool ready = gate->prompt("go", "user").ok() && gate->propose({.calls = {call}}).ok();
            const auto permits = gate->claim();
            talk.say(ready && permits->size() == 1 ? std::string(permits->at(0).attempt()) : "failed");
            talk.hear();
        });
    }
    static std::vector<std::string> events_after_claim(Checkpointer& store) {
        std::vector<std::string> kinds;
        bool after = false;
        for (const auto& entry : *Approvals(store).history("t")) {
            if (after) kinds.push_back(entry.event);
            after = after || entry.event == "claimed";
        }
        return kinds;
    }

    TemporaryFolder folder_;
};

const std::string died = "its process ended before the outcome was recorded";

struct Row {
    const char* name;
    Receipt receipt;
    bool idempotent;
    std::vector<std::string> events;
    std::optional<OutcomeKind> outcome;
    std::string text;    // of the result, or of what a person is shown
    std::string reason;  // of the question, if there is one
    GateStep next;
};

const std::vector<Row>& rows() {
    using enum GateStep;
    static const std::vector<Row> all{
        {"done",
         {Proof::ended, {.text = "a secret"}, ""},
         false,
         {"finished"},
         OutcomeKind::done,
         "a ***",
         "",
         call_model},
        {"failed",
         {Proof::ended, {.text = "no", .is_error = true}, ""},
         true,
         {"finished"},
         OutcomeKind::failed,
         "no",
         "",
         call_model},
        {"cancelled",
         {Proof::ended, {.text = "stopped", .is_error = true, .cancelled = true}, ""},
         false,
         {"finished"},
         OutcomeKind::cancelled,
         "stopped",
         "",
         call_model},
        {"not started", {Proof::not_started, {}, ""}, false, {"released"}, {}, "", "", start},
        {"no effect", {Proof::no_effect, {}, ""}, false, {"doubted"}, {}, "", "", start},
        {"killed",
         {Proof::nothing, {.text = "half a secret"}, "it was\nkilled"},
         false,
         {"doubted", "asked"},
         {},
         "half a ***",
         died + "; it was\\nkilled",
         wait},
        {"no receipt", {}, false, {"doubted", "asked"}, {}, "", died, wait},
        {"no receipt, and harmless twice", {}, true, {"doubted"}, {}, "", "", start},
        {"an end that is none",
         {Proof::ended, {.text = "?", .unknown = true}, ""},
         false,
         {"doubted", "asked"},
         {},
         "?",
         died,
         wait},
    };
    return all;
}

TEST_F(GateReceipt, WhatItProvesIsRecordedAndTheRestIsDoubted) {
    for (const auto& row : rows()) {
        const auto path = folder_.file(row.name);
        const auto other = runner(path);
        const auto attempt = other->hear();
        SqliteCheckpointer store(path);
        const auto tool = std::make_shared<ReceiptTool>(row.receipt, row.idempotent);
        auto gate = this->gate(store, tool);
        // As long as it lives it may say itself how the call ended.
        EXPECT_EQ(gate->resume().failure().kind, FailureKind::leased) << row.name;
        EXPECT_TRUE(tool->asked.empty()) << row.name;
        other->kill_now();

        ASSERT_TRUE(gate->resume().ok()) << row.name;
        EXPECT_EQ(tool->asked, std::vector{attempt + R"( {"n":1})"}) << row.name;
        EXPECT_EQ(tool->dropped.at(0), attempt) << row.name;
        EXPECT_EQ(tool->runs, 0) << row.name;
        EXPECT_EQ(events_after_claim(store), row.events) << row.name;
        EXPECT_EQ(gate->next(), row.next) << row.name;
        const auto call = gate->calls().at(0);
        EXPECT_EQ(call.outcome, row.outcome) << row.name;
        const auto open = gate->open();
        ASSERT_EQ(open.empty(), row.reason.empty()) << row.name;
        EXPECT_EQ(open.empty() ? call.text : open[0].question.description, row.text) << row.name;
        if (open.empty()) continue;
        EXPECT_EQ(open[0].kind, ApprovalKind::unknown) << row.name;
        EXPECT_EQ(open[0].reason, row.reason) << row.name;
    }
}

TEST_F(GateReceipt, AnAbortedThreadRecordsItToo) {
    for (const auto& [proof, outcome] : {std::pair{Proof::ended, OutcomeKind::done},
                                         {Proof::not_started, OutcomeKind::cancelled},
                                         {Proof::nothing, OutcomeKind::unknown}}) {
        const auto path = folder_.file("test.db." + std::to_string(static_cast<int>(proof)));
        const auto other = runner(path);
        EXPECT_NE(other->hear(), "failed");
        other->kill_now();
        SqliteCheckpointer store(path);
        ASSERT_TRUE(Approvals(store).abort("t", "enough", "alice").ok());
        auto gate = this->gate(store, std::make_shared<ReceiptTool>(Receipt{proof, {.text = "paid"}, ""}));
        ASSERT_TRUE(gate->resume().ok());
        EXPECT_EQ(gate->calls().at(0).outcome, outcome);
        EXPECT_TRUE(gate->open().empty());
        EXPECT_EQ(gate->next(), GateStep::done);
    }
}

TEST_F(GateReceipt, AToolThatThrowsProvesNothing) {
    const auto path = folder_.file("test.db");
    const auto other = runner(path);
    EXPECT_NE(other->hear(), "failed");
    other->kill_now();
    SqliteCheckpointer store(path);
    const auto tool = std::make_shared<ReceiptTool>(Receipt{Proof::ended, {.text = "done"}, ""});
    tool->throws = true;
    auto gate = this->gate(store, tool);
    ASSERT_TRUE(gate->resume().ok());
    ASSERT_EQ(gate->open().size(), 1U);
    EXPECT_EQ(gate->open()[0].reason, died + "; its receipt cannot be read: out\\nof order");
}

TEST_F(GateReceipt, OfSeveralWhoTakeTheThreadOneRecordsTheOutcome) {
    const auto path = folder_.file("test.db");
    const auto other = runner(path);
    EXPECT_NE(other->hear(), "failed");
    other->kill_now();
    SqliteCheckpointer store(path);
    const auto tool = std::make_shared<ReceiptTool>(Receipt{Proof::ended, {.text = "done"}, ""});
    // Ten who see the same dead runner, in turn: whoever comes later finds it settled.
    std::vector<std::unique_ptr<Gate>> gates;
    for (int i = 0; i < 10; ++i) {
        gates.push_back(gate(store, tool));
        ASSERT_TRUE(*gates.back()->load());
    }
    for (auto& gate : gates) {
        ASSERT_TRUE(gate->resume().ok());
        ASSERT_TRUE(gate->give_back().ok());
    }
    EXPECT_EQ(events_after_claim(store), std::vector<std::string>{"finished"});
    EXPECT_EQ(tool->asked.size(), 1U);
}

TEST_F(GateReceipt, ASettlementThatCouldNotBeStoredIsMadeAgainWithoutAskingAgain) {
    const auto path = folder_.file("test.db");
    const auto other = runner(path);
    const auto attempt = other->hear();
    other->kill_now();
    SqliteCheckpointer kept(path);
    FaultyStore store(kept);
    const auto tool = std::make_shared<ReceiptTool>(Receipt{Proof::ended, {.text = "done"}, ""});
    auto gate = this->gate(store, tool);
    store.appends = {Fault::none, Fault::fails};
    EXPECT_FALSE(gate->resume().ok());
    EXPECT_TRUE(tool->dropped.empty());
    EXPECT_TRUE(events_after_claim(kept).empty());
    ASSERT_TRUE(gate->resume().ok());
    EXPECT_EQ(events_after_claim(kept), std::vector<std::string>{"finished"});
    EXPECT_EQ(tool->asked.size(), 1U);
    EXPECT_EQ(tool->dropped.at(0), attempt);
    // The hooks have run before it was stored, and once.
    EXPECT_EQ(gate->calls().at(0).text, "done");
}

TEST_F(GateReceipt, IsDroppedOnceTheOutcomeIsOnRecordAndLeftOversWhenTheThreadIsNextTaken) {
    SqliteCheckpointer store(folder_.file("test.db"));
    const auto tool = std::make_shared<ReceiptTool>(Receipt{});
    auto gate = this->gate(store, tool);
    ASSERT_TRUE(gate->prompt("go", "user").ok());
    ASSERT_TRUE(gate->propose({.calls = {{.tool = "pay", .id = "a", .arguments = "{}"}}}).ok());
    auto permits = gate->claim();
    const std::string attempt(permits->at(0).attempt());
    const auto outcome = tool->start(std::move(permits->at(0)));
    EXPECT_EQ(outcome.result.text, attempt);  // what a body calls its receipt by
    EXPECT_TRUE(tool->dropped.empty());
    ASSERT_TRUE(gate->finish(outcome).ok());
    EXPECT_EQ(tool->dropped, std::vector{attempt});
    ASSERT_TRUE(gate->give_back().ok());
    ASSERT_TRUE(this->gate(store, tool)->resume().ok());
    EXPECT_EQ(tool->dropped, (std::vector{attempt, attempt}));
    // Nobody resumes what was aborted.
    ASSERT_TRUE(Approvals(store).abort("t", "enough", "alice").ok());
    ASSERT_TRUE(this->gate(store, tool)->prompt("again", "user").ok());
    EXPECT_EQ(tool->dropped, (std::vector{attempt, attempt, attempt}));
    EXPECT_TRUE(tool->asked.empty());
}

}  // namespace
}  // namespace assent
