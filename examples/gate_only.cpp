// The gate without our agent, for people with a loop of their own:
// propose → verdict → answer → permit → finish.
#include <assent/assent.hpp>
#include <assent/describe.hpp>

#include <iostream>

struct TransferArgs {
    std::string to;
    double amount;
};
BOOST_DESCRIBE_STRUCT(TransferArgs, (), (to, amount))

// A guard of your own: what it says is all that decides.
class LargeTransfers final : public assent::Guard {
public:
    std::string name() const override { return "large transfers"; }
    bool can_ask() const override { return true; }
    assent::Judgement judge(const assent::GuardedCall& call) override {
        const auto args = assent::read_arguments<TransferArgs>(*call.arguments);
        if (args.amount > 10'000) return {.verdict = assent::Verdict::deny, .reason = "more than 10000 is never sent"};
        if (args.amount < 100) return {.verdict = assent::Verdict::allow};
        return {.verdict = assent::Verdict::ask, .reason = "moves more than 100", .question = assent::Question{}};
    }
};

// The world failing (the store, another process) is a failure to handle; here it ends the example.
template <class T>
T need(assent::Result<T> result) {
    if (!result) throw std::runtime_error(result.failure().message);
    return std::move(result).value();
}
void need(const assent::Result<void>& result) {
    if (!result) throw std::runtime_error(result.failure().message);
}

int main() try {
    assent::MemoryCheckpointer store;
    const auto transfer = assent::tool<TransferArgs>("transfer", "Send money",
                                                     [](const TransferArgs& args) { return "sent to " + args.to; });
    assent::Gate gate({.checkpointer = &store,
                       .thread_id = "t-1",
                       .tools = {transfer},
                       .guards = {std::make_shared<LargeTransfers>()}});
    need(gate.prompt("pay the bills", "example"));

    // Propose: whatever your model said goes in byte for byte.
    need(gate.propose(
        {.calls = {{.tool = "transfer", .id = "a", .arguments = R"({"to": "Lindqvist", "amount": 20})"},
                   {.tool = "transfer", .id = "b", .arguments = R"({"to": "Okafor", "amount": 250.50})"},
                   {.tool = "transfer", .id = "c", .arguments = R"({"to": "Moreau", "amount": 99999})"}}}));

    // Verdict: the small one is ready, the large one asks, the largest was denied.
    for (const auto& call : gate.calls()) {
        std::cout << call.arguments << ": "
                  << (call.waiting   ? "asks"
                      : call.outcome ? to_string(*call.outcome)
                                     : "ready")
                  << "\n";
    }

    // Answer: from any thread or process that can open the store.
    assent::Approvals approvals(store);
    for (const auto& approval : need(approvals.pending())) {
        const auto answer = need(approvals.answer(approval.id, assent::approve(), {.name = "alice"}));
        std::cout << approval.id << " " << to_string(answer.approval.state) << " by " << answer.approval.decided_by
                  << "\n";
    }
    need(gate.refresh());

    // Permit: the only way to start a tool, once, with exactly what was approved.
    for (auto& permit : need(gate.claim())) {
        const auto outcome = gate.tool(permit.tool())->start(std::move(permit));
        need(gate.finish(outcome));  // durable before you tell anybody
    }
    for (const auto& call : gate.calls())
        std::cout << call.arguments << ": " << to_string(*call.outcome) << ", " << call.text << "\n";
    return gate.next() == assent::GateStep::call_model ? 0 : 1;
} catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 1;
}
