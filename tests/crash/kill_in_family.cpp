// Kills a process that runs an agent with two levels of sub-agents, at every named point: before and after each
// append to any of the three journals, start and end of each tool. Another process goes on, as a person would
// have it. Whatever the point, each tool had its effect once, and each thread was made, delegated and joined once.
#include "support/stores.hpp"

#include <assent/agent.hpp>
#include <assent/interrupt_on.hpp>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace {

using namespace assent;

[[noreturn]] void give_up(const std::string& why) {
    std::fprintf(stderr, "kill_in_family: %s\n", why.c_str());
    std::_Exit(1);
}

void need(bool good, const std::string& what) {
    if (!good) give_up(what);
}

std::vector<std::string> lines_of(const std::string& path) {
    std::vector<std::string> lines;
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    return lines;
}

// Leaves a line behind.
class Leaving final : public Tool {
public:
    Leaving(std::string name, std::string file) : Tool({.name = std::move(name)}), file_(std::move(file)) {}

private:
    ToolResult run(const ApprovedCall&) override {
        const auto line = spec().name + "\n";
        const int fd = open(file_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
        need(fd >= 0 && write(fd, line.data(), line.size()) == static_cast<ssize_t>(line.size()), "no effect");
        close(fd);
        return {.text = "left"};
    }
    std::string file_;
};

struct Place {
    std::string database;
    std::string effects;
};

std::shared_ptr<Model> script(const std::string& turns) {
    auto model = scripted_model("family", R"({"turns":[)" + turns + "]}");
    need(model.ok(), "a script cannot be read");
    return std::move(model).value();
}

std::string call(const std::string& tool, const std::string& arguments = "{}") {
    return R"({"calls":[{"id":"1","name":")" + tool + R"(","arguments":)" + arguments + "}]},";
}
std::string task(const std::string& type) {
    return call("task", R"({"description":"do it","subagent_type":")" + type + R"("})");
}

// One process: prompts if nobody has, answers what is asked, and goes on until the run is over.
void work(const Place& place) {
    SqliteCheckpointer store(place.database);
    Approvals approvals(store);
    Agent agent({.model = script(task("worker") + R"({"text":"all done"})"),
                 .middleware = {interrupt_on({{"pay", true}})},
                 .sub_agents = {{.name = "worker",
                                 .tools = {std::make_shared<Leaving>("look", place.effects)},
                                 .model = script(call("look") + task("payer") + R"({"text":"worked"})"),
                                 .sub_agents = {{.name = "payer",
                                                 .tools = {std::make_shared<Leaving>("pay", place.effects)},
                                                 .model = script(call("pay") + R"({"text":"paid"})")}}}},
                 .checkpointer = &store,
                 .thread_id = "t"});
    auto run = (*store.find_thread("t")).has_value() ? agent.resume() : agent.prompt("go");
    while (run.status == RunStatus::waiting) {
        need(!run.interrupts.empty(), "it waits for nobody");
        const auto& asked = run.interrupts.front();
        if (asked.kind == ApprovalKind::unknown) {
            // A person looks whether it happened.
            const auto effects = lines_of(place.effects);
            const bool happened = std::ranges::find(effects, asked.tool) != effects.end();
            const auto how = happened ? Resolution::done : Resolution::retry;
            const auto told = approvals.resolve(asked.id, how, "seen", {.name = "bob"});
            need(told.ok() && told->status == AnswerResult::Status::decided, "the doubt cannot be resolved");
            run = agent.resume();
        } else {
            run = agent.resume({{asked.id, true}});
        }
    }
    need(run.status == RunStatus::done, "it ended otherwise: " + (run.failure ? run.failure->message : ""));
    need(run.text == "all done", "another final text");
}

void check(const Place& place) {
    SqliteCheckpointer store(place.database);
    Approvals approvals(store);
    auto effects = lines_of(place.effects);
    std::ranges::sort(effects);
    need(effects == std::vector<std::string>{"look", "pay"}, "an effect is missing or doubled");
    need((*store.threads()).size() == 3, "more or fewer threads than three");
    for (const std::string id : {"t", "t/1.0", "t/1.0/2.0"}) {
        std::map<std::string, int> count;
        for (const auto& entry : *approvals.history(id)) ++count[entry.event];
        const int below = id == "t/1.0/2.0" ? 0 : 1;
        need(count["user_message"] == 1, id + " was not prompted once");
        need(count["delegated"] == below && count["child_finished"] == below, id + " did not delegate and join once");
        need((*store.find_thread(id))->status == ThreadStatus::done, id + " is not done");
    }
}

// What a process does that is told by its environment where to die; gives how it ended.
int in_a_process(const char* variable, const std::string& value, const std::function<void()>& body) {
    const pid_t pid = fork();
    need(pid >= 0, "no process");
    if (pid == 0) {
        if (variable != nullptr) setenv(variable, value.c_str(), 1);
        try {
            body();
        } catch (const std::exception& error) {
            give_up(error.what());
        }
        std::_Exit(0);
    }
    int status = 0;
    need(waitpid(pid, &status, 0) == pid, "a process got lost");
    return status;
}

}  // namespace

int main() {
    const test::TemporaryFolder folder;
    const auto log = folder.file("points");
    const auto place_of = [&](const std::string& name) {
        return Place{.database = folder.file(name + ".db"), .effects = folder.file(name + ".effects")};
    };
    const auto whole = place_of("whole");
    need(in_a_process("ASSENT_POINT_LOG", log, [&] { work(whole); }) == 0, "it does not work without kills");
    need(in_a_process(nullptr, {}, [&] { check(whole); }) == 0, "it is wrong without kills");
    std::map<std::string, int> seen;
    std::map<std::string, int> kills;
    int number = 0;
    for (const auto& point : lines_of(log)) {
        const auto at = point + ":" + std::to_string(++seen[point]);
        const auto place = place_of(std::to_string(++number));
        const int died = in_a_process("ASSENT_CRASH_AT", at, [&] { work(place); });
        need(WIFSIGNALED(died) && WTERMSIG(died) == SIGKILL, "not killed at " + at);
        need(in_a_process(nullptr, {}, [&] { work(place); }) == 0, "nobody could go on after a kill at " + at);
        need(in_a_process(nullptr, {}, [&] { check(place); }) == 0, "wrong after a kill at " + at);
        ++kills[point];
    }
    for (const auto* point : {"before:delegated", "after:delegated", "before:child_finished", "after:child_finished"})
        need(kills[point] == 2, std::string("not killed twice at ") + point);
    for (const auto& [point, count] : kills) std::printf("%-24s %3d kills\n", point.c_str(), count);
    return 0;
}
