#include "workload.hpp"

#include <assent/approvals.hpp>
#include <assent/describe.hpp>
#include <assent/rules.hpp>

#include <cstdio>
#include <stdexcept>
#include <utility>

namespace bench {
namespace {

struct Transfer {
    std::string to;
    double amount = 0;
    std::string memo;
};
BOOST_DESCRIBE_STRUCT(Transfer, (), (to, amount, memo))

std::string padded(std::int64_t number, int digits) {
    char text[32];
    const int size = std::snprintf(text, sizeof text, "%0*lld", digits, static_cast<long long>(number));
    return {text, static_cast<std::size_t>(size)};
}

void require(bool good, const char* what, const assent::Run& run) {
    if (good) return;
    throw std::runtime_error(std::string(what) + (run.failure ? ": " + run.failure->message : ""));
}

}  // namespace

std::string prompt_text(std::int64_t i) {
    return "Please pay invoice INV-" + padded(i, 6) +
           " to the supplier today; the details are in the mail that I forwarded to you this morning.";
}

std::string call_arguments(std::int64_t i) {
    return R"({"to":"ACME-)" + padded(i % 1000, 4) + R"(","amount":)" + std::to_string(1250 + i % 50) +
           R"(,"memo":"invoice payment, approved budget line 7"})";
}

assent::Result<assent::ModelTurn> WorkloadModel::turn(const assent::ModelRequest& request,
                                                      const std::function<void(std::string_view)>& /*on_text*/,
                                                      const std::stop_token& /*stop*/) {
    bool after_tool = request.turn % 2 == 0;
    if (!cold_) {
        const auto messages = request.messages();
        if (!messages) return messages.failure();
        after_tool = messages->back().role == assent::Role::tool;
    }
    if (after_tool) return assent::ModelTurn{.text = std::string(final_text), .stop_reason = "end"};
    return assent::ModelTurn{.calls = {{.tool = std::string(tool_name),
                                        .id = "call_" + std::to_string(request.turn),
                                        .arguments = call_arguments(request.turn)}},
                             .stop_reason = "calls"};
}

Workload make_workload(bool cold, int limit, std::function<void()> in_tool) {
    auto ran = std::make_shared<std::atomic<std::int64_t>>(0);
    const auto transfer = [ran, in_tool = std::move(in_tool)](const Transfer& args) {
        ran->fetch_add(1);
        if (in_tool) in_tool();
        return "transferred " + std::to_string(static_cast<int>(args.amount)) + " to " + args.to +
               ", reference 8F3A-77";
    };
    return {.model = std::make_shared<WorkloadModel>(cold),
            .tool = assent::tool<Transfer>(std::string(tool_name), tool_description, transfer),
            .rules = std::make_shared<assent::ToolInterruptMiddleware>(
                std::vector<assent::InterruptRule>{{std::string(tool_name), assent::gt("amount", limit)}}),
            .ran = ran};
}

assent::Agent make_agent(const Workload& workload, assent::Checkpointer& store, const std::string& thread_id) {
    return assent::Agent({.model = workload.model,
                          .tools = {workload.tool},
                          .middleware = {workload.rules},
                          .checkpointer = &store,
                          .thread_id = thread_id});
}

void gated_cycle(assent::Agent& agent, std::int64_t i) {
    auto run = agent.prompt(prompt_text(i));
    require(run.status == assent::RunStatus::waiting && run.interrupts.size() == 1, "the call did not wait", run);
    run = agent.resume({{run.interrupts[0].id, assent::approve()}});
    require(run.status == assent::RunStatus::done && run.text == final_text, "the run did not end", run);
}

void gated_cycle(const Workload& workload, assent::Checkpointer& store, const std::string& thread_id, std::int64_t i) {
    auto agent = make_agent(workload, store, thread_id);
    gated_cycle(agent, i);
}

}  // namespace bench
