// Threads swap folders and links under the feet of others that read, list, search, write, edit and delete
// through the file tools. No file that the path permissions deny may be read, listed or written.
//
//   path_tricks [--seconds N] [--attempts-min N] [--seed N] [--until-broken]
//
// Counts the swaps that landed between the check of a path and its opening, by two named points in the
// tools; at the first the thread waits for one now and then. `--until-broken` succeeds as soon as a rule
// was broken: with ASSENT_WITHOUT=open-check that shows that the rules hold because of that check.
#include "base/test_point.hpp"
#include "soak/swapped_places.hpp"

#include <assent/gate.hpp>
#include <assent/memory.hpp>
#include <assent/tools.hpp>

#include <stdlib.h>

#include <charconv>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <optional>
#include <thread>

namespace assent::soak {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr int swapper_threads = 8;
constexpr int tool_threads = 4;
constexpr int calls_per_thread_max = 400;
constexpr int yields_max = 50;
constexpr std::size_t shown_violations_max = 20;

[[noreturn]] void give_up(const std::string& why) {
    std::fprintf(stderr, "path_tricks: %s\n", why.c_str());
    std::exit(2);
}

struct Options {
    int seconds = 5;
    std::uint64_t attempts_min = 1;
    std::uint64_t seed = 0;
    bool until_broken = false;
};

struct Counts {
    std::atomic<std::uint64_t> attempts = 0;
    std::atomic<std::uint64_t> ran = 0;
    std::atomic<std::uint64_t> asked = 0;
    std::atomic<std::uint64_t> refused = 0;
    std::atomic<std::uint64_t> landed = 0;
};
Counts counts;
std::atomic<bool> over = false;

class Violations {
public:
    void add(const std::string& what) {
        const std::lock_guard lock(mutex_);
        if (++count_ <= shown_violations_max) std::printf("BROKEN: %s\n", what.c_str());
    }
    [[nodiscard]] std::size_t count() {
        const std::lock_guard lock(mutex_);
        return count_;
    }

private:
    std::mutex mutex_;
    std::size_t count_ = 0;
};
Violations violations;

// The place that this thread's call is about, while it runs.
thread_local const SwappedPlace* at_stake = nullptr;
thread_local std::uint64_t swaps_when_judged = 0;
thread_local bool judged = false;
thread_local bool waits = false;

void on_point(const char* name) {
    if (at_stake == nullptr) return;
    const std::string_view point = name;
    if (point == "path:judged") {
        judged = true;
        swaps_when_judged = at_stake->swaps();
        for (int i = 0; waits && i < yields_max && at_stake->swaps() == swaps_when_judged; ++i)
            std::this_thread::yield();
    } else if (point == "path:opened" && judged) {
        judged = false;
        if (at_stake->swaps() != swaps_when_judged) ++counts.landed;
    }
}

struct Request {
    std::string tool;
    std::string arguments;
    bool searches_denied_text = false;
};

std::string json(std::initializer_list<std::pair<const char*, std::string>> members) {
    std::string text;
    for (const auto& [name, value] : members)
        text += (text.empty() ? "{" : ",") + json_quote(name) + ":" + json_quote(value);
    return text + "}";
}

Request make_request(const SwappedPlace& place, test::Dice& dice) {
    const auto& folder = place.folder();
    const auto key = folder + (dice.chance(70) ? "/key" : "/sub/key");
    // Now and then the whole workspace.
    const auto searched = dice.chance(5) ? std::string("/") : folder;
    const auto kind = dice.roll(100);
    if (kind < 30) return {"read_file", json({{"file_path", key}})};
    if (kind < 45) return {"ls", json({{"path", searched}})};
    if (kind < 55) return {"glob", json({{"pattern", dice.chance(50) ? "**" : "*"}, {"path", searched}})};
    if (kind < 65)
        return {"grep",
                json({{"pattern", std::string(denied_text)},
                      {"path", searched},
                      {"output_mode", dice.pick({"files_with_matches", "content", "count"})}}),
                true};
    if (kind < 68) return {"grep", json({{"pattern", "text"}, {"path", searched}, {"output_mode", "content"}})};
    if (kind < 78) {
        const auto file = dice.pick({key, folder + "/new", folder + "/new/deep", folder + "/sub/new"});
        return {"write_file", json({{"file_path", file}, {"content", "free text\n"}})};
    }
    if (kind < 88) return {"edit_file", json({{"file_path", key}, {"old_string", "free"}, {"new_string", "free"}})};
    return {
        "delete_file",
        json({{"file_path", dice.chance(80) ? dice.pick({key, folder + "/new", folder + "/sub"}) : place.swapped()}})};
}

// Makes calls through a gate of its own, one after the other.
class Caller {
public:
    Caller(const Workspace& workspace, std::vector<std::unique_ptr<SwappedPlace>>& places, std::uint64_t seed)
        : workspace_(workspace), places_(places), dice_(seed) {}

    void run() {
        while (!over) {
            if (!gate_ || calls_ == calls_per_thread_max) begin();
            const auto& place = *dice_.pick(places_);
            attempt(place, make_request(place, dice_));
            ++counts.attempts;
            ++calls_;
        }
    }

private:
    void begin() {
        gate_.reset();
        store_ = std::make_unique<MemoryCheckpointer>();
        gate_.emplace(GateOptions{
            .checkpointer = store_.get(),
            .thread_id = "soak",
            .tools = {read_file_tool(workspace_), ls_tool(workspace_), glob_tool(workspace_), grep_tool(workspace_),
                      write_file_tool(workspace_), edit_file_tool(workspace_), delete_file_tool(workspace_)},
            .guards = {path_guard(workspace_)}});
        calls_ = 0;
    }

    static void need(const Result<void>& step) {
        if (!step) give_up("the gate failed: " + step.failure().message);
    }

    void attempt(const SwappedPlace& place, const Request& request) {
        need(gate_->prompt("go", "soak"));
        need(gate_->propose({.calls = {{.tool = request.tool, .arguments = request.arguments}}}));
        auto permits = gate_->claim();
        if (!permits) give_up("the gate failed: " + permits.failure().message);
        for (auto& permit : *permits) {
            const auto tool = gate_->tool(permit.tool());
            at_stake = &place;
            judged = false;
            waits = dice_.chance(20);
            const auto outcome = tool->start(std::move(permit));
            at_stake = nullptr;
            ++counts.ran;
            need(gate_->finish(outcome));
        }
        const auto report = gate_->calls().front();
        if (report.waiting) {
            // Nobody ever answers; the next call begins in a thread of its own.
            ++counts.asked;
            gate_.reset();
            return;
        }
        if (report.is_error) ++counts.refused;
        look_at(request, report);
        need(gate_->propose({.text = "done"}));
    }

    static void look_at(const Request& request, const CallReport& report) {
        const bool named = report.text.contains(denied_name);
        const bool shown = !request.searches_denied_text && report.text.contains(denied_text);
        const bool found =
            request.searches_denied_text && !report.is_error && !report.text.starts_with("No matches found");
        if (named || shown || found) violations.add(request.tool + " " + request.arguments + " gave: " + report.text);
    }

    const Workspace& workspace_;
    std::vector<std::unique_ptr<SwappedPlace>>& places_;
    test::Dice dice_;
    std::unique_ptr<MemoryCheckpointer> store_;
    std::optional<Gate> gate_;
    int calls_ = 0;
};

std::uint64_t number(const char* text) {
    std::uint64_t value = 0;
    const std::string_view given = text == nullptr ? "" : text;
    const auto [end, error] = std::from_chars(given.data(), given.data() + given.size(), value);
    if (error != std::errc() || end != given.data() + given.size() || given.empty()) give_up("a number was expected");
    return value;
}

Options read_options(int count, char** arguments) {
    Options options{.seed = test::seeds().back()};
    for (int i = 1; i < count; ++i) {
        const std::string_view name = arguments[i];
        if (name == "--until-broken") {
            options.until_broken = true;
        } else if (name == "--seconds") {
            options.seconds = static_cast<int>(number(arguments[++i]));
        } else if (name == "--attempts-min") {
            options.attempts_min = number(arguments[++i]);
        } else if (name == "--seed") {
            options.seed = number(arguments[++i]);
        } else {
            give_up("unknown option; see the head of path_tricks.cpp");
        }
    }
    return options;
}

void soak(const Options& options, World& world) {
    const std::vector<PathOperation> both{PathOperation::read, PathOperation::write};
    const auto workspace =
        Workspace::open(world.root().string())
            ->with_permissions(
                {{.operations = both, .paths = {"/secrets/**", "/halls/private"}, .mode = PathMode::deny},
                 {.operations = both, .paths = {"/halls/private/**"}, .mode = PathMode::deny},
                 {.operations = {PathOperation::write}, .paths = {"/asked/**"}, .mode = PathMode::interrupt}});
    listen_to_test_points(on_point);
    std::vector<std::jthread> threads;
    for (const auto& place : world.places()) {
        threads.emplace_back([&place] {
            while (!over) {
                place->swap();
                std::this_thread::yield();
            }
        });
    }
    for (int i = 0; i < tool_threads; ++i) {
        threads.emplace_back([&, seed = options.seed + 1000 + static_cast<std::uint64_t>(i)] {
            Caller(workspace, world.places(), seed).run();
        });
    }
    std::mutex mutex;
    std::unique_lock lock(mutex);
    std::condition_variable never;
    const auto end = Clock::now() + std::chrono::seconds(options.seconds);
    while (Clock::now() < end && !(options.until_broken && violations.count() > 0))
        never.wait_for(lock, std::chrono::milliseconds(50));
    over = true;
}

int run(const Options& options) {
    if (!test_points_compiled) give_up("built without the named points; configure with ASSENT_TEST_POINTS");
    std::string base = (fs::temp_directory_path() / "assent-soak-XXXXXX").string();
    if (mkdtemp(base.data()) == nullptr) give_up("no temporary folder");
    std::printf("path_tricks: seed %llu, %d s, %d threads swap, %d call tools\n",
                static_cast<unsigned long long>(options.seed), options.seconds, swapper_threads, tool_threads);
    std::fflush(stdout);
    World world(base, swapper_threads, options.seed);
    soak(options, world);
    std::uint64_t swaps = 0;
    for (const auto& place : world.places()) swaps += place->swaps();
    if (const auto changed = world.changed(); !changed.empty()) violations.add("what no tool may write:\n" + changed);
    std::error_code ignored;
    fs::remove_all(base, ignored);
    const auto shown = [](const std::atomic<std::uint64_t>& count) { return static_cast<unsigned long long>(count); };
    std::printf(
        "path_tricks: %llu attempts (%llu ran, %llu of them or judged before gave an error, %llu asked), %llu swaps, "
        "%llu landed between check and open, %zu rules broken\n",
        shown(counts.attempts), shown(counts.ran), shown(counts.refused), shown(counts.asked),
        static_cast<unsigned long long>(swaps), shown(counts.landed), violations.count());
    if (options.until_broken) return violations.count() > 0 ? 0 : 1;
    if (counts.attempts < options.attempts_min) give_up("too few attempts; the machine is too slow or too busy");
    if (counts.landed == 0) give_up("no swap landed between check and open, so nothing was tried");
    return violations.count() > 0 ? 1 : 0;
}

}  // namespace
}  // namespace assent::soak

int main(int count, char** arguments) {
    return assent::soak::run(assent::soak::read_options(count, arguments));
}
