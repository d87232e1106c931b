// A lead that hands a task to a sub-agent: the lead's guard holds for what the sub-agent does, and a person
// answers at the lead, whatever depth the question comes from.
//
// The models here are scripts, so that the example needs no key; give real ones and the rest stays.
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

constexpr auto lead_script = R"({"turns": [
  {"calls": [{"id": "1", "name": "task", "arguments":
    {"description": "Refund order A-1001, 120.0.", "subagent_type": "refunds"}}]},
  {"text": "The customer has the money back."}]})";

constexpr auto refunds_script = R"({"turns": [
  {"calls": [{"id": "1", "name": "refund", "arguments": {"order": "A-1001", "amount": 120.0}}]},
  {"text": "Refunded."}]})";

assent::Agent make_lead(assent::Checkpointer& store) {
    return assent::Agent({
        .model = assent::scripted_model("lead", lead_script).value(),
        .middleware = {assent::interrupt_on({{"refund", true}})},  // the lead's, and everybody's below it
        .sub_agents = {{.name = "refunds",
                        .description = "Refunds orders.",
                        .system_prompt = "You refund what you are told to.",
                        .tools = {assent::tool<RefundArgs>("refund", "Refund an order", refund)},
                        .model = assent::scripted_model("refunds", refunds_script).value()}},
        .checkpointer = &store,
        .thread_id = "session-1",
    });
}

int main() {
    assent::MemoryCheckpointer store;  // SqliteCheckpointer{"agent.db"} outlives the process

    auto run = make_lead(store).prompt("The customer of A-1001 wants the money back.");
    for (const auto& interrupt : run.interrupts) {
        std::cout << interrupt.thread << " asks for " << interrupt.parent.front() << ": " << interrupt.tool << " "
                  << interrupt.arguments << "\n";
    }
    if (run.status != assent::RunStatus::waiting) return 1;

    // Hours later, perhaps in another process: the lead takes the answer, and the sub-agent goes on.
    run = make_lead(store).resume({{run.interrupts[0].id, true}});
    for (const auto& call : run.calls) std::cout << call.tool << " -> " << call.text << "\n";
    std::cout << run.text << "\n";
    return run.status == assent::RunStatus::done ? 0 : 1;
}
