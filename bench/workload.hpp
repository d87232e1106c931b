// One workload for every benchmark, and for the programs that Assent is compared with (bench/peers): the user
// asks for a transfer, the model calls transfer_money, a person approves, the tool runs, the model says one
// line. About 300 bytes of text a turn.
#pragma once

#include <assent/agent.hpp>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace bench {

inline constexpr std::string_view tool_name = "transfer_money";
inline constexpr std::string_view final_text = "Done: the invoice is paid and the reference is on file.";
inline constexpr const char* tool_description = "Transfer money to a supplier.";

[[nodiscard]] std::string prompt_text(std::int64_t i);
[[nodiscard]] std::string call_arguments(std::int64_t i);

/// Odd turns call the tool, even ones end. It looks at the conversation as any model does; `cold` leaves that
/// out, to tell the cost of reading a long conversation from the cost of the engine.
class WorkloadModel final : public assent::Model {
public:
    explicit WorkloadModel(bool cold = false) : cold_(cold) {}
    [[nodiscard]] std::string name() const override { return "workload"; }
    assent::Result<assent::ModelTurn> turn(const assent::ModelRequest& request,
                                           const std::function<void(std::string_view)>& on_text,
                                           const std::stop_token& stop) override;

private:
    bool cold_;
};

/// What the agents of a benchmark share. Cheap to copy.
struct Workload {
    std::shared_ptr<assent::Model> model;
    std::shared_ptr<assent::Tool> tool;
    std::shared_ptr<assent::Middleware> rules;
    std::shared_ptr<std::atomic<std::int64_t>> ran;  ///< How often the tool ran.
};
/// `limit`: transfers above it ask. `in_tool` is called when the tool runs.
[[nodiscard]] Workload make_workload(bool cold = false, int limit = 100, std::function<void()> in_tool = {});

[[nodiscard]] assent::Agent make_agent(const Workload& workload, assent::Checkpointer& store,
                                       const std::string& thread_id);

/// prompt → asked → approved → ran → final text, all durable. Throws if anything of it did not happen.
void gated_cycle(assent::Agent& agent, std::int64_t i);
/// The same in a new conversation.
void gated_cycle(const Workload& workload, assent::Checkpointer& store, const std::string& thread_id, std::int64_t i);

}  // namespace bench
