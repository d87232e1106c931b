// Rules for paths: what tools may read and write, what they may not, and for what a person is asked.
#include <assent/assent.hpp>
#include <assent/tools.hpp>

#include <iostream>

// A tool of your own: the rules judge the arguments that it says are paths.
class PublishTool final : public assent::Tool {
public:
    PublishTool()
        : Tool({.name = "publish",
                .description = "Publishes a file",
                .schema = R"({"type": "object", "properties": {"source": {"type": "string"}}, "required": ["source"]})",
                .paths = {{.name = "source", .use = assent::PathUse::read}}}) {}

private:
    assent::ToolResult run(const assent::ApprovedCall& call) override {
        return {.text = "published " + call.arguments().find("source")->string};
    }
};

constexpr auto script = R"({"turns": [
  {"calls": [{"id": "a", "name": "write_file", "arguments": {"file_path": "/reports/june.md", "content": "42 orders"}},
             {"id": "b", "name": "write_file", "arguments": {"file_path": "/plan.md", "content": "hire two"}},
             {"id": "c", "name": "read_file", "arguments": {"file_path": "/secrets/.env"}},
             {"id": "d", "name": "publish", "arguments": {"source": "/secrets/prices.csv"}}]},
  {"calls": [{"id": "e", "name": "ls", "arguments": {"path": "/"}},
             {"id": "f", "name": "publish", "arguments": {"source": "/reports/june.md"}}]},
  {"text": "The June report is out."}]})";

int main() {
    using assent::PathMode;
    using assent::PathOperation;

    // Files in the thread itself; for a folder, Workspace::open("shop").value().
    const auto workspace = assent::Workspace::in_thread().with_permissions({
        {.operations = {PathOperation::read, PathOperation::write},
         .paths = {"/secrets/**", "/**/.env"},
         .mode = PathMode::deny},
        {.operations = {PathOperation::write}, .paths = {"/reports/**"}, .mode = PathMode::allow},
        {.operations = {PathOperation::write}, .paths = {"/**"}, .mode = PathMode::interrupt},
    });
    assent::MemoryCheckpointer store;
    assent::Agent agent({
        .model = assent::scripted_model("clerk", script).value(),
        .tools = {assent::read_file_tool(workspace), assent::write_file_tool(workspace), assent::ls_tool(workspace),
                  std::make_shared<PublishTool>()},
        .guards = {assent::path_guard(workspace)},
        .checkpointer = &store,
        .thread_id = "session-1",
    });

    auto run = agent.prompt("Write the June report and publish it.");
    for (const auto& approval : run.interrupts) std::cout << approval.tool << " waits: " << approval.reason << "\n";
    run = agent.resume({{run.interrupts.at(0).id, assent::approve()}});
    for (const auto& call : run.calls) std::cout << call.tool << " " << call.arguments << " -> " << call.text << "\n";
    std::cout << run.text << "\n";
    return run.status == assent::RunStatus::done && run.files.size() == 2 ? 0 : 1;
}
