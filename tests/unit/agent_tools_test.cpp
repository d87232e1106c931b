// Typed tools: a described struct gives the schema, the parsing and the checks.
#include "support/agents.hpp"

#include <assent/describe.hpp>

#include <gtest/gtest.h>

namespace assent {
namespace {

using namespace assent::test;

struct Address {
    std::string street;
    std::optional<std::string> town;
};
BOOST_DESCRIBE_STRUCT(Address, (), (street, town))

struct Base {
    std::string order;
};
BOOST_DESCRIBE_STRUCT(Base, (), (order))

struct RefundArgs : Base {
    double amount = 0;
    std::int32_t count = 7;
    std::optional<std::uint8_t> stars;
    bool express = false;
    Address address;
    std::vector<Address> more;
    std::map<std::string, std::int64_t> counts;
};
BOOST_DESCRIBE_STRUCT(RefundArgs, (Base), (amount, count, stars, express, address, more, counts))

struct Nothing {};
BOOST_DESCRIBE_STRUCT(Nothing, (), ())

constexpr const char* good =
    R"({"order":"o1","amount":1.5,"count":-3,"express":true,"address":{"street":"s"},"more":[{"street":"a","town":"b"}],"counts":{"x":9007199254740993}})";

using AgentTools = AgentOverStore;
INSTANTIATE_TEST_SUITE_P(Stores, AgentTools, testing::ValuesIn(store_kinds()), store_name);

TEST(TypedTool, TheStructGivesTheSchema) {
    const std::string address =
        R"({"type":"object","properties":{"street":{"type":"string"},"town":{"type":"string"}},"required":["street"],"additionalProperties":false})";
    EXPECT_EQ(json_schema<Address>(), address);
    EXPECT_EQ(
        json_schema<RefundArgs>(),
        R"({"type":"object","properties":{"order":{"type":"string"},"amount":{"type":"number"},)"
        R"("count":{"type":"integer"},"stars":{"type":"integer"},"express":{"type":"boolean"},"address":)" +
            address + R"(,"more":{"type":"array","items":)" + address +
            R"(},"counts":{"type":"object","additionalProperties":{"type":"integer"}}},)"
            R"("required":["order","amount","count","express","address","more","counts"],"additionalProperties":false})");
    EXPECT_EQ(json_schema<Nothing>(),
              R"({"type":"object","properties":{},"required":[],"additionalProperties":false})");
}

TEST(TypedTool, ArgumentsBecomeTheStruct) {
    const auto args = read_arguments<RefundArgs>(*Arguments::parse(good));
    EXPECT_EQ(args.order, "o1");
    EXPECT_EQ(args.amount, 1.5);
    EXPECT_EQ(args.count, -3);
    EXPECT_FALSE(args.stars.has_value());
    EXPECT_TRUE(args.express);
    EXPECT_EQ(args.address.street, "s");
    EXPECT_FALSE(args.address.town.has_value());
    ASSERT_EQ(args.more.size(), 1U);
    EXPECT_EQ(args.more[0].town, "b");
    EXPECT_EQ(args.counts.at("x"), 9007199254740993);
}

TEST(TypedTool, WhatDoesNotFitNamesTheMember) {
    const auto error = [](const std::string& change) -> std::string {
        const auto arguments = lay_over(*Arguments::parse(good), *Arguments::parse(change));
        try {
            (void)read_arguments<RefundArgs>(*arguments);
        } catch (const std::invalid_argument& problem) {
            return problem.what();
        }
        return "";
    };
    const auto names = [](const std::string& member) { return "the argument " + member + " does not fit"; };
    EXPECT_EQ(error("{}"), "");
    EXPECT_EQ(error(R"({"order":1})"), names("order"));
    EXPECT_EQ(error(R"({"amount":"1"})"), names("amount"));
    EXPECT_EQ(error(R"({"amount":1e999})"), names("amount"));
    EXPECT_EQ(error(R"({"count":2147483648})"), names("count"));
    EXPECT_EQ(error(R"({"count":2147483647})"), "");
    EXPECT_EQ(error(R"({"count":1.5})"), names("count"));
    EXPECT_EQ(error(R"({"count":true})"), names("count"));
    EXPECT_EQ(error(R"({"stars":256})"), names("stars"));
    EXPECT_EQ(error(R"({"stars":-1})"), names("stars"));
    EXPECT_EQ(error(R"({"stars":null})"), names("stars"));
    EXPECT_EQ(error(R"({"express":1})"), names("express"));
    EXPECT_EQ(error(R"({"address":[]})"), names("address"));
    EXPECT_EQ(error(R"({"address":{}})"), names("address.street"));
    EXPECT_EQ(error(R"({"address":{"street":"s","town":2}})"), names("address.town"));
    EXPECT_EQ(error(R"({"more":{}})"), names("more"));
    EXPECT_EQ(error(R"({"more":[{"street":1}]})"), names("more.street"));
    EXPECT_EQ(error(R"({"counts":{"y":0.5}})"), names("counts.y"));
    EXPECT_EQ(error(R"({"counts":{"y":9223372036854775808}})"), names("counts.y"));
}

TEST_P(AgentTools, ATypedToolRunsWithItsStruct) {
    std::string seen;
    std::string key;
    options_.tools = {
        tool<RefundArgs>("refund", "Refund an order", [&](const RefundArgs& args) { return "refunded " + args.order; }),
        tool<Nothing>("note", "Note",
                      [&](const Nothing&, const ApprovedCall& call) {
                          seen = call.arguments().text();
                          key = call.idempotency_key();
                          return ToolResult{.text = "noted", .details = R"({"a":1})"};
                      },
                      {.read_only = true, .idempotent = true})};
    EXPECT_TRUE(options_.tools[1]->spec().idempotent);
    EXPECT_EQ(options_.tools[1]->spec().description, "Note");
    auto agent = this->agent(call_turn("refund", good) + "," + call_turn("note", "{ }") + "," + end_turn);
    EXPECT_EQ(agent.prompt("go").status, RunStatus::done);
    EXPECT_EQ(results(agent), (std::vector<std::string>{"refunded o1", "noted"}));
    EXPECT_EQ(seen, "{ }");
    EXPECT_EQ(key.size(), 32U);
}

TEST_P(AgentTools, WhenACallHasEndedNoThreadHoldsItsTool) {
    const auto noting = watched("note");
    options_.tools = {noting};
    long before = 0;
    std::vector<long> after;
    options_.listener = [&](const AgentEvent& event) {
        if (event.kind == AgentEvent::Kind::turn) before = noting.use_count();
        if (event.kind == AgentEvent::Kind::ended) after.push_back(noting.use_count());
    };
    std::string turns;
    for (int i = 0; i < 20; ++i) turns += call_turn("note") + ",";
    auto agent = this->agent(turns + end_turn);
    EXPECT_EQ(agent.prompt("go").status, RunStatus::done);
    EXPECT_EQ(after, std::vector<long>(20, before));
}

TEST_P(AgentTools, ArgumentsThatDoNotFitAreAnErrorResultAndNobodyIsAsked) {
    int ran = 0;
    options_.tools = {tool<Address>("send", "Send", [&](const Address&) {
        ++ran;
        return std::string("sent");
    })};
    options_.guards = {guard_};
    guard_->verdicts["send"] = Verdict::ask;
    auto agent = this->agent(call_turn("send", "{}") + "," + call_turn("send", R"({"street":5})") + "," +
                             call_turn("send", R"({"street":"s","zip":1})") + "," + call_turn("send", R"("{")") + "," +
                             end_turn);
    EXPECT_EQ(agent.prompt("go").status, RunStatus::done);
    EXPECT_EQ(guard_->judged, 0);
    EXPECT_EQ(ran, 0);
    ASSERT_EQ(results(agent).size(), 4U);
    for (const auto& text : results(agent)) {
        EXPECT_TRUE(text.starts_with("Error: invalid arguments for send: ")) << text;
        EXPECT_TRUE(text.ends_with("; nothing ran")) << text;
    }
}

TEST_P(AgentTools, AnIntegerOutOfRangeFailsTheCall) {
    int ran = 0;
    options_.tools = {tool<RefundArgs>("refund", "Refund", [&](const RefundArgs&) {
        ++ran;
        return std::string("refunded");
    })};
    const auto arguments = lay_over(*Arguments::parse(good), *Arguments::parse(R"({"count":99999999999})"));
    auto agent = this->agent(call_turn("refund", arguments->text()) + "," + end_turn);
    const auto run = agent.prompt("go");
    EXPECT_EQ(run.status, RunStatus::done);
    EXPECT_EQ(run.calls.at(0).outcome, OutcomeKind::failed);
    EXPECT_EQ(results(agent), std::vector<std::string>{"Error: the argument count does not fit"});
    EXPECT_EQ(ran, 0);
}

}  // namespace
}  // namespace assent
