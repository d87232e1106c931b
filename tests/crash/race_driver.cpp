// Two processes, started together by a pipe, give each open approval two different answers. Exactly one
// wins each time, the other is told who did; losses inside the store's compare-and-set are counted.
//
//   race_driver [ROUNDS]
#include "support/fakes.hpp"
#include "support/stores.hpp"

#include <assent/approvals.hpp>
#include <assent/gate.hpp>
#include <assent/sqlite.hpp>

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <new>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace assent;
using Status = AnswerResult::Status;

constexpr int rounds_default = 1000;
constexpr int rounds_max = 10'000;
constexpr int calls_per_thread = 20;
constexpr int lost_inside_min = 100;  // of 1,000
constexpr unsigned child_seconds_max = 500;
constexpr std::array<const char*, 2> reviewers{"ada", "bea"};

// What one process was told about one approval.
struct Told {
    Status status = Status::not_found;
    bool lost_race = false;
    DecisionKind decided = DecisionKind::deny;
    std::array<char, 16> decided_by{};
    bool named = false;  // the message for people names the winner
};

struct Shared {
    std::atomic<int> arrived = 0;
    std::array<std::array<Told, rounds_max>, 2> told;
};

[[noreturn]] void give_up(const std::string& why) {
    std::fprintf(stderr, "race: %s\n", why.c_str());
    std::_Exit(1);
}

void need(bool good, const std::string& what) {
    if (!good) give_up(what);
}

// Two different answers to each approval: other decisions, or the same one with other contents.
Decision decision_of(int round, std::size_t who) {
    const bool first = who == 0;
    switch (round % 5) {
        case 0:
            return first ? approve() : deny("no");
        case 1:
            return first ? deny("not now") : deny("never");
        case 2:
            return first ? edit(R"({"n":1})") : approve();
        case 3:
            return first ? edit(R"({"n":1})") : edit(R"({"n":2})");
        default:
            return first ? deny("no") : respond("I did it myself");
    }
}

// Threads with open approvals, each made by a gate whose guard asks. The ids in order.
std::vector<std::string> ask(const std::string& path, int rounds) {
    SqliteCheckpointer store(path);
    const auto guard = std::make_shared<test::FakeGuard>();
    guard->verdicts["write"] = Verdict::ask;
    for (int thread = 0; thread * calls_per_thread < rounds; ++thread) {
        Gate gate({.checkpointer = &store,
                   .thread_id = "thread-" + std::to_string(thread),
                   .tools = {test::fake_tool("write")},
                   .guards = {guard}});
        need(gate.prompt("go", "host").ok(), "no prompt");
        ModelTurn turn{.text = "many", .stop_reason = "tool_use"};
        for (int i = thread * calls_per_thread; i < std::min(rounds, (thread + 1) * calls_per_thread); ++i)
            turn.calls.push_back({.tool = "write", .id = "call_" + std::to_string(i), .arguments = R"({"n":0})"});
        need(gate.propose(turn).ok(), "no turn");
    }
    std::vector<std::string> ids;
    const auto open = Approvals(store).pending({}, 0, rounds_max);
    need(open.ok(), "no list");
    for (const auto& approval : *open) ids.push_back(approval.id);
    need(static_cast<int>(ids.size()) == rounds, "not all approvals are open");
    return ids;
}

void answer_all(const std::string& path, const std::vector<std::string>& ids, std::size_t who, int start,
                Shared& shared) {
    alarm(child_seconds_max);
    SqliteCheckpointer store(path);
    Approvals approvals(store);
    const Reviewer reviewer{.name = reviewers.at(who), .signed_in = "test"};
    // The pipe's end is the sign to start: nobody writes to it.
    char nothing = 0;
    need(read(start, &nothing, 1) == 0, "no start");
    for (std::size_t round = 0; round < ids.size(); ++round) {
        const auto decision = decision_of(static_cast<int>(round), who);
        const int both = 2 * (static_cast<int>(round) + 1);
        ++shared.arrived;
        while (shared.arrived < both) std::this_thread::yield();
        const auto result = approvals.answer(ids[round], decision, reviewer);
        if (!result) give_up(result.failure().message);
        auto& told = shared.told.at(who).at(round);
        told.status = result->status;
        told.lost_race = result->lost_race;
        told.decided = result->approval.decision.value_or(DecisionKind::respond);
        const auto& by = result->approval.decided_by;
        std::memcpy(told.decided_by.data(), by.data(), std::min(by.size(), told.decided_by.size() - 1));
        told.named = result->message.find(by) != std::string::npos;
    }
}

pid_t start_child(const std::string& path, const std::vector<std::string>& ids, std::size_t who, const int (&start)[2],
                  Shared& shared) {
    const pid_t child = fork();
    need(child >= 0, "no process");
    if (child != 0) return child;
    close(start[1]);
    answer_all(path, ids, who, start[0], shared);
    std::_Exit(0);
}

// What is stored, by the approval's place: who decided what. An answer that is stored twice ends the test.
std::map<std::string, std::pair<std::string, std::string>> stored_answers(Approvals& approvals, int threads) {
    std::map<std::string, std::pair<std::string, std::string>> answers;
    for (int thread = 0; thread < threads; ++thread) {
        const auto history = approvals.history("thread-" + std::to_string(thread));
        if (!history) give_up(history.failure().message);
        for (const auto& entry : *history) {
            if (entry.event != "answered") continue;
            const auto fields = JsonText::parse(entry.fields);
            need(fields.ok(), "an event that is no json");
            const auto& root = fields->root();
            const auto number = std::string(root.find("number")->text);
            const bool first =
                answers.try_emplace(number, root.find("by")->string, root.find("decision")->string).second;
            need(first, "approval " + number + " has two answers in the journal");
        }
    }
    return answers;
}

int compare(const std::string& path, const std::vector<std::string>& ids, const Shared& shared) {
    SqliteCheckpointer store(path);
    Approvals approvals(store);
    const int rounds = static_cast<int>(ids.size());
    const int threads = (rounds + calls_per_thread - 1) / calls_per_thread;
    const auto stored = stored_answers(approvals, threads);
    std::array<int, 2> wins{};
    int lost_inside = 0;
    for (int round = 0; round < rounds; ++round) {
        const auto& id = ids[static_cast<std::size_t>(round)];
        const auto at = static_cast<std::size_t>(round);
        const std::size_t winner = shared.told[0][at].status == Status::decided ? 0 : 1;
        const auto& won = shared.told.at(winner).at(at);
        const auto& lost = shared.told.at(1 - winner).at(at);
        const std::string name = reviewers.at(winner);
        const auto kind = decision_of(round, winner).kind;
        need(won.status == Status::decided, "nobody won " + id);
        need(lost.status == Status::conflict, "nobody lost " + id);
        need(lost.decided_by.data() == name && lost.named, "the loser of " + id + " was not told who decided");
        need(lost.decided == kind, "the loser of " + id + " was told another decision");
        const auto approval = approvals.find(id);
        need(approval.ok() && approval->decided_by == name && approval->decision == kind, id + " stands otherwise");
        const auto found = stored.find(std::to_string(approval->number));
        need(found != stored.end() && found->second == std::pair(name, std::string(to_string(kind))),
             "the journal has another answer to " + id);
        ++wins.at(winner);
        lost_inside += lost.lost_race ? 1 : 0;
    }
    need(static_cast<int>(stored.size()) == rounds, "the journal has other answers too");
    const auto open = approvals.pending();
    need(open.ok() && open->empty(), "approvals are still open");
    std::printf("%d approvals, each with two different answers: %s won %d, %s won %d; %d losers told who decided\n",
                rounds, reviewers[0], wins[0], reviewers[1], wins[1], rounds);
    std::printf("%d lost inside the compare-and-set, %d found it decided before; %zu answers in the journal\n",
                lost_inside, rounds - lost_inside, stored.size());
    if (lost_inside * rounds_default >= lost_inside_min * rounds) return 0;
    std::fprintf(stderr, "race: too few lost inside the compare-and-set for the race to be real\n");
    return 1;
}

}  // namespace

int main(int argc, char** argv) {
    const int rounds = argc > 1 ? std::atoi(argv[1]) : rounds_default;
    need(rounds > 0 && rounds <= rounds_max, "ROUNDS is a number from 1 to 10000");
    const test::TemporaryFolder folder;
    const auto path = folder.file("race.db");
    const auto ids = ask(path, rounds);

    void* memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    need(memory != MAP_FAILED, "no shared memory");
    auto& shared = *new (memory) Shared;
    int start[2];
    need(pipe(start) == 0, "no pipe");
    const pid_t first = start_child(path, ids, 0, start, shared);
    const pid_t second = start_child(path, ids, 1, start, shared);
    close(start[0]);
    close(start[1]);
    for (const pid_t child : {first, second}) {
        int status = 0;
        need(waitpid(child, &status, 0) == child && status == 0, "a process did not end well");
    }
    return compare(path, ids, shared);
}
