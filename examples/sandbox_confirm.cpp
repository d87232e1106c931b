// A sandbox in which every command goes through a policy: some run, some never do, and for the rest a person is
// asked on a channel, while the prompt waits. Each thing that must hold is checked and printed.
//
//   sandbox_confirm memory:            everything in this process
//   sandbox_confirm sqlite:PATH        and one answer from a second process
//   sandbox_confirm postgresql://…     the same
#include <assent/assent.hpp>
#include <assent/describe.hpp>
#include <assent/postgres.hpp>
#include <assent/testing.hpp>

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <iostream>
#include <thread>

using namespace std::chrono_literals;
namespace fs = std::filesystem;

struct BashArgs {
    std::string cmd;
};
BOOST_DESCRIBE_STRUCT(BashArgs, (), (cmd))

// ---- The policy: a stand-in for a rule engine sorts a command into one of three tiers.

struct Tier {
    enum { allow, confirm, block } kind;
    std::string reason;
};

Tier tier_of(const std::string& cmd) {
    for (const auto* harmless : {"ls", "cat", "head", "grep", "find"}) {
        if (cmd.starts_with(harmless)) return {Tier::allow, ""};
    }
    if (cmd.contains("rm -rf /") || cmd.starts_with("dd")) return {Tier::block, "destructive I/O"};
    return {Tier::confirm, "needs human review"};
}

assent::PolicyDecision sandbox_policy(const assent::ToolCall<BashArgs>& call) {
    const auto tier = tier_of(call.args.cmd);
    if (tier.kind == Tier::allow) return assent::Approve{};
    if (tier.kind == Tier::block)
        return assent::Deny{.reason = tier.reason.empty() ? "blocked by policy" : tier.reason};
    return assent::AskUser{
        .timeout = 180s,
        .details = {{"matched_rule", "confirm"}, {"impact", tier.reason.empty() ? "unknown" : tier.reason}}};
}

// ---- The agent.

std::string run_bash(const BashArgs& args) {
    std::string output;
    auto* pipe = popen(args.cmd.c_str(), "r");
    if (pipe == nullptr) throw std::runtime_error("no shell could be started");
    std::array<char, 256> chunk{};
    while (std::fgets(chunk.data(), chunk.size(), pipe) != nullptr) output += chunk.data();
    pclose(pipe);
    return output.empty() ? "done" : output;
}

// The model here is a script, so that the example needs no key: it lists files, then runs `second`.
std::shared_ptr<assent::Model> model_that_runs(const std::string& first, const std::string& second) {
    const auto call = [](const std::string& id, const std::string& cmd) {
        return R"({"calls": [{"id": ")" + id + R"(", "name": "bash", "arguments": {"cmd": )" + assent::json_quote(cmd) +
               "}}]}";
    };
    return assent::scripted_model("sandbox",
                                  R"({"turns": [)" + call("call_1", first) + "," + call("call_2", second) +
                                      R"(, {"text": "Here is what came of it."}, {"text": "Hello again."}]})")
        .value();
}

struct Seen {
    std::vector<std::string> events;  // names of what happened on the channel
    std::optional<assent::HitlRequest> request;
    std::optional<assent::CallReport> ended;  // the last call that ended
};

struct Sandbox {
    assent::Checkpointer& store;
    const assent::Clock& clock;
    fs::path folder;
    std::string thread;
    std::shared_ptr<assent::CheckpointedChannel> channel =
        std::make_shared<assent::CheckpointedChannel>(store, thread, assent::ChannelOptions{.clock = &clock});
    Seen seen;

    std::string list() const { return "ls " + folder.string(); }
    std::string remove(const std::string& name) const { return "rm " + (folder / name).string(); }

    assent::Agent agent(const std::string& second) {
        return assent::Agent({
            .model = model_that_runs(list(), second),
            .system_prompt = "You are a helpful assistant with access to a bash shell.",
            .tools = {assent::tool<BashArgs>("bash", "Run a command", run_bash)},
            .middleware = {assent::policy(sandbox_policy)},
            .channel = channel,
            .checkpointer = &store,
            .thread_id = thread,
            .listener = [this](const assent::AgentEvent& event) { note(event); },
            .clock = &clock,
        });
    }
    void note(const assent::AgentEvent& event) {
        if (event.hitl) seen.events.emplace_back(assent::hitl_event_name(*event.hitl));
        if (event.kind == assent::AgentEvent::Kind::ended) seen.ended = event.call;
    }

    // Runs the prompt while a host, on a thread of its own, does with each request what `host` says.
    using Host = std::function<void(assent::Channel& channel, const assent::HitlRequest& request)>;
    assent::Run prompt(assent::Agent& agent, const Host& host) {
        const auto requests = channel->subscribe();
        std::jthread person([&](const std::stop_token& stop) {
            while (auto request = requests->next(stop).value()) {
                seen.request = *request;
                host(*channel, *request);
            }
        });
        return agent.prompt("list files then delete temp logs");
    }
};

// ---- What must hold.

class Checks {
public:
    void that(bool holds, const std::string& what) {
        std::cout << (holds ? "ok      " : "FAILED  ") << what << "\n";
        failed_ = failed_ || !holds;
    }
    bool failed() const { return failed_; }

private:
    bool failed_ = false;
};

// A member of the trace of a call; JSON text, empty if it is not there.
std::string hitl(const Seen& seen, const std::string& key) {
    if (!seen.ended) return {};
    const auto details = assent::Arguments::parse(seen.ended->details);
    const auto* trace = details ? details->find("hitl") : nullptr;
    const auto* member = trace == nullptr ? nullptr : trace->find(key);
    return member == nullptr ? std::string() : std::string(member->text);
}

// The answer to a request; who asks twice is told so.
Sandbox::Host answering(assent::ApproveAnswer answer) {
    return [answer](assent::Channel& channel, const assent::HitlRequest& request) {
        (void)channel.answer(request.question_id, answer, {.name = "alice", .signed_in = "example"}).value();
    };
}

int asked(assent::Checkpointer& store, const std::string& thread) {
    int count = 0;
    for (const auto& entry : assent::Approvals(store).history(thread).value()) count += entry.event == "asked" ? 1 : 0;
    return count;
}

void make_logs(const fs::path& folder) {
    for (const auto* name : {"a.log", "b.log"}) std::fclose(std::fopen((folder / name).c_str(), "w"));
}

void check_approve(Checks& check, Sandbox sandbox) {
    make_logs(sandbox.folder);
    auto agent = sandbox.agent(sandbox.remove("a.log"));
    const auto run = sandbox.prompt(agent, answering({.decision = assent::DecisionKind::approve}));
    const auto& request = *sandbox.seen.request;
    check.that(run.calls.front().text.contains("a.log") && asked(sandbox.store, sandbox.thread) == 1,
               "ls runs at once, without an approval");
    check.that(request.payload.tool_name == "bash" &&
                   request.payload.args.find("cmd")->string == sandbox.remove("a.log") &&
                   request.payload.details.find("matched_rule")->string == "confirm" &&
                   request.payload.details.find("impact")->string == "needs human review" &&
                   request.timeout_seconds == 180 && request.deadline == request.created_at + 180'000,
               "a request shows the tool, its arguments, the details and the time that is left");
    check.that(sandbox.seen.events == std::vector<std::string>{"hitl_request", "hitl_answer"},
               "listeners hear of the request and of its answer");
    check.that(!fs::exists(sandbox.folder / "a.log") && run.calls.back().text == "done" && !run.calls.back().is_error,
               "approve: it runs with the original arguments, and the model sees its result");
    check.that(hitl(sandbox.seen, "decision").empty() && hitl(sandbox.seen, "by") == R"("alice")" &&
                   hitl(sandbox.seen, "approval") == assent::json_quote(request.id),
               "approve: the trace says who approved, and no decision");
}

void check_deny(Checks& check, Sandbox sandbox) {
    make_logs(sandbox.folder);
    auto agent = sandbox.agent(sandbox.remove("a.log"));
    const auto run =
        sandbox.prompt(agent, answering({.decision = assent::DecisionKind::deny, .reason = "not these logs"}));
    check.that(fs::exists(sandbox.folder / "a.log") && run.calls.back().is_error &&
                   run.calls.back().text == "not these logs" && run.status == assent::RunStatus::done,
               "deny: nothing runs, the model sees an error with the person's reason and goes on");
    check.that(hitl(sandbox.seen, "decision") == R"("human_deny")" && sandbox.seen.ended->blocked,
               "deny: the trace says human_deny");
}

void check_edit(Checks& check, Sandbox sandbox) {
    make_logs(sandbox.folder);
    auto agent = sandbox.agent(sandbox.remove("a.log"));
    const auto edited = R"({"cmd":)" + assent::json_quote(sandbox.remove("b.log")) + "}";
    (void)sandbox.prompt(agent, answering({.decision = assent::DecisionKind::edit, .edited_args = edited}));
    check.that(fs::exists(sandbox.folder / "a.log") && !fs::exists(sandbox.folder / "b.log"),
               "edit: the edited command runs, and only that");
    check.that(hitl(sandbox.seen, "decision") == R"("edit")" && hitl(sandbox.seen, "edited_args") == edited &&
                   hitl(sandbox.seen, "original_args").contains("a.log"),
               "edit: the trace has both");
}

void check_policy_deny(Checks& check, Sandbox sandbox) {
    auto agent = sandbox.agent("dd if=/dev/zero of=disk");
    const auto run = sandbox.prompt(agent, answering({.decision = assent::DecisionKind::approve}));
    check.that(run.calls.back().is_error && run.calls.back().text == "destructive I/O" &&
                   hitl(sandbox.seen, "decision") == R"("policy_deny")" && !sandbox.seen.request,
               "policy deny: blocked with the policy's reason, nobody is asked");
}

void check_timeout(Checks& check, Sandbox sandbox, assent::ManualClock& clock) {
    make_logs(sandbox.folder);
    auto agent = sandbox.agent(sandbox.remove("a.log"));
    const auto run = sandbox.prompt(agent, [&](auto&, auto&) { clock.pass(181s); });
    check.that(fs::exists(sandbox.folder / "a.log") && run.calls.back().text == "approval_timeout" &&
                   hitl(sandbox.seen, "decision") == R"("timed_out")" &&
                   sandbox.seen.ended->block_reason == "approval_timeout",
               "time-out: after 180 seconds the call is blocked as approval_timeout");
    check.that(run.status == assent::RunStatus::done && run.text == "Here is what came of it.",
               "time-out: the run goes on by itself, and the model explains");
    const auto late = sandbox.channel->answer(sandbox.seen.request->id,
                                              assent::ApproveAnswer{.decision = assent::DecisionKind::approve});
    check.that(late->status == assent::AnswerResult::Status::expired, "time-out: an answer after it is told so");
}

void check_abort(Checks& check, Sandbox sandbox) {
    make_logs(sandbox.folder);
    auto agent = sandbox.agent(sandbox.remove("a.log"));
    const auto run = sandbox.prompt(agent, [&](auto&, auto&) { (void)agent.abort_pending("user closed tab"); });
    const auto messages = agent.messages().value();
    const auto& result = messages[messages.size() - 2];
    check.that(fs::exists(sandbox.folder / "a.log") && run.status == assent::RunStatus::aborted &&
                   result.text == "aborted: user closed tab" && result.is_error &&
                   run.calls.back().details == R"({"hitl":{"decision":"aborted","reason":"user closed tab"}})",
               "abort: the call that waited has a result");
    check.that(
        messages.back().text == "Conversation aborted: user closed tab" && messages.back().stop_reason == "aborted",
        "abort: the conversation has one last message");
    check.that(sandbox.seen.events == std::vector<std::string>{"hitl_request", "agent_aborted"},
               "abort: listeners hear of it last");
    check.that(sandbox.channel->pending()->empty() && agent.prompt("hello").status == assent::RunStatus::done,
               "abort: nothing is open, and the next prompt starts fresh");
}

// Nothing: the address is none.
std::unique_ptr<assent::Checkpointer> open_store(const std::string& url) {
    constexpr std::string_view sqlite = "sqlite:";
    if (url == "memory:") return std::make_unique<assent::MemoryCheckpointer>();
    if (url.starts_with(sqlite)) return std::make_unique<assent::SqliteCheckpointer>(url.substr(sqlite.size()));
    if (url.starts_with("postgresql:")) return std::make_unique<assent::PostgresCheckpointer>(url);
    return nullptr;
}

// In a process of its own: answers what is open in this thread.
int answer_elsewhere(const std::string& url, const std::string& thread) {
    const auto store = open_store(url);
    assent::CheckpointedChannel channel(*store, thread);
    const auto request = channel.subscribe()->next().value();
    const auto told =
        channel.answer(request->question_id, assent::ApproveAnswer{assent::DecisionKind::approve}, {.name = "bob"});
    return told->status == assent::AnswerResult::Status::decided ? 0 : 1;
}

void check_elsewhere(Checks& check, Sandbox sandbox, const std::string& url) {
    const bool alone = url == "memory:";
    make_logs(sandbox.folder);
    auto agent = sandbox.agent(sandbox.remove("a.log"));
    int status = 0;
    const auto run = sandbox.prompt(agent, [&](assent::Channel& channel, const assent::HitlRequest& request) {
        if (alone) return answering({.decision = assent::DecisionKind::approve})(channel, request);
        std::string program = "/proc/self/exe";
        std::string mode = "--answer";
        std::string database = url;
        std::array<char*, 5> arguments{program.data(), mode.data(), database.data(), sandbox.thread.data(), nullptr};
        pid_t child = 0;
        if (posix_spawn(&child, program.c_str(), nullptr, nullptr, arguments.data(), environ) == 0)
            waitpid(child, &status, 0);
    });
    check.that(status == 0 && run.status == assent::RunStatus::done && !fs::exists(sandbox.folder / "a.log"),
               alone ? "a second thread can answer" : "a second process can answer");
}

// A test of how a line begins says nothing about what it does.
void check_prefix(Checks& check) {
    const assent::RunContext outside;
    const auto call = [&](const std::string& cmd) {
        return assent::ToolCall<BashArgs>{.tool_name = "bash", .id = "call_1", .args = {cmd}, .context = outside};
    };
    check.that(std::holds_alternative<assent::Approve>(sandbox_policy(call("ls; rm -r logs"))),
               "mind: `ls; rm -r logs` begins with ls, so a prefix test lets it run");
}

int main(int argc, char** argv) try {
    if (argc == 4 && argv[1] == std::string("--answer")) return answer_elsewhere(argv[2], argv[3]);
    const std::string url = argc == 2 ? argv[1] : "";
    const auto store = open_store(url);
    if (store == nullptr) {
        std::cerr << "usage: sandbox_confirm memory: | sqlite:PATH | postgresql://…\n";
        return 2;
    }
    std::string folder = (fs::temp_directory_path() / "sandbox-confirm-XXXXXX").string();
    if (mkdtemp(folder.data()) == nullptr) throw std::runtime_error("no folder could be made");

    Checks check;
    assent::ManualClock clock;
    int sessions = 0;
    const auto sandbox = [&](const assent::Clock& time) {
        return Sandbox{.store = *store,
                       .clock = time,
                       .folder = folder,
                       .thread = "session-" +
                                 std::to_string(std::chrono::steady_clock::now().time_since_epoch().count()) + "-" +
                                 std::to_string(++sessions)};
    };
    check_approve(check, sandbox(clock));
    check_deny(check, sandbox(clock));
    check_edit(check, sandbox(clock));
    check_policy_deny(check, sandbox(clock));
    check_timeout(check, sandbox(clock), clock);
    check_abort(check, sandbox(clock));
    check_elsewhere(check, sandbox(assent::system_clock()), url);
    check_prefix(check);
    fs::remove_all(folder);
    std::cout << (check.failed() ? "not everything holds\n" : "all of it holds\n");
    return check.failed() ? 1 : 0;
} catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 1;
}
