// Four processes on one database: two run agents, two answer what the agents ask, all as fast as they can.
// Nobody may see an error that is not of the contract; at the end each approved call has run once, each
// denied one never, and each chain holds.
//
//   four_processes [SECONDS]     default 5
//
// How long answers took is printed, not judged: see bench/.
#include "support/fakes.hpp"
#include "support/stores.hpp"

#include <assent/agent.hpp>
#include <assent/approvals.hpp>
#include <assent/sqlite.hpp>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <new>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace assent;
using SteadyClock = std::chrono::steady_clock;

constexpr std::size_t runners = 2;
constexpr std::size_t answerers = 2;
constexpr int conversations = 8;            // at once, of each runner
constexpr std::size_t waits_max = 200'000;  // kept, of each answerer
constexpr int foreign_every = 2;            // one resume in so many is of the other process's thread

struct Shared {
    std::atomic<bool> stop = false;
    std::atomic<int> running = runners;
    std::atomic<long> cycles = 0;
    std::atomic<long> leased = 0;      // resumes refused because the other process has the thread
    std::atomic<long> taken_over = 0;  // threads that the other process finished
    std::atomic<long> decided = 0;
    std::atomic<long> late = 0;  // answers that the other answerer had given before
    struct Waits {
        std::atomic<std::size_t> count = 0;
        std::array<float, waits_max> ms{};
    };
    std::array<Waits, answerers> waits;
    // The thread each conversation is at, for the other process to meddle with.
    std::array<std::array<std::atomic<int>, conversations>, runners> at;
};

[[noreturn]] void give_up(const std::string& why) {
    std::fprintf(stderr, "four_processes: %s\n", why.c_str());
    std::_Exit(1);
}

void need(bool good, const std::string& what) {
    if (!good) give_up(what);
}

// Asks for one call of `pay`, then ends.
class OneCall final : public Model {
public:
    std::string name() const override { return "one-call"; }
    Result<ModelTurn> turn(const ModelRequest& request, const std::function<void(std::string_view)>& on_text,
                           const std::stop_token& stop) override {
        static_cast<void>(on_text);
        static_cast<void>(stop);
        if (request.turn > 1) return ModelTurn{.text = "paid", .stop_reason = "end_turn"};
        return ModelTurn{.calls = {{.tool = "pay", .id = "call_0", .arguments = R"({"amount":5})"}},
                         .stop_reason = "tool_use"};
    }
};

std::string thread_name(std::size_t runner, int conversation, int number) {
    return "t-" + std::to_string(runner) + "-" + std::to_string(conversation) + "-" + std::to_string(number);
}

class Runner {
public:
    Runner(const std::string& folder, std::size_t who, Shared& shared)
        : store_(folder + "/assent.db"), who_(who), shared_(shared) {
        effects_ = open((folder + "/effects").c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
        need(effects_ >= 0, "no file for effects");
        guard_->verdicts["pay"] = Verdict::ask;
    }

    void run() {
        std::vector<std::thread> threads;
        threads.reserve(conversations);
        for (int i = 0; i < conversations; ++i) threads.emplace_back([this, i] { converse(i); });
        for (auto& thread : threads) thread.join();
    }

private:
    Agent agent(const std::string& thread) {
        auto pay = std::make_shared<test::FakeTool>(ToolSpec{.name = "pay"}, [this, thread](const ApprovedCall&) {
            const auto line = thread + "\n";
            need(write(effects_, line.data(), line.size()) == static_cast<ssize_t>(line.size()), "no effect");
            return ToolResult{.text = "ok"};
        });
        return Agent({.model = model_,
                      .tools = {std::move(pay)},
                      .guards = {guard_},
                      .checkpointer = &store_,
                      .thread_id = thread});
    }

    // The last conversation is finished too, so that every thread can be judged at the end.
    void converse(int conversation) {
        for (int number = 1; !shared_.stop; ++number) {
            const auto thread = thread_name(who_, conversation, number);
            auto own = agent(thread);
            check(own.prompt("go"), thread);
            shared_.at.at(who_).at(static_cast<std::size_t>(conversation)) = number;
            for (int tries = 1;; ++tries) {
                const auto run = own.resume();
                check(run, thread);
                if (run.status == RunStatus::done) break;
                if (tries % foreign_every == 0) meddle(conversation);
                std::this_thread::sleep_for(std::chrono::milliseconds(2));
            }
            ++shared_.cycles;
        }
    }

    // Resumes a thread of the other runner while that one runs it.
    void meddle(int conversation) {
        const auto other = 1 - who_;
        const int number = shared_.at.at(other).at(static_cast<std::size_t>(conversation));
        if (number == 0) return;
        const auto thread = thread_name(other, conversation, number);
        const auto run = agent(thread).resume();
        check(run, thread);
        if (run.status == RunStatus::done && !run.calls.empty()) ++shared_.taken_over;
    }

    void check(const Run& run, const std::string& thread) {
        if (run.status == RunStatus::failed && run.failure && run.failure->kind == FailureKind::leased) {
            ++shared_.leased;
            return;
        }
        if (run.failure) give_up(thread + ": " + run.failure->message);
        need(run.status == RunStatus::done || run.status == RunStatus::waiting, thread + " came back otherwise");
    }

    SqliteCheckpointer store_;
    std::size_t who_;
    Shared& shared_;
    int effects_ = -1;
    std::shared_ptr<OneCall> model_ = std::make_shared<OneCall>();
    std::shared_ptr<test::FakeGuard> guard_ = std::make_shared<test::FakeGuard>();
};

void answer_all(const std::string& folder, std::size_t who, Shared& shared) {
    SqliteCheckpointer store(folder + "/assent.db");
    Approvals approvals(store);
    const Reviewer reviewer{.name = who == 0 ? "ada" : "bea", .signed_in = "test"};
    auto& waits = shared.waits.at(who);
    unsigned long turn = who;
    while (shared.running > 0) {
        const auto open = approvals.pending();
        if (!open) give_up("pending: " + open.failure().message);
        for (const auto& approval : *open) {
            const auto decision = ++turn % 4 == 0 ? deny("no") : approve();
            const auto began = SteadyClock::now();
            const auto result = approvals.answer(approval.id, decision, reviewer);
            const std::chrono::duration<float, std::milli> took = SteadyClock::now() - began;
            if (!result) give_up("answer: " + result.failure().message);
            using Status = AnswerResult::Status;
            need(result->status == Status::decided || result->status == Status::conflict,
                 "an answer came back otherwise: " + result->message);
            ++(result->status == Status::decided ? shared.decided : shared.late);
            const auto place = waits.count++;
            if (place < waits_max) waits.ms.at(place) = took.count();
        }
    }
}

template <class Body>
pid_t start_child(unsigned seconds_max, Body body) {
    const pid_t child = fork();
    need(child >= 0, "no process");
    if (child != 0) return child;
    alarm(seconds_max);
    body();
    std::_Exit(0);
}

std::map<std::string, int> effects_of(const std::string& folder) {
    std::map<std::string, int> effects;
    std::ifstream file(folder + "/effects");
    for (std::string line; std::getline(file, line);) ++effects[line];
    return effects;
}

// Every thread that was begun: asked once, answered once, and what was decided is what happened.
void judge(const std::string& folder, const Shared& shared) {
    SqliteCheckpointer store(folder + "/assent.db");
    Approvals approvals(store);
    const auto effects = effects_of(folder);
    long threads = 0;
    long approved = 0;
    for (std::size_t runner = 0; runner < runners; ++runner) {
        for (int conversation = 0; conversation < conversations; ++conversation) {
            const int last = shared.at.at(runner).at(static_cast<std::size_t>(conversation));
            for (int number = 1; number <= last; ++number) {
                const auto thread = thread_name(runner, conversation, number);
                const auto history = approvals.history(thread);
                if (!history) give_up(thread + ": " + history.failure().message);
                std::vector<std::string> decisions;
                std::vector<EndedCall> ended;
                for (const auto& entry : *history) {
                    ended.insert(ended.end(), entry.calls.begin(), entry.calls.end());
                    if (entry.event != "answered") continue;
                    decisions.push_back(JsonText::parse(entry.fields)->root().find("decision")->string);
                }
                need(decisions.size() == 1 && ended.size() == 1, thread + " was not answered and ended once");
                const bool yes = decisions.front() == "approve";
                const auto found = effects.find(thread);
                const int ran = found == effects.end() ? 0 : found->second;
                need(ran == (yes ? 1 : 0),
                     thread + " ran " + std::to_string(ran) + " times after " + decisions.front());
                need(ended.front().outcome == (yes ? OutcomeKind::done : OutcomeKind::denied), thread + " ended wrong");
                approved += yes ? 1 : 0;
                ++threads;
            }
        }
    }
    const auto open = approvals.pending();
    need(open.ok() && open->empty(), "approvals are still open");
    need(threads == shared.cycles && threads == shared.decided, "not every cycle was decided once");
    std::printf("%ld threads: %ld approved and run once, %ld denied and never run\n", threads, approved,
                threads - approved);
}

void print_waits(Shared& shared) {
    std::vector<float> all;
    for (auto& waits : shared.waits) {
        const auto kept = std::min<std::size_t>(waits.count, waits_max);
        all.insert(all.end(), waits.ms.begin(), waits.ms.begin() + static_cast<std::ptrdiff_t>(kept));
    }
    need(!all.empty(), "nobody answered");
    std::sort(all.begin(), all.end());
    const auto at = [&](double part) {
        return all[static_cast<std::size_t>(part * static_cast<double>(all.size() - 1))];
    };
    std::printf("an answer took %.2f ms (p50), %.2f ms (p99), %.2f ms (longest) of %zu\n", at(0.5), at(0.99),
                all.back(), all.size());
}

}  // namespace

int main(int count, char** words) {
    const int seconds = count > 1 ? std::atoi(words[1]) : 5;
    need(seconds > 0 && seconds <= 3600, "usage: four_processes [SECONDS]");
    const test::TemporaryFolder temporary;
    const auto folder = temporary.path().string();
    void* memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    need(memory != MAP_FAILED, "no memory");
    auto& shared = *new (memory) Shared;
    {
        const SqliteCheckpointer made(folder + "/assent.db");
    }

    const auto limit = static_cast<unsigned>(seconds) + 120;
    std::vector<pid_t> children;
    for (std::size_t who = 0; who < runners; ++who) {
        children.push_back(start_child(limit, [&] {
            Runner(folder, who, shared).run();
            --shared.running;
        }));
    }
    for (std::size_t who = 0; who < answerers; ++who) {
        children.push_back(start_child(limit, [&] { answer_all(folder, who, shared); }));
    }
    std::this_thread::sleep_for(std::chrono::seconds(seconds));
    shared.stop = true;
    bool good = true;
    for (const auto child : children) {
        int status = 0;
        const bool ended = waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
        if (!ended) shared.running = 0;  // else the answerers wait for a runner that is gone
        good = good && ended;
    }
    need(good, "a process ended with an error");
    judge(folder, shared);
    std::printf("%ld resumes were refused because the other process had the thread, %ld were finished by the other\n",
                shared.leased.load(), shared.taken_over.load());
    std::printf("%ld answers counted, %ld came after another\n", shared.decided.load(), shared.late.load());
    print_waits(shared);
    return 0;
}
