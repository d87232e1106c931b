// A policy decides about every refund, and a person answers on a channel while the prompt waits.
#include <assent/assent.hpp>
#include <assent/describe.hpp>

#include <iostream>
#include <thread>

using namespace std::chrono_literals;

struct RefundArgs {
    std::string order;
    double amount;
};
BOOST_DESCRIBE_STRUCT(RefundArgs, (), (order, amount))

std::string refund(const RefundArgs& args) {
    return "refunded order " + args.order;
}

assent::PolicyDecision refund_policy(const assent::ToolCall<RefundArgs>& call) {
    if (call.args.amount <= 100) return assent::Approve{};
    if (call.args.amount > 10'000) return assent::Deny{.reason = "more than 10000 is never refunded"};
    return assent::AskUser{
        .prompt = "Refund more than 100?", .timeout = 10min, .details = {{"order", call.args.order}}};
}

constexpr auto script = R"({"turns": [
  {"calls": [{"id": "a", "name": "refund", "arguments": {"order": "A-1001", "amount": 20}},
             {"id": "b", "name": "refund", "arguments": {"order": "A-1002", "amount": 250}},
             {"id": "c", "name": "refund", "arguments": {"order": "A-1003", "amount": 99999}}]},
  {"text": "Two of three refunds are done."}]})";

int main() {
    assent::MemoryCheckpointer store;  // SqliteCheckpointer{"agent.db"} outlives the process
    const auto channel = std::make_shared<assent::CheckpointedChannel>(store, "session-1");
    assent::Agent agent({
        .model = assent::scripted_model("refunds", script).value(),
        .system_prompt = "You help with refunds.",
        .tools = {assent::tool<RefundArgs>("refund", "Refund an order", refund)},
        .middleware = {assent::policy(refund_policy)},
        .channel = channel,
        .checkpointer = &store,
        .thread_id = "session-1",
    });

    // The host: a loop of its own, here instead of a web page.
    const auto requests = channel->subscribe();
    std::jthread host([&](const std::stop_token& stop) {
        while (const auto request = requests->next(stop).value()) {
            std::cout << request->payload.prompt << " " << request->payload.args.text() << "\n";
            const assent::ApproveAnswer yes{.decision = assent::DecisionKind::approve};
            const auto told = channel->answer(request->question_id, yes, {.name = "alice"}).value();
            std::cout << request->id << " " << to_string(told.approval.state) << " by " << told.approval.decided_by
                      << "\n";
        }
    });

    // Waits until the person has answered, or for ten minutes.
    const auto run = agent.prompt("Please refund these three orders.");
    for (const auto& call : run.calls) {
        std::cout << call.arguments << " -> " << call.text << "\n";
        if (!call.details.empty()) std::cout << "    " << call.details << "\n";
    }
    std::cout << run.text << "\n";
    return run.status == assent::RunStatus::done ? 0 : 1;
}
