// Gating tool calls with approval, step by step: which calls ask, what the person sees, the four decisions, your own
// words, rules for paths, another tool; then the traps, each of which is an error or cannot happen here. Everything
// that is claimed is checked and printed; the exit status is 1 if a check fails. The guide to it is
// docs/guides/table.md.
//
//     example_approval_guide memory:            or sqlite:guide.db, or postgresql://USER@HOST/DATABASE
//
// The model is a script, so that the example needs no key; give a real one and the rest stays.
#include <assent/assent.hpp>
#include <assent/postgres.hpp>
#include <assent/workspace_agent.hpp>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>

namespace {

namespace fs = std::filesystem;

int failed_checks = 0;

void check(bool holds, std::string_view what) {
    std::cout << (holds ? "  ok      " : "  FAILED  ") << what << "\n";
    if (!holds) ++failed_checks;
}

void heading(std::string_view text) {
    std::cout << "\n" << text << "\n";
}

// A folder that each agent has for itself, removed at the end.
class Folder {
public:
    Folder() {
        auto name = (fs::temp_directory_path() / "assent-guide-XXXXXX").string();
        if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder can be made");
        path_ = name;
    }
    ~Folder() {
        std::error_code ignored;
        fs::remove_all(path_, ignored);
    }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;

    bool has(const std::string& file) const { return fs::exists(path_ / file); }
    std::string read(const std::string& file) const {
        std::ifstream stream(path_ / file);
        return {std::istreambuf_iterator<char>(stream), {}};
    }
    void write(const std::string& file, const std::string& text) const { std::ofstream(path_ / file) << text; }
    std::vector<std::shared_ptr<assent::Tool>> tools() const {
        const auto workspace = assent::Workspace::open(path_.string()).value();
        return {assent::write_file_tool(workspace), assent::edit_file_tool(workspace), assent::ls_tool(workspace)};
    }

private:
    fs::path path_;
};

constexpr auto write_log = R"({"turns": [
  {"calls": [{"id": "call_1", "name": "write_file", "arguments": {"file_path": "/log.txt", "content": "totals"}}]},
  {"text": "That is all."}]})";
constexpr auto task = "Write the totals to /log.txt.";

// An agent with file tools. `thread`: one that exists goes on in this agent; empty is a new one.
assent::AgentOptions options(const Folder& folder, const char* script, assent::Checkpointer* store,
                             const std::string& thread = {}) {
    return {.model = assent::scripted_model("guide", script).value(),
            .tools = folder.tools(),
            .checkpointer = store,
            .thread_id = thread};
}

assent::Agent gated(const Folder& folder, const char* script, assent::Checkpointer& store,
                    const assent::InterruptOnOptions& how = {}) {
    auto settings = options(folder, script, &store);
    settings.middleware = {assent::interrupt_on({{"write_file", true}}, how)};
    return assent::Agent(std::move(settings));
}

// The results that the model was given.
std::vector<assent::Message> results(const assent::Agent& agent) {
    auto messages = agent.messages().value();
    std::erase_if(messages, [](const auto& message) { return message.role != assent::Role::tool; });
    return messages;
}

// How often an event of this kind, with this text in it, stands in the history.
std::ptrdiff_t in_history(assent::Checkpointer& store, const std::string& thread, std::string_view event,
                          std::string_view text = {}) {
    const auto history = assent::Approvals(store).history(thread).value();
    return std::count_if(history.begin(), history.end(), [&](const auto& entry) {
        return entry.event == event && entry.fields.find(text) != std::string::npos;
    });
}

void steps_1_and_2_ask_and_read(assent::Checkpointer& store) {
    heading("1, 2. A gate around write_file, and what it asks");
    const Folder folder;
    const auto model = assent::scripted_model("guide", write_log).value();
    assent::Agent agent({
        .model = model,
        .tools = folder.tools(),
        .middleware = {assent::interrupt_on({{"write_file", true}})},  // a tool that is not listed is not affected
        .checkpointer = &store,  // in memory everything ends with the process; for production only this changes
    });
    const auto run = agent.prompt(task);
    check(run.status == assent::RunStatus::waiting, "prompt returns normally, and says that a person is waited for");
    check(run.interrupts.size() == 1 && run.interrupts[0].tool == "write_file", "one interrupt, about write_file");

    const auto asked = assent::JsonText::parse(assent::action_requests(run.interrupts)).value();
    const auto& request = asked.root().find("action_requests")->items.at(0);
    const auto& config = asked.root().find("review_configs")->items.at(0);
    check(request.find("id")->string == run.interrupts[0].id, "its id is in the request");
    check(request.find("name")->string == "write_file" &&
              request.find("args")->text == R"({"file_path": "/log.txt", "content": "totals"})",
          "the request has the name and the arguments, byte for byte");
    check(request.find("result") == nullptr && !folder.has("log.txt"), "and no result, since nothing ran");
    check(config.find("allowed_decisions")->text == R"(["approve","edit","reject","respond"])",
          "true opens all four decisions");
}

void step_3_approve(assent::Checkpointer& store) {
    heading("3. approve");
    const Folder folder;
    auto agent = gated(folder, write_log, store);
    auto run = agent.prompt(task);
    run = agent.resume(R"({"decisions": [{"type": "approve"}]})");
    check(run.status == assent::RunStatus::done && folder.read("log.txt") == "totals", "the file is there");
    check(results(agent).size() == 1 && !results(agent)[0].is_error, "the model has the tool's own result");

    const Folder other;
    auto same = gated(other, write_log, store);
    run = same.prompt(task);
    run = same.resume({{run.interrupts.at(0).id, assent::approve()}});
    check(run.status == assent::RunStatus::done && other.has("log.txt"), "a C++ value by id says the same");
}

void step_3_reject(assent::Checkpointer& store) {
    heading("3. reject");
    const Folder folder;
    auto agent = gated(folder, write_log, store);
    auto run = agent.prompt(task);
    run = agent.resume(R"({"decisions": [{"type": "reject", "message": "敏感数据，禁止写入文件系统"}]})");
    check(!folder.has("log.txt"), "the file is not there");
    const auto told = results(agent);
    check(told.size() == 1 && told[0].is_error, "the model has one more result, of status error");
    check(told.at(0).text == "User rejected the tool call for `write_file` with reason: 敏感数据，禁止写入文件系统",
          "its text is the reason, and what it is about");
    check(run.status == assent::RunStatus::done && run.text == "That is all.", "the model was called again and ended");

    const Folder other;
    auto plain = gated(other, write_log, store, {.reject_text = assent::RejectText::reason});
    run = plain.prompt(task);
    run = plain.resume(R"({"decisions": [{"type": "reject", "message": "敏感数据，禁止写入文件系统"}]})");
    check(results(plain).at(0).text == "敏感数据，禁止写入文件系统", "or the reason alone");
}

void step_3_edit(assent::Checkpointer& store) {
    heading("3. edit");
    const Folder folder;
    auto agent = gated(folder, write_log, store);
    auto run = agent.prompt(task);
    run = agent.resume(R"({"decisions": [{"type": "edit", "edited_action": {"name": "write_file",
        "args": {"file_path": "/safe_log.txt", "content": "审核通过的安全内容"}}}]})");
    check(folder.read("safe_log.txt") == "审核通过的安全内容", "the new path exists");
    check(!folder.has("log.txt"), "the dangerous one does not");
    check(results(agent).at(0).text.find(assent::default_edit_notice) == 0,
          "the result says that a person replaced it");
    const auto conversation = agent.messages().value();
    check(conversation.at(1).calls.at(0).arguments.find("/log.txt") != std::string::npos,
          "what the model itself had said is kept as it was");
}

void step_3_respond(assent::Checkpointer& store) {
    heading("3. respond: a success that nothing produced");
    const Folder folder;
    auto agent = gated(folder, write_log, store);
    auto run = agent.prompt(task);
    run = agent.resume(R"({"decisions": [{"type": "respond", "message": "该项已由人工完成登记"}]})");
    check(!folder.has("log.txt"), "nothing ran");
    check(results(agent).at(0).text == "该项已由人工完成登记" && !results(agent)[0].is_error,
          "the model reads the person's text as the result");
    check(run.calls.at(0).outcome == assent::OutcomeKind::answered && !run.calls[0].ran,
          "the run says that a person answered instead");
    check(
        in_history(store, run.thread, "answered", R"("respond")") == 1 && in_history(store, run.thread, "claimed") == 0,
        "and so does the history");

    const Folder other;
    auto open = gated(other, write_log, store, {.respond_notice = "This did not run. A person says:"});
    run = open.prompt(task);
    run = open.resume(R"({"decisions": [{"type": "respond", "message": "该项已由人工完成登记"}]})");
    check(results(open).at(0).text == "This did not run. A person says:\n\n该项已由人工完成登记",
          "with respond_notice the model is told too");
}

void step_4_own_words(assent::Checkpointer& store) {
    heading("4. Fewer decisions, and your own words");
    const Folder folder;
    auto settings = options(folder, write_log, &store);
    settings.middleware = {assent::interrupt_on({
        {"write_file", assent::InterruptOnConfig{.allowed_decisions = {"approve", "reject", "respond"},
                                                 .description = "⚠️ Agent 想要写入文件，请审核！"}},
    })};
    assent::Agent agent(std::move(settings));
    auto run = agent.prompt(task);
    check(run.interrupts.at(0).question.description == "⚠️ Agent 想要写入文件，请审核！",
          "the reviewer sees the line as it is");
    run = agent.resume(R"({"decisions": [{"type": "edit", "edited_action": {"name": "write_file", "args": {}}}]})");
    check(run.answers.at(0).refusal == assent::Refusal::not_allowed && run.interrupts.size() == 1,
          "another decision is refused, and the approval stays open");
    std::cout << "          " << run.answers[0].message << "\n";
    run = agent.resume(R"({"decisions": [{"type": "approve"}]})");
    check(run.status == assent::RunStatus::done && folder.has("log.txt"), "a good answer counts after a bad one");
}

// The files of these agents are kept in their threads, so `run.files` says what is there.
void files_in_the_run(assent::Checkpointer& store) {
    heading("The same in one call, and the files in what comes back");
    const auto make = [&] {
        return assent::Agent(assent::workspace_agent({
            .model = assent::scripted_model("guide", write_log).value(),
            .interrupt_on = {{"write_file", true}},
            .checkpointer = &store,
        }));
    };
    auto approved = make();
    auto run = approved.prompt(task);
    check(run.interrupts.size() == 1 && run.files.empty(), "nothing is there while it waits");
    run = approved.resume(R"({"decisions": [{"type": "approve"}]})");
    check(run.files.size() == 1 && run.files.at("/log.txt") == "totals", "after approve the file is in run.files");

    auto rejected = make();
    run = rejected.prompt(task);
    run = rejected.resume(R"({"decisions": [{"type": "reject", "message": "敏感数据，禁止写入文件系统"}]})");
    check(run.status == assent::RunStatus::done && run.files.empty(), "after reject it is not, and the agent goes on");

    auto edited = make();
    run = edited.prompt(task);
    run = edited.resume(R"({"decisions": [{"type": "edit", "edited_action": {"name": "write_file",
        "args": {"file_path": "/safe_log.txt", "content": "审核通过的安全内容"}}}]})");
    check(run.files.size() == 1 && run.files.at("/safe_log.txt") == "审核通过的安全内容",
          "after an edit the new path is there and the dangerous one is not");
}

constexpr auto write_plans = R"({"turns": [
  {"calls": [{"id": "call_1", "name": "write_file", "arguments": {"file_path": "/secret/plan.txt", "content": "a"}},
             {"id": "call_2", "name": "write_file", "arguments": {"file_path": "/notes/plan.txt", "content": "b"}}]},
  {"text": "I wrote what I may write."}]})";

void step_5_a_rule_that_denies() {
    heading("5. Rules for paths: deny");
    // Neither a table nor a checkpointer: what is denied needs nobody.
    assent::Agent agent(assent::workspace_agent({
        .model = assent::scripted_model("guide", write_plans).value(),
        .permissions =
            {{.operations = {assent::PathOperation::write}, .paths = {"/secret/**"}, .mode = assent::PathMode::deny}},
    }));
    const auto run = agent.prompt("Write both plans.");
    check(run.status == assent::RunStatus::done && run.interrupts.empty(),
          "prompt comes back at once, nobody is asked");
    const auto told = results(agent);
    check(told.at(0).is_error && told[0].text == "Error: permission denied for write on /secret/plan.txt",
          "the model reads an error about the path");
    check(!told.at(1).is_error && run.files.size() == 1 && run.files.at("/notes/plan.txt") == "b",
          "what no rule speaks of is allowed");

    // The rules belong to the files: their tools keep them without any guard.
    const auto files = assent::Workspace::in_thread().with_permissions(
        {{.operations = {assent::PathOperation::write}, .paths = {"/secret/**"}, .mode = assent::PathMode::deny}});
    assent::Agent bare(
        {.model = assent::scripted_model("guide", write_plans).value(), .tools = {assent::write_file_tool(files)}});
    check(bare.prompt("Write both plans.").files.size() == 1 && results(bare).at(0).text == told[0].text,
          "the tool itself says the same when there is no guard");
}

void step_5_a_rule_that_asks(assent::Checkpointer& store) {
    heading("5. Rules for paths: interrupt");
    const auto options_with = [&](assent::InterruptOnTable table, assent::Checkpointer* checkpointer) {
        return assent::workspace_agent({
            .model = assent::scripted_model("guide", write_plans).value(),
            .interrupt_on = std::move(table),
            .permissions = {{.operations = {assent::PathOperation::write},
                             .paths = {"/secret/**"},
                             .mode = assent::PathMode::interrupt}},
            .checkpointer = checkpointer,
        });
    };
    try {
        const assent::Agent agent(options_with({}, nullptr));
        check(false, "it needs a checkpointer");
    } catch (const assent::ConfigError& problem) {
        check(std::string_view(problem.what()).find("permissions") != std::string_view::npos,
              "it needs a checkpointer");
        std::cout << "          " << problem.what() << "\n";
    }
    assent::Agent agent(options_with({}, &store));
    auto run = agent.prompt("Write both plans.");
    const auto asked = assent::JsonText::parse(assent::action_requests(run.interrupts)).value();
    check(run.interrupts.size() == 1 &&
              asked.root().find("action_requests")->items.at(0).find("args")->find("file_path")->string ==
                  "/secret/plan.txt",
          "one request, in the same form, about the path that a rule names");
    check(run.files.size() == 1 && run.files.contains("/notes/plan.txt"), "the other file was written at once");
    run = agent.resume(R"({"decisions": [{"type": "approve"}]})");
    check(run.status == assent::RunStatus::done && run.files.size() == 2, "and the same answers");

    assent::Agent both(
        options_with({{"write_file", assent::InterruptOnConfig{.allowed_decisions = {"reject"}}}}, &store));
    run = both.prompt("Write both plans.");
    check(run.interrupts.size() == 2 && run.interrupts[0].question.allowed == std::vector{assent::DecisionKind::deny},
          "a table beside it asks with it: one approval for a call, and what both allow");
    assent::Agent loosened(options_with({{"write_file", false}}, &store));
    run = loosened.prompt("Write both plans.");
    check(run.interrupts.size() == 1, "a false in the table does not switch a rule off");
}

void step_6_another_tool(assent::Checkpointer& store) {
    heading("6. Another dangerous tool: only the name changes");
    constexpr auto script = R"({"turns": [
      {"calls": [{"id": "call_1", "name": "edit_file",
                  "arguments": {"file_path": "/plan.txt", "old_string": "May", "new_string": "June"}}]},
      {"text": "Moved."}]})";
    const Folder folder;
    folder.write("plan.txt", "due in May");
    auto settings = options(folder, script, &store);
    settings.middleware = {assent::interrupt_on({{"edit_file", true}})};
    assent::Agent agent(std::move(settings));
    auto run = agent.prompt("Move the plan to June.");
    check(run.interrupts.at(0).tool == "edit_file" && folder.read("plan.txt") == "due in May", "edit_file asks");
    run = agent.resume(R"({"decisions": [{"type": "approve"}]})");
    check(folder.read("plan.txt") == "due in June", "and runs when it is approved");
}

void side_by_side(assent::Checkpointer& store) {
    heading("Side by side: the same task and model");
    const Folder open;
    assent::Agent free_agent(options(open, write_log, nullptr));
    check(free_agent.prompt(task).status == assent::RunStatus::done && open.has("log.txt"),
          "without a gate the file is written");
    const Folder guarded;
    auto agent = gated(guarded, write_log, store);
    (void)agent.prompt(task);
    const auto run = agent.resume(R"({"decisions": [{"type": "reject"}]})");
    check(run.status == assent::RunStatus::done && !guarded.has("log.txt"), "with a gate and a reject it is not");
}

void mixed_calls(assent::Checkpointer& store) {
    heading("Several calls in one turn");
    constexpr auto script = R"({"turns": [
      {"calls": [{"id": "call_1", "name": "ls", "arguments": {"path": "/"}},
                 {"id": "call_2", "name": "write_file", "arguments": {"file_path": "/log.txt", "content": "totals"}},
                 {"id": "call_3", "name": "edit_file",
                  "arguments": {"file_path": "/plan.txt", "old_string": "May", "new_string": "June"}}]},
      {"text": "Done."}]})";
    const Folder folder;
    folder.write("plan.txt", "due in May");
    auto agent = gated(folder, script, store);
    auto run = agent.prompt("Move the plan, then write the log.");
    check(run.interrupts.size() == 1 && run.interrupts[0].tool == "write_file", "only the listed tool is in the list");
    check(folder.read("plan.txt") == "due in June" && !folder.has("log.txt"),
          "the others ran at once, before any answer");
    run = agent.resume(R"({"decisions": [{"type": "approve"}]})");
    const auto told = results(agent);
    check(told.size() == 3 && told[0].tool == "ls" && told[1].tool == "write_file" && told[2].tool == "edit_file",
          "the results are in the order of the calls");
}

void trap_no_checkpointer() {
    heading("Trap: no checkpointer");
    const Folder folder;
    auto settings = options(folder, write_log, nullptr);
    settings.middleware = {assent::interrupt_on({{"write_file", true}})};
    try {
        const assent::Agent agent(std::move(settings));
        check(false, "an agent that can ask but not wait cannot be made");
    } catch (const assent::ConfigError& problem) {
        check(std::string_view(problem.what()).find("interrupt_on") != std::string_view::npos,
              "an agent that can ask but not wait cannot be made, and it is said who asks");
        std::cout << "          " << problem.what() << "\n";
    }
    assent::Agent agent(options(folder, write_log, nullptr));
    const auto run = agent.resume(R"({"decisions": [{"type": "approve"}]})");
    check(run.failure && run.failure->message == "cannot resume without a checkpointer", "there is nothing to resume");
}

void trap_wrong_thread(assent::Checkpointer& store) {
    heading("Trap: the wrong thread id");
    const Folder folder;
    auto agent = gated(folder, write_log, store);
    auto run = agent.prompt(task);
    auto settings = options(folder, write_log, &store, "no-such-thread");
    settings.middleware = {assent::interrupt_on({{"write_file", true}})};
    assent::Agent lost(std::move(settings));
    const auto nowhere = lost.resume(R"({"decisions": [{"type": "approve"}]})");
    check(nowhere.failure && nowhere.failure->kind == assent::FailureKind::unknown_thread,
          "an error, never an empty thread");
    check(assent::Approvals(store).pending(run.thread).value().size() == 1, "the right one stays open");
    run = agent.resume(R"({"decisions": [{"type": "approve"}]})");
    check(run.status == assent::RunStatus::done && folder.has("log.txt"), "and can be resumed");
}

// Counts the calls that pass it, in front of the gate.
class Counter final : public assent::Middleware {
public:
    std::optional<assent::Arguments> before_tool(const assent::ToolContext&) override {
        ++count;
        return std::nullopt;
    }
    int count = 0;
};

void trap_replay(assent::Checkpointer& store) {
    heading("Trap: what stands before the pause runs again");
    const Folder folder;
    const auto counter = std::make_shared<Counter>();
    const auto agent_of = [&](const std::string& thread) {
        auto settings = options(folder, write_log, &store, thread);
        settings.middleware = {counter, assent::interrupt_on({{"write_file", true}})};
        return assent::Agent(std::move(settings));
    };
    const auto waiting = agent_of("").prompt(task);
    check(waiting.status == assent::RunStatus::waiting && counter->count == 1, "once before the pause");
    auto later = agent_of(waiting.thread);  // as in another process
    const auto run = later.resume(R"({"decisions": [{"type": "approve"}]})");
    check(run.status == assent::RunStatus::done && counter->count == 1, "and not again after it");
}

// What must never be written, whatever a person would say.
class ClosedFolder final : public assent::Guard {
public:
    std::string name() const override { return "closed folder"; }
    bool can_ask() const override { return false; }
    assent::Judgement judge(const assent::GuardedCall& call) override {
        const auto* path = call.arguments->find("file_path");
        const bool closed = path != nullptr && path->string.starts_with("/archive/");
        if (closed) return {.verdict = assent::Verdict::deny, .reason = "the archive is closed"};
        return {.verdict = assent::Verdict::allow};
    }
};

void trap_reject_is_not_deny(assent::Checkpointer& store) {
    heading("Trap: a reject is not a deny");
    constexpr auto script = R"({"turns": [
      {"calls": [{"id": "call_1", "name": "write_file", "arguments": {"file_path": "/log.txt", "content": "a"}},
                 {"id": "call_2", "name": "write_file", "arguments": {"file_path": "/archive/b", "content": "b"}}]},
      {"text": "Neither was written."}]})";
    const Folder folder;
    auto settings = options(folder, script, &store);
    settings.middleware = {assent::interrupt_on({{"write_file", true}})};
    settings.guards = {std::make_shared<ClosedFolder>()};
    assent::Agent agent(std::move(settings));
    agent.set_reviewer({.name = "alice"});
    auto run = agent.prompt("Write both files.");
    check(run.interrupts.size() == 1, "nobody is asked about what a guard denies");
    run = agent.resume(R"({"decisions": [{"type": "reject", "message": "not now"}]})");
    check(run.calls.at(0).denied_by == "guard closed folder" && run.calls.at(1).denied_by == "alice",
          "the run says who denied which, in the order in which they ended");
    check(in_history(store, run.thread, "asked") == 1 && in_history(store, run.thread, "answered", "alice") == 1,
          "the history has one approval, and alice's answer");
    check(in_history(store, run.thread, "judged", "the archive is closed") == 1, "and the guard's verdict");
}

void trap_nothing_proposed(assent::Checkpointer& store) {
    heading("Trap: a model that refuses by itself");
    constexpr auto script = R"({"turns": [{"text": "I had rather not write to /etc."}]})";
    const Folder folder;
    auto agent = gated(folder, script, store);
    const auto run = agent.prompt("Write to /etc/passwd.");
    check(run.status == assent::RunStatus::done && run.interrupts.empty() && run.calls.empty(),
          "the model proposed no gated call, so nothing is asked: try it with ordinary files");
}

void trap_retry_after_edit(assent::Checkpointer& store) {
    heading("Trap: the model tries its first intent again after an edit");
    constexpr auto script = R"({"turns": [
      {"calls": [{"id": "call_1", "name": "write_file", "arguments": {"file_path": "/log.txt", "content": "totals"}}]},
      {"calls": [{"id": "call_1", "name": "write_file", "arguments": {"file_path": "/log.txt", "content": "totals"}}]},
      {"text": "I give up."}]})";
    const Folder folder;
    auto agent = gated(folder, script, store);
    const auto first = agent.prompt(task);
    auto run = agent.resume(R"({"decisions": [{"type": "edit", "edited_action": {"name": "write_file",
        "args": {"file_path": "/safe_log.txt", "content": "totals"}}}]})");
    check(run.interrupts.size() == 1 && run.interrupts[0].id != first.interrupts.at(0).id && !folder.has("log.txt"),
          "that is a new question, also under the same call id");
    run = agent.resume(R"({"decisions": [{"type": "reject"}]})");
    check(run.status == assent::RunStatus::done && !folder.has("log.txt"), "and needs an answer of its own");
}

void trap_field_names(assent::Checkpointer& store) {
    heading("Trap: the names of arguments differ between tools");
    const Folder folder;
    auto agent = gated(folder, write_log, store);
    auto run = agent.prompt(task);
    run = agent.resume(R"({"decisions": [{"type": "edit", "edited_action": {"name": "write_file",
        "args": {"path": "/safe_log.txt", "content": "totals"}}}]})");
    check(run.answers.at(0).refusal == assent::Refusal::bad_args && run.interrupts.size() == 1,
          "an edit with a wrong name is refused to the reviewer, and the approval stays open");
    check(run.answers[0].message.find("(nearest: file_path); it takes file_path, content") != std::string::npos,
          "with the names of the tool and the nearest one");
    std::cout << "          " << run.answers[0].message << "\n";
}

void run_all(assent::Checkpointer& store) {
    steps_1_and_2_ask_and_read(store);
    step_3_approve(store);
    step_3_reject(store);
    step_3_edit(store);
    step_3_respond(store);
    step_4_own_words(store);
    files_in_the_run(store);
    step_5_a_rule_that_denies();
    step_5_a_rule_that_asks(store);
    step_6_another_tool(store);
    side_by_side(store);
    mixed_calls(store);
    trap_no_checkpointer();
    trap_wrong_thread(store);
    trap_replay(store);
    trap_reject_is_not_deny(store);
    trap_nothing_proposed(store);
    trap_retry_after_edit(store);
    trap_field_names(store);
}

}  // namespace

int main(int argc, char** argv) try {
    const std::string url = argc == 2 ? argv[1] : "";
    constexpr std::string_view sqlite = "sqlite:";
    if (url == "memory:") {
        assent::MemoryCheckpointer store;
        run_all(store);
    } else if (url.starts_with(sqlite)) {
        assent::SqliteCheckpointer store(url.substr(sqlite.size()));
        run_all(store);
    } else if (url.starts_with("postgresql:")) {
        assent::PostgresCheckpointer store(url);
        run_all(store);
    } else {
        std::cerr << "give one argument: memory:, sqlite:PATH or postgresql://…\n";
        return 2;
    }
    std::cout << "\n" << (failed_checks == 0 ? "every check holds" : "some checks failed") << "\n";
    return failed_checks == 0 ? 0 : 1;
} catch (const std::exception& problem) {
    std::cerr << problem.what() << "\n";
    return 1;
}
