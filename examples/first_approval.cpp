// An agent with one dangerous tool: refunds over 100 wait for a person.
//
// The model here is a script, so that the example needs no key; give a real one and the rest stays.
#include <assent/assent.hpp>
#include <assent/describe.hpp>

#include <iostream>

struct RefundArgs {
    std::string order;
    double amount;
};
BOOST_DESCRIBE_STRUCT(RefundArgs, (), (order, amount))

std::string refund(const RefundArgs& args) {
    return "refunded order " + args.order;
}

constexpr auto script = R"({"turns": [
  {"calls": [{"id": "call_1", "name": "refund", "arguments": {"order": "A-1001", "amount": 120.0}}]},
  {"text": "The refund is done."}]})";

assent::Agent make_agent(assent::Checkpointer& store) {
    const std::vector<assent::InterruptRule> rules{{"refund", assent::gt("amount", 100)}};
    return assent::Agent({
        .model = assent::scripted_model("first approval", script).value(),
        .system_prompt = "You help with refunds.",
        .tools = {assent::tool<RefundArgs>("refund", "Refund an order", refund)},
        .middleware = {std::make_shared<assent::ToolInterruptMiddleware>(rules)},
        .checkpointer = &store,
        .thread_id = "session-1",
    });
}

int main() {
    assent::MemoryCheckpointer store;  // SqliteCheckpointer{"agent.db"} outlives the process

    auto agent = make_agent(store);
    auto run = agent.prompt("Please refund order A-1001.");
    for (const auto& interrupt : run.interrupts) {
        std::cout << interrupt.id << " asks: " << interrupt.tool << " " << interrupt.arguments << "\n";
    }
    if (run.status != assent::RunStatus::waiting) return 1;

    // Hours later, perhaps in another process: the answer, then the call runs exactly once.
    auto later = make_agent(store);
    run = later.resume(
        {{run.interrupts[0].id, assent::ToolDecision{.action = "edit", .arguments = R"({"amount": 100.0})"}}});
    for (const auto& call : run.calls) {
        std::cout << call.tool << " " << call.arguments << " -> " << call.text << "\n";
    }
    std::cout << run.text << "\n";
    return run.status == assent::RunStatus::done ? 0 : 1;
}
